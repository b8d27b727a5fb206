/*
 * What the activations cost and how soon they tell: from a system call that blocks to the upcall BLOCKED, from the end
 * of a wait to UNBLOCKED, what runs slower while nothing blocks. The library is the small one of the tests.
 *
 * Prints `name value` lines, in nanoseconds (slowdown: a ratio); medians. A name that ends in `_since_left` counts from
 * when the thread has left the CPU, as the kernel's count of its CPU time has it: what comes before is the system
 * call's own work, of which a read of a cold file has much.
 *
 *     activations           all of it
 *     activations short     a twentieth of it: whether it works
 *
 * Whatever it waits for is bounded: it ends with a message when a round of some loop takes longer than PATIENCE.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/small_threads.h"

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return count ? values[count / 2] : 0;
}

static bool shortened;

static int rounds(int all) { return shortened ? (all + 19) / 20 : all; }

/* ---- Time limits ---------------------------------------------------------------------------------------------------
 */

enum { PATIENCE = 30 }; /* seconds for a round: for machines that have much else to do */

/* What is being done. */
static struct {
    const char *_Atomic loop;
    _Atomic int round;
} at;

static void doing(const char *loop, int round) {
    at.round = round;
    at.loop = loop;
}

/* Who is watched while it blocks, and how far it is: it begins a round, is told to be blocked, and to have come back.
 * Others may block, too, for a page that the kernel has taken away. */
static struct small_thread *_Atomic watched;
static _Atomic int round_begun, round_blocked, round_back;
static _Atomic int64_t before_block, blocked_at, back_at;
static _Atomic int64_t cpu_before_block,
    cpu_used; /* by its kernel thread: at first, and since then when it was told of */

/* What the kernel says of one of our threads. */
static void print_task(const char *tid) {
    char path[300], text[64] = "";
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/proc/self/task/%s/%s", tid, i ? "syscall" : "wchan");
        FILE *file = fopen(path, "r");
        if (file && fgets(text, sizeof text, file))
            fprintf(stderr, "%s %.*s", i ? "" : tid, (int)strcspn(text, "\n"), text);
        if (file)
            fclose(file);
    }
    fprintf(stderr, "\n");
}

static void give_up(void) {
    fprintf(
        stderr,
        "activations: %s, round %d: nothing for %d s. The thread that blocks: round %d begun, %d told as blocked, %d "
        "as back. Upcalls BLOCKED: %d, UNBLOCKED: %d. %s ready.\n",
        at.loop, at.round, PATIENCE, round_begun, round_blocked, round_back, small.upcalls[SA_UPCALL_BLOCKED],
        small.upcalls[SA_UPCALL_UNBLOCKED], small.first ? "Some thread is" : "No thread is");
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));)
        if (task->d_name[0] != '.')
            print_task(task->d_name);
    _exit(EXIT_FAILURE);
}

/* A kernel thread that the activations know nothing of. */
static void *watch_time(void *unused) {
    const char *loop = at.loop;
    int round = at.round;
    for (int idle = 0; idle < PATIENCE; idle++) {
        sleep(1);
        if (at.loop != loop || at.round != round)
            idle = 0;
        loop = at.loop;
        round = at.round;
    }
    give_up();
    return unused;
}

static void limit_time(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch_time, NULL) != 0)
        abort();
}

/* ---- Blocking ------------------------------------------------------------------------------------------------------
 */

