/* Signals to threads and to the process: whom they reach, in which order, and with what. */
#include <signal.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clause.h"

enum { SENT = 20, TIMES = 20 };

static atomic_int begun, values[64], count;
static pthread_t handler_of;

static sigset_t set_of(int first, int second) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, first);
    if (second)
        sigaddset(&set, second);
    return set;
}

static void block(int how, int signal) {
    sigset_t set = set_of(signal, 0);
    CHECK(pthread_sigmask(how, &set, NULL) == 0);
}

static void note(int signal, siginfo_t *info, void *context) {
    CHECK(info->si_signo == signal && context);
    handler_of = pthread_self();
    values[atomic_fetch_add(&count, 1)] = info->si_value.sival_int;
}

static void handle(int signal, int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = note;
    action.sa_flags = SA_SIGINFO | flags;
    CHECK(sigaction(signal, &action, NULL) == 0);
    count = 0;
}

static union sigval number(int value) { return (union sigval){.sival_int = value}; }

/* ---- Values and order -------------------------------------------------------------------------------------------- */

/* Several times: a processor that has nothing to do may just be about to hear that all threads block it. */
static void queued_to_the_process(void) {
    clause("sigqueue", "real-time signals queue, with their values");
    for (int time = 0; time < TIMES; time++) {
        int sum = 0;
        handle(SIGRTMIN, 0);
        block(SIG_BLOCK, SIGRTMIN);
        for (int i = 0; i < SENT; i++)
            CHECK(sigqueue(getpid(), SIGRTMIN, number(i)) == 0);
        block(SIG_UNBLOCK, SIGRTMIN);
        await(&count, SENT);
        for (int i = 0; i < SENT; i++)
            sum += values[i];
        CHECK(count == SENT && sum == SENT * (SENT - 1) / 2);
    }
}

static void queued_to_a_thread(void) {
    clause("pthread_sigqueue", "the same for one thread, in order");
    handle(SIGRTMIN, 0);
    block(SIG_BLOCK, SIGRTMIN);
    for (int i = 0; i < SENT; i++)
        CHECK(pthread_sigqueue(pthread_self(), SIGRTMIN, number(i)) == 0);
    block(SIG_UNBLOCK, SIGRTMIN);
    CHECK(count == SENT);
    for (int i = 0; i < SENT; i++)
        CHECK(values[i] == i);
    clause("pthread_kill", "real-time signals queue; others are one while they pend");
    handle(SIGUSR1, 0);
    block(SIG_BLOCK, SIGRTMIN);
    block(SIG_BLOCK, SIGUSR1);
    for (int i = 0; i < SENT; i++)
        CHECK(pthread_kill(pthread_self(), i % 2 ? SIGRTMIN : SIGUSR1) == 0);
    block(SIG_UNBLOCK, SIGUSR1);
    CHECK(count == 1);
    block(SIG_UNBLOCK, SIGRTMIN);
    CHECK(count == 1 + SENT / 2);
}

static void awaited(void) {
    siginfo_t info;
    sigset_t both = set_of(SIGRTMIN + 1, SIGRTMIN + 2);
    const struct timespec none = {0}, wrong = {.tv_nsec = 1000000000};
    clause("sigwaitinfo", "the lowest number first, of one number the first that was sent");
    CHECK(pthread_sigmask(SIG_BLOCK, &both, NULL) == 0);
    for (int of_thread = 0; of_thread < 2; of_thread++) {
        for (int i = 0; i < 6; i++) {
            int signal = SIGRTMIN + 2 - i % 2;
            CHECK((of_thread ? pthread_sigqueue(pthread_self(), signal, number(i))
                             : sigqueue(getpid(), signal, number(i))) == 0);
        }
        const int expected[] = {1, 3, 5, 0, 2, 4};
        for (int i = 0; i < 6; i++) {
            CHECK(sigtimedwait(&both, &info, &none) == SIGRTMIN + 1 + i / 3 && info.si_signo == SIGRTMIN + 1 + i / 3);
            CHECK(info.si_code == SI_QUEUE && info.si_pid == getpid() && info.si_value.sival_int == expected[i]);
        }
        CHECK(sigtimedwait(&both, &info, &none) == -1 && errno == EAGAIN);
    }
    clause("sigtimedwait", "EAGAIN after the time, EINVAL for no time");
    CHECK(sigtimedwait(&both, &info, &(struct timespec){.tv_nsec = 5000000}) == -1 && errno == EAGAIN);
    CHECK(sigtimedwait(&both, &info, &wrong) == -1 && errno == EINVAL);
    clause("sigtimedwait", "says who sent it, and how");
    CHECK(pthread_kill(pthread_self(), SIGRTMIN + 1) == 0 && sigtimedwait(&both, &info, NULL) == SIGRTMIN + 1);
    CHECK(info.si_code == SI_USER && info.si_pid == getpid() && info.si_uid == getuid());
    CHECK(kill(getpid(), SIGRTMIN + 1) == 0 && sigtimedwait(&both, &info, NULL) == SIGRTMIN + 1);
    CHECK(info.si_code == SI_USER && info.si_pid == getpid());
}

