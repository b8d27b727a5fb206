/*
 * Within the runtime nothing is asked of libc's allocator: support/libc_allocator.c ends a program that does. What
 * allocates there, once each, on activations; random programs are kernel_blocks.c and processors_stress.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "catapults.h"
#include "dispatcher/dispatcher.h"
#include "support/child.h"

enum { HIGH = 700 /* a descriptor beyond all that there are */, MANY = 40 };

struct object {
    catapults_int bytesleft;
};

static catapults_key_t key;
static int ends[2];

static void start(const char *policy, int processors) {
    alarm(HANGS);
    const struct catapults_options options = {.policy = policy, .activations = true, .processors = processors};
    require(catapults_init(&options) == 0);
}

static void *turn_up(void *unused) {
    require(catapults_setspecific(key, &key) == 0);
    catapults_yield();
    return unused;
}

static void run_one(const struct catapults_attributes *attributes) {
    catapults_t thread;
    require(catapults_create(&thread, attributes, turn_up, NULL) == 0 && catapults_join(thread, NULL) == 0);
}

static void *go_elsewhere(void *scheduler) {
    require(catapults_scheduler_attach(scheduler) == 0);
    require(catapults_scheduler_attach(catapults_scheduler_root()) == 0);
    return NULL;
}

static void change_schedulers(void) {
    static const struct catapults_hierarchy_parameter parameter = {
        .name = "bytesleft", .type = CATAPULTS_IMPORT_INT, .value.integer = 5, .at_parent = true};
    static const char *const policies[] = {NULL, POLICIES "/bytes.so", POLICIES "/turns.so"};
    for (int i = 0; i < 6; i++) {
        catapults_scheduler_t added;
        struct catapults_scheduler_attributes attributes = {
            .name = "added", .policy = policies[i % 3], .parameters = &parameter, .parameters_count = 1};
        require(catapults_scheduler_add(&added, &attributes) == 0);
        struct object object = {i};
        run_one(&(struct catapults_attributes){.scheduler = added, .object = &object, .stack_size = 256 << 10});
        catapults_t thread;
        require(catapults_create(&thread, NULL, go_elsewhere, added) == 0 && catapults_join(thread, NULL) == 0);
        require(catapults_policy_replace(added, policies[(i + 1) % 3]) == 0);
        require(catapults_scheduler_remove(added) == 0);
    }
}

static void *pass_one(void *message) {
    char byte = 'x';
    require(catapults_write(HIGH + 1, &byte, 1) == 1);
    return message;
}

static void use_descriptors(void) {
    require(pipe2(ends, O_NONBLOCK) == 0);
    require(dup2(ends[0], HIGH) == HIGH && dup2(ends[1], HIGH + 1) == HIGH + 1);
    struct catapults_source sources[MANY];
    for (int i = 0; i < MANY; i++)
        sources[i] = catapults_source_descriptor(HIGH, POLLIN);
    catapults_t thread;
    require(catapults_create(&thread, NULL, pass_one, NULL) == 0);
    require(catapults_select(sources, MANY, CATAPULTS_FOREVER) > 0);
    char byte;
    require(catapults_read(HIGH, &byte, 1) == 1 && catapults_join(thread, NULL) == 0);
}

/* EXITED of a client is a message that the runtime gives back. */
static void schedule_threads(void) {
    catapults_port_t port = CATAPULTS_PORT_INITIALIZER;
    for (int i = 0; i < 2; i++) {
        catapults_t client;
        require(catapults_create(&client, &(struct catapults_attributes){.scheduled_by = &port}, turn_up, NULL) == 0);
        bool is_ready = false, ended = false;
        while (!ended) {
            if (is_ready)
                require(catapults_schedule(client, &port, CATAPULTS_WAKEUP_ON_BLOCK) == 0);
            struct catapults_message *notice;
            /* It may have been taken back since, by a client that is ready again. */
            if ((is_ready ? catapults_port_tryreceive : catapults_port_receive)(&port, &notice) != 0)
                continue;
            is_ready = notice->kind == CATAPULTS_NOTICE_READY || notice->kind == CATAPULTS_NOTICE_YIELDED;
            ended = notice->kind == CATAPULTS_NOTICE_EXITED;
        }
        require(catapults_join(client, NULL) == 0);
    }
    require(catapults_port_destroy(&port) == 0);
}

static void fork_one(void) {
    pid_t pid = catapults_fork();
    require(pid >= 0);
    if (pid == 0) {
        run_one(NULL);
        _exit(EXIT_SUCCESS);
    }
    int status;
    while (waitpid(pid, &status, 0) != pid)
        require(errno == EINTR);
    require(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}

static void do_all(int processors) {
    start(POLICIES "/hierarchy.so", processors);
    require(catapults_key_create(&key, NULL) == 0);
    int error = catapults_threadvar_register("bytesleft", struct object, bytesleft);
    require(error == 0 || error == ENOENT);
    struct catapults_value value = catapults_value_int("bytesleft", 3);
    run_one(&(struct catapults_attributes){.values = &value, .values_count = 1});
    change_schedulers();
    require(catapults_policy_replace(NULL, POLICIES "/bytes.so") == 0);
    require(catapults_policy_replace(NULL, NULL) == 0);
    if (processors > 1)
        require(catapults_set_processors(processors + 2) == 0);
    use_descriptors();
    schedule_threads();
    fork_one();
}

static void on_one(void) { do_all(1); }
static void on_three(void) { do_all(3); }

static void with_an_instance_for_each(void) {
    start(POLICIES "/least_loaded.so", 3);
    require(catapults_key_create(&key, NULL) == 0);
    for (int i = 0; i < MANY; i++)
        run_one(NULL);
    require(catapults_set_processors(5) == 0);
    require(catapults_policy_replace(NULL, POLICIES "/turns.so") == 0);
    require(catapults_policy_replace(NULL, POLICIES "/per_processor_fifo.so") == 0);
    run_one(NULL);
}

#if !defined(__SANITIZE_ADDRESS__)
static void ask_libc(void) {
    start(NULL, 1);
    free(malloc(10));
    dispatcher_enter();
    void *volatile memory = malloc(10);
    free(memory);
}

static void whoever_asks_libc_is_found(void **state) {
    (void)state;
    struct child child = run_child(ask_libc);
    assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGABRT);
    assert_reported(&child, "libc's malloc within the runtime");
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(on_one),
        child_test(on_three),
        child_test(with_an_instance_for_each),
#if !defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(whoever_asks_libc_is_found),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
