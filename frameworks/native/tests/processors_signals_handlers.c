/*
 * What handlers of signals may do, on one, two and four processors: wait, take locks, end their thread, jump, fork.
 * Code that was interrupted goes on where it was.
 */
#include <sys/syscall.h>

#include "processors_signals_test.h"

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

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

/* ---- Handlers ---------------------------------------------------------------------------------------------------- */

static catapults_mutex_t mutex;
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

/* ---- All together ------------------------------------------------------------------------------------------------ */

static int ends[2];
static catapults_sem_t semaphore;
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
        child_test(handlers_that_wait),
        child_test(handlers_that_lock),
        child_test(handlers_that_end_their_thread),
        child_test(handlers_that_jump),
        child_test(faults_are_their_threads_own),
        child_test(a_storm),
        child_test(handlers_that_fork),
        child_test(a_child_has_signals),
    };
    return run_on_processors(tests, given, arguments);
}
