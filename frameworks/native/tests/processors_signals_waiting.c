/*
 * Signals that threads wait for, on one, two and four processors, and calls that wait for something else and that
 * signals interrupt.
 */
#include "processors_signals_test.h"
#include "support/waits.h"

/* Its address is that of the kernel thread, which changes under the code that asks. */
__attribute__((noipa)) static int error_here(void) { return errno; }

/* ---- Waiting for signals ----------------------------------------------------------------------------------------- */

static atomic_int values_sum;

static void *wait_for_values(void *argument) {
    sigset_t set = set_of(SIGRTMIN + 1);
    siginfo_t info;
    for (;;) {
        require(catapults_sigwaitinfo(&set, &info) == SIGRTMIN + 1);
        if (info.si_value.sival_int < 0)
            return argument;
        atomic_fetch_add(&values_sum, info.si_value.sival_int);
        atomic_fetch_add(&handled, 1);
    }
}

static void send_now_and_then(pid_t parent) {
    for (int i = 0; i < 60; i++) {
        usleep(i % 3 * 1000);
        require(sigqueue(parent, SIGRTMIN + 1, (union sigval){.sival_int = i < 56 ? i : -1}) == 0);
    }
}

/* Nothing else runs, so that all processors are idle when it comes from outside. */
static void one_that_comes_while_all_is_idle(void) {
    pid_t child = outside(send_now_and_then);
    begin();
    mask(SIG_BLOCK, SIGRTMIN + 1);
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(wait_for_values, NULL);
    start_outside();
    for (int i = 0; i < 4; i++)
        join(threads[i]);
    require(waitpid(child, NULL, 0) == child);
    require(atomic_load(&values_sum) == 55 * 56 / 2);
}

static void waiting_ends_in_time(void) {
    begin();
    handle_with(SIGALRM, count, SA_RESTART);
    mask(SIG_BLOCK, SIGUSR1);
    sigset_t set = set_of(SIGUSR1);
    siginfo_t info;
    require(catapults_kill(catapults_self(), SIGUSR1) == 0);
    require(catapults_sigtimedwait(&set, &info, 0) == SIGUSR1 && info.si_code == SI_TKILL);
    require(catapults_sigtimedwait(&set, &info, catapults_now() + 2 * MS) == -1 && error_here() == EAGAIN);
    struct itimerval soon = {.it_value = {.tv_usec = 3000}};
    require(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    require(catapults_sigwaitinfo(&set, &info) == -1 && error_here() == EINTR && atomic_load(&handled) == 1);
    sigset_t none;
    sigemptyset(&none);
    require(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    require(catapults_sigsuspend(&none) == -1 && error_here() == EINTR && atomic_load(&handled) == 2);
    require(is_blocked(SIGUSR1));
}

/* Each asks the other by a signal, and waits for the answer with its mask open, as in the old days. */
static catapults_t players[2];
static void *play(void *number) {
    sigset_t none;
    sigemptyset(&none);
    catapults_t self = catapults_self();
    require(catapults_setspecific(key, (void *)((intptr_t)number + 1)) == 0);
    atomic_fetch_add(&there, 1);
    while (atomic_load(&there) < 3)
        catapults_yield();
    catapults_t other = players[1 - (intptr_t)number];
    for (int i = 0; i < 200; i++) {
        if (number)
            require(catapults_sigsuspend(&none) == -1 && error_here() == EINTR);
        require(catapults_kill(other, SIGUSR1) == 0);
        if (!number)
            require(catapults_sigsuspend(&none) == -1 && error_here() == EINTR);
        require(atomic_load(&handled_of[(intptr_t)number]) == i + 1 && catapults_self() == self);
    }
    return NULL;
}

static void two_that_suspend(void) {
    begin();
    handle_with(SIGUSR1, count, 0);
    mask(SIG_BLOCK, SIGUSR1);
    for (intptr_t i = 0; i < 2; i++)
        players[i] = spawn(play, (void *)i);
    atomic_fetch_add(&there, 1);
    join(players[0]);
    join(players[1]);
}

/* ---- Interrupted calls ------------------------------------------------------------------------------------------- */

static int ends[2];
static atomic_int returned;

static inline void *finished(int result) {
    atomic_fetch_add(&returned, 1);
    return (void *)(intptr_t)result;
}
static void *read_byte(void *argument) {
    (void)argument;
    char byte;
    return finished(catapults_read(ends[0], &byte, 1) == 1 ? 0 : error_here());
}
static void write_byte(void) { require(catapults_write(ends[1], "", 1) == 1); }
static void signal_condition(void) {
    require(catapults_mutex_lock(&mutex) == 0);
    require(catapults_cond_signal(&condition) == 0);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void returns_eintr(void *(*body)(void *)) {
    atomic_store(&handled, 0);
    atomic_store(&returned, 0);
    handle_with(SIGUSR1, count, 0);
    catapults_t thread = spawn(body, NULL);
    catapults_sleep(5 * MS);
    require(atomic_load(&returned) == 0);
    require(catapults_kill(thread, SIGUSR1) == 0);
    require((intptr_t)join(thread) == EINTR);
    require(atomic_load(&handled) == 1 && atomic_load(&handled_by) == thread);
}

static void goes_on(void *(*body)(void *), int flags, void (*end)(void)) {
    atomic_store(&handled, 0);
    atomic_store(&returned, 0);
    handle_with(SIGUSR1, count, flags);
    catapults_t thread = spawn(body, NULL);
    for (int i = 1; i <= 3; i++) {
        catapults_sleep(MS);
        require(catapults_kill(thread, SIGUSR1) == 0);
        await(&handled, i);
        require(atomic_load(&handled_by) == thread && atomic_load(&returned) == 0);
    }
    end();
    require(join(thread) == NULL);
}

static void calls_return(void) {
    begin();
    catapults_port_init(&port, "port", 0);
    require(pipe(ends) == 0);
    returns_eintr(sleep_long);
    returns_eintr(wait_for_semaphore);
    goes_on(wait_for_semaphore, SA_RESTART, post);
    returns_eintr(receive);
    goes_on(receive, SA_RESTART, send_message);
    returns_eintr(read_byte);
    goes_on(read_byte, SA_RESTART, write_byte);
    require(catapults_mutex_lock(&mutex) == 0);
    goes_on(lock_mutex, 0, unlock_mutex);
    goes_on(wait_for_condition, 0, signal_condition);
}

int main(int given, char **arguments) {
    const struct CMUnitTest tests[] = {
        child_test(one_that_comes_while_all_is_idle),
        child_test(waiting_ends_in_time),
        child_test(two_that_suspend),
        child_test(calls_return),
    };
    return run_on_processors(tests, given, arguments);
}
