/*
 * A timer of the kernel for each purpose and kernel thread. It counts while that thread is on a CPU, so it wakes
 * nothing that sleeps. The kernel looks at it at each of its own clock ticks (CONFIG_HZ: 1 to 10 ms apart).
 */
#include "process/processor_time.h"

#include <signal.h>
#include <stdatomic.h>

#include "contexts/system.h"
#include "contexts/text.h"
#include "contexts/tools.h"
#include "preemption/preemption.h"
#include "process/kernel_threads.h"
#include "process/report.h"
#include "process/runtime.h"
#include "sa.h"

#define PROCESSOR_TIME_SIGNAL SIGVTALRM

static struct processor_time *all; /* that were started */

/* With activations, which make kernel threads in upcalls: those that exist. */
static pid_t carriers[SA_ACTIVATIONS_MOST];
static int carriers_count;
static atomic_flag changing = ATOMIC_FLAG_INIT; /* guards `all` and those; its holder waits for nothing */

static void change(void) {
    while (atomic_flag_test_and_set(&changing))
        system_sched_yield();
}

static TOOLS_UNSEEN void came(int signal, siginfo_t *info, void *context) {
    (void)signal;
    for (const struct processor_time *what = all; what; what = what->next)
        if (info->si_code == SI_TIMER && info->si_ptr == what)
            what->passed(context);
}

static void report(const struct processor_time *what, int error) {
    runtime_report("%s: %s", what->without, text_of_error(error));
}

/* libc has no name for the clock of another kernel thread. */
static clockid_t clock_of(pid_t thread) { return (clockid_t)(~(unsigned)thread << 3 | 6); }

static void set(struct processor_time *what, pid_t thread) {
    struct itimerspec every = {.it_value = {.tv_sec = what->every / 1000000000, .tv_nsec = what->every % 1000000000}};
    every.it_interval = every.it_value;
    int timer;
    union sigval ours = {.sival_ptr = what};
    int error = -system_timer_create(clock_of(thread), thread, PROCESSOR_TIME_SIGNAL, ours, &timer);
    if (!error)
        error = -system_timer_settime(timer, 0, &every);
    if (error)
        report(what, error);
}

/* One that has died makes room. */
static void remember(pid_t thread) {
    int count = 0;
    for (int i = 0; i < carriers_count; i++)
        if (system_tgkill(system_getpid(), carriers[i], 0) == 0)
            carriers[count++] = carriers[i];
    if (count < SA_ACTIVATIONS_MOST)
        carriers[count++] = thread;
    carriers_count = count;
}

void processor_time_attach(pid_t thread) {
    change();
    if (runtime.activations)
        remember(thread);
    for (struct processor_time *what = all; what; what = what->next)
        set(what, thread);
    atomic_flag_clear(&changing);
}

static struct processor_time *starting;
static void set_on(pid_t thread) { set(starting, thread); }

static void start(struct processor_time *what) {
    what->next = all;
    all = what;
    starting = what;
    if (runtime.activations)
        for (int i = 0; i < carriers_count; i++)
            set_on(carriers[i]);
    else if (runtime.several)
        processors_each(set_on);
    else
        set_on(system_gettid());
}

void processor_time_start(struct processor_time *what) {
    if (what->started)
        return;
    what->started = true;
    /* With all signals blocked: activations interrupt the kernel thread by a signal, and it would go on elsewhere. */
    int error = preemption_install(PROCESSOR_TIME_SIGNAL, came, SA_RESTART | SA_ONSTACK, UINT64_MAX);
    if (error) {
        report(what, error);
        return;
    }
    change();
    start(what);
    atomic_flag_clear(&changing);
}

void processor_time_restart(void) {
    atomic_flag_clear(&changing); /* its holder does not exist here */
    processor_time_attach(system_gettid());
}
