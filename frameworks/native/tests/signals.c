/*
 * Signals per thread: masks, who gets what, queues, and waiting.
 */
#include "support/signals.h"

enum { MOST = 8 };

/* ---- Masks and actions ------------------------------------------------------------------------------------------- */

static void *block_usr2(void *argument) {
    require(is_blocked(SIGUSR1) && !is_blocked(SIGUSR2));
    mask(SIG_BLOCK, SIGUSR2);
    return argument;
}

static void a_mask_is_inherited_and_each_threads_own(void) {
    begin();
    mask(SIG_BLOCK, SIGUSR1);
    catapults_t thread = spawn(block_usr2, NULL);
    mask(SIG_UNBLOCK, SIGUSR1);
    join(thread);
    require(!is_blocked(SIGUSR1) && !is_blocked(SIGUSR2));
    sigset_t all, old;
    sigfillset(&all);
    require(catapults_sigmask(SIG_SETMASK, &all, &old) == 0 && !sigismember(&old, SIGUSR1));
    require(is_blocked(SIGUSR1) && !is_blocked(SIGKILL) && !is_blocked(SIGURG) && !is_blocked(SIGRTMAX - 2));
    require(catapults_sigmask(77, &all, NULL) == EINVAL);
}

static void the_runtimes_own_signals_are_refused(void) {
    begin();
    struct sigaction action = {.sa_handler = count};
    require(catapults_sigaction(SIGURG, &action, NULL) == -1 && errno == EINVAL);
    require(catapults_sigaction(SIGKILL, &action, NULL) == -1 && errno == EINVAL);
    require(catapults_sigaction(0, &action, NULL) == -1 && errno == EINVAL);
    require(catapults_sigaction(_NSIG, &action, NULL) == -1 && errno == EINVAL);
    require(catapults_kill(catapults_self(), SIGURG) == EINVAL);
    require(catapults_kill(catapults_self(), -1) == EINVAL);
    require(catapults_kill(catapults_self(), 0) == 0);
    sigset_t own = set_of(SIGURG, SIGVTALRM);
    int number;
    require(catapults_sigwait(&own, &number) == EINVAL);
}

static void they_are_named(void **state) {
    (void)state;
    struct child child = run_child(the_runtimes_own_signals_are_refused);
    assert_exit(&child, 0);
    assert_reported(&child, "catapults_sigaction: SIGURG is the runtime's own signal; take another one");
}

static void actions_are_told(void) {
    begin();
    struct sigaction before;
    signal(SIGUSR1, count); /* by itself; it goes on */
    require(catapults_sigaction(SIGUSR1, NULL, &before) == 0 && before.sa_handler == count);
    mask(SIG_BLOCK, SIGUSR1);
    mask(SIG_UNBLOCK, SIGUSR1);
    raise(SIGUSR1);
    require(handled == 1);
    handle_with(SIGUSR1, SIG_IGN, 0);
    require(catapults_sigaction(SIGUSR1, NULL, &before) == 0 && before.sa_handler == SIG_IGN);
    raise(SIGUSR1);
    require(catapults_kill(catapults_self(), SIGUSR1) == 0);
    require(handled == 1);
    handle_with(SIGUSR1, count, SA_RESETHAND);
    raise(SIGUSR1);
    require(handled == 2);
    require(catapults_sigaction(SIGUSR1, NULL, &before) == 0 && before.sa_handler == SIG_DFL);
}

/* ---- To a thread ------------------------------------------------------------------------------------------------- */

static void a_thread_signals_itself(void) {
    begin();
    handle_with(SIGUSR1, count, 0);
    errno = 7;
    require(catapults_kill(catapults_self(), SIGUSR1) == 0 && handled == 1 && errno == 7);
    mask(SIG_BLOCK, SIGUSR1);
    require(catapults_kill(catapults_self(), SIGUSR1) == 0 && catapults_kill(catapults_self(), SIGUSR1) == 0);
    require(handled == 1 && is_pending(SIGUSR1));
    mask(SIG_UNBLOCK, SIGUSR1);
    require(handled == 2 && !is_pending(SIGUSR1));
    require(raise(SIGUSR1) == 0 && handled == 3);
    require(kill(getpid(), SIGUSR1) == 0 && handled == 4);
}

static void *yield_until_handled(void *times) {
    while (handled < (intptr_t)times) {
        errno = 9;
        catapults_yield();
        require(errno == 9);
    }
    return NULL;
}

