/*
 * More signals than there is room for, while nobody takes them up: none is lost, whichever kernel thread they come to,
 * and each says who has sent it.
 *
 *     signals_many
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "support/program.h"

enum { MS = 1000000, PROCESSORS = 2, MANY = 1000, VERY_MANY = 40000, LIMIT = 100 };

/* Of the child that sends, and this process. */
static struct {
    atomic_bool begin, full, sent;
    atomic_int count;
} *shared;

static pid_t sender;
static int processors, sent;
static bool queues;
static atomic_int handled, wrong, next;
static atomic_bool seen[VERY_MANY];

static int number(void) { return SIGRTMIN + 5; }

/* Where several kernel threads take signals. */
static bool may_overtake(void) {
#if defined(ACTIVATED)
    return true;
#else
    return processors > 1;
#endif
}

static void handle(int signal, siginfo_t *info, void *context) {
    (void)context;
    int value = info->si_value.sival_int;
    bool right = signal == number() && info->si_signo == signal && info->si_pid == sender &&
                 info->si_code == (queues ? SI_QUEUE : SI_USER) && info->si_uid == getuid();
    if (queues && right)
        right = value >= 0 && value < sent && !atomic_exchange(&seen[value], true) &&
                (may_overtake() || value == atomic_fetch_add(&next, 1));
    if (!right)
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&handled, 1);
}

static void send_all(pid_t to) {
    while (!shared->begin)
        sched_yield();
    for (int i = 0; i < sent;) {
        union sigval value = {.sival_int = i};
        if ((queues ? sigqueue(to, number(), value) : kill(to, number())) == 0)
            shared->count = ++i;
        else if (errno != EAGAIN)
            _exit(EXIT_FAILURE);
        else
            shared->full = true;
    }
    shared->sent = true;
    for (;;)
        pause();
}

/* Keeps its processor, and so what comes to it, until all has been sent, or the kernel's queue is full. */
static void *hold(void *argument) {
    catapults_preemption_hold();
    while (!shared->sent && !shared->full)
        ;
    catapults_preemption_release();
    return argument;
}

static void start(void) {
    struct catapults_options options = {.processors = processors};
#if defined(ACTIVATED)
    options.activations = true;
#endif
    require(catapults_init(&options) == 0);
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
    require(catapults_sigaction(number(), &action, NULL) == 0);
}

static void begin(int count, bool by_queue) {
    sent = count;
    queues = by_queue;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(shared != MAP_FAILED);
    pid_t self = getpid();
    sender = fork();
    if (sender == 0)
        send_all(self);
    start();
}

/* Nothing but the time tells that one is lost. */
static void check_all(void) {
    int64_t end = catapults_now() + LIMIT * INT64_C(1000) * MS;
    while (handled < sent && catapults_now() < end)
        catapults_sleep(MS);
    kill(sender, SIGKILL);
    if (handled != sent || wrong) {
        fprintf(stderr, "%d processors, by %s: %d sent, %d handled, %d of them wrong\n", processors,
                queues ? "sigqueue" : "kill", shared->count, handled, wrong);
        _exit(CHILD_REQUIRE_FAILED);
    }
}

static void check(bool by_queue) {
    begin(MANY, by_queue);
    catapults_t threads[PROCESSORS];
    for (int i = 0; i < processors; i++)
        threads[i] = spawn(hold, NULL);
    shared->begin = true;
    for (int i = 0; i < processors; i++)
        join(threads[i]);
    check_all();
}

static void one_by_kill(void) {
    processors = 1;
    check(false);
}

static void one_by_sigqueue(void) {
    processors = 1;
    check(true);
}

static void several_by_kill(void) {
    processors = PROCESSORS;
    check(false);
}

static void several_by_sigqueue(void) {
    processors = PROCESSORS;
    check(true);
}

/* The kernel counts what pends for all processes of a user, and drops what is sent by kill if there is no more room. */
static void leave_room_for_other_processes(void) {
    struct rlimit limit;
    require(getrlimit(RLIMIT_SIGPENDING, &limit) == 0);
    limit.rlim_cur /= 8;
    require(setrlimit(RLIMIT_SIGPENDING, &limit) == 0);
}

/* More than the runtime keeps for threads that block them: the kernel keeps the others, or the sender. */
static void more_than_may_pend(void) {
    processors = 1;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number());
    begin(VERY_MANY, true);
    leave_room_for_other_processes();
    require(catapults_sigmask(SIG_BLOCK, &set, NULL) == 0);
    shared->begin = true;
    while (!shared->sent && !shared->full)
        catapults_sleep(MS);
    require(handled == 0);
    require(catapults_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
    check_all();
}

/* Where one kernel thread takes signals, they are handled before the call returns that it sent the last one by. Others
 * take them as soon as they have a processor of the machine. */
static void require_handled(int count) {
    for (int64_t end = catapults_now() + LIMIT * INT64_C(1000) * MS;
         may_overtake() && handled < count && catapults_now() < end;)
        catapults_sleep(MS);
    require(handled == count && !wrong);
}

/* The last one is sent by the very call that it interrupts. */
static void one_more_than_there_is_room_for(int count) {
    enum { ROOM = 128 }; /* SLOTS in preemption/arrivals.c */
    processors = count;
    sender = getpid();
    start();
    catapults_preemption_hold();
    for (int i = 0; i < ROOM; i++)
        require(kill(sender, number()) == 0);
    catapults_preemption_release();
    require(kill(sender, number()) == 0);
    require_handled(ROOM + 1);
    require(kill(sender, number()) == 0);
    require_handled(ROOM + 2);
}

static void one_more_by_one(void) { one_more_than_there_is_room_for(1); }

static void one_more_by_several(void) { one_more_than_there_is_room_for(PROCESSORS); }

int main(void) {
    const struct CMUnitTest tests[] = {child_test(one_by_kill),        child_test(one_by_sigqueue),
                                       child_test(several_by_kill),    child_test(several_by_sigqueue),
                                       child_test(more_than_may_pend), child_test(one_more_by_one),
                                       child_test(one_more_by_several)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
