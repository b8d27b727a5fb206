/*
 * Signals of threads on one, two and four processors: who gets what, wherever threads run; what handlers may do; none
 * is lost.
 *
 *     processors_signals [TEST [PROCESSORS]]
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "catapults.h"
#include "support/child.h"

enum { MS = 1000000, MOST = 8 };

static int processors;
static atomic_int handled, last, over, there;
static _Atomic(catapults_t) handled_by;
static atomic_int handled_of[MOST]; /* by threads whose key says who they are */
static catapults_key_t key;

static void begin_with(const struct catapults_options *options) {
    struct catapults_options mine = *options;
    mine.processors = processors;
#if defined(ACTIVATED)
    mine.activations = true;
#endif
    alarm(HANGS);
    require(catapults_init(&mine) == 0);
    require(catapults_key_create(&key, NULL) == 0);
}

/* Under a policy that preempts. */
static void begin(void) { begin_with(&(struct catapults_options){.policy = POLICIES "/turns.so", .tick = MS}); }

static catapults_t spawn(void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, NULL, start, argument) == 0);
    return thread;
}

static void *join(catapults_t thread) {
    void *result;
    require(catapults_join(thread, &result) == 0);
    return result;
}

/* Its address is that of the kernel thread, which changes under the code that asks. */
__attribute__((noipa)) static int error_here(void) { return errno; }

static void count(int number) {
    void *who = catapults_getspecific(key);
    if (who)
        atomic_fetch_add(&handled_of[(intptr_t)who - 1], 1);
    atomic_store(&last, number);
    atomic_store(&handled_by, catapults_self());
    atomic_fetch_add(&handled, 1);
    errno = ENOTTY;
}

static void handle_with(int number, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    require(catapults_sigaction(number, &action, NULL) == 0);
}