static void a_thread_that_is_ready_handles_it_when_it_runs(void) {
    begin();
    handle_with(SIGUSR1, count, 0);
    catapults_t thread = spawn(yield_until_handled, (void *)1);
    require(catapults_kill(thread, SIGUSR1) == 0); /* before it has begun */
    require(handled == 0);
    join(thread);
    require(handled_by == thread);
    catapults_t other = spawn(yield_until_handled, (void *)2);
    catapults_yield();
    require(catapults_kill(other, SIGUSR1) == 0 && catapults_kill(other, SIGUSR1) == 0 && handled == 1);
    join(other);
    require(handled == 2 && handled_by == other);
    catapults_t suspended = spawn(yield_until_handled, (void *)3);
    catapults_yield();
    require(catapults_suspend(suspended) == 0 && catapults_kill(suspended, SIGUSR1) == 0);
    catapults_yield();
    require(handled == 2);
    require(catapults_resume(suspended) == 0);
    join(suspended);
    require(handled == 3 && handled_by == suspended);
}

static void *spin_until_handled(void *times) {
    while (handled < (intptr_t)times)
        ;
    return NULL;
}

/* Under a policy that preempts. */
static void a_thread_that_was_preempted_handles_it(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/turns.so", .tick = 2 * MS}) == 0);
    handle_with(SIGUSR1, count, 0);
    catapults_t thread = spawn(spin_until_handled, (void *)1);
    catapults_sleep(20 * MS);
    require(catapults_kill(thread, SIGUSR1) == 0);
    join(thread);
    require(handled == 1 && handled_by == thread);
}

static void *return_at_once(void *argument) { return argument; }

static void who_has_ended_gets_none(void) {
    begin();
    handle_with(SIGUSR1, count, 0);
    catapults_t thread = spawn(return_at_once, NULL);
    catapults_yield();
    require(catapults_kill(thread, SIGUSR1) == ESRCH && catapults_kill(thread, 0) == ESRCH);
    join(thread);
    require(handled == 0);
}

/* ---- To the process ---------------------------------------------------------------------------------------------- */

static void *sleep_until_over(void *argument) {
    while (!over)
        catapults_sleep(MS);
    return argument;
}

static void the_process_has_one_target(void) {
    begin();
    handle_with(SIGUSR1, count, SA_RESTART);
    mask(SIG_BLOCK, SIGUSR1);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR1);
    require(handled == 0 && is_pending(SIGUSR1));
    mask(SIG_UNBLOCK, SIGUSR1);
    require(handled == 1 && handled_by == catapults_self());
    catapults_t open = spawn(sleep_until_over, NULL);
    mask(SIG_BLOCK, SIGUSR1);
    catapults_t closed = spawn(sleep_until_over, NULL);
    catapults_yield();
    kill(getpid(), SIGUSR1);
    catapults_sleep(5 * MS);
    require(handled == 2 && handled_by == open && !is_pending(SIGUSR1));
    over = 1;
    join(open);
    join(closed);
}

static void *block_and_sleep(void *argument) {
    mask(SIG_BLOCK, SIGUSR1);
    catapults_sleep(MS);
    return argument;
}

/* Whoever it was meant for blocks it, or ends: another gets it. */
static void a_target_that_goes_passes_it_on(void) {
    begin();
    handle_with(SIGUSR1, count, SA_RESTART);
    catapults_t first = spawn(block_and_sleep, NULL);
    catapults_t second = spawn(sleep_until_over, NULL);
    mask(SIG_BLOCK, SIGUSR1);
    kill(getpid(), SIGUSR1); /* for the first, which has not begun */
    catapults_sleep(10 * MS);
    require(handled == 1);
    over = 1;
    join(first);
    join(second);
}

static void default_action_of_a_directed_one(void) {
    begin();
    catapults_t thread = spawn(sleep_until_over, NULL);
    catapults_yield();
    catapults_kill(thread, SIGTERM);
    catapults_sleep(1000 * (int64_t)MS);
}

static void default_action_when_it_is_unblocked(void) {
    begin();
    mask(SIG_BLOCK, SIGTERM);
    kill(getpid(), SIGTERM);
    require(is_pending(SIGTERM));
    mask(SIG_UNBLOCK, SIGTERM);
}

static void the_default_action_ends_the_program(void **state) {
    (void)state;
    struct child child = run_child(default_action_of_a_directed_one);
    assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGTERM);
    child = run_child(default_action_when_it_is_unblocked);
    assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGTERM);
}

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

static volatile int values[MOST * 512], values_count;

static void note_value(int number, siginfo_t *info, void *context) {
    require(number == SIGRTMIN + 1 || number == SIGRTMIN);
    require(context == NULL && info->si_signo == number);
    values[values_count++] = info->si_value.sival_int + (number == SIGRTMIN ? 1000000 : 0);
}

