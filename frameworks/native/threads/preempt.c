/*
 * Preemption by time: joins the dispatcher, which says when, with the layer that interrupts.
 */
#include <errno.h>
#include <string.h>

#include "preemption/preemption.h"
#include "contexts/tools.h"
#include "threads/runtime.h"
#include "threads/signals.h"

enum { TICK = 4000000 }; /* nanoseconds */

static bool started; /* the kernel thread can be interrupted */
static bool preempts;

static TOOLS_UNSEEN bool interrupted(enum preemption_where where) {
    bool again = false;
    if (signals_wait_for_code())
        again = where == PREEMPTION_ELSEWHERE || signals_interrupted(where == PREEMPTION_CALL);
    if (!preempts)
        return again;
    if (!signals.taken || preemption_is_due())
        return dispatcher_interrupted(where == PREEMPTION_APPLICATION) || again;
    if (!again)
        preemption_rearm(); /* the timer was set for a signal */
    return again;
}

/* 0 or an error number. */
static int start(void) {
    int error = preemption_start(interrupted, (const void *)(uintptr_t)dispatcher_interrupted);
    if (!error)
        error = preemption_attach();
    started = !error;
    return error;
}

void preempt_for_signals(void) {
    if (!started)
        start(); /* else threads are found when they call */
}

void preempt_start(const struct catapults_options *options, struct dispatcher_host *host) {
    host->arm = NULL;
    host->tick = options->tick > 0 ? options->tick : TICK;
    if (options->cooperative || runtime.activations)
        return;
    /* An address in the file that a policy is compiled into: built by hand it may lack text.ld. */
    int error = start();
    preempts = !error;
    if (!error)
        host->arm = preemption_arm;
    else if (error == EINVAL)
        runtime_report(
            "no thread is preempted by time: the policy was compiled in without preemption/text.ld; build it "
            "with `catapults build`");
    else if (error == EBUSY)
        runtime_report(
            "no thread is preempted by time: malloc is the executable's own, which must not be left halfway; "
            "link it as a shared library");
    else if (error != ENOTSUP)
        runtime_report("no thread is preempted by time: %s", strerror(error));
}

void preempt_attach(void) {
    int error = started ? preemption_attach() : 0;
    if (error)
        runtime_report("no thread is preempted by time on one of the processors: %s", strerror(error));
}

void preempt_restart(void) {
    int error = started ? preemption_attach() : 0;
    if (error)
        runtime_report("no thread of the child is preempted by time: %s", strerror(error));
}

void catapults_preemption_hold(void) { dispatcher_hold(); }

void catapults_preemption_release(void) { dispatcher_release(); }

int catapults_preemption_register(const void *address) { return preemption_register(address); }
