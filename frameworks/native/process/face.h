/*
 * What the process asks the interface that applications see. The interface starts the process, and says this then; so
 * nothing here is linked with one interface.
 */
#ifndef CATAPULTS_PROCESS_FACE_H
#define CATAPULTS_PROCESS_FACE_H

#include "process/member.h"

enum { FACE_VALUES = 4 }; /* at most, of a thread */

struct face {
    /* Threads need runtime.member_size bytes from the start of struct member on, and runtime.stack_size bytes of stack:
     * one of these has grown, or both are known for the first time. */
    void (*resized)(void);

    /* The record of the calling thread, which is the first, with its name, `room`, and zeros; NULL: no memory. */
    struct member *(*first)(void);

    /* Runs the handlers of the caller's signals in the middle of a wait: see waiters_run_handlers (threads/waiters.h),
     * which is this. */
    void (*run_handlers)(struct member *self);

    /* What the thread waits for: "for a mutex of thread 1 (main)". The next text overwrites it. */
    const char *(*describe_wait)(const struct member *thread);

    /* What the interface itself has the policy read of a thread: the first returns how many values it has written, the
     * second whether it has a variable of this name. Either may be NULL. */
    size_t (*values)(const struct member *thread, struct catapults_value *values);
    bool (*keeps)(const char *name);

    /* As dispatcher_host.exchange. NULL: nothing is exchanged but thread_local variables, if that is asked for. */
    void (*exchange)(struct dispatcher_thread *from, struct dispatcher_thread *to);
};

/* Starts the runtime, for catapults_init. */
int runtime_start(const struct catapults_options *options, const struct face *face);

#endif
