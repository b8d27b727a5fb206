/*
 * A control workload on one processor: periodic threads that compute, each of whose jobs is due a period after its
 * release. Counts the jobs that end after their deadlines.
 *
 *   misses HOST honest|liar SECONDS [POLICY]
 *
 * HOST says who schedules the threads:
 *
 *   native           the native runtime under the shared object POLICY. Its one kernel thread has SCHED_FIFO, as the
 *                    threads of a control program would: other programs of the machine do not come between
 *   native-ordinary  the same, whose kernel thread is an ordinary one (SCHED_OTHER)
 *   deadline         the kernel: a thread each, SCHED_DEADLINE with the same budgets, periods and deadlines
 *   fifo             the kernel: SCHED_FIFO, the shorter the period the higher the priority
 *   other            the kernel: SCHED_OTHER
 *
 * The caller pins the process to a processor. Prints a line for each thread: `name jobs missed worst`, where `worst` is
 * by how many microseconds the worst job was after its deadline, or, if negative, before it. Exit status 3: the kernel
 * refuses what HOST needs, and the reason is on standard error.
 *
 * With `liar` one thread tells its budget as before, and each tenth of its jobs computes for longer than its whole
 * period. All threads together then still take less than the kernel leaves to real-time threads, 95 % of the time.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "catapults.h"

enum { US = 1000, MS = 1000 * US, SECOND = 1000 * MS, REFUSED = 3 };

/* Computing takes four fifths of the processor, and a tenth of that is added to the budgets. Response-time analysis
 * admits the set to rate-monotonic priorities with these budgets, so a policy that asks for them refuses none. */
static struct task {
    const char *name;
    int64_t period, computes, budget;
    int64_t first; /* release, before those that are counted */
    int jobs, done, missed;
    int64_t worst;
    catapults_t thread;
    pthread_t kernel_thread;
} tasks[] = {{.name = "fast", .period = 4 * MS, .computes = 800 * US, .budget = 880 * US},
             {.name = "liar", .period = 8 * MS, .computes = 1600 * US, .budget = 1760 * US},
             {.name = "middle", .period = 10 * MS, .computes = 2000 * US, .budget = 2200 * US},
             {.name = "slow", .period = 25 * MS, .computes = 5000 * US, .budget = 5500 * US}};
enum { TASKS = sizeof tasks / sizeof tasks[0], LIAR = 1, LIES_EACH = 10, LIE = 10 * MS };

static bool lies;
static int policy_of_kernel; /* SCHED_DEADLINE, SCHED_FIFO or SCHED_OTHER */

static void fail(const char *why) {
    fprintf(stderr, "misses: %s\n", why);
    exit(EXIT_FAILURE);
}

