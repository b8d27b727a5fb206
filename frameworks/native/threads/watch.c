/*
 * The signal by which a handler of a policy that runs for too long is noticed. It comes whenever the kernel thread has
 * run for the limit, in its own CPU time: a handler is left after one to two limits, however busy the machine.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "contexts/tools.h"
#include "preemption/preemption.h"
#include "threads/runtime.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define WATCH_SIGNAL SIGVTALRM

/* Where the interrupted code goes on. Below what it may use of its stack, aligned as at the start of a function. */
static TOOLS_UNSEEN void redirect(ucontext_t *context, void (*to)(void)) {
#if defined(__x86_64__)
    uintptr_t stack = ((uintptr_t)context->uc_mcontext.gregs[REG_RSP] - 256) & ~(uintptr_t)15;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)(stack - 8);
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)to;
#elif defined(__aarch64__)
    context->uc_mcontext.sp = (context->uc_mcontext.sp - 256) & ~(uintptr_t)15;
    context->uc_mcontext.pc = (uintptr_t)to;
#else
#error "where does this machine keep the instruction and the stack pointer?"
#endif
}

static TOOLS_UNSEEN void came(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    if (dispatcher_overruns())
        redirect(context, dispatcher_leave_handler);
}

static bool started;

static void report(int error);
static void watch(pid_t thread);

void watch_restart(void) {
    bool again = started;
    started = false;
    if (again)
        watch_start();
}

void watch_start(void) {
    if (started)
        return;
    started = true;
    int error = preemption_install(WATCH_SIGNAL, came, SA_RESTART | SA_ONSTACK, 0);
    if (error)
        report(error);
    else if (runtime.several)
        processors_each(watch);
    else
        watch((pid_t)syscall(SYS_gettid));
}

void watch_attach(pid_t thread) {
    if (started)
        watch(thread);
}

static void report(int error) {
    runtime_report("no handler of a policy is stopped that runs for too long: %s", strerror(error));
}

/* The clock of another kernel thread than the caller's has no name in libc. */
static clockid_t processor_time_of(pid_t thread) { return (clockid_t)(~(unsigned)thread << 3 | 6); }

static void watch(pid_t thread) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WATCH_SIGNAL};
    event.sigev_notify_thread_id = thread;
    struct itimerspec limit = {
        .it_value = {.tv_sec = runtime.handler_limit / 1000000000, .tv_nsec = runtime.handler_limit % 1000000000}};
    limit.it_interval = limit.it_value;
    timer_t timer;
    if (timer_create(processor_time_of(thread), &event, &timer) != 0 || timer_settime(timer, 0, &limit, NULL) != 0)
        report(errno);
}
