/*
 * Handlers of signals: what calls return, where they run, what they may do; faults.
 */
#include "support/signals.h"
#include "support/waits.h"

enum { MOST = 8 };

static char order[64];

/* ---- Interrupted calls ------------------------------------------------------------------------------------------- */

static int pipe_ends[2];
static catapults_rwlock_t rwlock;
static catapults_barrier_t barrier;
static catapults_once_t once = CATAPULTS_ONCE_INIT;

static void *lock_to_write(void *argument) {
    (void)argument;
    int result = catapults_rwlock_wrlock(&rwlock);
    require(catapults_rwlock_unlock(&rwlock) == 0);
    return finished(result);
}
static void *lock_to_read(void *argument) {
    (void)argument;
    int result = catapults_rwlock_rdlock(&rwlock);
    require(catapults_rwlock_unlock(&rwlock) == 0);
    return finished(result);
}
static void *wait_at_barrier(void *argument) {
    (void)argument;
    return finished(catapults_barrier_wait(&barrier));
}
static void *call(void *argument) {
    (void)argument;
    struct catapults_message message = {0};
    return finished(catapults_port_call(&port, &message));
}
static void *join_it(void *thread) { return finished(catapults_join(thread, NULL)); }
static void run_once(void) { catapults_sem_wait(&semaphore); }
static void *do_once(void *argument) {
    (void)argument;
    return finished(catapults_once(&once, run_once));
}
static void *wait_for_usr2(void *argument) {
    (void)argument;
    sigset_t set = set_of(SIGUSR2, 0);
    int number;
    return finished(catapults_sigwait(&set, &number));
}

static void calls_return(void) {
    begin();
    catapults_port_init(&port, "port", 0);
    interrupts(sleep_long, NULL);
    interrupts(wait_for_semaphore, post);
    interrupts(receive, send_message);
}

/* It goes on in any case. */
static void goes_on(void *(*body)(void *), void *argument, void (*end)(void)) {
    handled = returned = 0;
    handle_with(SIGUSR1, count, 0);
    catapults_t thread = spawn(body, argument);
    for (int i = 1; i <= 3; i++) {
        catapults_sleep(MS);
        require(catapults_kill(thread, SIGUSR1) == 0);
        catapults_sleep(MS);
        require(handled == i && handled_by == thread && returned == 0);
    }
    end();
    void *result = join(thread);
    require(result == NULL || (intptr_t)result == CATAPULTS_BARRIER_SERIAL_THREAD);
}

static void signal_condition(void) { require(catapults_cond_signal(&condition) == 0); }
static void unlock_rwlock(void) { require(catapults_rwlock_unlock(&rwlock) == 0); }
static void reach_barrier(void) { catapults_barrier_wait(&barrier); }
static void *serve_late(void *argument) {
    struct catapults_message *message;
    require(catapults_port_receive(&port, &message) == 0);
    require(catapults_sem_wait(&semaphore) == 0);
    require(catapults_port_reply(message) == 0);
    return argument;
}

static void locks_go_on(void) {
    begin();
    catapults_port_init(&port, "port", 0);
    require(catapults_barrier_init(&barrier, 2) == 0);
    require(catapults_mutex_lock(&mutex) == 0);
    goes_on(lock_mutex, NULL, unlock_mutex);
    goes_on(wait_for_condition, NULL, signal_condition);
    require(catapults_rwlock_wrlock(&rwlock) == 0);
    goes_on(lock_to_write, NULL, unlock_rwlock);
    require(catapults_rwlock_wrlock(&rwlock) == 0);
    goes_on(lock_to_read, NULL, unlock_rwlock);
    goes_on(wait_at_barrier, NULL, reach_barrier);
    handle_with(SIGUSR1, count, SA_RESTART);
    catapults_t first = spawn(do_once, NULL);
    catapults_yield();
    goes_on(do_once, NULL, post);
    join(first);
    catapults_t thread = spawn(wait_for_semaphore, NULL);
    goes_on(join_it, thread, post);
    catapults_t server = spawn(serve_late, NULL);
    goes_on(call, NULL, post);
    join(server);
    mask(SIG_BLOCK, SIGUSR2);
    thread = NULL;
    handled = returned = 0;
    catapults_t waiter = spawn(wait_for_usr2, NULL);
    catapults_yield();
    require(catapults_kill(waiter, SIGUSR1) == 0);
    catapults_sleep(MS);
    require(handled == 1 && returned == 0);
    require(catapults_kill(waiter, SIGUSR2) == 0);
    require(join(waiter) == NULL);
}