/* Nanoseconds for which a kernel thread has run. */
static int64_t cpu_time(int tid) {
    struct timespec t;
    clock_gettime((clockid_t)(~(unsigned)tid << 3 | 6), &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static _Atomic int watched_tid;

static void upcall(int type, struct sa_t *sas[], int events, int interrupted, void *argument) {
    int64_t t = now();
    if (type == SA_UPCALL_BLOCKED && small.current[sas[1]->sa_cpu] == watched) {
        blocked_at = t;
        cpu_used = cpu_time(watched_tid) - cpu_before_block;
        round_blocked = round_begun;
    }
    for (int i = 1; type == SA_UPCALL_UNBLOCKED && i <= events; i++)
        if (small.blocked[sas[i]->sa_id] == watched) {
            back_at = t;
            round_back = round_begun;
        }
    small_upcall(type, sas, events, interrupted, argument);
}

/* The watched thread is about to block. */
static void begin_round(int round) {
    round_begun = round;
    watched_tid = (int)syscall(SYS_gettid);
    cpu_before_block = cpu_time(watched_tid);
    before_block = now();
}

static void await_blocked(int round) {
    while (round_blocked < round)
        small_yield();
}

/* Before the next thread is watched. */
static void watch(struct small_thread *thread) {
    round_begun = round_blocked = round_back = 0;
    watched = thread;
}

static int ends[2];
static bool settled;

/* Lets the activation that ran before finish on its way to being a spare: it is not what is measured. */
static void settle(void) {
    for (int i = 0; i < 3 && settled; i++)
        sched_yield();
}

enum { ROUNDS = 1000 }; /* at most SAMPLES */

static void read_pipe(void *unused) {
    (void)unused;
    char c;
    for (int i = 1; i <= rounds(ROUNDS); i++) {
        settle();
        begin_round(i);
        if (read(ends[0], &c, 1) != 1)
            abort();
        small_yield();
    }
}

static char *page;

static void touch_page(void *round) {
    settle();
    begin_round((int)(intptr_t)round);
    if (*(volatile char *)page != 'u')
        abort();
}

static void report(const char *name, double *values, int count) {
    printf("%s %.0f\n", name, median(values, count));
    printf("%s_count %d\n", name, count);
}

/* From the call, and since it left the CPU: in `values`, of which the second half is for the latter. */
enum { SAMPLES = 1000 };
static void keep(double *values, int at) {
    values[at] = (double)(blocked_at - before_block);
    values[SAMPLES + at] = values[at] - (double)cpu_used;
}
static void report_both(const char *name, double *values, int count) {
    report(name, values, count);
    printf("%s_since_left %.0f\n", name, median(values + SAMPLES, count));
}

/* One thread blocks, and each time another one, here, ends its wait after 20 µs. Who has yielded to the kernel waits
 * longer for a CPU when it comes back, so the two are measured one after the other. */
static void pipes(bool coming_back) {
    settled = !coming_back;
    static double latency[2 * SAMPLES], back[ROUNDS];
    static struct small_thread reader;
    int told = 0;
    if (pipe(ends) != 0)
        abort();
    watch(&reader);
    small_create(&reader, read_pipe, NULL);
    for (int i = 1; i <= rounds(ROUNDS); i++) {
        doing(coming_back ? "unblocked_upcall_pipe" : "blocked_upcall_pipe", i);
        await_blocked(i);
        for (int64_t limit = now() + 20000; now() < limit;)
            ;
        int64_t written = now();
        if (write(ends[1], "x", 1) != 1)
            abort();
        for (int64_t limit = now() + 20000000; round_back < i && now() < limit;)
            ;
        if (round_back < i)
            continue;
        keep(latency, told);
        back[told++] = (double)(back_at - written);
    }
    small_join(&reader);
    if (coming_back)
        report("unblocked_upcall_pipe", back, told);
    else
        report_both("blocked_upcall_pipe", latency, told);
    settled = true;
}

/* A page that is not there, as one of a cold file that a disk has to bring: the kernel asks this program for it. */
static void faults(void) {
    enum { FAULTS = 300 };
    static double latency[2 * SAMPLES];
    static struct small_thread thread;
    static char content[4096] = "u";
    int descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    if (descriptor < 0 || ioctl(descriptor, UFFDIO_API, &api) != 0)
        return;
    watch(&thread);
    for (int i = 0; i < rounds(FAULTS); i++) {
        doing("blocked_upcall_page", i + 1);
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct uffdio_register range = {.range = {(uintptr_t)page, 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
        if (page == MAP_FAILED || ioctl(descriptor, UFFDIO_REGISTER, &range) != 0)
            abort();
        small_create(&thread, touch_page, (void *)(intptr_t)(i + 1));
        await_blocked(i + 1);
        keep(latency, i);
        struct uffdio_copy copy = {.dst = (uintptr_t)page, .src = (uintptr_t)content, .len = 4096};
        if (ioctl(descriptor, UFFDIO_COPY, &copy) != 0)
            abort();
        small_join(&thread);
        munmap(page, 4096);
    }
    report_both("blocked_upcall_page", latency, rounds(FAULTS));
}

/* A read of a file whose pages were thrown out of memory. How many there were to wait for depends on the disk. */
static int cold_file;

static void cold_read(void *round) {
    static char block[4096];
    settle();
    begin_round((int)(intptr_t)round);
    if (pread(cold_file, block, sizeof block, (off_t)(random() % 4096) * 4096) != sizeof block)
        abort();
}

static void cold_files(void) {
    enum { READS = 300 };
    static double latency[2 * SAMPLES];
    static struct small_thread thread;
    static char block[1 << 20];
    char name[] = "/var/tmp/catapults-cold-XXXXXX";
    int told = 0, file = cold_file = mkstemp(name);
    if (file < 0)
        return;
    unlink(name);
    for (int i = 0; i < 16; i++)
        if (write(file, block, sizeof block) != sizeof block)
            abort();
    fsync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
    watch(&thread);
    for (int i = 0; i < rounds(READS); i++) {
        doing("blocked_upcall_cold_read", i + 1);
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        small_create(&thread, cold_read, (void *)(intptr_t)(i + 1));
        small_yield();
        if (round_blocked == i + 1)
            keep(latency, told++);
        small_join(&thread);
    }
    report_both("blocked_upcall_cold_read", latency, told);
}

/* ---- While nothing blocks -------------------------------------------------------------------------------------------
 */

static __attribute__((noinline)) double spin(void) {
    int64_t start = now();
    for (uint64_t i = 0, x = 1; i < 2000000; i++)
        __asm__ volatile("" : "+r"(x) : "r"(i * x));
    return (double)(now() - start);
}

static __attribute__((noinline)) double calls(void) {
    int64_t start = now();
    for (int i = 0; i < 30000; i++)
        syscall(SYS_getppid);
    return (double)(now() - start);
}

/* The least of many, which other processes disturb least. */
static __attribute__((noinline)) double least(const char *name, double (*measure)(void)) {
    double best = 1e18;
    for (int i = 0; i < rounds(60); i++) {
        doing(name, i + 1);
        double value = measure();
        best = value < best ? value : best;
    }
    return best;
}

int main(int count, char **arguments) {
    shortened = count == 2 && strcmp(arguments[1], "short") == 0;
    if (count > 1 && !shortened) {
        fprintf(stderr, "usage: activations [short]\n");
        return 2;
    }
    limit_time();
    double spin_alone = least("computing", spin), calls_alone = least("system calls", calls);
    doing("starting", 0);
    if (small_start(1) != 0 || sa_register(upcall, NULL, 0, -1) != 0) {
        perror("activations: starting");
        return EXIT_FAILURE;
    }
    printf("slowdown_computing %.4f\n", least("slowdown_computing", spin) / spin_alone);
    printf("slowdown_system_calls %.4f\n", least("slowdown_system_calls", calls) / calls_alone);
    pipes(true);
    pipes(false);
    faults();
    cold_files();
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