static void refused(const char *what, int error) {
    fprintf(stderr, "misses: %s: %s\n", what, strerror(error));
    exit(REFUSED);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* ---- Computing --------------------------------------------------------------------------------------------------- */

/* A piece of work is long beside a look at the clock, which is in a library, where the native runtime does not preempt.
 * If two looks are further apart than GAP, somebody else had the processor in between, and one piece is what was
 * computed. */
enum { PIECE = 5 * US, GAP = 30 * US };
static int rounds = 1000; /* of a piece */

__attribute__((noinline)) static void work(int count) {
    uint64_t state = 0x9e3779b97f4a7c15;
    for (int i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        __asm volatile("" : "+r"(state));
    }
}

/* The shortest of many tries is the one that nobody came between. */
static void calibrate(void) {
    int64_t shortest = INT64_MAX;
    for (int i = 0; i < 2000; i++) {
        int64_t before = now();
        work(rounds);
        int64_t took = now() - before;
        if (took > 0 && took < shortest)
            shortest = took;
    }
    rounds = (int)(rounds * (int64_t)PIECE / shortest) + 1;
}

static void compute(int64_t nanoseconds) {
    for (int64_t before = now(); nanoseconds > 0;) {
        work(rounds);
        int64_t after = now();
        nanoseconds -= after - before <= GAP ? after - before : PIECE;
        before = after;
    }
}

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

static int64_t wait_ours(const struct task *task, int64_t release) {
    int64_t released;
    if (catapults_next_period(NULL) != 0 || catapults_release(&released) != 0)
        fail("no next job");
    if (released != release)
        fail("a job was not released a period after the one before");
    return task->computes;
}

static int64_t wait_kernel(const struct task *task, int64_t release) {
    struct timespec until = {.tv_sec = release / SECOND, .tv_nsec = release % SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
    return task->computes;
}

/* All jobs whose deadlines come until the end are counted. Who is so late that they have all passed begins no more. */
static void do_jobs(struct task *task, int64_t (*wait)(const struct task *, int64_t)) {
    int64_t end = task->first + (task->jobs + 1) * task->period;
    task->worst = INT64_MIN;
    for (int64_t ended = 0; task->done < task->jobs && ended < end; task->done++) {
        int64_t release = task->first + (task->done + 1) * task->period;
        int64_t computes = wait(task, release);
        if (lies && task == &tasks[LIAR] && task->done % LIES_EACH == LIES_EACH / 2)
            computes = LIE;
        compute(computes);
        ended = now();
        int64_t late = ended - (release + task->period);
        task->missed += late > 0;
        if (late > task->worst)
            task->worst = late;
    }
    task->missed += task->jobs - task->done;
}

/* ---- The native runtime ------------------------------------------------------------------------------------------ */

/* The first job is empty, so that one thread after the other is created at nearly the same instant. */
static void *run_ours(void *argument) {
    struct task *task = argument;
    if (catapults_release(&task->first) != 0)
        fail("a thread has no period");
    do_jobs(task, wait_ours);
    return NULL;
}

static void under(const char *policy) {
    if (catapults_init(&(struct catapults_options){.policy = policy, .strict_imports = true}) != 0)
        fail("no runtime");
    for (int i = 0; i < TASKS; i++) {
        struct task *task = &tasks[i];
        struct catapults_value budget = catapults_value_time("budget", task->budget);
        struct catapults_attributes attributes = {
            .name = task->name, .period = task->period, .values = &budget, .values_count = 1};
        if (catapults_create(&task->thread, &attributes, run_ours, task) != 0)
            fail(catapults_refusal() ? catapults_refusal() : "no thread");
    }
    for (int i = 0; i < TASKS; i++)
        catapults_join(tasks[i].thread, NULL);
    if (strstr(catapults_policy_name(), "built-in"))
        fail("the policy is out");
}

/* ---- Threads of the kernel --------------------------------------------------------------------------------------- */

/* As in linux/sched/types.h, which cannot be included beside sched.h. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/*
 * The kernel admits threads to SCHED_DEADLINE only if they may run on all processors of the machine (of the root
 * domain), or if it judges none (a limit of -1). Ours are to have the processor of the process to themselves, as the
 * native threads have. So the limit is -1 for the few milliseconds in which the threads are admitted, and what it was
 * while they run. That the set fits is known. The kernel enforces budgets as ever.
 */
static const char limit_file[] = "/proc/sys/kernel/sched_rt_runtime_us";
static char limit_before[32];

static void set_limit(const char *text) {
    FILE *file = fopen(limit_file, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        refused(limit_file, errno);
}

static void restore_limit(void) {
    if (limit_before[0])
        set_limit(limit_before);
    limit_before[0] = 0;
}

static void lift_limit(void) {
    /* A program that is ended in between would leave the limit lifted. */
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    char before[sizeof limit_before] = "";
    FILE *file = fopen(limit_file, "r");
    if (!file || !fgets(before, sizeof before, file))
        refused(limit_file, errno);
    fclose(file);
    set_limit("-1\n");
    memcpy(limit_before, before, sizeof limit_before);
    atexit(restore_limit);
}

static pthread_barrier_t all_are_there, all_may_begin;
static int64_t begins;

static void admit(const struct task *task) {
    struct attributes attributes = {.size = sizeof attributes, .policy = (uint32_t)policy_of_kernel};
    if (policy_of_kernel == SCHED_FIFO)
        attributes.priority = (uint32_t)(50 - (task - tasks)); /* they are in order of their periods */
    if (policy_of_kernel == SCHED_DEADLINE) {
        attributes.runtime = (uint64_t)task->budget;
        attributes.deadline = attributes.period = (uint64_t)task->period;
    }
    if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0)
        refused("the kernel refuses the class of scheduling (sched_setattr)", errno);
}

static void *run_kernel(void *argument) {
    struct task *task = argument;
    admit(task);
    pthread_barrier_wait(&all_are_there);
    pthread_barrier_wait(&all_may_begin);
    task->first = begins;
    do_jobs(task, wait_kernel);
    return NULL;
}

static void under_kernel(void) {
    pthread_barrier_init(&all_are_there, NULL, TASKS + 1);
    pthread_barrier_init(&all_may_begin, NULL, TASKS + 1);
    if (policy_of_kernel == SCHED_DEADLINE)
        lift_limit();
    for (int i = 0; i < TASKS; i++) {
        int error = pthread_create(&tasks[i].kernel_thread, NULL, run_kernel, &tasks[i]);
        if (error != 0)
            refused("no thread, or no memory that stays (pthread_create)", error);
    }
    pthread_barrier_wait(&all_are_there);
    restore_limit();
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    begins = now();
    pthread_barrier_wait(&all_may_begin);
    for (int i = 0; i < TASKS; i++)
        pthread_join(tasks[i].kernel_thread, NULL);
}

int main(int count, char **arguments) {
    const char *host = count > 1 ? arguments[1] : "";
    bool ours = strcmp(host, "native") == 0 || strcmp(host, "native-ordinary") == 0;
    bool kernel = strcmp(host, "deadline") == 0 || strcmp(host, "fifo") == 0 || strcmp(host, "other") == 0;
    double seconds = count > 3 ? strtod(arguments[3], NULL) : 0;
    lies = count > 2 && strcmp(arguments[2], "liar") == 0;
    if ((!ours && !kernel) || count != (ours ? 5 : 4) || seconds < 0.1 || seconds > 600 ||
        (!lies && strcmp(arguments[2], "honest") != 0))
        fail("usage: misses native|native-ordinary|deadline|fifo|other honest|liar SECONDS [POLICY]");
    for (int i = 0; i < TASKS; i++)
        tasks[i].jobs = (int)(seconds * SECOND / (double)tasks[i].period);
    bool ordinary = strcmp(host, "native-ordinary") == 0 || strcmp(host, "other") == 0;
    if (!ordinary && mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        refused("pages cannot be kept in memory (mlockall)", errno);
    calibrate();
    if (strcmp(host, "native") == 0 && sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){50}) != 0)
        refused("the kernel refuses SCHED_FIFO (sched_setscheduler)", errno);
    policy_of_kernel = strcmp(host, "deadline") == 0 ? SCHED_DEADLINE : strcmp(host, "fifo") == 0 ? SCHED_FIFO : 0;
    if (ours)
        under(arguments[4]);
    else
        under_kernel();
    for (int i = 0; i < TASKS; i++)
        printf("%s %d %d %lld\n", tasks[i].name, tasks[i].jobs, tasks[i].missed, (long long)(tasks[i].worst / US));
    return EXIT_SUCCESS;
}
