/*
 * How events are raised when a policy is compiled in and in force at the root, which is the only scheduler. The
 * policy's table is a constant here, so its handlers are called directly and inlined. In all other cases the policy can
 * be another one, and events are raised through its table.
 */
#ifndef CATAPULTS_RAISE_COMPILED_IN_H
#define CATAPULTS_RAISE_COMPILED_IN_H

#include "core/raise.h"
#include "dispatcher/instance.h"

static CATAPULTS_COMPILED_IN_INSTANCE compiled_in_memory __attribute__((aligned(16)));

/* A policy that does not look at the clock pays nothing for it: one that reads neither `now` nor an import
 * `consumed`. */
#if defined(CATAPULTS_COMPILED_IN_NOW) || defined(CATAPULTS_COMPILED_IN_THREADIMPORT_consumed)
#define TELL_BY_SHORTCUT(running) tell(processor_here(), &dispatcher.root, running)
#define CAN_TAKE_SHORTCUT(root) ((root)->self == &compiled_in_memory)
#else
#define TELL_BY_SHORTCUT(running) (void)0
#define CAN_TAKE_SHORTCUT(root) ((root)->self == &compiled_in_memory && !(root)->clocked)
#endif

#define RAISE_BY_SHORTCUT(event, ...)                                                                                  \
    (TELL_BY_SHORTCUT(true), CATAPULTS_COMPILED_IN_HANDLERS.event(&compiled_in_memory, __VA_ARGS__))
#define SCHEDULE_BY_SHORTCUT(stop)                                                                                     \
    (TELL_BY_SHORTCUT(false), CATAPULTS_COMPILED_IN_HANDLERS.schedule(&compiled_in_memory, stop))
#define POLICY_BY_SHORTCUT (&catapults_policy)
#define ADOPT_BY_SHORTCUT(t) catapults_policy.adopt(&compiled_in_memory, t)

/* As in raise_loaded.h. */
static inline __attribute__((always_inline)) struct catapults_thread *yield_to_next_by_shortcut(struct processor *here,
                                                                                                bool *stopped) {
    struct catapults_thread *t = &here->turn->policy;
    const struct catapults_stop *stop = RAISE_BY_SHORTCUT(switch_out, t);
    *stopped = stop != NULL;
    if (UNLIKELY(stop)) {
        here->stop = stop;
        return t;
    }
    return SCHEDULE_BY_SHORTCUT(&here->stop);
}

#ifdef CATAPULTS_COMPILED_IN_THREADIMPORT_consumed
#define ASKED_FOR_CONSUMED_BY_SHORTCUT (dispatcher.root.consumed != NULL)
#else
#define ASKED_FOR_CONSUMED_BY_SHORTCUT false
#endif

/* Mostly all reasons to block have one handler. */
#define SAME(event) (CATAPULTS_COMPILED_IN_HANDLERS.event == CATAPULTS_COMPILED_IN_HANDLERS.block_lock)
#define BLOCKS_ALIKE                                                                                                   \
    (SAME(block_io_read) && SAME(block_io_write) && SAME(block_io_accept) && SAME(block_io_connect) &&                 \
     SAME(block_io_file) && SAME(block_condition) && SAME(block_join) && SAME(block_sleep) && SAME(block_kernel) &&    \
     SAME(block_scheduler) && SAME(block_port) && SAME(block_signal))

#endif
