/*
 * Preemption by time: joins the dispatcher, which says when, with the layer that interrupts.
 */
#include <errno.h>

#include "contexts/text.h"
#include "contexts/tools.h"
#include "preemption/preemption.h"
#include "process/activations.h"
#include "process/kernel_threads.h"
#include "process/live.h"
#include "process/own_code.h"
#include "process/preempt.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/signals.h"

enum { TICK = 4000000 }; /* nanoseconds */

static bool started; /* the kernel thread can be interrupted */
static bool preempts;
static struct dispatcher_host *by_upcalls; /* the host whose threads activations interrupt; NULL: they do not */
static int without_upcalls;                /* 0: its children can be interrupted; or why not */
static bool cooperative;

static TOOLS_UNSEEN bool see_to_it(enum preemption_where where) {
    bool again = false, asked = live_wanted();
    if (asked)
        live_interrupted(where);
    if (signals_wait_for_code())
        again = where == PREEMPTION_ELSEWHERE ? signals_postpone() : signals_interrupted(where == PREEMPTION_CALL);
    if (!preempts)
        return again;
    bool called = dispatcher_guard.several && processors_called(false);
    if (!signals.taken || asked || called || preemption_is_due()) {
        bool later = dispatcher_interrupted(where == PREEMPTION_APPLICATION);
        if (later && called)
            processors_called(true);
        return later || again;
    }
    if (!again)
        preemption_rearm(); /* the timer was set for a signal */
    return again;
}

/* While the code must not be left, no other processor interrupts again. So the stack has room for the frames, however
 * many have a reason. */
static TOOLS_UNSEEN bool interrupted(enum preemption_where where) {
    if (!dispatcher_guard.several)
        return see_to_it(where);
    if (where != PREEMPTION_ELSEWHERE) {
        processors_answer();
        return see_to_it(where);
    }
    bool again = see_to_it(where);
    return processors_answer() || again || signals_wait_for_code();
}

/* Starts the layer that interrupts. An address in the file that a policy is compiled into tells the runtime's code:
 * that file, if built by hand, may lack text.ld. */
static int start_layer(void) {
    int error = own_code_start((const void *)(uintptr_t)dispatcher_interrupted);
    return error ? error : preemption_start(interrupted, own_code_has);
}

/* Starts it on this kernel thread, too. 0 or an error number. */
static int start(void) {
    int error = start_layer();
    if (!error)
        error = preemption_attach();
    started = !error;
    return error;
}

static bool nowhere(uintptr_t instruction) {
    (void)instruction;
    return false;
}

/* For what others ask of the process (live.h), though no thread is interrupted. */
static void listen_only(void) { preemption_start(interrupted, nowhere); /* if not, nothing is answered */ }

/* ENOTSUP: there is no such layer, which the manual says. */
static void report(const char *which, int error) {
    if (error == EINVAL)
        runtime_report("%s preempted by time: the policy was compiled in without preemption/text.ld; build it with "
                       "`catapults build`",
                       which);
    else if (error == EBUSY)
        runtime_report("%s preempted by time: malloc is the executable's own, which must not be left halfway; link it "
                       "as a shared library",
                       which);
    else if (error != ENOTSUP)
        runtime_report("%s preempted by time: %s", which, text_of_error(error));
}

void preempt_for_signals(void) {
    if (!started && !runtime.several)
        start(); /* else threads find out when they call */
}

void preempt_start(const struct catapults_options *options, struct dispatcher_host *host) {
    host->arm = NULL;
    host->tick = options->tick > 0 ? options->tick : TICK;
    cooperative = options->cooperative;
    if (runtime.activations) {
        if (!cooperative)
            activations_preempt(host);
        by_upcalls = host;
        without_upcalls = start_layer();
    }
    if (runtime.activations)
        return;
    if (options->cooperative && !runtime.several) {
        listen_only();
        return;
    }
    int error = start(); /* with several processors also for signals, as each begins */
    if (error)
        listen_only();
    if (options->cooperative)
        return;
    preempts = !error;
    if (!error)
        host->arm = preemption_arm;
    else
        report("no thread is", error);
}

void preempt_attach(void) {
    int error = started ? preemption_attach() : 0;
    if (error)
        runtime_report("no thread is preempted by time on one of the processors: %s", text_of_error(error));
}

void preempt_restart(void) {
    int error = by_upcalls ? without_upcalls : 0;
    if (!error && (started || by_upcalls))
        error = preemption_attach();
    if (by_upcalls) {
        started = !error;
        preempts = started && !cooperative;
        by_upcalls->arm = preempts ? preemption_arm : NULL;
        by_upcalls = NULL;
    }
    if (error && !cooperative)
        report("no thread of the child is", error);
}

void catapults_preemption_hold(void) { dispatcher_hold(); }

void catapults_preemption_release(void) { dispatcher_release(); }

int catapults_preemption_register(const void *address) { return own_code_register(address); }
