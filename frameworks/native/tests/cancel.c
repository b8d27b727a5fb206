/*
 * Cancelling threads, and their end, in C: where a cancellation acts, what handlers run, and in what order.
 */
#include <errno.h>

#include "support/program.h"

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static catapults_sem_t semaphore;
static char order[64];

static void note(void *name) { strcat(order, name); }

/* ---- Where it acts ----------------------------------------------------------------------------------------------- */

static void *loop(void *argument) {
    while (!argument) {
        catapults_yield(); /* no cancellation point */
        catapults_testcancel();
    }
    return argument;
}

static void at_a_test(void) {
    begin_fifo();
    catapults_t thread = spawn(loop, NULL);
    catapults_yield();
    require(catapults_cancel(thread) == 0 && catapults_cancel(thread) == 0);
    require(result_of(thread) == CATAPULTS_CANCELED);
}

static void *sleep_for_ever(void *argument) {
    catapults_cleanup_push(note, "s");
    catapults_sleep_until(CATAPULTS_FOREVER);
    catapults_cleanup_pop(0);
    return argument;
}

static void *wait_on_the_condition(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_cleanup_push(note, "c");
    require(catapults_cond_wait(&cond, &mutex) == 0);
    catapults_cleanup_pop(0);
    require(catapults_mutex_unlock(&mutex) == 0);
    return argument;
}

static void *wait_for_the_semaphore(void *argument) {
    catapults_cleanup_push(note, "m");
    catapults_sem_wait(&semaphore);
    catapults_cleanup_pop(0);
    return argument;
}

static void *join_it(void *thread) {
    catapults_cleanup_push(note, "j");
    catapults_join(thread, NULL);
    catapults_cleanup_pop(0);
    return NULL;
}

static void *join_it_and_lend(void *thread) {
    catapults_cleanup_push(note, "l");
    catapults_join_donating(thread, NULL);
    catapults_cleanup_pop(0);
    return NULL;
}

/* Asleep in each cancellation point, and on the way to it. */
static void cancel_each(void) {
    for (int asleep = 0; asleep < 2; asleep++) {
        order[0] = '\0';
        void *(*const starts[])(void *) = {sleep_for_ever, wait_on_the_condition, wait_for_the_semaphore, join_it,
                                           join_it_and_lend};
        static const char *const notes[] = {"s", "c", "m", "j", "l"};
        catapults_t sleeper = spawn(sleep_for_ever, NULL);
        for (int i = 0; i < 5; i++) {
            order[0] = '\0';
            catapults_t thread = spawn(starts[i], sleeper);
            if (asleep)
                catapults_yield();
            require(catapults_cancel(thread) == 0 && result_of(thread) == CATAPULTS_CANCELED);
            require(strcmp(order, notes[i]) == 0);
            if (starts[i] == wait_on_the_condition) /* it has it again */
                require(mutex.state != 0 && memset(&mutex, 0, sizeof mutex));
        }
        require(cond.waiters.first == NULL && semaphore.waiters.first == NULL);
        require(catapults_cancel(sleeper) == 0 && result_of(sleeper) == CATAPULTS_CANCELED);
    }
}

static void at_every_call_that_waits(void) {
    begin_fifo();
    cancel_each();
}

static void at_every_call_that_waits_under_an_eager_policy(void) {
    begin_eagerly();
    cancel_each();
}

static void *lock_it(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0); /* no cancellation point */
    strcat(order, "locked");
    require(catapults_mutex_unlock(&mutex) == 0);
    catapults_testcancel();
    return argument;
}

static void not_at_a_mutex(void) {
    begin_fifo();
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_t thread = spawn(lock_it, NULL);
    catapults_yield();
    require(catapults_cancel(thread) == 0);
    catapults_yield();
    require(order[0] == '\0' && catapults_mutex_unlock(&mutex) == 0);
    require(result_of(thread) == CATAPULTS_CANCELED && strcmp(order, "locked") == 0);
}

