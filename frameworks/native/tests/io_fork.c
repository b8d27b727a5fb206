/* What a child of catapults_fork can do, and what its parent does not notice. */
#include "io_test.h"

#include <signal.h>

static catapults_mutex_t held = CATAPULTS_MUTEX_INITIALIZER;
static catapults_key_t key;
static int destroyed;
static void destroy(void *value) {
    (void)value;
    destroyed++;
}

/* The child's exit status. The processor waits: nothing else runs in the parent meanwhile. */
static int status_of(pid_t child) {
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void *hold_for_ever(void *argument) {
    require(catapults_mutex_lock(&held) == 0 && catapults_setspecific(key, "value") == 0);
    catapults_sleep_until(CATAPULTS_FOREVER);
    return argument;
}

static char received[10];
static void *receive_one(void *descriptor) {
    require(catapults_recv_until(*(int *)descriptor, received, 1, 0, after(20000 * MILLISECONDS)) == 1);
    return NULL;
}

static void *send_later(void *descriptor) {
    catapults_sleep(MILLISECONDS);
    require(catapults_send_until(*(int *)descriptor, "c", 1, 0, after(20000 * MILLISECONDS)) == 1);
    return NULL;
}

static void child_has_one_thread_and_works(int *pair, int *parents_pair) {
    alarm(600); /* as HANGS of support/child.h */
    require(catapults_threads_total() == 1 && strcmp(catapults_name(catapults_self()), "main") == 0);
    require(catapults_mutex_trylock(&held) == EBUSY); /* as it was */
    catapults_yield();
    catapults_sleep(MILLISECONDS);
    /* Both ends are ours, and nothing of what the parent waits for is taken. */
    catapults_t threads[] = {spawn(receive_one, &pair[0]), spawn(send_later, &pair[1])};
    require(catapults_threads_total() == 3);
    require(catapults_join(threads[0], NULL) == 0 && catapults_join(threads[1], NULL) == 0 && received[0] == 'c');
    require(catapults_send_until(parents_pair[1], "p", 1, 0, after(20000 * MILLISECONDS)) == 1);
    for (int i = 0; i < 200; i++)
        require(catapults_join(spawn(send_later, &pair[1]), NULL) == 0 &&
                catapults_recv_until(pair[0], received, 1, 0, after(20000 * MILLISECONDS)) == 1);
    require(destroyed == 0);
    _exit(7);
}

static void parent_and_child(void **state) {
    (void)state;
    int pair[2], parents_pair[2];
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, parents_pair) == 0);
    destroyed = 0;
    require(catapults_key_create(&key, destroy) == 0);
    catapults_t holder = spawn(hold_for_ever, NULL), receiver = spawn(receive_one, &parents_pair[0]);
    catapults_sleep(MILLISECONDS);
    pid_t child = catapults_fork();
    if (child == 0)
        child_has_one_thread_and_works(pair, parents_pair);
    assert_int_equal(status_of(child), 7);
    /* The receiver waited for what the child has sent. */
    assert_int_equal(catapults_join(receiver, NULL), 0);
    assert_int_equal(received[0], 'p');
    assert_int_equal(catapults_cancel(holder), 0);
    assert_int_equal(catapults_join(holder, NULL), 0);
    assert_int_equal(destroyed, 1);
    memset(&held, 0, sizeof held);
    catapults_key_delete(key);
    for (int i = 0; i < 2; i++) {
        catapults_close(pair[i]);
        catapults_close(parents_pair[i]);
    }
}

static pid_t forked;
static void *fork_and_return(void *argument) {
    catapults_sleep(MILLISECONDS); /* the first thread waits for the end of this one */
    forked = catapults_fork();
    if (forked == 0)
        require(catapults_threads_total() == 1 && catapults_self() != *(catapults_t *)argument);
    return argument; /* in the child, the end of the last thread and so of the process */
}

static void the_first_thread_need_not_be_there(void **state) {
    (void)state;
    catapults_t first = catapults_self(), thread = spawn(fork_and_return, &first);
    void *result;
    fflush(NULL);
    assert_int_equal(catapults_join(thread, &result), 0);
    assert_ptr_equal(result, &first);
    assert_int_equal(status_of(forked), 0);
}

static void *end_at_once(void *argument) { return argument; }

static catapults_port_t port = CATAPULTS_PORT_INITIALIZER;
static void *select_it(void *argument) {
    struct catapults_source sources[] = {catapults_source_port(&port), catapults_source_port(&port)};
    require(catapults_select(sources, 2, CATAPULTS_FOREVER) == 2);
    return argument;
}

/* Whoever waits for several things is not there, and the port knows that. */
static void nobody_selects_in_a_child(void **state) {
    (void)state;
    struct catapults_message message = {0}, *taken;
    catapults_t selectors[] = {spawn(select_it, NULL), spawn(select_it, NULL)};
    catapults_yield();
    pid_t child = catapults_fork();
    if (child == 0) {
        catapults_join(spawn(end_at_once, NULL), NULL); /* where one of them was */
        require(catapults_port_send(&port, &message) == 0 && catapults_port_tryreceive(&port, &taken) == 0);
        _exit(catapults_port_destroy(&port));
    }
    assert_int_equal(status_of(child), 0);
    assert_int_equal(catapults_port_send(&port, &message), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(catapults_join(selectors[i], NULL), 0);
    assert_int_equal(catapults_port_tryreceive(&port, &taken), 0);
}

static void children_of_children(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        pid_t child = catapults_fork();
        if (child == 0) {
            pid_t grandchild = catapults_fork();
            if (grandchild == 0) {
                catapults_sleep(MILLISECONDS);
                _exit(1);
            }
            catapults_sleep(MILLISECONDS);
            _exit(status_of(grandchild) + 1);
        }
        assert_int_equal(status_of(child), 2);
    }
}

int main(void) {
    const struct CMUnitTest forks[] = {
        cmocka_unit_test(parent_and_child),
        cmocka_unit_test(the_first_thread_need_not_be_there),
        cmocka_unit_test(nobody_selects_in_a_child),
        cmocka_unit_test(children_of_children),
    };
    return run_with_both_drivers(forks);
}
