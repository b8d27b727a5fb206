/*
 * Signals of threads on one, two and four processors: who gets what, wherever threads run and whatever they block; none
 * is lost, and those that queue come in their order.
 */
#include "processors_signals_test.h"

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

/* Each blocks one signal of its own, wherever it goes. */
static void *keep_a_mask(void *number_) {
    int own = SIGRTMIN + (int)(intptr_t)number_, other = own + 1;
    require(catapults_setspecific(key, (void *)((intptr_t)number_ + 1)) == 0);
    require(is_blocked(SIGUSR2) && !is_blocked(own));
    mask(SIG_BLOCK, own);
    for (int i = 0; i < 200; i++) {
        require(is_blocked(own) && !is_blocked(other) && !is_pending(own));
        require(catapults_kill(catapults_self(), own) == 0);
        catapults_yield();
        require(is_pending(own));
        int before = atomic_load(&handled_of[(intptr_t)number_]);
        mask(SIG_UNBLOCK, own);
        require(atomic_load(&handled_of[(intptr_t)number_]) == before + 1);
        if (i % 10 == 0)
            catapults_sleep(MS / 20);
        mask(SIG_BLOCK, own);
    }
    return NULL;
}

static void a_mask_goes_along(void) {
    begin();
    mask(SIG_BLOCK, SIGUSR2);
    catapults_t threads[MOST - 1];
    for (intptr_t i = 0; i < MOST - 1; i++) {
        handle_with(SIGRTMIN + (int)i, count, SA_RESTART);
        threads[i] = spawn(keep_a_mask, (void *)i);
    }
    mask(SIG_UNBLOCK, SIGUSR2);
    for (int i = 0; i < MOST - 1; i++)
        join(threads[i]);
    require(atomic_load(&handled) == 200 * (MOST - 1) && !is_blocked(SIGUSR2));
}

/* What the application has blocked before it began, in all kernel threads there are. */
static void what_is_blocked_before(void) {
    sigset_t set = set_of(SIGUSR1);
    require(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    begin();
    catapults_t threads[MOST];
    for (int i = 0; i < MOST; i++)
        threads[i] = spawn(compute, NULL);
    handle_with(SIGUSR1, count, SA_RESTART);
    require(is_blocked(SIGUSR1));
    kill(getpid(), SIGUSR1);
    catapults_sleep(5 * MS);
    require(atomic_load(&handled) == 0 && is_pending(SIGUSR1));
    mask(SIG_UNBLOCK, SIGUSR1);
    await(&handled, 1);
    for (int i = 0; i < 3; i++) {
        require(raise(SIGUSR1) == 0 && atomic_load(&handled) == i + 2);
        catapults_sleep(MS);
    }
    atomic_store(&over, 1);
    for (int i = 0; i < MOST; i++)
        join(threads[i]);
    require(atomic_load(&handled_by) == catapults_self());
}

/* ---- To a thread ------------------------------------------------------------------------------------------------- */

static void who_computes_is_interrupted(void) {
    begin();
    handle_with(SIGUSR1, count, SA_RESTART);
    catapults_t threads[MOST];
    for (int i = 0; i < MOST; i++)
        threads[i] = spawn(compute, NULL);
    for (int i = 0; i < 3 * MOST; i++) {
        require(catapults_kill(threads[i % MOST], SIGUSR1) == 0);
        await(&handled, i + 1);
        require(atomic_load(&handled_by) == threads[i % MOST]);
    }
    atomic_store(&over, 1);
    for (int i = 0; i < MOST; i++)
        join(threads[i]);
}

/* Nothing preempts there but signals. */
static void also_in_a_cooperative_program(void) {
    if (processors == 1)
        return;
    begin_with(&(struct catapults_options){.cooperative = true});
    handle_with(SIGUSR1, count, SA_RESTART);
    handle_with(SIGALRM, count, SA_RESTART);
    catapults_t thread = spawn(compute, NULL);
    await(&there, 1);
    for (int i = 1; i <= 10; i++) {
        require(catapults_kill(thread, SIGUSR1) == 0);
        await(&handled, i);
        require(atomic_load(&handled_by) == thread);
    }
    every(1000);
    await(&handled, 20);
    every(0);
    atomic_store(&over, 1);
    join(thread);
}

/* ---- To the process ---------------------------------------------------------------------------------------------- */

static void it_goes_to_who_lets_it_through(void *(*open_one)(void *)) {
    begin();
    handle_with(SIGUSR1, count, SA_RESTART);
    catapults_t open = spawn(open_one, NULL);
    mask(SIG_BLOCK, SIGUSR1);
    catapults_t closed[4];
    for (int i = 0; i < 4; i++)
        closed[i] = spawn(i % 2 ? compute : sleep_until_over, NULL);
    await(&there, 5);
    for (int i = 1; i <= 20; i++) {
        kill(getpid(), SIGUSR1);
        await(&handled, i);
        require(atomic_load(&handled_by) == open && atomic_load(&handled) == i);
    }
    atomic_store(&over, 1);
    join(open);
    for (int i = 0; i < 4; i++)
        join(closed[i]);
}

static void who_lets_it_through_computes(void) { it_goes_to_who_lets_it_through(compute); }
static void who_lets_it_through_sleeps(void) { it_goes_to_who_lets_it_through(sleep_until_over); }

static void it_pends_while_all_block_it(void) {
    begin();
    handle_with(SIGUSR1, count, SA_RESTART);
    mask(SIG_BLOCK, SIGUSR1);
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(i % 2 ? compute : sleep_until_over, NULL);
    await(&there, 4);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR1);
    catapults_sleep(10 * MS);
    require(atomic_load(&handled) == 0 && is_pending(SIGUSR1));
    mask(SIG_UNBLOCK, SIGUSR1);
    require(atomic_load(&handled) == 1 && atomic_load(&handled_by) == catapults_self() && !is_pending(SIGUSR1));
    atomic_store(&over, 1);
    for (int i = 0; i < 4; i++)
        join(threads[i]);
}

