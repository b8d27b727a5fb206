/*
 * What the activations cost and how soon they tell: from a system call that blocks to the upcall BLOCKED, from the end
 * of a wait to UNBLOCKED, what runs slower while nothing blocks; and the 2002 paper's three micro-benchmarks (§7), on
 * the small library of the tests beside pthreads.
 *
 * Prints `name value` lines, in nanoseconds (slowdown: a ratio); medians.
 */
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

/* ---- Blocking ------------------------------------------------------------------------------------------------------
 */

enum { ROUNDS = 1000 };

static volatile int64_t before_block, blocked_at, unblocked_at;

static void upcall(int type, struct sa_t *sas[], int events, int interrupted, void *argument) {
    int64_t t = now();
    if (type == SA_UPCALL_BLOCKED)
        blocked_at = t;
    if (type == SA_UPCALL_UNBLOCKED)
        unblocked_at = t;
    small_upcall(type, sas, events, interrupted, argument);
}

static int ends[2];
static bool settled;

/* Lets the activation that ran before finish on its way to being a spare: it is not what is measured. */
static void settle(void) {
    for (int i = 0; i < 3 && settled; i++)
        sched_yield();
}

static void read_pipe(void *unused) {
    (void)unused;
    char c;
    for (int i = 0; i < ROUNDS; i++) {
        settle();
        before_block = now();
        if (read(ends[0], &c, 1) != 1)
            abort();
        small_yield();
    }
}

static char *page;

static void touch_page(void *unused) {
    (void)unused;
    settle();
    before_block = now();
    if (*(volatile char *)page != 'u')
        abort();
}

static void report(const char *name, double *values, int count) {
    printf("%s %.0f\n", name, median(values, count));
    printf("%s_count %d\n", name, count);
}

/* One thread blocks, and each time another one, here, ends its wait after 20 µs. Who has yielded to the kernel waits
 * longer for a CPU when it comes back, so the two are measured one after the other. */
static void pipes(bool coming_back) {
    settled = !coming_back;
    static double latency[ROUNDS], back[ROUNDS];
    static struct small_thread reader;
    int told = 0;
    if (pipe(ends) != 0)
        abort();
    small_create(&reader, read_pipe, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        blocked_at = unblocked_at = 0;
        while (!blocked_at)
            small_yield();
        for (int64_t limit = now() + 20000; now() < limit;)
            ;
        int64_t written = now();
        if (write(ends[1], "x", 1) != 1)
            abort();
        for (int64_t limit = now() + 20000000; !unblocked_at && now() < limit;)
            ;
        if (!unblocked_at)
            continue;
        latency[told] = (double)(blocked_at - before_block);
        back[told++] = (double)(unblocked_at - written);
    }
    small_join(&reader);
    if (coming_back)
        report("unblocked_upcall_pipe", back, told);
    else
        report("blocked_upcall_pipe", latency, told);
    settled = true;
}