/* Handlers do not cost a place in a queue, and may wait themselves. */
static void *lock_and_note(void *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    strcat(order, name);
    require(catapults_mutex_unlock(&mutex) == 0);
    return NULL;
}

static int waited;

static void wait_awhile(int number) {
    count(number);
    require(catapults_sleep(3 * MS) == 0);
    waited++;
}

static void a_place_in_a_queue_is_kept(void) {
    begin();
    handle_with(SIGUSR1, wait_awhile, 0);
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_t threads[3];
    for (int i = 0; i < 3; i++) {
        threads[i] = spawn(lock_and_note, (char *[]){"a", "b", "c"}[i]);
        catapults_yield();
    }
    for (int i = 0; i < 3; i++)
        require(catapults_kill(threads[i], SIGUSR1) == 0);
    while (waited < 3)
        catapults_sleep(MS);
    for (int i = 0; i < 100; i++)
        catapults_yield(); /* all wait for the mutex again, also where one turn is too short for it */
    require(handled == 3);
    require(catapults_kill(threads[0], SIGUSR1) == 0);
    catapults_yield(); /* it is in its handler, and the mutex is free meanwhile */
    require(catapults_mutex_unlock(&mutex) == 0);
    for (int i = 0; i < 3; i++)
        join(threads[i]);
    require(handled == 4 && strlen(order) == 3 && strchr(order, 'a') && strstr(order, "bc"));
}

static void *write_and_note(void *name) {
    require(catapults_rwlock_wrlock(&rwlock) == 0);
    strcat(order, name);
    require(catapults_rwlock_unlock(&rwlock) == 0);
    return NULL;
}

static void *be_cancelled(void *argument) {
    (void)argument;
    require(catapults_mutex_lock(&mutex) == 0);
    strcat(order, "m");
    require(catapults_mutex_unlock(&mutex) == 0);
    catapults_testcancel();
    return NULL;
}

/* Who is cancelled while a handler runs in the middle of a wait ends after the wait. */
static void a_wait_is_finished_before_a_cancellation(void) {
    begin();
    handle_with(SIGUSR1, wait_awhile, 0);
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_t thread = spawn(be_cancelled, NULL);
    catapults_yield();
    require(catapults_kill(thread, SIGUSR1) == 0);
    catapults_yield();
    require(handled == 1 && catapults_cancel(thread) == 0);
    catapults_sleep(10 * MS);
    require(order[0] == 0 && catapults_mutex_unlock(&mutex) == 0);
    require(join(thread) == CATAPULTS_CANCELED && strcmp(order, "m") == 0);
}

/* What is handed over while a handler runs is not lost. */
static volatile bool told;

static void wait_until_told(int number) {
    count(number);
    while (!told)
        require(catapults_sleep(MS) == 0);
}

static void a_lock_is_handed_over_to_who_handles(void) {
    begin();
    handle_with(SIGUSR1, wait_until_told, 0);
    require(catapults_rwlock_wrlock(&rwlock) == 0);
    catapults_t writer = spawn(write_and_note, "w");
    catapults_yield();
    require(catapults_kill(writer, SIGUSR1) == 0);
    catapults_yield();
    require(handled == 1);
    require(catapults_rwlock_unlock(&rwlock) == 0);
    require(catapults_rwlock_tryrdlock(&rwlock) == EBUSY);
    told = true;
    join(writer);
    require(strcmp(order, "w") == 0 && catapults_rwlock_tryrdlock(&rwlock) == 0);
    require(catapults_rwlock_unlock(&rwlock) == 0);

    told = false;
    catapults_t waiter = spawn(wait_for_condition, NULL);
    catapults_yield();
    require(catapults_kill(waiter, SIGUSR1) == 0);
    catapults_yield();
    require(handled == 2);
    signal_condition(); /* nobody else waits */
    told = true;
    join(waiter);
}