static void *disable(void *argument) {
    int before = 77;
    require(catapults_setcancelstate(77, NULL) == EINVAL);
    require(catapults_setcancelstate(CATAPULTS_CANCEL_DISABLE, &before) == 0 && before == CATAPULTS_CANCEL_ENABLE);
    catapults_sleep(2000000);
    catapults_testcancel();
    strcat(order, "survived");
    require(catapults_setcancelstate(CATAPULTS_CANCEL_ENABLE, &before) == 0 && before == CATAPULTS_CANCEL_DISABLE);
    catapults_sleep(0);
    return argument;
}

static void not_while_it_is_disabled(void) {
    begin_fifo();
    catapults_t thread = spawn(disable, NULL);
    catapults_yield();
    require(catapults_cancel(thread) == 0);
    require(result_of(thread) == CATAPULTS_CANCELED && strcmp(order, "survived") == 0);
}

static void *nothing(void *argument) { return argument; }

static void one_that_has_ended(void) {
    begin_fifo();
    catapults_t thread = spawn(nothing, order);
    catapults_yield();
    require(catapults_cancel(thread) == ESRCH && result_of(thread) == order);
}

static void *cancel_itself(void *argument) {
    require(catapults_cancel(catapults_self()) == 0);
    strcat(order, "still");
    catapults_testcancel();
    return argument;
}

static void itself(void) {
    begin_fifo();
    require(result_of(spawn(cancel_itself, NULL)) == CATAPULTS_CANCELED && strcmp(order, "still") == 0);
}

/* What is under way elsewhere is not lost: whoever is signalled and cancelled at once takes the signal. */
static void a_signal_and_a_cancellation_meet(void) {
    begin_fifo();
    for (int first = 0; first < 2; first++) {
        catapults_t thread = spawn(wait_on_the_condition, order);
        catapults_yield();
        if (first == 0)
            require(catapults_cond_signal(&cond) == 0 && catapults_cancel(thread) == 0);
        else
            require(catapults_cancel(thread) == 0 && catapults_cond_signal(&cond) == 0);
        require(result_of(thread) == order && mutex.state == 0);
    }
}

static void a_cancelled_joiner_leaves_the_thread(void) {
    begin_fifo();
    catapults_t sleeper = spawn(sleep_for_ever, NULL), joiner = spawn(join_it, sleeper);
    catapults_yield();
    require(catapults_join(sleeper, NULL) == EINVAL && catapults_cancel(joiner) == 0);
    require(result_of(joiner) == CATAPULTS_CANCELED && catapults_tryjoin(sleeper, NULL) == EBUSY);
    require(catapults_join_until(sleeper, NULL, catapults_now() + 1000000) == ETIMEDOUT);
    require(catapults_join_until(sleeper, NULL, 0) == ETIMEDOUT);
    require(catapults_cancel(sleeper) == 0 && catapults_tryjoin(sleeper, NULL) == EBUSY);
    catapults_yield();
    void *result;
    require(catapults_tryjoin(sleeper, &result) == 0 && result == CATAPULTS_CANCELED);
    require(catapults_tryjoin(catapults_self(), NULL) == EDEADLK);
}

/* It is READY to its policy while the other runs on its turns. */
static void a_lender_can_be_cancelled(void) {
    begin_fifo();
    catapults_t target = spawn(loop, NULL), lender = spawn(join_it_and_lend, target);
    for (int i = 0; i < 5; i++)
        catapults_yield();
    require(catapults_cancel(lender) == 0 && result_of(lender) == CATAPULTS_CANCELED && strcmp(order, "l") == 0);
    require(catapults_tryjoin(target, NULL) == EBUSY);
    require(catapults_cancel(target) == 0 && result_of(target) == CATAPULTS_CANCELED);
}

static void *end_after(void *argument) {
    catapults_sleep(1000000);
    return argument;
}