/* A page that is not there, as one of a cold file that a disk has to bring: the kernel asks this program for it. */
static void faults(void) {
    enum { FAULTS = 300 };
    static double latency[FAULTS];
    static struct small_thread thread;
    static char content[4096] = "u";
    int descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    if (descriptor < 0 || ioctl(descriptor, UFFDIO_API, &api) != 0)
        return;
    for (int i = 0; i < FAULTS; i++) {
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct uffdio_register range = {.range = {(uintptr_t)page, 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
        if (page == MAP_FAILED || ioctl(descriptor, UFFDIO_REGISTER, &range) != 0)
            abort();
        blocked_at = 0;
        small_create(&thread, touch_page, NULL);
        while (!blocked_at)
            small_yield();
        latency[i] = (double)(blocked_at - before_block);
        struct uffdio_copy copy = {.dst = (uintptr_t)page, .src = (uintptr_t)content, .len = 4096};
        if (ioctl(descriptor, UFFDIO_COPY, &copy) != 0)
            abort();
        small_join(&thread);
        munmap(page, 4096);
    }
    report("blocked_upcall_page", latency, FAULTS);
}

/* A read of a file whose pages were thrown out of memory. How many there were to wait for depends on the disk. */
static void cold_read(void *file) {
    static char block[4096];
    settle();
    before_block = now();
    if (pread(*(int *)file, block, sizeof block, (off_t)(random() % 4096) * 4096) != sizeof block)
        abort();
}

static void cold_files(void) {
    enum { READS = 300 };
    static double latency[READS];
    static struct small_thread thread;
    static char block[1 << 20];
    char name[] = "/var/tmp/catapults-cold-XXXXXX";
    int told = 0, file = mkstemp(name);
    if (file < 0)
        return;
    unlink(name);
    for (int i = 0; i < 16; i++)
        if (write(file, block, sizeof block) != sizeof block)
            abort();
    fsync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
    for (int i = 0; i < READS; i++) {
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        blocked_at = 0;
        small_create(&thread, cold_read, &file);
        small_yield();
        if (blocked_at)
            latency[told++] = (double)(blocked_at - before_block);
        small_join(&thread);
    }
    report("blocked_upcall_cold_read", latency, told);
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
static __attribute__((noinline)) double least(double (*measure)(void)) {
    double best = 1e18;
    for (int i = 0; i < 60; i++) {
        double value = measure();
        best = value < best ? value : best;
    }
    return best;
}

/* ---- The paper's micro-benchmarks
 * -------------------------------------------------------------------------------------- */

enum { THREADS = 2000, LOCKS = 100000, SWITCHES = 20000 };

static void nothing(void *unused) { (void)unused; }
static void *nothing_pthread(void *unused) { return unused; }

static double create_small(void) {
    static struct small_thread thread;
    int64_t start = now();
    for (int i = 0; i < THREADS; i++) {
        small_create(&thread, nothing, NULL);
        small_join(&thread);
        small_lock();
        small_give_stack(thread.stack);
        small_unlock();
    }
    return (double)(now() - start) / THREADS;
}

static double create_pthread(void) {
    int64_t start = now();
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing_pthread, NULL) != 0)
            abort();
        pthread_join(thread, NULL);
    }
    return (double)(now() - start) / THREADS;
}

/* The small library has one lock, its own. */
static double lock_small(void) {
    int64_t start = now();
    for (int i = 0; i < LOCKS; i++) {
        small_lock();
        small_unlock();
    }
    return (double)(now() - start) / LOCKS;
}

static double lock_pthread(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int64_t start = now();
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return (double)(now() - start) / LOCKS;
}

static void yielder(void *unused) {
    (void)unused;
    for (int i = 0; i < SWITCHES / 2; i++)
        small_yield();
}

static double switch_small(void) {
    static struct small_thread thread;
    small_create(&thread, yielder, NULL);
    int64_t start = now();
    for (int i = 0; i < SWITCHES / 2; i++)
        small_yield();
    double each = (double)(now() - start) / SWITCHES;
    small_join(&thread);
    return each;
}

static void *yielder_pthread(void *unused) {
    for (int i = 0; i < SWITCHES / 2; i++)
        sched_yield();
    return unused;
}

/* On one CPU, which is the caller's from then on. */
static double switch_pthread(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    pthread_t thread;
    if (pthread_create(&thread, NULL, yielder_pthread, NULL) != 0)
        abort();
    int64_t start = now();
    for (int i = 0; i < SWITCHES / 2; i++)
        sched_yield();
    pthread_join(thread, NULL);
    return (double)(now() - start) / SWITCHES;
}

static double middle(double (*measure)(void)) {
    double values[7];
    for (int i = 0; i < 7; i++)
        values[i] = measure();
    return median(values, 7);
}

int main(void) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        printf("paper_context_pthreads %.0f\n", middle(switch_pthread));
        fflush(stdout);
        _exit(EXIT_SUCCESS);
    }
    waitpid(pid, NULL, 0);
    double spin_alone = least(spin), calls_alone = least(calls);
    printf("paper_thread_pthreads %.0f\n", middle(create_pthread));
    printf("paper_mutex_pthreads %.1f\n", middle(lock_pthread));
    if (small_start(1) != 0 || sa_register(upcall, NULL, 0, -1) != 0)
        return EXIT_FAILURE;
    printf("slowdown_computing %.4f\n", least(spin) / spin_alone);
    printf("slowdown_system_calls %.4f\n", least(calls) / calls_alone);
    pipes(true);
    pipes(false);
    faults();
    cold_files();
    printf("paper_thread %.0f\n", middle(create_small));
    printf("paper_mutex %.1f\n", middle(lock_small));
    printf("paper_context %.0f\n", middle(switch_small));
    fflush(stdout);
    return EXIT_SUCCESS;
}