/* ---- From the kernel --------------------------------------------------------------------------------------------- */

static void a_thread_that_computes_is_interrupted(void) {
    begin();
    handle_with(SIGALRM, count, 0);
    every(2000);
    while (handled < 20)
        ;
    every(0);
}

static void also_in_a_cooperative_program(void) {
    require(catapults_init(&(struct catapults_options){.cooperative = true}) == 0);
    handle_with(SIGALRM, count, 0);
    every(2000);
    while (handled < 20)
        ;
    every(0);
}

static volatile long turns;
static volatile int whose;

/* Mostly in libc, where it is not interrupted. */
static void *take_turns(void *number) {
    static char block[1 << 16];
    for (; !over; turns += whose != (intptr_t)number, whose = (int)(intptr_t)number) {
        memset(block, over, sizeof block);
        for (volatile int i = 0; i < 1000; i++)
            ;
    }
    return NULL;
}

/* The timer that is set for signals is not taken for that of turns. */
static void ticks_do_not_come_sooner_for_signals(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/ticks.so", .tick = 20 * MS}) == 0);
    handle_with(SIGALRM, count, SA_RESTART);
    catapults_t threads[] = {spawn(take_turns, (void *)1), spawn(take_turns, (void *)2)};
    every(500);
    int64_t start = catapults_now();
    while (handled < 100 || turns < 2)
        catapults_sleep(100 * MS);
    int64_t passed = catapults_now() - start;
    every(0);
    over = 1;
    join(threads[0]);
    join(threads[1]);
    require(turns < 10 + 2 * passed / (20 * MS));
}

/* Threads of all kinds in a storm of signals: none is lost, all calls do what they do without. */
static volatile long storm_work[MOST];

static void *storm(void *number_) {
    intptr_t number = (intptr_t)number_;
    while (!over) {
        switch (number % 4) {
        case 0:
            catapults_mutex_lock(&mutex);
            for (volatile int i = 0; i < 500; i++)
                ;
            catapults_mutex_unlock(&mutex);
            break;
        case 1:
            free(malloc(1000));
            catapults_yield();
            break;
        case 2:
            catapults_sem_post(&semaphore);
            require(catapults_sem_wait(&semaphore) == 0);
            break;
        case 3:
            catapults_sleep(100000);
            break;
        }
        storm_work[number]++;
    }
    return NULL;
}

static void a_storm(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/turns.so", .tick = MS}) == 0);
    handle_with(SIGALRM, count, SA_RESTART);
    handle_with(SIGUSR1, count, SA_RESTART);
    catapults_t threads[MOST];
    for (intptr_t i = 0; i < MOST; i++)
        threads[i] = spawn(storm, (void *)i);
    every(300);
    for (int64_t until = catapults_now() + 300 * MS; catapults_now() < until;) {
        for (int i = 0; i < MOST; i++)
            require(catapults_kill(threads[i], SIGUSR1) == 0);
        catapults_sleep(500000);
    }
    every(0);
    over = 1;
    for (int i = 0; i < MOST; i++) {
        join(threads[i]);
        require(storm_work[i] > 0);
    }
    require(handled > 20);
}

