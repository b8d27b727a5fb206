/*
 * How threads end. In a program with C++, catapults_exit unwinds the stack as pthread_exit does, by the unwinder of the
 * C++ runtime. That asks `unwind_step` at each frame, and runs destructors and `catch` blocks in between. Programs
 * without C++ have no such frames.
 */
#include "threads/end.h"
#include "threads/stand_in.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unwind.h>

#include "process/activations.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/signals.h"
#include "threads/cancel.h"
#include "threads/mutex.h"

#pragma weak _Unwind_ForcedUnwind
#pragma weak _Unwind_GetCFA

_Static_assert(sizeof(struct _Unwind_Exception) <= sizeof(((struct catapults_handle *)0)->unwinding),
               "the exception lies in the thread's record, because the stack below a `catch` block is used anew");

static _Unwind_Reason_Code unwind_step(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                       struct _Unwind_Exception *exception, struct _Unwind_Context *context,
                                       void *self);
static void held_up(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception);
static void clean_up_below(struct catapults_handle *self, uintptr_t address);

void catapults_exit(void *result) {
    struct catapults_handle *self = handle_self();
    bool again = cancel_state(self) & CANCEL_ENDING; /* called by one of its handlers or destructors */
    cancel_add(self, CANCEL_ENDING);
    self->result = result;
    if (_Unwind_ForcedUnwind && !again) {
        struct _Unwind_Exception *exception = (struct _Unwind_Exception *)&self->unwinding;
        *exception = (struct _Unwind_Exception){.exception_cleanup = held_up};
        _Unwind_ForcedUnwind(exception, unwind_step, self); /* returns if it cannot go on */
    }
    end(self, result);
    __builtin_unreachable();
}

/* Runs what it has left of handlers and destructors. */
static __attribute__((noinline)) void clean_up(struct catapults_handle *self) {
    clean_up_below(self, UINTPTR_MAX);
    if (self->values)
        keys_destroy(self);
}

static __attribute__((noinline)) void abandon(struct catapults_handle *self) {
    if (self->mutexes)
        mutex_abandon_all(self);
    if (self->stand_ins) {
        stand_ins_end(self);
        dispatcher_unblocked(); /* one that was blocked may have taken the turn, and `exit` is of a RUNNING thread */
    }
}

void end(struct catapults_handle *self, void *result) {
    cancel_add(self, CANCEL_ENDING);
    if (__builtin_expect(self->member.signals.stopped != NULL, 0))
        activations_forget(&self->member, NULL);
    signals_check(&self->member); /* those that came while it was blocked in the kernel */
    while (__builtin_expect(self->cleanup || self->values, 0)) {
        clean_up(self);
        signals_check(&self->member);
    }
    dispatcher_enter();
    if (__builtin_expect(self->mutexes || self->stand_ins, 0))
        abandon(self);
    signals_set_mask(&self->member, ~UINT64_C(0));
    if (__builtin_expect(self->member.signals.pending | signals.pending | self->member.signals.due, 0))
        signals_end(&self->member);
    if (__builtin_expect(processor_here()->turn != &self->member.dispatched, 0))
        dispatcher_own_turn(); /* others run until then: it needs its stack */
    if (__builtin_expect(self->member.signals.pending, 0))
        signals_forget(&self->member);
    self->result = result;
    self->ended = true;
    self->member.word = 0;
    struct catapults_handle *joiner = self->joiner;
    bool waits = joiner && core_is_blocked(&joiner->member.dispatched); /* else the joiner's instant has come */
    if (self->detached)
        stack_give(self->member.stack);
    dispatcher_exit(waits ? &joiner->member.dispatched : NULL);
}

/* The unwinder is about to leave the frame whose stack pointer is the CFA of `context`; all below it has been left. */
static _Unwind_Reason_Code unwind_step(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                       struct _Unwind_Exception *exception, struct _Unwind_Context *context,
                                       void *self_) {
    (void)version, (void)kind, (void)exception;
    struct catapults_handle *self = self_;
    clean_up_below(self, (uintptr_t)_Unwind_GetCFA(context));
    if (actions & _UA_END_OF_STACK)
        end(self, self->result);
    return _URC_NO_REASON;
}

/* A `catch (...)` has kept the exception. */
static void held_up(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception) {
    (void)reason, (void)exception;
    const struct catapults_handle *self = handle_self();
    runtime_report("thread %" PRIu32 " (%s) is to end, and a `catch` did not let it pass; end that with `throw;`",
                   self->member.dispatched.policy.number, self->member.name);
    abort();
}

/* Runs the handlers that were pushed in frames below the address. */
static void clean_up_below(struct catapults_handle *self, uintptr_t address) {
    struct catapults_cleanup *cleanup;
    while ((cleanup = self->cleanup) && (uintptr_t)cleanup < address) {
        self->cleanup = cleanup->pushed_before;
        cleanup->function(cleanup->argument);
    }
}
