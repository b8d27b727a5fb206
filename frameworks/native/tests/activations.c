/*
 * The activations, through a thread library that is written to <sa.h> alone (support/small_threads.h): each upcall,
 * what blocks and what does not, sections, signals, processors that come and go, and kernel threads that cannot be made
 * or die.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "activations/activation.h"
#include "support/beats.h"
#include "support/child.h"
#include "support/cpus.h"
#include "support/small_threads.h"

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

#define MILLISECOND INT64_C(1000000)

static bool start_without_trap; /* where the kernel does not lead what returns to the trap */

static void start(int processors) {
    require(small_start(processors) == 0);
    if (start_without_trap)
        activations.traps = false;
}

static int count(int type) { return small.upcalls[type]; }

/* A thread of the test may block where it does not mean to, say for the kernel's lock of its address space: of BLOCKED
 * there can be more than it counts on, and for each of them there is an UNBLOCKED. */

/* Until it is so; false: not within twenty seconds, which is for machines that have much else to do. Keeps the
 * processor meanwhile, but for upcalls. */
#define eventually(condition)                                                                                          \
    ({                                                                                                                 \
        int64_t limit = now() + 20000 * MILLISECOND;                                                                   \
        while (!(condition) && now() < limit)                                                                          \
            ;                                                                                                          \
        !!(condition);                                                                                                 \
    })

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

/* Where sa_runs looks. */
#if defined(__x86_64__)
enum { TELLS = true };
#else
enum { TELLS = false };
#endif

static void starts_with_newproc(void) {
    require(sa_self() == NULL && !sa_runs());
    require(sa_yield() == -1 && errno == EPERM);
    require(sa_enable() == -1 && errno == EINVAL);
    require(sa_register(NULL, NULL, 0, -1) == -1 && errno == EINVAL);
    require(sa_register(small_upcall, NULL, 8, -1) == -1 && errno == EINVAL);
    sa_upcall_t before;
    require(sa_register(small_upcall, &before, SA_FLAG_PREEMPT, 0) == 0 && before == NULL);
    require(sa_stacks(1, &(stack_t){.ss_sp = &before, .ss_size = 8}) == -1 && errno == EINVAL);
    start(1);
    require(count(SA_UPCALL_NEWPROC) == 1);
    require(sa_self() && sa_self()->sa_id == 1 && sa_self()->sa_cpu == 0);
    sa_hold(); /* no standby takes it for blocked meanwhile */
    require(sa_runs() == TELLS);
    struct lwp *self = &sa_lwps[0];
    lwp_change(self, self->word, LWP_LOST);
    require(!sa_runs());
    require(sa_self() && sa_runs() == TELLS);
    sa_release();
    require(sa_enable() == -1 && errno == EBUSY);
    require(sa_preempt(0) == -1 && errno == ESRCH);
    require(sa_preempt(SA_ACTIVATIONS_MOST) == -1 && errno == ESRCH);
    require(sa_interrupt(-1) == -1 && errno == ESRCH);
    require(sa_interrupt(1) == -1 && errno == ESRCH);
    require(sa_alarm(SA_PROCESSORS_MOST, 1) == -1 && errno == ESRCH);
    sa_hold();
    sa_hold();
    sa_release();
    sa_release();
}

static struct small_thread threads[300];

static void add_one(void *counter) {
    for (int i = 0; i < 100; i++) {
        ++*(_Atomic int *)counter;
        small_yield();
    }
}

static void switches_without_upcalls(void) {
    static _Atomic int counter;
    start(1);
    for (int i = 0; i < 10; i++)
        small_create(&threads[i], add_one, &counter);
    for (int i = 0; i < 10; i++)
        small_join(&threads[i]);
    require(counter == 1000);
    require(count(SA_UPCALL_NEWPROC) == 1);
}

static void child_of_fork(void) {
    start(1);
    pid_t pid = fork();
    if (pid == 0)
        _exit(sa_self() == NULL && !sa_runs() && sa_yield() == -1 ? 0 : 1);
    int status;
    require(waitpid(pid, &status, 0) == pid && status == 0);
}

/* ---- Blocking in the kernel -------------------------------------------------------------------------------------- */

static int ends[2];
static _Atomic bool done, begun;

static void read_pipe(void *result) {
    char c = 0;
    begun = true;
    *(ssize_t *)result = read(ends[0], &c, 1);
    require(c == 'x');
    done = true;
}

