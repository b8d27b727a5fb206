/*
 * Policies in a child of catapults_fork: they begin anew. What it is for descriptors is in io_fork.c.
 */
#include <errno.h>

#include "catapults.h"
#include "support/child.h"

enum { MS = 1000000 };

static char order[64];
static volatile int over;

static void begin(const char *policy) { require(catapults_init(&(struct catapults_options){.policy = policy}) == 0); }

static void *note(void *name) {
    strcat(order, name);
    return NULL;
}

static void *spin(void *argument) {
    while (!over)
        ;
    return argument;
}

static catapults_t spawn(const char *scheduler, void *(*start)(void *), void *argument) {
    catapults_t thread;
    struct catapults_attributes attributes = {.scheduler = scheduler ? catapults_scheduler_find(scheduler) : NULL};
    require(catapults_create(&thread, &attributes, start, argument) == 0);
    return thread;
}

static void join(catapults_t *threads, int count) {
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* The child ends with the status 7 after `body`. */
static void in_a_child(void (*body)(void)) {
    int status;
    pid_t child = catapults_fork();
    require(child >= 0);
    if (child == 0) {
        alarm(HANGS);
        body();
        _exit(7);
    }
    require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* ---- One policy -------------------------------------------------------------------------------------------------- */

static catapults_int decisions;

static void the_instance_is_new(void) {
    require(catapults_threads_ready() == 0 && order[0] == '\0');
    int64_t before = decisions;
    catapults_yield();
    require(decisions == before + 1); /* the variable is linked still */
    struct catapults_value none = catapults_value_int("bytesleft", -1), many = catapults_value_int("bytesleft", 99);
    require(catapults_set_values(catapults_self(), &none, 1) == 0);
    catapults_t threads[] = {spawn(NULL, note, "a"), spawn(NULL, note, "b")};
    require(catapults_set_values(threads[1], &many, 1) == 0);
    join(threads, 2);
    require(strcmp(order, "ba") == 0);
}

static void a_policy_begins_anew(void) {
    begin(POLICIES "/bytes.so");
    require(catapults_schedvar_register("decisions", &decisions) == 0);
    catapults_t threads[] = {spawn(NULL, note, "1"), spawn(NULL, note, "2")};
    require(catapults_threads_ready() == 2);
    in_a_child(the_instance_is_new);
    require(catapults_threads_ready() == 2);
    join(threads, 2);
    require(strcmp(order, "12") == 0);
}

static void what_was_set_stays(void) {
    catapults_t threads[] = {spawn(NULL, note, "a"), spawn(NULL, note, "b")};
    struct catapults_value more = catapults_value_int("bytesleft", 40), many = catapults_value_int("bytesleft", 99);
    require(catapults_set_values(threads[0], &many, 1) == 0 && catapults_set_values(threads[1], &more, 1) == 0);
    catapults_yield(); /* this thread has 50: before one of them, behind the other */
    require(strcmp(order, "a") == 0);
    join(threads, 2);
}

static void values_of_a_thread_are_kept(void) {
    begin(POLICIES "/bytes.so");
    struct catapults_value value = catapults_value_int("bytesleft", 50);
    require(catapults_set_values(catapults_self(), &value, 1) == 0);
    catapults_t other = spawn(NULL, note, "1");
    in_a_child(what_was_set_stays);
    what_was_set_stays();
    join(&other, 1);
}

/* ---- A hierarchy ------------------------------------------------------------------------------------------------- */

static void the_tree_is_there(void) {
    require(catapults_scheduler_self() == catapults_scheduler_find("low"));
    catapults_t threads[] = {spawn("low", note, "1"), spawn("high", note, "2"), spawn("low", note, "3"),
                             spawn("high", note, "4")};
    join(threads, 4);
    require(strcmp(order, "2413") == 0);
}

static void a_hierarchy_begins_anew(void) {
    begin(POLICIES "/hierarchy.so");
    catapults_t threads[] = {spawn("low", note, "a"), spawn("high", note, "b")};
    in_a_child(the_tree_is_there);
    join(threads, 2);
    require(strcmp(order, "ba") == 0);
}

/* The schedulers were given other values than the file says. */
static void the_other_one_comes_first(void) {
    catapults_t threads[] = {spawn("low", note, "1"), spawn("high", note, "2")};
    join(threads, 2);
    require(strcmp(order, "12") == 0);
}

static void values_of_schedulers_are_kept(void) {
    begin(POLICIES "/hierarchy.so");
    struct catapults_value least[] = {catapults_value_int("bytesleft", -5), catapults_value_bool("urgent", false)};
    struct catapults_value most = catapults_value_int("bytesleft", 50);
    require(catapults_scheduler_set_values(catapults_scheduler_find("high"), least, 2) == 0);
    require(catapults_scheduler_set_values(catapults_scheduler_find("low"), &most, 1) == 0);
    in_a_child(the_other_one_comes_first);
    the_other_one_comes_first();
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static void spinning_threads_are_preempted(void) {
    catapults_t threads[] = {spawn(NULL, spin, NULL), spawn(NULL, spin, NULL)};
    catapults_sleep(20 * MS);
    over = 1;
    join(threads, 2);
}

static void the_clock_goes_on(void) {
    begin(POLICIES "/turns.so");
    in_a_child(spinning_threads_are_preempted);
    spinning_threads_are_preempted();
}

/* ---- A policy that has to go ------------------------------------------------------------------------------------- */

static catapults_int connections;

static void under_the_built_in_fifo(void) {
    catapults_t threads[] = {spawn(NULL, note, "b"), spawn(NULL, note, "c")};
    join(threads, 2);
    require(strcmp(order, "abc") == 0);
}

static void containment(void) {
    begin(POLICIES "/bytes.so");
    require(catapults_schedvar_register("connections", &connections) == 0);
    catapults_t thread = spawn(NULL, note, "a");
    connections = 13;
    join(&thread, 1);
    require(strcmp(catapults_policy_name(), "fifo (built-in)") == 0);
    in_a_child(under_the_built_in_fifo);
}

static void refusal(void) {
    begin(POLICIES "/bytes.so");
    require(catapults_schedvar_register("connections", &connections) == 0);
    connections = -1;
    int status;
    pid_t child = catapults_fork();
    require(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    require(WEXITSTATUS(status) == EXIT_FAILURE);
}

static void a_refused_child_says_so(void **state) {
    (void)state;
    struct child child = run_child(refusal);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "a child of catapults_fork is refused at line 20 of the policy: too many connections");
}

/* ---- What the others waited for ---------------------------------------------------------------------------------- */

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static catapults_sem_t semaphore = CATAPULTS_SEM_INITIALIZER(0);
static catapults_rwlock_t rwlock = CATAPULTS_RWLOCK_INITIALIZER;
static catapults_port_t requests = CATAPULTS_PORT_INITIALIZER, queue = CATAPULTS_PORT_INITIALIZER;
static struct catapults_message *request;
static int released;

static void release(struct catapults_message *message) {
    (void)message;
    released++;
}

static void *lock_it(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0 && catapults_mutex_unlock(&mutex) == 0);
    return argument;
}

static void *await_the_condition(void *argument) {
    catapults_mutex_t own = CATAPULTS_MUTEX_INITIALIZER;
    catapults_mutex_lock(&own);
    catapults_cond_wait(&cond, &own);
    return argument;
}

static void *await_the_semaphore(void *argument) {
    require(catapults_sem_wait(&semaphore) == 0);
    return argument;
}

static void *read_it(void *argument) {
    require(catapults_rwlock_rdlock(&rwlock) == 0);
    return argument;
}

static void *call(void *argument) {
    struct catapults_message message = {.kind = 1, .release = release};
    catapults_port_call(&requests, &message);
    return argument;
}

static void *receive(void *argument) {
    struct catapults_message *message;
    catapults_port_receive(&queue, &message);
    return argument;
}

static void nobody_waits(void) {
    struct catapults_message message = {0}, *received;
    require(catapults_mutex_unlock(&mutex) == 0 && catapults_rwlock_unlock(&rwlock) == 0);
    require(catapults_cond_signal(&cond) == 0 && catapults_sem_post(&semaphore) == 0);
    require(catapults_sem_trywait(&semaphore) == 0);
    require(catapults_port_send(&queue, &message) == 0);
    require(catapults_port_tryreceive(&queue, &received) == 0 && received == &message);
    require(catapults_port_count(&requests) == 0 && catapults_port_tryreceive(&requests, &received) == EAGAIN);
    require(catapults_port_reply(request) == ECANCELED && released == 1);
    require(catapults_port_destroy(&queue) == 0 && catapults_port_destroy(&requests) == 0);

    /* Their memory is that of new ones. */
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_t threads[20];
    for (int i = 0; i < 20; i++)
        threads[i] = spawn(NULL, lock_it, NULL);
    catapults_yield();
    require(catapults_mutex_unlock(&mutex) == 0);
    join(threads, 20);
    require(mutex.state == 0);
}

static void what_the_others_waited_for(void) {
    begin(NULL);
    require(catapults_mutex_lock(&mutex) == 0 && catapults_rwlock_wrlock(&rwlock) == 0);
    void *(*const starts[])(void *) = {call,    lock_it, await_the_condition, await_the_semaphore, read_it, call,
                                       receive, lock_it};
    for (int i = 0; i < 8; i++)
        spawn(NULL, starts[i], NULL);
    for (int i = 0; i < 8; i++)
        catapults_yield(); /* who waits for the mutex lends the turn that it has to this thread */
    require(catapults_port_receive(&requests, &request) == 0 && catapults_port_count(&requests) == 1);
    in_a_child(nobody_waits);
}

/* ---- What the others had begun ----------------------------------------------------------------------------------- */

static catapults_once_t once = CATAPULTS_ONCE_INIT;
static catapults_barrier_t barrier;
static int attempts;

static void begin_for_good(void) {
    if (attempts++ == 0)
        catapults_suspend(catapults_self());
}

static void *do_once(void *argument) {
    require(catapults_once(&once, begin_for_good) == 0);
    return argument;
}

static void *meet(void *argument) {
    int result = catapults_barrier_wait(&barrier);
    require(result == 0 || result == CATAPULTS_BARRIER_SERIAL_THREAD);
    return argument;
}

static void others_begin_anew(void) {
    require(catapults_once(&once, begin_for_good) == 0 && catapults_once(&once, begin_for_good) == 0 && attempts == 2);
    catapults_t other = spawn(NULL, meet, NULL);
    catapults_yield();
    require(catapults_tryjoin(other, NULL) == EBUSY && catapults_barrier_destroy(&barrier) == EBUSY);
    meet(NULL);
    join(&other, 1);
    require(catapults_barrier_destroy(&barrier) == 0);
}

static void what_the_others_had_begun(void) {
    begin(NULL);
    require(catapults_barrier_init(&barrier, 2) == 0);
    catapults_t threads[] = {spawn(NULL, do_once, NULL), spawn(NULL, meet, NULL)};
    catapults_yield();
    in_a_child(others_begin_anew);
    require(attempts == 1 && catapults_barrier_destroy(&barrier) == EBUSY);
    meet(NULL);
    require(catapults_resume(threads[0]) == 0);
    join(threads, 2);
}

/* ---- What the others hold ---------------------------------------------------------------------------------------- */

static catapults_mutex_t robust[2];

static void *hold_both(void *argument) {
    require(catapults_mutex_lock(&robust[0]) == 0 && catapults_mutex_lock(&robust[1]) == 0);
    catapults_suspend(catapults_self());
    return argument;
}

static void who_comes_next_is_told(void) {
    require(catapults_mutex_trylock(&robust[0]) == EOWNERDEAD && catapults_mutex_consistent(&robust[0]) == 0);
    require(catapults_mutex_unlock(&robust[0]) == 0 && catapults_mutex_lock(&robust[0]) == 0);
    require(catapults_mutex_lock(&robust[1]) == EOWNERDEAD && catapults_mutex_unlock(&robust[1]) == 0);
    require(catapults_mutex_lock(&robust[1]) == ENOTRECOVERABLE);
    require(catapults_mutex_lock(&mutex) == 0);
}

static void robust_mutexes_have_lost_their_owner(void) {
    begin(NULL);
    for (int i = 0; i < 2; i++)
        require(catapults_mutex_init(&robust[i], &(struct catapults_mutex_attributes){.robust = true}) == 0);
    spawn(NULL, hold_both, NULL);
    catapults_yield();
    in_a_child(who_comes_next_is_told);
    require(catapults_mutex_trylock(&robust[0]) == EBUSY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(a_policy_begins_anew),
        child_test(values_of_a_thread_are_kept),
        child_test(a_hierarchy_begins_anew),
        child_test(values_of_schedulers_are_kept),
        child_test(the_clock_goes_on),
        child_test(containment),
        child_test(what_the_others_waited_for),
        child_test(what_the_others_had_begun),
        child_test(robust_mutexes_have_lost_their_owner),
        cmocka_unit_test(a_refused_child_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