static void *wait_for_one(void *signal) {
    siginfo_t info;
    sigset_t set = set_of((int)(long)signal, 0);
    begun++;
    int result;
    while ((result = sigwaitinfo(&set, &info)) == -1) /* it may have been woken for one that another has taken */
        CHECK(errno == EINTR);
    CHECK(result == (int)(long)signal);
    return (void *)(long)info.si_value.sival_int;
}

static void one_of_several(void) {
    pthread_t all[4];
    long sum = 0;
    clause("sigwait", "a signal that is sent once is given to one of the threads that wait");
    block(SIG_BLOCK, SIGRTMIN + 3);
    begun = 0;
    for (int i = 0; i < 4; i++)
        all[i] = thread(wait_for_one, (void *)(long)(SIGRTMIN + 3));
    await(&begun, 4);
    for (int i = 0; i < 4; i++)
        CHECK(sigqueue(getpid(), SIGRTMIN + 3, number(1 << i)) == 0);
    for (int i = 0; i < 4; i++)
        sum += (long)result_of(all[i]);
    CHECK(sum == 15);
    pthread_t one = thread(wait_for_one, (void *)(long)(SIGRTMIN + 3));
    CHECK(pthread_sigqueue(one, SIGRTMIN + 3, number(77)) == 0 && (long)result_of(one) == 77);
}

/* ---- Whom they reach --------------------------------------------------------------------------------------------- */

static void *stay(void *unused) {
    begun = 1;
    await(&begun, 2);
    return unused;
}

static void the_open_one(void) {
    clause("kill", "a signal for the process is handled by a thread that does not block it");
    handle(SIGUSR1, SA_RESTART);
    begun = 0;
    pthread_t one = thread(stay, NULL);
    await(&begun, 1);
    block(SIG_BLOCK, SIGUSR1);
    for (int i = 1; i <= 10; i++) {
        CHECK(kill(getpid(), SIGUSR1) == 0);
        await(&count, i);
        CHECK(pthread_equal(handler_of, one));
    }
    block(SIG_UNBLOCK, SIGUSR1);
    begun = 2;
    CHECK(result_of(one) == NULL);
}

static void *pends_here(void *unused) {
    sigset_t pending, mask;
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 0 && sigismember(&pending, SIGUSR2) == 1);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
    CHECK(sigismember(&mask, SIGUSR1) == 1 && sigismember(&mask, SIGUSR2) == 1 && sigismember(&mask, SIGHUP) == 0);
    return unused;
}

static void pending(void) {
    clause("pthread_create", "the mask is inherited, and what pends for its maker is not");
    clause("sigpending", "what pends for the thread and for the process");
    handle(SIGUSR1, 0);
    handle(SIGUSR2, 0);
    block(SIG_BLOCK, SIGUSR1);
    block(SIG_BLOCK, SIGUSR2);
    CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0 && kill(getpid(), SIGUSR2) == 0);
    CHECK(result_of(thread(pends_here, NULL)) == NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sigset_t none;
        CHECK(sigpending(&none) == 0 && !sigismember(&none, SIGUSR1) && !sigismember(&none, SIGUSR2));
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    clause("sigaction", "SIG_IGN discards what pends");
    CHECK(signal(SIGUSR1, SIG_IGN) != SIG_ERR && signal(SIGUSR2, SIG_IGN) != SIG_ERR);
    sigset_t left;
    CHECK(sigpending(&left) == 0 && sigismember(&left, SIGUSR1) == 0 && sigismember(&left, SIGUSR2) == 0);
    handle(SIGUSR1, 0);
    handle(SIGUSR2, 0);
    block(SIG_UNBLOCK, SIGUSR1);
    block(SIG_UNBLOCK, SIGUSR2);
    CHECK(count == 0);
}