static void read_then_write(int rounds) {
    ssize_t result = 0;
    require(pipe(ends) == 0);
    for (int i = 0; i < rounds; i++) {
        done = begun = false;
        small_create(&threads[0], read_pipe, &result);
        small_yield(); /* comes back by BLOCKED: nobody writes but the caller */
        require(begun && !done);
        require(count(SA_UPCALL_BLOCKED) >= i + 1);
        require(write(ends[1], "x", 1) == 1);
        require(eventually(count(SA_UPCALL_UNBLOCKED) >= i + 1));
        small_join(&threads[0]);
        require(done && result == 1);
    }
}

static void read_blocks_only_its_thread(void) {
    start(1);
    read_then_write(200);
}

/* Where the kernel does not lead what returns to the trap. */
static void read_without_trap(void) {
    start(1);
    activations.traps = false;
    read_then_write(50);
}

static _Atomic uint32_t futex_word;

static void block_somehow(void *way) {
    begun = true;
    switch ((intptr_t)way) {
    case 0: {
        struct timespec t = {0, 100 * MILLISECOND};
        require(nanosleep(&t, NULL) == 0);
        break;
    }
    case 1:
        while (futex_word == 0)
            syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, NULL, NULL, 0);
        break;
    case 2: {
        pid_t pid = fork();
        if (pid == 0) {
            usleep(100000);
            _exit(0);
        }
        require(waitpid(pid, NULL, 0) == pid);
        break;
    }
    }
    done = true;
}

static void blocks_by(intptr_t way) {
    start(1);
    small_create(&threads[0], block_somehow, (void *)way);
    small_yield();
    require(begun && !done && count(SA_UPCALL_BLOCKED) >= 1);
    futex_word = 1;
    syscall(SYS_futex, &futex_word, FUTEX_WAKE, 1, NULL, NULL, 0);
    require(eventually(count(SA_UPCALL_UNBLOCKED) == count(SA_UPCALL_BLOCKED)));
    small_join(&threads[0]);
    require(done);
}
static void nanosleep_blocks(void) { blocks_by(0); }
static void futex_blocks(void) { blocks_by(1); }
static void waitpid_blocks(void) { blocks_by(2); }

static char *page;
static int faults;

static void touch(void *unused) {
    (void)unused;
    begun = true;
    require(*(volatile char *)page == 'u');
    done = true;
}

