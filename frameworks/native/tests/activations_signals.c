/*
 * Signals under the activations: SIGNAL upcalls, for the signals that sa_signals asks for, and handlers of the
 * application's own, which may block.
 */
#include <sys/syscall.h>

#include "activations_test.h"

/* ---- Handlers of the application's ------------------------------------------------------------------------------- */

static _Atomic int handled, interrupted;
static _Atomic bool handler_yields;

/* It is entered where the kernel has led what came back, from `read`, and blocks there. */
static void sleep_in_handler(int signal) {
    (void)signal;
    struct timespec left = {0, 25 * MILLISECOND};
    while (nanosleep(&left, &left) != 0)
        ;
    for (int i = 0; i < 5 && handler_yields; i++)
        small_yield();
    handled++;
}

static void read_interrupted(void *unused) {
    (void)unused;
    for (;;) {
        char c = 0;
        ssize_t got = read(ends[0], &c, 1);
        if (got == 1)
            break;
        require(got == -1 && errno == EINTR);
        interrupted++;
    }
    done = true;
}

static bool interrupt_what_is_away(void) {
    bool any = false;
    for (int i = 0; i < activations.lwps; i++)
        if (lwp_state(&sa_lwps[i]) == LWP_AWAY && syscall(SYS_tgkill, getpid(), sa_lwps[i].tid, SIGUSR2) == 0)
            any = true;
    return any;
}

static void handlers_block(bool yield) {
    struct sigaction action = {.sa_handler = sleep_in_handler};
    require(sigaction(SIGUSR2, &action, NULL) == 0);
    handler_yields = yield;
    start(1);
    require(pipe(ends) == 0);
    small_create(&threads[0], read_interrupted, NULL);
    for (int i = 0; i < 20; i++) {
        int before = handled;
        bool sent = false;
        int64_t limit = now() + 20000 * MILLISECOND;
        while (handled == before && now() < limit) {
            small_yield();
            sent = sent || interrupt_what_is_away();
        }
        require(handled > before);
    }
    require(write(ends[1], "x", 1) == 1);
    small_join(&threads[0]);
    require(done && interrupted > 0 && interrupted <= handled);
}
static void handlers_block_in_the_trap(void) { handlers_block(false); }
static void handlers_go_on_elsewhere(void) { handlers_block(true); }

/* ---- SIGNAL ------------------------------------------------------------------------------------------------------ */

static _Atomic int told, value;
static char *guarded;

static void asynchronous(siginfo_t *info, ucontext_t *fault) {
    require(fault == NULL && info->si_signo == SIGUSR1);
    value = info->si_value.sival_int;
    told++;
}

static void signals_are_told(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGKILL);
    require(sa_signals(&set) == -1 && errno == EINVAL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    require(sa_signals(&set) == 0);
    small.signal = asynchronous;
    start(1);
    for (int i = 0; i < 20; i++) {
        require(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 40 + i}) == 0);
        require(eventually(told == i + 1) && value == 40 + i);
    }
    require(count(SA_UPCALL_SIGNAL) == 20);
    small_create(&threads[0], read_pipe, &(ssize_t){0});
    require(pipe(ends) == 0);
    small_yield();
    require(count(SA_UPCALL_BLOCKED) >= 1 && begun && !done);
    require(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1}) == 0);
    require(eventually(told == 21) && value == 1);
    require(write(ends[1], "x", 1) == 1);
    small_join(&threads[0]);
    sigemptyset(&set);
    require(sa_signals(&set) == 0);
}

static void synchronous(siginfo_t *info, ucontext_t *fault) {
    require(fault != NULL && info->si_signo == SIGSEGV && info->si_addr == guarded);
    require(mprotect(guarded, 4096, PROT_READ | PROT_WRITE) == 0);
    told++;
}

static void faults_are_told(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    require(sa_signals(&set) == 0);
    small.signal = synchronous;
    start(1);
    guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(guarded != MAP_FAILED);
    *(volatile char *)guarded = 1;
    require(told == 1 && count(SA_UPCALL_SIGNAL) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(handlers_block_in_the_trap),
        child_test(handlers_go_on_elsewhere),
        child_test(signals_are_told),
        child_test(faults_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