/* ---- Handlers ---------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t depth, deepest;

static void nest(int signal) {
    depth++;
    deepest = depth > deepest ? depth : deepest;
    if (depth < 3)
        CHECK(raise(signal) == 0);
    depth--;
}

static void masks_of_handlers(void) {
    struct sigaction action;
    clause("sigaction", "SA_NODEFER: the handler may be interrupted by its own signal, else not");
    for (int nodefer = 0; nodefer < 2; nodefer++) {
        memset(&action, 0, sizeof action);
        action.sa_handler = nest;
        action.sa_flags = nodefer ? SA_NODEFER : 0;
        CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
        depth = deepest = 0;
        if (!nodefer)
            depth = 2; /* it raises none */
        CHECK(raise(SIGUSR1) == 0 && deepest == 3);
    }
    clause("sigaction", "SA_RESETHAND: the handler runs once");
    handle(SIGUSR2, (int)SA_RESETHAND);
    CHECK(raise(SIGUSR2) == 0 && count == 1 && sigaction(SIGUSR2, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    clause("sigaction", "sa_mask is blocked in the handler, and afterwards as before");
    memset(&action, 0, sizeof action);
    handle(SIGUSR1, 0);
    handle(SIGUSR2, 0);
    CHECK(sigaction(SIGUSR1, NULL, &action) == 0);
    action.sa_mask = set_of(SIGUSR2, 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && raise(SIGUSR1) == 0 && raise(SIGUSR2) == 0 && count == 2);
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGUSR2));
}

static void waits_with_masks(void) {
    sigset_t none, before;
    fd_set nothing;
    clause("sigsuspend", "what pends comes with the mask of the wait, and then that is as before; pselect likewise");
    handle(SIGUSR1, SA_RESTART);
    block(SIG_BLOCK, SIGUSR1);
    sigemptyset(&none);
    FD_ZERO(&nothing);
    for (int i = 0; i < 10; i++) {
        CHECK((i % 3 ? raise(SIGUSR1) : kill(getpid(), SIGUSR1)) == 0 && count == i);
        CHECK((i % 2 ? sigsuspend(&none) : pselect(0, NULL, NULL, NULL, NULL, &none)) == -1 && errno == EINTR);
        CHECK(count == i + 1 && pthread_sigmask(SIG_BLOCK, NULL, &before) == 0 && sigismember(&before, SIGUSR1));
    }
    block(SIG_UNBLOCK, SIGUSR1);
}

static char *stacks[2];
static _Thread_local int own;

static void on_stack(int signal) {
    char here;
    CHECK(signal == SIGUSR1 && &here >= stacks[own] && &here < stacks[own] + 65536);
    count++;
    for (int i = 0; i < 10; i++)
        sched_yield();
    stack_t stack;
    CHECK(sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) && stack.ss_sp == stacks[own]);
    CHECK(sigaltstack(&stack, NULL) == -1 && errno == EPERM);
}

static void *use_stack(void *number) {
    own = (int)(long)number;
    stacks[own] = malloc(65536);
    stack_t stack = {.ss_sp = stacks[own], .ss_size = 65536}, before;
    CHECK(sigaltstack(&stack, &before) == 0 && (before.ss_flags & SS_DISABLE));
    for (int i = 0; i < 50; i++) {
        CHECK(raise(SIGUSR1) == 0);
        sched_yield();
    }
    CHECK(sigaltstack(NULL, &before) == 0 && before.ss_sp == stacks[own] && before.ss_flags == 0);
    return NULL;
}

static void stacks_of_handlers(void) {
    struct sigaction action;
    clause("sigaltstack", "each thread has its own, and a new one none");
    memset(&action, 0, sizeof action);
    action.sa_handler = on_stack;
    action.sa_flags = SA_ONSTACK;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    count = 0;
    in_threads(2, use_stack);
    CHECK(count == 100);
}

int main(void) {
    queued_to_the_process();
    queued_to_a_thread();
    awaited();
    one_of_several();
    the_open_one();
    pending();
    masks_of_handlers();
    waits_with_masks();
    stacks_of_handlers();
}