/* As a page of a file that a disk has to be waited for; this one is brought by the test. */
static void page_fault_blocks(void) {
    start(1);
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    require(faults >= 0);
    struct uffdio_api api = {.api = UFFD_API};
    require(ioctl(faults, UFFDIO_API, &api) == 0);
    static char content[4096];
    content[0] = 'u';
    for (int i = 0; i < 20; i++) {
        done = begun = false;
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        require(page != MAP_FAILED);
        struct uffdio_register range = {.range = {(uintptr_t)page, 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
        require(ioctl(faults, UFFDIO_REGISTER, &range) == 0);
        small_create(&threads[0], touch, NULL);
        small_yield();
        require(begun && !done && count(SA_UPCALL_BLOCKED) >= i + 1);
        struct uffdio_copy copy = {.dst = (uintptr_t)page, .src = (uintptr_t)content, .len = 4096};
        require(ioctl(faults, UFFDIO_COPY, &copy) == 0);
        require(eventually(count(SA_UPCALL_UNBLOCKED) == count(SA_UPCALL_BLOCKED)));
        small_join(&threads[0]);
        require(done);
    }
}

/* A file whose pages are not in memory. Where the disk is too fast to be seen, or is memory, it just works. */
static void cold_file(void) {
    start(1);
    char name[] = "/var/tmp/catapults-cold-XXXXXX";
    int file = mkstemp(name);
    require(file >= 0);
    unlink(name);
    static char block[1 << 20];
    memset(block, 'c', sizeof block);
    require(write(file, block, sizeof block) == sizeof block && fsync(file) == 0);
    for (int i = 0; i < 50; i++) {
        require(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
        require(pread(file, block, sizeof block, 0) == sizeof block);
        char *map = mmap(NULL, sizeof block, PROT_READ, MAP_SHARED, file, 0);
        require(map != MAP_FAILED);
        require(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
        for (size_t at = 0; at < sizeof block; at += 65536)
            require(map[at] == 'c');
        munmap(map, sizeof block);
    }
    require(eventually(count(SA_UPCALL_UNBLOCKED) == count(SA_UPCALL_BLOCKED)));
}

static _Atomic int readers;

static void read_one(void *unused) {
    (void)unused;
    char c;
    require(read(ends[0], &c, 1) == 1);
    readers++;
}

static void many_blocked(void) {
    enum { MANY = 200 };
    start(1);
    require(pipe(ends) == 0);
    for (int i = 0; i < MANY; i++)
        small_create(&threads[i], read_one, NULL);
    small_yield();
    int64_t limit = now() + 2000 * MILLISECOND;
    while (count(SA_UPCALL_BLOCKED) < MANY && now() < limit)
        small_yield();
    require(count(SA_UPCALL_BLOCKED) >= MANY && readers == 0);
    static char all[MANY];
    require(write(ends[1], all, MANY) == MANY);
    for (int i = 0; i < MANY; i++)
        small_join(&threads[i]);
    require(readers == MANY);
}

/* ---- What is not blocked ----------------------------------------------------------------------------------------- */

/* Another process takes its CPU from a thread that never blocks. */
static void preemption_is_not_blocking(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    require(sched_setaffinity(0, sizeof one, &one) == 0);
    pid_t pid = fork();
    if (pid == 0)
        for (int64_t limit = now() + 500 * MILLISECOND;;)
            if (now() > limit)
                _exit(0);
    start(1);
    for (int64_t limit = now() + 400 * MILLISECOND; now() < limit;)
        getppid();
    require(count(SA_UPCALL_BLOCKED) == 0);
    require(waitpid(pid, NULL, 0) == pid);
}

static void held_is_not_blocked(void) {
    start(1);
    struct timespec t = {0, 20 * MILLISECOND};
    sa_hold();
    require(nanosleep(&t, NULL) == 0);
    sa_release();
    require(count(SA_UPCALL_BLOCKED) == 0);
    t.tv_nsec = 100 * MILLISECOND;
    require(nanosleep(&t, NULL) == 0);
    require(count(SA_UPCALL_BLOCKED) >= 1); /* the standby has been waked */
}

/* ---- As many as there are processors ----------------------------------------------------------------------------- */

static _Atomic bool stop;
static _Atomic int returns, unnoticed;

static void read_and_spin(void *unused) {
    (void)unused;
    char c;
    require(read(ends[0], &c, 1) == 1);
    while (!stop)
        ;
    done = true;
}

static void sleep_and_work(void *unused) {
    (void)unused;
    for (int i = 0; i < 20; i++) {
        struct timespec t = {0, 300000};
        nanosleep(&t, NULL);
        enum lwp_state state = lwp_state(*(struct lwp *volatile *)&here()->activation);
        returns++;
        unnoticed += state == LWP_AWAY; /* it runs without a processor */
        for (volatile int k = 0; k < 40000; k++)
            ;
    }
}

static void sleepers(void) {
    for (int i = 0; i < 8; i++)
        small_create(&threads[i], sleep_and_work, NULL);
    for (int i = 0; i < 8; i++)
        small_join(&threads[i]);
    require(count(SA_UPCALL_BLOCKED) > 0 && returns == 160);
}

static void returns_are_caught(void) {
    start(1);
    sleepers();
    require(!activations.traps || unnoticed * 10 < returns);
}

/* By the tick of its CPU time. */
static void returns_are_caught_by_ticks(void) {
    start(1);
    activations.traps = false;
    require(pipe(ends) == 0);
    small_create(&threads[0], read_and_spin, NULL);
    small_yield();
    require(count(SA_UPCALL_BLOCKED) >= 1 && write(ends[1], "x", 1) == 1);
    require(eventually(count(SA_UPCALL_UNBLOCKED) == count(SA_UPCALL_BLOCKED)));
    require(!done);
    stop = true;
    small_join(&threads[0]);
}

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

/* ---- USER -------------------------------------------------------------------------------------------------------- */

static _Atomic int turns[2];

static void spin(void *which) {
    while (!stop)
        turns[(intptr_t)which]++;
}

/* A kernel thread of the program's own. */
static void *preempt_often(void *unused) {
    (void)unused;
    while (!stop) {
        usleep(1000);
        for (int id = 1; id <= 20; id++)
            sa_preempt(id);
    }
    return NULL;
}

static void user_upcalls_share_a_processor(void) {
    start(1);
    small_create(&threads[0], spin, (void *)0);
    small_create(&threads[1], spin, (void *)1);
    pthread_t other;
    require(pthread_create(&other, NULL, preempt_often, NULL) == 0);
    require(eventually(turns[0] > 1000 && turns[1] > 1000 && count(SA_UPCALL_USER) > 10));
    stop = true;
    small_join(&threads[0]);
    small_join(&threads[1]);
}

/* One that waits to go on is not interrupted by what was meant for the processor that it has not: nobody would get
 * further if all were. */
static void waiting_threads_are_not_interrupted(void) {
    start(1);
    small_create(&threads[0], spin, (void *)0);
    require(sa_alarm(0, now() + 5 * MILLISECOND) == 0);
    small_yield();
    require(turns[0] > 0 && count(SA_UPCALL_USER) == 1);
    int waiting = 0;
    sa_hold();
    for (int id = 1; id <= activations.lwps; id++)
        if (lwp_state(&sa_lwps[id - 1]) == LWP_PARKED) {
            require(sa_preempt(id) == -1 && errno == ESRCH);
            waiting++;
        }
    sa_release();
    require(waiting == 1);
    stop = true;
    small_join(&threads[0]);
    require(count(SA_UPCALL_USER) == 1);
}

static void *interrupt_often(void *processors) {
    while (!stop) {
        usleep(1000);
        for (int i = 0; i < (int)(intptr_t)processors; i++)
            sa_interrupt(i);
    }
    return NULL;
}

/* Whoever runs is interrupted, and each in its turn. */
static void processors_are_interrupted(void) {
    start(1);
    small_create(&threads[0], spin, (void *)0);
    small_create(&threads[1], spin, (void *)1);
    pthread_t other;
    require(pthread_create(&other, NULL, interrupt_often, (void *)1) == 0);
    require(eventually(turns[0] > 1000 && turns[1] > 1000 && count(SA_UPCALL_USER) > 10));
    stop = true;
    small_join(&threads[0]);
    small_join(&threads[1]);
}

static void interruptions_wait_for_the_end_of_a_hold(void) {
    start(1);
    sa_hold();
    require(sa_interrupt(0) == 0);
    usleep(2000);
    require(count(SA_UPCALL_USER) == 0);
    sa_release();
    require(eventually(count(SA_UPCALL_USER) == 1)); /* the next look at it may have been planned for later */
}

static void alarms_interrupt_a_processor(void) {
    start(1);
    int64_t began = now();
    for (int i = 1; i <= 10; i++) {
        require(sa_alarm(0, now() + 5 * MILLISECOND) == 0);
        require(eventually(count(SA_UPCALL_USER) == i) && now() - began >= i * 5 * MILLISECOND);
    }
    require(sa_alarm(0, now() + 5 * MILLISECOND) == 0 && sa_alarm(0, 0) == 0);
    usleep(20000);
    require(count(SA_UPCALL_USER) == 10);
    ssize_t result;
    require(pipe(ends) == 0);
    small_create(&threads[0], read_pipe, &result);
    small_yield(); /* it blocks */
    require(sa_alarm(0, -1) == 0);
    require(eventually(count(SA_UPCALL_USER) == 11));
    require(!done && write(ends[1], "x", 1) == 1);
    small_join(&threads[0]);
}

static void alarms_are_of_processors(void) {
    start(1);
    require(sa_register(small_upcall, NULL, SA_FLAG_FIXED, -1) == 0 && sa_setconcurrency(2) == 2);
    require(eventually(count(SA_UPCALL_NEWPROC) == 2));
    small_create(&threads[0], spin, (void *)0);
    require(eventually(turns[0] > 1000));
    for (int i = 1; i <= 10; i++) {
        require(sa_alarm(i % 2, now() + MILLISECOND) == 0);
        require(eventually(count(SA_UPCALL_USER) >= i));
    }
    stop = true;
    small_join(&threads[0]);
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

static _Atomic bool interrupted_inside, in_critical;

__attribute__((section("sections_test"), noinline)) static void critical(int64_t limit) {
    for (volatile int64_t i = 0; i < limit; i++)
        in_critical = i + 1 < limit;
}
extern const char __start_sections_test[], __stop_sections_test[];

static void look_inside(void *unused) {
    (void)unused;
    while (!stop) {
        if (in_critical)
            interrupted_inside = true;
        small_yield();
    }
}

static void sections_are_not_interrupted(void) {
    require(sa_sections(1, &(struct sa_section){__stop_sections_test, __start_sections_test}) == -1 && errno == EINVAL);
    require(sa_sections(1, &(struct sa_section){__start_sections_test, __stop_sections_test}) == 0);
    struct sa_section many[20];
    for (int i = 0; i < 20; i++)
        many[i] = (struct sa_section){__start_sections_test, __stop_sections_test};
    require(sa_sections(20, many) == -1 && errno == ENOSPC);
    start(1);
    pthread_t other;
    require(pthread_create(&other, NULL, preempt_often, NULL) == 0);
    small_create(&threads[0], look_inside, NULL);
    int64_t limit = now() + 5000 * MILLISECOND;
    while (count(SA_UPCALL_USER) < 10 && now() < limit)
        for (int i = 0; i < 1000; i++)
            critical(20);
    int users = count(SA_UPCALL_USER);
    for (int i = 0; i < 30; i++) {
        sa_hold();
        critical(100000);
        sa_release();
        small_yield();
    }
    stop = true;
    small_join(&threads[0]);
    require(users >= 10 && !interrupted_inside);
}

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

/* ---- Processors that come and go --------------------------------------------------------------------------------- */

static void spin_on(void *unused) {
    (void)unused;
    while (!stop)
        turns[0]++;
    turns[0]++;
}

static void concurrency_changes(void) {
    start(1);
    require(sa_setconcurrency(0) == -1 && errno == EINVAL);
    require(sa_setconcurrency(2) == 2);
    small_create(&threads[0], spin_on, NULL);
    require(eventually(count(SA_UPCALL_NEWPROC) == 2 && turns[0] > 1000)); /* while the caller runs, too */
    require(sa_setconcurrency(1) == 1);
    require(eventually(count(SA_UPCALL_PREEMPTED) == 1));
    stop = true;
    int64_t before = turns[0];
    small_yield(); /* it goes on here, until it is done */
    require(turns[0] > before && threads[0].ended);
    stop = false;
    /* One that sleeps goes, too. */
    require(sa_setconcurrency(2) == 2);
    require(eventually(count(SA_UPCALL_NEWPROC) == 3));
    usleep(20000);
    require(sa_setconcurrency(1) == 1);
    require(eventually(count(SA_UPCALL_PREEMPTED) == 2));
}

static void for_all_threads(const cpu_set_t *cpus) {
    DIR *tasks = opendir("/proc/self/task");
    require(tasks);
    for (struct dirent *task; (task = readdir(tasks));)
        if (task->d_name[0] != '.')
            sched_setaffinity(atoi(task->d_name), sizeof *cpus, cpus);
    closedir(tasks);
}

/* As `taskset --all-tasks`, or a cpuset that shrinks. */
static void affinity_changes(void) {
    cpu_set_t all, one;
    require(sched_getaffinity(0, sizeof all, &all) == 0 && CPU_COUNT(&all) >= 2);
    start(2);
    require(eventually(count(SA_UPCALL_NEWPROC) == 2));
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    for_all_threads(&one);
    require(eventually(count(SA_UPCALL_PREEMPTED) == 1));
    for_all_threads(&all);
    require(eventually(count(SA_UPCALL_NEWPROC) == 3));
}

/* As `taskset --pid`: the first kernel thread alone. */
static void affinity_of_the_process_changes(void) {
    cpu_set_t all, one;
    cpus_find(&all, &one);
    start(2);
    require(eventually(count(SA_UPCALL_NEWPROC) == 2));
    for (int i = 1; i <= 3; i++) {
        cpus_allow(&one);
        require(eventually(count(SA_UPCALL_PREEMPTED) == i));
        cpu_set_t mine;
        require(sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_EQUAL(&mine, &one));
        cpus_allow(&all);
        require(eventually(count(SA_UPCALL_NEWPROC) == 2 + i));
    }
}

static void beat(void *number) {
    read_one(NULL);
    for (int i = 0; i < 2; i++)
        beats_take_turn((int)(intptr_t)number);
}

static void *let_all_go_on(void *unused) {
    static char all[BEATS];
    while (count(SA_UPCALL_BLOCKED) < BEATS)
        usleep(1000);
    require(write(ends[1], all, BEATS) == BEATS);
    return unused;
}

/* All come back at once, and again while others compute. */
static void beat_on(int processors) {
    pthread_t other;
    require(pipe(ends) == 0);
    start(1);
    require(sa_register(small_upcall, NULL, SA_FLAG_FIXED, -1) == 0);
    require(sa_setconcurrency(processors) == processors && beats_start(processors) == 0);
    for (int i = 0; i < BEATS; i++)
        small_create(&threads[i], beat, (void *)(intptr_t)i);
    require(pthread_create(&other, NULL, let_all_go_on, NULL) == 0);
    for (int i = 0; i < BEATS; i++)
        small_join(&threads[i]);
    beats_stop();
    require(beats.windows > 0 && beats.exceeded == 0);
}
static void one_runs_on_one(void) { beat_on(1); }
static void two_run_on_two(void) { beat_on(2); }
static void one_runs_on_one_without_trap(void) {
    start_without_trap = true;
    beat_on(1);
}

static void processors_are_as_many_as_asked_for(void) {
    cpu_set_t all, one;
    cpus_find(&all, &one);
    int many = CPU_COUNT(&all) + 2;
    start(1);
    require(sa_setconcurrency(many) == (many - 2 < SA_PROCESSORS_MOST ? many - 2 : SA_PROCESSORS_MOST));
    require(sa_register(small_upcall, NULL, SA_FLAG_FIXED, -1) == 0);
    if (many > SA_PROCESSORS_MOST)
        return;
    require(sa_setconcurrency(many) == many);
    require(eventually(count(SA_UPCALL_NEWPROC) == many));
    cpus_allow(&one);
    int64_t limit = now() + 400 * MILLISECOND;
    while (now() < limit)
        small_yield();
    require(count(SA_UPCALL_PREEMPTED) == 0);
}

static void two_processors(void) {
    start(2);
    sleepers();
}

/* ---- Standbys that do not run -------------------------------------------------------------------------------------
 */

static _Atomic bool frozen;
static _Atomic int most_nap; /* microseconds */

/* On a standby: at any instruction of it, as when the CPU has other work. */
static void freeze(int signal) {
    (void)signal;
    do
        usleep((useconds_t)(1 + most_nap * (now() / 1000 % 1000) / 1000));
    while (frozen);
}

static void start_to_freeze(int processors) {
    struct sigaction action = {.sa_handler = freeze};
    require(sigaction(SIGTRAP, &action, NULL) == 0); /* the only signal that they do not block */
    start(processors);
}

static void freeze_standbys(void) {
    DIR *tasks = opendir("/proc/self/task");
    require(tasks);
    for (struct dirent *task; (task = readdir(tasks));)
        if (task->d_name[0] != '.' && sched_getscheduler(atoi(task->d_name)) == SCHED_IDLE)
            syscall(SYS_tgkill, getpid(), atoi(task->d_name), SIGTRAP);
    closedir(tasks);
}

static void read_when_lost(void *result) {
    struct lwp *self = &sa_lwps[sa_self()->sa_id - 1];
    uint32_t word = self->word;
    lwp_change(self, word, LWP_LOST); /* by a standby that comes no further */
    read_pipe(result);
}

/* What blocks is told all the same, after two rounds of the keeper at most, and what a loaded machine adds. */
static void standby_never_runs(void) {
    enum { ROUNDS = 31 };
    static int64_t took[ROUNDS];
    start_to_freeze(1);
    ssize_t result;
    require(pipe(ends) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        done = begun = false;
        frozen = true;
        freeze_standbys();
        small_create(&threads[0], i % 2 ? read_when_lost : read_pipe, &result);
        int64_t began = now();
        small_yield();
        took[i] = now() - began;
        frozen = false;
        require(begun && !done);
        require(write(ends[1], "x", 1) == 1);
        require(eventually(count(SA_UPCALL_UNBLOCKED) >= i + 1));
        small_join(&threads[0]);
    }
    int slow = 0;
    for (int i = 0; i < ROUNDS; i++)
        slow += took[i] > 200 * MILLISECOND;
    require(slow <= ROUNDS / 2);
}

static _Atomic bool stop_freezing;

static void *freeze_now_and_then(void *unused) {
    while (!stop_freezing) {
        freeze_standbys();
        usleep(500);
    }
    return unused;
}

/* They look at what has long changed. */
static void standbys_are_slow(void) {
    most_nap = 3000;
    pthread_t other;
    start_to_freeze(2);
    require(pthread_create(&other, NULL, freeze_now_and_then, NULL) == 0);
    sleepers();
    stop_freezing = true;
    require(pthread_join(other, NULL) == 0);
}

/* ---- Kernel threads that cannot be made, or die ------------------------------------------------------------------ */

static _Atomic int refuse;
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    if (refuse > 0) {
        refuse--;
        return EAGAIN;
    }
    return __real_pthread_create(thread, attributes, body, argument);
}

static void no_thread_at_the_start(void) {
    require(sa_register(small_upcall, NULL, 0, -1) == 0);
    refuse = 1;
    require(sa_enable() == -1 && errno == EAGAIN);
    require(sa_self() == NULL && !sa_runs());
    refuse = 0;
    start(1);
}

static void threads_are_refused(void) {
    start(1);
    refuse = 1000;
    require(pipe(ends) == 0);
    for (int i = 0; i < 20; i++)
        small_create(&threads[i], read_one, NULL);
    static char all[20];
    require(write(ends[1], all, 10) == 10); /* so that those that hold the processor come back */
    int64_t limit = now() + 300 * MILLISECOND;
    while (now() < limit && readers < 10)
        small_yield();
    require(readers == 10);
    refuse = 0;
    require(write(ends[1], all, 10) == 10);
    for (int i = 0; i < 20; i++)
        small_join(&threads[i]);
}

/* A spare whose kernel thread is gone, and whose record does not know. */
static void kill_spares(int most) {
    int left = most;
    for (int i = 0; i < activations.lwps && left > 0; i++) {
        uint32_t word = sa_lwps[i].word;
        if ((word & LWP_STATE) != LWP_SPARE || !lwp_change(&sa_lwps[i], word, LWP_QUITS))
            continue;
        syscall(SYS_futex, &sa_lwps[i].word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        while (syscall(SYS_tgkill, getpid(), sa_lwps[i].tid, 0) == 0)
            sched_yield();
        sa_lwps[i].word = LWP_SPARE;
        left--;
    }
}

static void spares_die(void) {
    start(1);
    usleep(20000);
    kill_spares(2);
    read_then_write(5);
    kill_spares(1);
    struct timespec t = {0, 2 * MILLISECOND};
    require(nanosleep(&t, NULL) == 0);
    stop = false;
    small_create(&threads[0], spin, (void *)0);
    small_create(&threads[1], spin, (void *)1);
    pthread_t other;
    require(pthread_create(&other, NULL, preempt_often, NULL) == 0);
    kill_spares(1);
    require(eventually(turns[0] > 1000 && turns[1] > 1000));
    stop = true;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(starts_with_newproc),
        child_test(switches_without_upcalls),
        child_test(child_of_fork),
        child_test(read_blocks_only_its_thread),
        child_test(read_without_trap),
        child_test(nanosleep_blocks),
        child_test(futex_blocks),
        child_test(waitpid_blocks),
        child_test(page_fault_blocks),
        child_test(cold_file),
        child_test(many_blocked),
        child_test(preemption_is_not_blocking),
        child_test(held_is_not_blocked),
        child_test(returns_are_caught),
        child_test(returns_are_caught_by_ticks),
        child_test(handlers_block_in_the_trap),
        child_test(handlers_go_on_elsewhere),
        child_test(user_upcalls_share_a_processor),
        child_test(waiting_threads_are_not_interrupted),
        child_test(processors_are_interrupted),
        child_test(interruptions_wait_for_the_end_of_a_hold),
        child_test(alarms_interrupt_a_processor),
        child_test(alarms_are_of_processors),
        child_test(sections_are_not_interrupted),
        child_test(signals_are_told),
        child_test(faults_are_told),
        child_test(concurrency_changes),
        child_test(affinity_changes),
        child_test(affinity_of_the_process_changes),
        child_test(one_runs_on_one),
        child_test(two_run_on_two),
        child_test(one_runs_on_one_without_trap),
        child_test(processors_are_as_many_as_asked_for),
        child_test(two_processors),
        child_test(standby_never_runs),
        child_test(standbys_are_slow),
        child_test(no_thread_at_the_start),
        child_test(threads_are_refused),
        child_test(spares_die),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