static void handle_values(int number) {
    struct sigaction action = {.sa_sigaction = note_value, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    require(catapults_sigaction(number, &action, NULL) == 0);
}

static void values_come_in_order_and_the_lowest_number_first(void) {
    begin();
    handle_values(SIGRTMIN);
    handle_values(SIGRTMIN + 1);
    sigset_t both = set_of(SIGRTMIN, SIGRTMIN + 1);
    require(catapults_sigmask(SIG_BLOCK, &both, NULL) == 0);
    for (int i = 0; i < 5; i++)
        require(catapults_sigqueue(catapults_self(), SIGRTMIN + 1, (union sigval){.sival_int = i}) == 0);
    require(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 5}) == 0);
    require(values_count == 0);
    require(catapults_sigmask(SIG_UNBLOCK, &both, NULL) == 0);
    require(values_count == 6 && values[0] == 1000005);
    for (int i = 0; i < 5; i++)
        require(values[i + 1] == i);
}

/* More than there is room for on the way from the kernel. */
static void none_of_many_is_lost(void) {
    begin();
    handle_values(SIGRTMIN);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        for (int i = 0; i < 2000; i++)
            while (sigqueue(parent, SIGRTMIN, (union sigval){.sival_int = i}) != 0)
                usleep(100);
        _exit(0);
    }
    alarm(HANGS);
    while (values_count < 2000)
        for (volatile int i = 0; i < 1000; i++)
            ;
    require(values_count == 2000);
    int seen = 0;
    for (int i = 0; i < 2000; i++)
        seen += values[i];
    require(seen == 1999 * 1000 + 2000 * 1000000);
    require(waitpid(child, NULL, 0) == child);
}

static void too_many_are_refused(void) {
    begin();
    handle_values(SIGRTMIN);
    mask(SIG_BLOCK, SIGRTMIN);
    int queued = 0;
    while (catapults_sigqueue(catapults_self(), SIGRTMIN, (union sigval){0}) == 0)
        queued++;
    require(queued > 1000 && queued < 1000000);
    require(catapults_sigqueue(catapults_self(), SIGRTMIN, (union sigval){0}) == EAGAIN);
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

static void *wait_for_usr2(void *argument) {
    (void)argument;
    sigset_t set = set_of(SIGUSR2, 0);
    int number;
    return (void *)(intptr_t)catapults_sigwait(&set, &number);
}

static catapults_t got[MOST];
static int got_count;

static void *wait_for_one(void *argument) {
    sigset_t set = set_of(SIGUSR1, SIGRTMIN);
    siginfo_t info;
    require(catapults_sigwaitinfo(&set, &info) == SIGRTMIN && info.si_value.sival_int == got_count);
    got[got_count++] = catapults_self();
    return argument;
}

static void several_wait_in_order(void) {
    begin();
    mask(SIG_BLOCK, SIGRTMIN);
    catapults_t threads[4];
    for (int i = 0; i < 4; i++) {
        threads[i] = spawn(wait_for_one, NULL);
        catapults_yield();
    }
    for (int i = 0; i < 4; i++) {
        require(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}) == 0);
        catapults_sleep(2 * MS);
        require(got_count == i + 1 && got[i] == threads[i]);
    }
    for (int i = 0; i < 4; i++)
        join(threads[i]);
}

