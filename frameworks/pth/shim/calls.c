/*
 * Stands in for those calls of Pth of which the queues do not tell all.
 *
 * A policy can take the processor from the running thread while it is told of another one: it moves it to a READY
 * container. Pth knows no preemption, so the call that brought the event ends with a yield then (`settle`). Under a
 * policy that does not, no call switches that does not in Pth itself.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "catapults/told.h"
#include "catapults_pth.h"
#include "shim/shim.h"

void settle(void) {
    if (shim.policy && shim.running && policy_class(shim.running) == CATAPULTS_READY) {
        int error = errno;
        library.yield(NULL);
        errno = error;
    }
}

/* ---- Starting and ending ------------------------------------------------------------------------------------------
 */

int __pth_scheduler_init(void) {
    library_find();
    policy_start();
    return library.scheduler_init();
}

void __pth_scheduler_drop(void) {
    library_find();
    recording_leave(); /* a child of pth_fork begins with this */
    shim.dropping = true;
    library.scheduler_drop();
    shim.dropping = false;
}

void __pth_scheduler_kill(void) {
    library_find();
    library.scheduler_kill();
    policy_end();
}

/* In the child only the calling thread is left: Pth has dropped the others. */
pid_t pth_fork(void) {
    library_find();
    pid_t parent = getpid(), child = library.fork();
    if (getpid() != parent) {
        trace_forget();
        settle();
    }
    return child;
}

/* ---- Threads ------------------------------------------------------------------------------------------------------
 */

static const char *refusal;
static char refusal_kept[CATAPULTS_TOLD]; /* a reason with values, which the next one would replace */

pth_t pth_spawn_object(pth_attr_t attributes, void *(*start)(void *), void *argument, void *object) {
    library_find();
    shim.refused = NULL;
    shim.object = object;
    pth_t thread = library.spawn(attributes, start, argument);
    shim.object = NULL;
    const struct record *record = thread && shim.policy ? record_of(thread) : NULL;
    /* In none of Pth's queues: there was no memory, or the policy refused it. Its scheduler never was in one. */
    if (thread && shim.policy && thread->state == PTH_STATE_NEW && (!record || record->place == NOWHERE)) {
        if (shim.refused && strlen(shim.refused->text) < sizeof refusal_kept)
            refusal = strcpy(refusal_kept, shim.refused->text);
        else if (shim.refused)
            refusal = shim.refused->text;
        int error = shim.refused ? EAGAIN : ENOMEM;
        __pth_tcb_free(thread);
        errno = error;
        return NULL;
    }
    settle();
    return thread;
}

/* pth_attr_set calls it, and pth_attr_get. */
int __pth_attr_ctrl(int command, pth_attr_t attributes, int which, va_list arguments) {
    library_find();
    int done = library.attr_ctrl(command, attributes, which, arguments);
    pth_t thread = done && which == PTH_ATTR_PRIO ? attributes->thread : NULL;
    struct record *record = thread && shim.policy ? record_of(thread) : NULL;
    if (record && record->priority != thread->prio) {
        record->priority = thread->prio;
        policy_changed(record);
        settle();
    }
    return done;
}

pth_t pth_spawn(pth_attr_t attributes, void *(*start)(void *), void *argument) {
    return pth_spawn_object(attributes, start, argument, NULL);
}

const char *pth_sched_refusal(void) { return refusal; }

int pth_yield(pth_t to) {
    library_find();
    bool signalled = to && shim.signalled == to;
    shim.signalled = NULL;
    const struct record *record = to && shim.policy ? record_of(to) : NULL;
    /* One that has ended is Pth's until it is joined, but no longer the policy's. */
    if (record && signalled && record->place != IS_DEAD)
        policy_raise(EVENT("signal", signal), (struct record *)record);
    if (record && shim.policy && (record->place == IS_NEW || record->place == IS_READY) &&
        !policy_asks_ready(record, true)) {
        if (signalled)
            return library.yield(NULL);
        errno = EINVAL;
        return FALSE;
    }
    int done = library.yield(to);
    return done;
}

/* Marks the signal, then yields to the thread by pth_yield. */
int pth_raise(pth_t thread, int signal) {
    library_find();
    shim.signalled = signal ? thread : NULL;
    int done = library.raise(thread, signal);
    shim.signalled = NULL;
    settle();
    return done;
}

int pth_suspend(pth_t thread) {
    library_find();
    int done = library.suspend(thread);
    settle();
    return done;
}

int pth_resume(pth_t thread) {
    library_find();
    int done = library.resume(thread);
    settle();
    return done;
}

int pth_cancel(pth_t thread) {
    library_find();
    shim.cancelled = thread;
    int done = library.cancel(thread);
    shim.cancelled = NULL;
    settle();
    return done;
}

int pth_join(pth_t thread, void **value) {
    library_find();
    int done = library.join(thread, value);
    settle();
    return done;
}

/* ---- Variables -----------------------------------------------------------------------------------------------------
 */

int pth_sched_changed(pth_t thread) {
    library_find();
    struct record *record = shim.policy ? record_of(thread) : NULL;
    if (shim.policy && (!record || record->place == IS_DEAD)) {
        errno = ESRCH;
        return FALSE;
    }
    if (record)
        policy_changed(record);
    settle();
    return TRUE;
}
