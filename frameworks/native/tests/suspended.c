/*
 * A thread that is suspended while it waits holds up nobody who waits behind it.
 */
#include <errno.h>

#include "catapults.h"
#include "support/child.h"

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static catapults_sem_t semaphore = CATAPULTS_SEM_INITIALIZER(0);
static catapults_rwlock_t rwlock = CATAPULTS_RWLOCK_INITIALIZER;
static catapults_port_t port = CATAPULTS_PORT_INITIALIZER;
static char order[64];

static void begin(void) {
    alarm(HANGS);
    require(catapults_init(NULL) == 0);
}

static void note(const char *name) { strncat(order, name, sizeof order - strlen(order) - 1); }

static void require_order(const char *expected) {
    if (strcmp(order, expected) != 0)
        fprintf(stderr, "\"%s\", not \"%s\"\n", order, expected);
    require(strcmp(order, expected) == 0);
}

static catapults_t spawn(void *(*start)(void *), const char *name) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.name = name}, start, (void *)name) == 0);
    return thread;
}

/* Three threads wait. */
static void spawn_three(void *(*start)(void *), catapults_t *threads) {
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        threads[i] = spawn(start, names[i]);
    for (int i = 0; i < 3; i++)
        catapults_yield();
}

/* The same, the first of them suspended. */
static void let_wait(void *(*start)(void *), catapults_t *threads) {
    spawn_three(start, threads);
    require(catapults_suspend(threads[0]) == 0);
}

static void let_run(void) {
    for (int i = 0; i < 10; i++)
        catapults_yield();
}