static sigset_t set_of(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

static void mask(int how, int number) {
    sigset_t set = set_of(number);
    require(catapults_sigmask(how, &set, NULL) == 0);
}

static bool is_blocked(int number) {
    sigset_t set;
    require(catapults_sigmask(SIG_BLOCK, NULL, &set) == 0);
    return sigismember(&set, number);
}

static bool is_pending(int number) {
    sigset_t set;
    require(catapults_sigpending(&set) == 0);
    return sigismember(&set, number);
}

static void every(int microseconds) {
    struct itimerval often = {{0, microseconds}, {0, microseconds}};
    require(setitimer(ITIMER_REAL, &often, NULL) == 0);
}

/* Until so many were handled; the test has a time limit. */
static void await(const atomic_int *counter, int number) {
    while (atomic_load(counter) < number)
        catapults_sleep(MS / 10);
}

static void *compute(void *argument) {
    atomic_fetch_add(&there, 1);
    while (!atomic_load(&over))
        ;
    return argument;
}

static void *sleep_until_over(void *argument) {
    atomic_fetch_add(&there, 1);
    while (!atomic_load(&over))
        catapults_sleep(MS);
    return argument;
}

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

/* Whatever handlers do, code that was interrupted goes on where it was. */
__attribute__((noipa)) static long kernel_thread(void) { return syscall(SYS_gettid); }

static void let_others_run(int number) {
    count(number);
    catapults_yield();
    require(catapults_sleep(MS / 5) == 0);
    catapults_yield();
}

static void *stay(void *argument) {
    require(catapults_setspecific(key, argument) == 0);
    atomic_int *mine = &handled_of[(intptr_t)argument - 1];
    atomic_fetch_add(&there, 1);
    for (int i = 1; i <= 20; i++) {
        long here = kernel_thread();
        while (atomic_load(mine) < i)
            ;
        require(kernel_thread() == here);
        catapults_yield();
    }
    return NULL;
}

static void handlers_that_wait(void) {
    begin();
    handle_with(SIGUSR1, let_others_run, SA_RESTART);
    catapults_t threads[4];
    for (intptr_t i = 0; i < 4; i++)
        threads[i] = spawn(stay, (void *)(i + 1));
    await(&there, 4);
    for (int round = 1; round <= 20; round++)
        for (int i = 0; i < 4; i++) {
            require(catapults_kill(threads[i], SIGUSR1) == 0);
            await(&handled_of[i], round);
        }
    for (int i = 0; i < 4; i++)
        join(threads[i]);
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
static atomic_int values[VALUES], values_sum;
static int next_of[MOST];

static void note_value(int number, siginfo_t *info, void *context) {
    require(number == SIGRTMIN && context == NULL);
    atomic_fetch_add(&values[info->si_value.sival_int], 1);
    atomic_fetch_add(&handled, 1);
}

/* A process that begins when it is told to: forked before there are threads, which could be left within fork(2). */
static int start_here;
static pid_t outside(void (*send)(pid_t parent)) {
    int pipes[2];
    pid_t parent = getpid();
    require(pipe(pipes) == 0);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        char byte;
        require(read(pipes[0], &byte, 1) == 1);
        send(parent);
        _exit(0);
    }
    start_here = pipes[1];
    return child;
}
static void start_outside(void) { require(write(start_here, "", 1) == 1); }

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

/* ---- Waiting for signals ----------------------------------------------------------------------------------------- */

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
static catapults_sem_t semaphore;
static catapults_mutex_t mutex;
static catapults_cond_t condition;
static catapults_port_t port;
static atomic_int returned;

static void *finished(int result) {
    atomic_fetch_add(&returned, 1);
    return (void *)(intptr_t)result;
}
static void *sleep_long(void *argument) {
    (void)argument;
    return finished(catapults_sleep(10000 * (int64_t)MS));
}
static void *wait_for_semaphore(void *argument) {
    (void)argument;
    return finished(catapults_sem_wait(&semaphore));
}
static void *receive(void *argument) {
    (void)argument;
    struct catapults_message *message;
    return finished(catapults_port_receive(&port, &message));
}
static void *read_byte(void *argument) {
    (void)argument;
    char byte;
    return finished(catapults_read(ends[0], &byte, 1) == 1 ? 0 : error_here());
}
static void *lock_mutex(void *argument) {
    (void)argument;
    int result = catapults_mutex_lock(&mutex);
    catapults_mutex_unlock(&mutex);
    return finished(result);
}
static void *wait_for_condition(void *argument) {
    (void)argument;
    require(catapults_mutex_lock(&mutex) == 0);
    int result = catapults_cond_wait(&condition, &mutex);
    catapults_mutex_unlock(&mutex);
    return finished(result);
}

static void post(void) { require(catapults_sem_post(&semaphore) == 0); }
static void send_message(void) {
    static struct catapults_message message;
    require(catapults_port_send(&port, &message) == 0);
}
static void write_byte(void) { require(catapults_write(ends[1], "", 1) == 1); }
static void unlock_mutex(void) { require(catapults_mutex_unlock(&mutex) == 0); }
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

/* ---- Handlers ---------------------------------------------------------------------------------------------------- */

static long shared;

static void lock_and_count(int number) {
    require(catapults_mutex_lock(&mutex) == 0);
    shared++;
    catapults_yield();
    require(catapults_mutex_unlock(&mutex) == 0);
    count(number);
}

static void handlers_that_lock(void) {
    begin();
    handle_with(SIGUSR1, lock_and_count, SA_RESTART);
    mask(SIG_BLOCK, SIGUSR1);
    catapults_t threads[MOST];
    for (int i = 0; i < MOST; i++) {
        if (i == 1)
            mask(SIG_UNBLOCK, SIGUSR1);
        threads[i] = spawn(i % 2 ? compute : sleep_until_over, NULL);
    }
    await(&there, MOST);
    mask(SIG_BLOCK, SIGUSR1);
    for (int i = 0; i < 5; i++)
        for (int t = 1; t < MOST; t++) {
            require(catapults_kill(threads[t], SIGUSR1) == 0);
            await(&handled, i * (MOST - 1) + t);
        }
    atomic_store(&over, 1);
    for (int i = 0; i < MOST; i++)
        join(threads[i]);
    require(shared == 5 * (MOST - 1));
}

static void end_thread(int number) {
    count(number);
    catapults_exit((void *)7);
}

static void handlers_that_end_their_thread(void) {
    begin();
    handle_with(SIGUSR1, end_thread, 0);
    for (int i = 0; i < 30; i++) {
        catapults_t thread = spawn(i % 2 ? compute : sleep_until_over, NULL);
        await(&there, i + 1);
        require(catapults_kill(thread, SIGUSR1) == 0);
        require(join(thread) == (void *)7);
    }
}

static void *jump_often(void *argument) {
    catapults_sigjmp_buf back = {{.saves = 0}};
    require(catapults_setspecific(key, &back) == 0);
    for (volatile int i = 0; i < 20; i++) {
        int jumped = catapults_sigsetjmp(back, 1);
        if (!jumped) {
            atomic_fetch_add(&there, 1);
            for (;;)
                if (argument)
                    catapults_sleep(10 * MS);
        }
        require(jumped == 5 && !is_blocked(SIGUSR1));
        mask(SIG_BLOCK, SIGUSR1);
        catapults_yield();
        mask(SIG_UNBLOCK, SIGUSR1);
    }
    return argument;
}

/* For threads whose key says where to go back to. */
static void count_only(int number) {
    atomic_store(&last, number);
    atomic_fetch_add(&handled, 1);
}

static void jump_back(int number) {
    count_only(number);
    catapults_siglongjmp(*(catapults_sigjmp_buf *)catapults_getspecific(key), 5);
}

static void handlers_that_jump(void) {
    begin();
    handle_with(SIGUSR1, jump_back, 0);
    for (intptr_t kind = 0; kind < 2; kind++) {
        catapults_t thread = spawn(jump_often, (void *)kind);
        for (int i = 0; i < 20; i++) {
            await(&there, (int)kind * 20 + i + 1);
            catapults_sleep(MS / 2);
            require(catapults_kill(thread, SIGUSR1) == 0);
        }
        join(thread);
    }
    require(atomic_load(&handled) == 40);
}

static int *volatile nowhere = (int *)64;

static void *fault_often(void *number) {
    catapults_sigjmp_buf back = {{.saves = 0}};
    require(catapults_setspecific(key, &back) == 0);
    for (volatile int i = 0; i < 100; i++) {
        int jumped = catapults_sigsetjmp(back, 1);
        if (!jumped)
            nowhere[(intptr_t)number] = 1;
        require(jumped == 5 && !is_blocked(SIGSEGV));
        catapults_yield();
    }
    return number;
}

static void faults_are_their_threads_own(void) {
    begin();
    handle_with(SIGSEGV, jump_back, 0);
    catapults_t threads[4];
    for (intptr_t i = 0; i < 4; i++)
        threads[i] = spawn(fault_often, (void *)i);
    for (int i = 0; i < 4; i++)
        join(threads[i]);
    require(atomic_load(&handled) == 400 && atomic_load(&last) == SIGSEGV);
}

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

/* ---- All together ------------------------------------------------------------------------------------------------ */

static atomic_long work[MOST];

static void *storm(void *number_) {
    intptr_t number = (intptr_t)number_;
    require(catapults_setspecific(key, (void *)(number + 1)) == 0);
    while (!atomic_load(&over)) {
        switch (number % 6) {
        case 0:
            require(catapults_mutex_lock(&mutex) == 0);
            shared++;
            for (volatile int i = 0; i < 500; i++)
                ;
            require(catapults_mutex_unlock(&mutex) == 0);
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
        case 4: {
            char byte;
            require(catapults_write(ends[1], "", 1) == 1 && catapults_read(ends[0], &byte, 1) == 1);
            catapults_yield();
            break;
        }
        case 5: {
            sigset_t set = set_of(SIGUSR2);
            mask(SIG_BLOCK, SIGUSR2);
            catapults_sigtimedwait(&set, NULL, catapults_now() + MS / 10);
            mask(SIG_UNBLOCK, SIGUSR2);
            break;
        }
        }
        atomic_fetch_add(&work[number], 1);
    }
    return NULL;
}

static void a_storm(void) {
    begin();
    require(pipe(ends) == 0);
    handle_with(SIGALRM, count, SA_RESTART);
    handle_with(SIGUSR1, count, SA_RESTART);
    handle_with(SIGUSR2, lock_and_count, SA_RESTART);
    catapults_t threads[MOST];
    mask(SIG_BLOCK, SIGUSR2); /* who locks does not handle what locks */
    for (intptr_t i = 0; i < MOST; i++)
        threads[i] = spawn(storm, (void *)i);
    every(300);
    int rounds = 0;
    for (int64_t until = catapults_now() + 300 * MS; catapults_now() < until || rounds < 3; rounds++) {
        for (int i = 0; i < MOST; i++)
            require(catapults_kill(threads[i], SIGUSR1) == 0);
        require(catapults_kill(threads[5], SIGUSR2) == 0);
        kill(getpid(), SIGUSR1);
        if (processors > 1)
            require(catapults_set_processors(1 + rounds % processors) == 0);
        catapults_sleep(500000);
    }
    every(0);
    atomic_store(&over, 1);
    for (int i = 0; i < MOST; i++) {
        join(threads[i]);
        require(atomic_load(&work[i]) > 0 && atomic_load(&handled_of[i]) > 0);
    }
}

/* ---- Fork -------------------------------------------------------------------------------------------------------- */

static void *fork_one(void *argument) {
    require(catapults_kill(catapults_self(), SIGUSR1) == 0);
    pid_t child = catapults_fork();
    require(child >= 0);
    if (child == 0) {
        alarm(HANGS);
        atomic_store(&handled, 0);
        require(is_blocked(SIGUSR1) && !is_pending(SIGUSR1));
        mask(SIG_UNBLOCK, SIGUSR1);
        require(atomic_load(&handled) == 0);
        kill(getpid(), SIGUSR1);
        require(atomic_load(&handled) == 1);
        handle_with(SIGALRM, count, SA_RESTART);
        every(1000);
        while (atomic_load(&handled) < 4)
            ;
        every(0);
        catapults_t thread = spawn(sleep_until_over, NULL);
        catapults_yield();
        int before = atomic_load(&handled);
        require(catapults_kill(thread, SIGUSR1) == 0);
        await(&handled, before + 1);
        require(atomic_load(&handled_by) == thread);
        _exit(5);
    }
    int status;
    require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    require(is_pending(SIGUSR1));
    return argument;
}

/* The child goes on in the handler, and then where the thread was interrupted. */
static pid_t forked = -1;

static void fork_there(int number) {
    forked = catapults_fork();
    require(forked >= 0);
    count(number);
}

static void *sum_up(void *argument) {
    long sum = 0, next = 0;
    atomic_fetch_add(&there, 1);
    for (; !atomic_load(&handled); next++)
        sum += next;
    require(sum == next * (next - 1) / 2);
    if (forked == 0)
        _exit(6);
    return argument;
}

static void handlers_that_fork(void) {
    begin();
    handle_with(SIGUSR1, fork_there, SA_RESTART);
    for (int i = 0; i < 5; i++) {
        int status;
        atomic_store(&handled, 0);
        catapults_t thread = spawn(sum_up, NULL);
        await(&there, i + 1);
        require(catapults_kill(thread, SIGUSR1) == 0);
        join(thread);
        require(waitpid(forked, &status, 0) == forked && WIFEXITED(status) && WEXITSTATUS(status) == 6);
    }
}

static void a_child_has_signals(void) {
    begin();
    handle_with(SIGUSR1, count, SA_RESTART);
    catapults_t computes = spawn(compute, NULL);
    mask(SIG_BLOCK, SIGUSR1);
    for (int i = 0; i < 5; i++)
        join(spawn(fork_one, NULL));
    atomic_store(&over, 1);
    join(computes);
}

int main(int given, char **arguments) {
    const struct CMUnitTest tests[] = {
        child_test(a_mask_goes_along),
        child_test(what_is_blocked_before),
        child_test(who_computes_is_interrupted),
        child_test(also_in_a_cooperative_program),
        child_test(handlers_that_wait),
        child_test(who_lets_it_through_computes),
        child_test(who_lets_it_through_sleeps),
        child_test(it_pends_while_all_block_it),
        child_test(a_handler_that_blocks_it_passes_it_on),
        child_test(none_from_outside_is_lost),
        child_test(values_come_in_their_order),
        child_test(one_that_comes_while_all_is_idle),
        child_test(waiting_ends_in_time),
        child_test(two_that_suspend),
        child_test(calls_return),
        child_test(handlers_that_lock),
        child_test(handlers_that_end_their_thread),
        child_test(handlers_that_jump),
        child_test(faults_are_their_threads_own),
        cmocka_unit_test(the_default_action_ends_the_program),
        child_test(a_storm),
        child_test(handlers_that_fork),
        child_test(a_child_has_signals),
    };
    int failed = 0, only = given > 2 ? atoi(arguments[2]) : 0;
    if (given > 1)
        cmocka_set_test_filter(arguments[1]);
    for (processors = 1; processors <= 4; processors *= 2) {
        char name[32];
        snprintf(name, sizeof name, "%d processors", processors);
        failed += only && only != processors ? 0 : cmocka_run_group_tests_name(name, tests, NULL, NULL);
    }
    return failed;
}