/* The thread that it was meant for blocks it, as another handler does: another gets it. */
static void wait_for_usr2(int number) {
    count(number);
    await(&handled, 2);
}

static void a_handler_that_blocks_it_passes_it_on(void) {
    begin();
    struct sigaction action = {.sa_handler = wait_for_usr2, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    require(catapults_sigaction(SIGUSR1, &action, NULL) == 0);
    handle_with(SIGUSR2, count, SA_RESTART);
    sigset_t both = set_of(SIGUSR1);
    sigaddset(&both, SIGUSR2);
    catapults_t other = spawn(sleep_until_over, NULL);
    await(&there, 1);
    require(catapults_sigmask(SIG_BLOCK, &both, NULL) == 0);
    require(catapults_kill(catapults_self(), SIGUSR1) == 0);
    kill(getpid(), SIGUSR2);
    require(catapults_sigmask(SIG_UNBLOCK, &both, NULL) == 0);
    require(atomic_load(&handled) == 2);
    atomic_store(&over, 1);
    join(other);
}

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

enum { VALUES = 2000 };
static atomic_int values[VALUES];
static int next_of[MOST];

static void note_value(int number, siginfo_t *info, void *context) {
    require(number == SIGRTMIN && context == NULL);
    atomic_fetch_add(&values[info->si_value.sival_int], 1);
    atomic_fetch_add(&handled, 1);
}

static void send_all(pid_t parent) {
    for (int i = 0; i < VALUES; i++)
        while (sigqueue(parent, SIGRTMIN, (union sigval){.sival_int = i}) != 0)
            usleep(100);
}

static void none_from_outside_is_lost(void) {
    pid_t child = outside(send_all);
    begin();
    struct sigaction action = {.sa_sigaction = note_value, .sa_flags = SA_SIGINFO | SA_RESTART};
    require(catapults_sigaction(SIGRTMIN, &action, NULL) == 0);
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(i % 2 ? compute : sleep_until_over, NULL);
    start_outside();
    await(&handled, VALUES);
    for (int i = 0; i < VALUES; i++)
        require(atomic_load(&values[i]) == 1);
    require(waitpid(child, NULL, 0) == child);
    atomic_store(&over, 1);
    for (int i = 0; i < 4; i++)
        join(threads[i]);
}

/* In their order, for each. */
static void note_next(int number, siginfo_t *info, void *context) {
    require(number == SIGRTMIN && context == NULL);
    int *next = catapults_getspecific(key);
    require(info->si_value.sival_int == *next);
    ++*next;
    atomic_fetch_add(&handled, 1);
}

static void *take_values(void *number) {
    sigset_t set = set_of(SIGRTMIN);
    require(catapults_setspecific(key, &next_of[(intptr_t)number]) == 0);
    require(catapults_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
    atomic_fetch_add(&there, 1);
    while (!atomic_load(&over)) {
        if ((intptr_t)number % 3 == 0)
            catapults_yield();
        else if ((intptr_t)number % 3 == 1)
            catapults_sleep(MS / 10);
    }
    return NULL;
}

static catapults_t takers[MOST];

static void *send_values(void *number) {
    for (int i = 0; i < 200; i++)
        while (catapults_sigqueue(takers[(intptr_t)number], SIGRTMIN, (union sigval){.sival_int = i}) == EAGAIN)
            catapults_yield();
    return NULL;
}

static void values_come_in_their_order(void) {
    begin();
    struct sigaction action = {.sa_sigaction = note_next, .sa_flags = SA_SIGINFO | SA_RESTART};
    require(catapults_sigaction(SIGRTMIN, &action, NULL) == 0);
    mask(SIG_BLOCK, SIGRTMIN);
    catapults_t senders[MOST];
    for (intptr_t i = 0; i < MOST; i++)
        takers[i] = spawn(take_values, (void *)i);
    await(&there, MOST);
    for (intptr_t i = 0; i < MOST; i++)
        senders[i] = spawn(send_values, (void *)i);
    await(&handled, 200 * MOST);
    atomic_store(&over, 1);
    for (int i = 0; i < MOST; i++) {
        join(senders[i]);
        join(takers[i]);
        require(next_of[i] == 200);
    }
}

/* ---- The default action ------------------------------------------------------------------------------------------ */

static void *wait_for_term(void *argument) {
    catapults_sleep(1000 * (int64_t)MS);
    return argument;
}

static void default_action(void) {
    begin();
    catapults_t thread = spawn(wait_for_term, NULL);
    spawn(compute, NULL);
    catapults_sleep(MS);
    catapults_kill(thread, SIGTERM);
    join(thread);
}

static void the_default_action_ends_the_program(void **state) {
    (void)state;
    struct child child = run_child(default_action);
    assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGTERM);
}

int main(int given, char **arguments) {
    const struct CMUnitTest tests[] = {
        child_test(a_mask_goes_along),
        child_test(what_is_blocked_before),
        child_test(who_computes_is_interrupted),
        child_test(also_in_a_cooperative_program),
        child_test(who_lets_it_through_computes),
        child_test(who_lets_it_through_sleeps),
        child_test(it_pends_while_all_block_it),
        child_test(a_handler_that_blocks_it_passes_it_on),
        child_test(none_from_outside_is_lost),
        child_test(values_come_in_their_order),
        cmocka_unit_test(the_default_action_ends_the_program),
    };
    return run_on_processors(tests, given, arguments);
}