/* The instant of the joiner comes and the thread ends before the joiner runs again. */
static void an_end_and_an_instant_meet(void) {
    begin_fifo();
    for (int i = 0; i < 20; i++) {
        catapults_t thread = spawn(end_after, order);
        catapults_yield();
        void *result = NULL;
        int error = catapults_join_until(thread, &result, catapults_now() + 900000 + i * 10000);
        require(error == 0 ? result == order : error == ETIMEDOUT);
        if (error)
            require(result_of(thread) == order);
    }
}

/* ---- Handlers ---------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void inner(void) {
    catapults_cleanup_push(note, "3");
    catapults_cleanup_push(note, "-");
    catapults_cleanup_pop(0);
    catapults_cleanup_push(note, "2");
    catapults_cleanup_pop(1);
    catapults_exit(order);
    catapults_cleanup_pop(0);
}

static void *outer(void *argument) {
    catapults_cleanup_push(note, "5");
    catapults_cleanup_push(note, "4");
    inner();
    catapults_cleanup_pop(0);
    catapults_cleanup_pop(0);
    return argument;
}

static void handlers_run_from_the_last_to_the_first(void) {
    begin_fifo();
    require(result_of(spawn(outer, NULL)) == order && strcmp(order, "2345") == 0);
}

static void rest(void *name) {
    catapults_yield();
    catapults_sleep(1000); /* it is not cancelled twice */
    catapults_testcancel();
    note(name);
    catapults_exit(NULL); /* it ends already: the others run nevertheless */
}

static void *with_handlers_that_block(void *argument) {
    catapults_cleanup_push(note, "b");
    catapults_cleanup_push(rest, "a");
    catapults_sleep_until(CATAPULTS_FOREVER);
    catapults_cleanup_pop(0);
    catapults_cleanup_pop(0);
    return argument;
}

static void handlers_may_block(void) {
    begin_fifo();
    catapults_t thread = spawn(with_handlers_that_block, NULL);
    catapults_yield();
    require(catapults_cancel(thread) == 0);
    result_of(thread);
    require(strcmp(order, "ab") == 0);
}

static void unlock(void *locked) { require(catapults_mutex_unlock(locked) == 0); }

static void *with_a_mutex(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_cleanup_push(unlock, &mutex);
    while (!argument)
        require(catapults_cond_wait(&cond, &mutex) == 0);
    catapults_cleanup_pop(1);
    return argument;
}

static void a_handler_unlocks(void) {
    begin_fifo();
    catapults_t threads[10];
    for (int i = 0; i < 10; i++)
        threads[i] = spawn(with_a_mutex, NULL);
    catapults_yield();
    for (int i = 0; i < 10; i++)
        require(catapults_cancel(threads[i]) == 0);
    for (int i = 0; i < 10; i++)
        require(result_of(threads[i]) == CATAPULTS_CANCELED);
    require(mutex.state == 0 && cond.waiters.first == NULL);
}

static void say(void *name) { fprintf(stderr, "%s;", (char *)name); }

static void main_is_cancelled(void) {
    begin_fifo();
    catapults_t self = catapults_self();
    catapults_cleanup_push(say, "cleaned up");
    catapults_cancel(self);
    catapults_sleep(0);
    catapults_cleanup_pop(0);
    say("not reached");
}

static void the_first_thread_can_be_cancelled(void **state) {
    (void)state;
    struct child child = run_child(main_is_cancelled);
    assert_exit(&child, EXIT_SUCCESS);
    assert_string_equal(child.report, "cleaned up;");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(at_a_test),
        child_test(at_every_call_that_waits),
        child_test(at_every_call_that_waits_under_an_eager_policy),
        child_test(not_at_a_mutex),
        child_test(not_while_it_is_disabled),
        child_test(one_that_has_ended),
        child_test(itself),
        child_test(a_signal_and_a_cancellation_meet),
        child_test(a_cancelled_joiner_leaves_the_thread),
        child_test(a_lender_can_be_cancelled),
        child_test(an_end_and_an_instant_meet),
        child_test(handlers_run_from_the_last_to_the_first),
        child_test(handlers_may_block),
        child_test(a_handler_unlocks),
        cmocka_unit_test(the_first_thread_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