static void join(catapults_t *threads) {
    for (int i = 0; i < 3; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* ---- Mutexes ----------------------------------------------------------------------------------------------------- */

static void *lock(void *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    note(name);
    catapults_yield();
    require(catapults_mutex_unlock(&mutex) == 0);
    return NULL;
}

static void lock_without_protocol(void) {
    const struct catapults_mutex_attributes attributes = {.protocol = CATAPULTS_PROTOCOL_NONE};
    require(catapults_mutex_init(&mutex, &attributes) == 0 && catapults_mutex_lock(&mutex) == 0);
}

static void a_mutex_goes_to_others(enum catapults_mutex_protocol protocol) {
    begin();
    struct catapults_mutex_attributes attributes = {.protocol = protocol};
    require(catapults_mutex_init(&mutex, &attributes) == 0);
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_t threads[3];
    let_wait(lock, threads);
    require(catapults_mutex_unlock(&mutex) == 0);
    let_run();
    require_order("bc");
    require(catapults_mutex_trylock(&mutex) == 0 && catapults_mutex_unlock(&mutex) == 0);
    require(catapults_resume(threads[0]) == 0); /* it is free already */
    join(threads);
    require_order("bca");
}

static void a_mutex_that_is_lent_for(void) { a_mutex_goes_to_others(CATAPULTS_PROTOCOL_INHERIT); }
static void a_mutex_without_protocol(void) { a_mutex_goes_to_others(CATAPULTS_PROTOCOL_NONE); }

/* `leave` makes the first of three the next. */
static void what_is_its_own_is_passed_on(void (*leave)(void)) {
    begin();
    lock_without_protocol();
    catapults_t threads[3];
    spawn_three(lock, threads);
    leave();
    require(catapults_suspend(threads[0]) == 0);
    let_run();
    require_order("bc");
    require(catapults_resume(threads[0]) == 0);
    join(threads);
    require_order("bca");
}

/* It has not run since. */
static void leave_to_the_first(void) { require(catapults_mutex_unlock(&mutex) == 0); }

/* As it was passed over before. */
static void hand_to_the_first(void) {
    require(catapults_mutex_unlock(&mutex) == 0 && catapults_mutex_lock(&mutex) == 0);
    catapults_yield(); /* the first finds it taken */
    require(catapults_mutex_unlock(&mutex) == 0 && catapults_mutex_trylock(&mutex) == EBUSY);
}

static void what_was_left_to_it_is_passed_on(void) { what_is_its_own_is_passed_on(leave_to_the_first); }
static void what_was_handed_to_it_is_passed_on(void) { what_is_its_own_is_passed_on(hand_to_the_first); }

/* Resumed before the mutex is free. */
static void who_is_resumed_in_time_has_lost_nothing(void) {
    begin();
    lock_without_protocol();
    catapults_t threads[3];
    let_wait(lock, threads);
    require(catapults_resume(threads[0]) == 0);
    require(catapults_mutex_unlock(&mutex) == 0);
    join(threads);
    require_order("abc");
}

/* ---- Read-write locks -------------------------------------------------------------------------------------------- */

static void *read_it(void *name) {
    require(catapults_rwlock_rdlock(&rwlock) == 0);
    note(name);
    catapults_yield();
    require(catapults_rwlock_unlock(&rwlock) == 0);
    return NULL;
}

static void *write_it(void *name) {
    require(catapults_rwlock_wrlock(&rwlock) == 0);
    note(name);
    catapults_yield();
    require(catapults_rwlock_unlock(&rwlock) == 0);
    return NULL;
}

static void readers_pass_a_writer(void) {
    begin();
    require(catapults_rwlock_rdlock(&rwlock) == 0);
    catapults_t threads[] = {spawn(write_it, "w"), spawn(read_it, "r"), spawn(read_it, "s")};
    catapults_yield();
    catapults_yield();
    require_order("");
    require(catapults_suspend(threads[0]) == 0);
    require(catapults_rwlock_unlock(&rwlock) == 0);
    let_run();
    require_order("rs");
    require(catapults_rwlock_tryrdlock(&rwlock) == 0 && catapults_rwlock_unlock(&rwlock) == 0);
    require(catapults_resume(threads[0]) == 0);
    join(threads);
    require_order("rsw");
}

static void writers_pass_a_writer_and_a_reader(void) {
    begin();
    require(catapults_rwlock_wrlock(&rwlock) == 0);
    catapults_t threads[] = {spawn(write_it, "w"), spawn(read_it, "r"), spawn(write_it, "x")};
    for (int i = 0; i < 3; i++)
        catapults_yield();
    require(catapults_suspend(threads[0]) == 0 && catapults_suspend(threads[1]) == 0);
    require(catapults_rwlock_unlock(&rwlock) == 0);
    let_run();
    require_order("x");
    require(catapults_rwlock_trywrlock(&rwlock) == 0 && catapults_rwlock_unlock(&rwlock) == 0);
    require(catapults_resume(threads[1]) == 0);
    let_run();
    require(catapults_resume(threads[0]) == 0);
    join(threads);
    require_order("xrw");
}

/* ---- What is given away once ------------------------------------------------------------------------------------- */

static void *await_the_semaphore(void *name) {
    require(catapults_sem_wait(&semaphore) == 0);
    note(name);
    return NULL;
}

static void a_semaphore_gives_to_others_first(void) {
    begin();
    catapults_t threads[3];
    let_wait(await_the_semaphore, threads);
    for (int i = 0; i < 3; i++)
        require(catapults_sem_post(&semaphore) == 0);
    let_run();
    require_order("bc");
    require(catapults_sem_trywait(&semaphore) == EAGAIN);
    require(catapults_resume(threads[0]) == 0);
    join(threads);
    require_order("bca");
}

static void *await_the_condition(void *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    require(catapults_cond_wait(&cond, &mutex) == 0);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
    return NULL;
}

static void a_condition_wakes_others_first(void) {
    begin();
    catapults_t threads[3];
    let_wait(await_the_condition, threads);
    for (int i = 0; i < 2; i++)
        require(catapults_cond_signal(&cond) == 0);
    let_run();
    require_order("bc");
    require(catapults_cond_signal(&cond) == 0);
    let_run();
    require_order("bc");
    require(catapults_resume(threads[0]) == 0);
    join(threads);
    require_order("bca");
}

static void *receive(void *name) {
    struct catapults_message *message;
    require(catapults_port_receive(&port, &message) == 0);
    note(name);
    return NULL;
}

static void a_message_goes_to_others_first(void) {
    begin();
    catapults_t threads[3];
    struct catapults_message messages[3] = {{.kind = 1}, {.kind = 2}, {.kind = 3}};
    let_wait(receive, threads);
    for (int i = 0; i < 3; i++)
        require(catapults_port_send(&port, &messages[i]) == 0);
    let_run();
    require_order("bc");
    require(catapults_resume(threads[0]) == 0);
    join(threads);
    require_order("bca");
}

static void *send_one(void *name) {
    struct catapults_message *message = calloc(1, sizeof *message);
    message->kind = *(const char *)name;
    require(catapults_port_send(&port, message) == 0);
    return NULL;
}

static void room_goes_to_others_first(void) {
    begin();
    catapults_port_init(&port, "port", 1);
    struct catapults_message first = {.kind = '1'}, *message;
    require(catapults_port_send(&port, &first) == 0);
    catapults_t threads[3];
    let_wait(send_one, threads);
    static const char expected[] = "1bca";
    for (int i = 0; i < 4; i++) {
        require(catapults_port_receive(&port, &message) == 0 && message->kind == expected[i]);
        if (message != &first)
            free(message);
        let_run();
    }
    require(catapults_resume(threads[0]) == 0);
    join(threads);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(a_mutex_that_is_lent_for),
        child_test(a_mutex_without_protocol),
        child_test(what_was_left_to_it_is_passed_on),
        child_test(what_was_handed_to_it_is_passed_on),
        child_test(who_is_resumed_in_time_has_lost_nothing),
        child_test(readers_pass_a_writer),
        child_test(writers_pass_a_writer_and_a_reader),
        child_test(a_semaphore_gives_to_others_first),
        child_test(a_condition_wakes_others_first),
        child_test(a_message_goes_to_others_first),
        child_test(room_goes_to_others_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
