/*
 * Preemption by time: process/preempt.h, for threads that may be left at any instruction but the runtime's own. libc's
 * too: its locks are futexes, for which the others wait, and what it keeps for a thread goes with the thread.
 */
#include "beneath/arrived.h"
#include "beneath/everywhere.h"
#include "beneath/variables.h"
#include "contexts/text.h"
#include "preemption/preemption.h"
#include "process/kernel_threads.h"
#include "process/live.h"
#include "process/preempt.h"
#include "process/report.h"

enum { TICK = 4000000 }; /* nanoseconds */

static bool preempts;

static bool may_be_left(uintptr_t instruction) {
    (void)instruction;
    return !here_inside();
}

/* Also when another processor, or everywhere.c, has asked for it. Where the code must not be left, none asks again
 * before this is done. */
static bool interrupted(enum preemption_where where) {
    everywhere_attend();
    bool asked = live_wanted();
    if (asked)
        dispatcher_signalled();
    if (where != PREEMPTION_APPLICATION && !(asked && here_apart())) {
        bool again = dispatcher_interrupted(false);
        return (dispatcher_guard.several && processors_answer()) || again;
    }
    bool apart = here_apart();
    here_set_apart(false); /* others may run here before it goes on */
    here_set_inside(true);
    variables_refresh();
    bool called = false;
    if (dispatcher_guard.several) {
        processors_answer();
        called = processors_called(false);
    }
    bool again = dispatcher_interrupted(true);
    if (again && called)
        processors_called(true);
    if (apart)
        here_set_apart(true);
    else
        arrived_leave();
    return again;
}

static void report(int error) {
    if (error)
        runtime_report("no thread is preempted by time: %s", text_of_error(error));
}

void preempt_start(const struct catapults_options *options, struct dispatcher_host *host) {
    (void)options;
    host->tick = TICK;
    int error = preemption_start(interrupted, may_be_left);
    if (!error)
        error = preemption_attach();
    preempts = !error;
    host->arm = error ? NULL : preemption_arm;
    report(error);
}

void preempt_attach(void) {
    if (preempts)
        report(preemption_attach());
    arrived_close();
}

void preempt_restart(void) { report(preemption_attach()); }

void preempt_for_signals(void) {} /* they come by arrived.c */