static void system_calls_of_the_application(void) {
    begin();
    handle_with(SIGALRM, count, 0);
    struct itimerval soon = {.it_value = {.tv_usec = 3000}};
    require(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    while (handled == 0)
        pause();
    require(pipe(pipe_ends) == 0);
    char byte;
    require(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    require(read(pipe_ends[0], &byte, 1) == -1 && errno == EINTR && handled == 2);
}

static void write_the_byte(int number) {
    count(number);
    require(write(pipe_ends[1], "", 1) == 1);
}

static void system_calls_are_restarted(void) {
    begin();
    require(pipe(pipe_ends) == 0);
    handle_with(SIGALRM, write_the_byte, SA_RESTART);
    struct itimerval soon = {.it_value = {.tv_usec = 3000}};
    char byte;
    require(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    require(read(pipe_ends[0], &byte, 1) == 1 && handled == 1);
}

/* ---- Handlers ---------------------------------------------------------------------------------------------------- */

static void nest(int number) {
    strcat(order, number == SIGUSR1 ? "1" : "2");
    if (number == SIGUSR1) {
        require(is_blocked(SIGUSR1) && !is_blocked(SIGUSR2));
        require(catapults_kill(catapults_self(), SIGUSR1) == 0); /* after this one */
        if (strlen(order) > 3)
            handle_with(SIGUSR1, SIG_IGN, 0);
        require(catapults_kill(catapults_self(), SIGUSR2) == 0); /* in it */
    }
    strcat(order, ".");
}

static void handlers_nest(void) {
    begin();
    handle_with(SIGUSR1, nest, 0);
    handle_with(SIGUSR2, nest, 0);
    require(catapults_kill(catapults_self(), SIGUSR1) == 0);
    require(strcmp(order, "12..12..") == 0);
    require(!is_blocked(SIGUSR1));
}

static int depth;
static void again(int number) {
    if (++depth < 5)
        catapults_kill(catapults_self(), number);
    handled = depth;
}

static void a_handler_may_be_entered_again(void) {
    begin();
    handle_with(SIGUSR1, again, SA_NODEFER);
    require(catapults_kill(catapults_self(), SIGUSR1) == 0);
    require(depth == 5);
}

static void wake(int number) {
    (void)number;
    require(catapults_sem_post(&semaphore) == 0);
}

/* All that the program waits for is what a handler does. */
static void a_handler_wakes_threads(void) {
    begin();
    handle_with(SIGALRM, wake, SA_RESTART);
    struct itimerval soon = {.it_value = {.tv_usec = 3000}};
    require(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    require(catapults_sem_wait(&semaphore) == 0);
    catapults_t thread = spawn(wait_for_semaphore, NULL);
    require(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    require(join(thread) == NULL);
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

static catapults_sigjmp_buf back;
static int *volatile nowhere = (int *)64;

static void leave(int number) {
    count(number);
    catapults_siglongjmp(back, 5);
}

static void *fault_often(void *argument) {
    catapults_sigjmp_buf here;
    (void)here;
    for (volatile int i = 0; i < 10; i++) {
        int jumped = catapults_sigsetjmp(back, 1);
        if (!jumped)
            *nowhere = 1;
        require(jumped == 5 && !is_blocked(SIGSEGV));
    }
    return argument;
}

static void a_fault_is_its_threads_own(void) {
    begin();
    handle_with(SIGSEGV, leave, 0);
    catapults_t thread = spawn(fault_often, NULL);
    join(thread);
    require(handled == 10 && handled_by == thread);
}

static void see_address(int number, siginfo_t *info, void *context) {
    require(number == SIGSEGV && info->si_addr == (void *)64 && context);
    nowhere = NULL;
    catapults_siglongjmp(back, 1);
}

static void a_fault_says_where(void) {
    begin();
    struct sigaction action = {.sa_sigaction = see_address, .sa_flags = SA_SIGINFO | SA_NODEFER};
    require(catapults_sigaction(SIGSEGV, &action, NULL) == 0);
    if (!catapults_sigsetjmp(back, 1))
        *nowhere = 1;
    require(!nowhere);
}

static void fault_unhandled(void) {
    begin();
    handle_with(SIGSEGV, count, 0);
    handle_with(SIGSEGV, SIG_DFL, 0);
    *nowhere = 1;
}

static void fault_blocked(void) {
    begin();
    handle_with(SIGSEGV, count, 0);
    mask(SIG_BLOCK, SIGSEGV);
    *nowhere = 1;
}

static void a_fault_without_a_handler_ends_the_program(void **state) {
    (void)state;
    struct child child = run_child(fault_unhandled);
    assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGSEGV);
    child = run_child(fault_blocked);
    assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGSEGV);
}

#ifndef __SANITIZE_THREAD__ /* which keeps a stack of calls of its own, without a guard */
static int sink;
__attribute__((noinline)) static int recurse(volatile int level) {
    volatile char block[512];
    block[level % 512] = (char)level;
    sink += block[0];
    return level < 1000000 ? recurse(level + 1) + block[level % 512] : 0;
}

static void *overflow(void *argument) {
    int jumped = catapults_sigsetjmp(back, 1);
    if (!jumped)
        recurse(0);
    require(jumped == 5);
    return argument;
}

static void an_overflow_of_a_stack_is_survived(void) {
    begin();
    handle_with(SIGSEGV, leave, SA_ONSTACK);
    for (int i = 0; i < 3; i++)
        join(spawn(overflow, NULL));
    require(handled == 3);
}
#endif

/* ---- Jumps ------------------------------------------------------------------------------------------------------- */

static void *leave_sleep(void *argument) {
    int jumped = catapults_sigsetjmp(back, 1);
    if (!jumped)
        catapults_sleep(10000 * (int64_t)MS);
    require(jumped == 5 && !is_blocked(SIGUSR1));
    require(catapults_sleep(MS) == 0);
    return argument;
}

static void *leave_loop(void *argument) {
    int jumped = catapults_sigsetjmp(back, 1);
    while (!jumped)
        catapults_yield();
    return argument;
}

static void a_handler_may_jump(void) {
    begin();
    handle_with(SIGUSR1, leave, 0);
    catapults_t thread = spawn(leave_sleep, NULL);
    catapults_yield();
    require(catapults_kill(thread, SIGUSR1) == 0);
    join(thread);
    thread = spawn(leave_loop, NULL);
    catapults_yield();
    require(catapults_kill(thread, SIGUSR1) == 0);
    join(thread);
    require(handled == 2);
    handle_with(SIGALRM, leave, 0);
    for (volatile int i = 0; i < 20; i++) {
        struct itimerval soon = {.it_value = {.tv_usec = 1000}};
        int jumped = catapults_sigsetjmp(back, 1);
        if (!jumped) {
            require(setitimer(ITIMER_REAL, &soon, NULL) == 0);
            for (;;)
                ;
        }
        require(handled == 3 + i);
    }
}

static void *exit_in_handler(void *argument) {
    while (!argument)
        catapults_yield();
    return NULL;
}

static void end_thread(int number) {
    count(number);
    catapults_exit((void *)7);
}

static void a_handler_may_end_its_thread(void) {
    begin();
    handle_with(SIGUSR1, end_thread, 0);
    catapults_t thread = spawn(exit_in_handler, NULL);
    catapults_yield();
    require(catapults_kill(thread, SIGUSR1) == 0);
    require(join(thread) == (void *)7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(calls_return),
        child_test(locks_go_on),
        child_test(a_place_in_a_queue_is_kept),
        child_test(a_wait_is_finished_before_a_cancellation),
        child_test(a_lock_is_handed_over_to_who_handles),
        child_test(a_thread_that_computes_is_interrupted),
        child_test(also_in_a_cooperative_program),
        child_test(ticks_do_not_come_sooner_for_signals),
        child_test(a_storm),
        child_test(system_calls_of_the_application),
        child_test(system_calls_are_restarted),
        child_test(handlers_nest),
        child_test(a_handler_may_be_entered_again),
        child_test(a_handler_wakes_threads),
        child_test(a_fault_is_its_threads_own),
        child_test(a_fault_says_where),
        cmocka_unit_test(a_fault_without_a_handler_ends_the_program),
#ifndef __SANITIZE_THREAD__
        child_test(an_overflow_of_a_stack_is_survived),
#endif
        child_test(a_handler_may_jump),
        child_test(a_handler_may_end_its_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