static void waiting_takes_what_pends_and_ends_in_time(void) {
    begin();
    mask(SIG_BLOCK, SIGUSR1);
    sigset_t set = set_of(SIGUSR1, SIGUSR2);
    siginfo_t info;
    require(catapults_kill(catapults_self(), SIGUSR1) == 0);
    require(catapults_sigtimedwait(&set, &info, 0) == SIGUSR1 && info.si_code == SI_TKILL && info.si_pid == getpid());
    require(catapults_sigtimedwait(&set, &info, catapults_now() + 2 * MS) == -1 && errno == EAGAIN);
    handle_with(SIGALRM, count, SA_RESTART);
    struct itimerval soon = {.it_value = {.tv_usec = 3000}};
    require(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    require(catapults_sigwaitinfo(&set, &info) == -1 && errno == EINTR && handled == 1);
}

static void nobody_is_left_but_the_kernel(void) {
    begin();
    mask(SIG_BLOCK, SIGCHLD);
    pid_t child = fork();
    if (child == 0) {
        usleep(20000);
        _exit(3);
    }
    sigset_t set = set_of(SIGCHLD, 0);
    siginfo_t info;
    require(catapults_sigwaitinfo(&set, &info) == SIGCHLD && info.si_pid == child && info.si_status == 3);
}

static void suspending_opens_the_mask(void) {
    begin();
    handle_with(SIGUSR1, count, SA_RESTART);
    handle_with(SIGALRM, count, 0);
    mask(SIG_BLOCK, SIGUSR1);
    require(catapults_kill(catapults_self(), SIGUSR1) == 0 && handled == 0);
    sigset_t none;
    sigemptyset(&none);
    require(catapults_sigsuspend(&none) == -1 && errno == EINTR && handled == 1 && is_blocked(SIGUSR1));
    struct itimerval soon = {.it_value = {.tv_usec = 3000}};
    require(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    require(catapults_sigsuspend(&none) == -1 && errno == EINTR && handled == 2 && last == SIGALRM);
}

static void waiting_is_a_cancellation_point(void) {
    begin();
    catapults_t thread = spawn(wait_for_usr2, NULL);
    catapults_yield();
    require(catapults_cancel(thread) == 0);
    require(join(thread) == CATAPULTS_CANCELED);
}

/* ---- By upcalls -------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) /* as of tests/kernel_blocks.c */
static void *sleep_long(void *argument) {
    require(catapults_sleep(10000 * (int64_t)MS) == EINTR);
    return argument;
}

static void signals_come_by_upcalls(void) {
    require(catapults_init(&(struct catapults_options){.activations = true}) == 0);
    handle_with(SIGUSR1, count, 0);
    handle_with(SIGALRM, count, 0);
    catapults_t thread = spawn(sleep_long, NULL);
    catapults_yield();
    require(catapults_kill(thread, SIGUSR1) == 0);
    join(thread);
    require(handled == 1 && handled_by == thread);
    for (int i = 2; i < 6; i++) {
        every(3000);
        require(catapults_sleep(10000 * (int64_t)MS) == EINTR);
        require(handled >= i && handled_by == catapults_self());
    }
    every(0);
    mask(SIG_BLOCK, SIGUSR2);
    thread = spawn(wait_for_usr2, NULL);
    catapults_yield();
    kill(getpid(), SIGUSR2);
    require(join(thread) == NULL);
    every(1000);
    for (int before = handled; handled < before + 10;)
        catapults_yield();
    every(0);
}
#endif

/* ---- Fork and exec ----------------------------------------------------------------------------------------------- */

static void a_child_begins_with_nothing_pending(void) {
    begin();
    handle_with(SIGUSR1, count, 0);
    mask(SIG_BLOCK, SIGUSR1);
    require(catapults_kill(catapults_self(), SIGUSR1) == 0);
    kill(getpid(), SIGUSR1);
    pid_t child = catapults_fork();
    if (child == 0) {
        require(is_blocked(SIGUSR1) && !is_pending(SIGUSR1));
        mask(SIG_UNBLOCK, SIGUSR1);
        require(handled == 0);
        kill(getpid(), SIGUSR1);
        require(handled == 1);
        handle_with(SIGALRM, count, 0);
        every(1000);
        while (handled < 4)
            ;
        _exit(0);
    }
    int status;
    require(waitpid(child, &status, 0) == child && status == 0);
    require(is_pending(SIGUSR1));
}

static void exec_passes_the_mask_on(void) {
    begin();
    mask(SIG_BLOCK, SIGUSR1);
    mask(SIG_BLOCK, SIGUSR2);
    require(catapults_kill(catapults_self(), SIGUSR1) == 0);
    require(catapults_execve("/nonexistent", (char *[]){"x", NULL}, environ) == -1 && errno == ENOENT);
    require(is_pending(SIGUSR1) && catapults_sleep(2 * MS) == 0);
    /* Signals 10 and 12 are blocked, 10 pends. */
    catapults_execve("/bin/sh", (char *[]){"sh", "-c", "exec grep -q '^SigBlk:.*a00$' /proc/self/status", NULL},
                     environ);
    require(!"exec");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(a_mask_is_inherited_and_each_threads_own),
        cmocka_unit_test(they_are_named),
        child_test(actions_are_told),
        child_test(a_thread_signals_itself),
        child_test(a_thread_that_is_ready_handles_it_when_it_runs),
        child_test(a_thread_that_was_preempted_handles_it),
        child_test(who_has_ended_gets_none),
        child_test(the_process_has_one_target),
        child_test(a_target_that_goes_passes_it_on),
        cmocka_unit_test(the_default_action_ends_the_program),
        child_test(values_come_in_order_and_the_lowest_number_first),
        child_test(none_of_many_is_lost),
        child_test(too_many_are_refused),
        child_test(several_wait_in_order),
        child_test(waiting_takes_what_pends_and_ends_in_time),
        child_test(nobody_is_left_but_the_kernel),
        child_test(suspending_opens_the_mask),
        child_test(waiting_is_a_cancellation_point),
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
        child_test(signals_come_by_upcalls),
#endif
        child_test(a_child_begins_with_nothing_pending),
        child_test(exec_passes_the_mask_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
