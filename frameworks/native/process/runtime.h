/*
 * What all may know of the process: how it was started, and its policy.
 */
#ifndef CATAPULTS_PROCESS_RUNTIME_H
#define CATAPULTS_PROCESS_RUNTIME_H

#include "catapults/hierarchy.h"
#include "contexts/here.h"
#include "process/member.h"

struct face;

struct runtime {
    bool started;
    const struct face *face; /* that started it */
    uint64_t forks;          /* how many of catapults_fork have led to this process */
    size_t stack_size;       /* of a thread, unless it asks for another */
    /* Of struct member, the policy's part (enough for every scheduler there is) and thread_local variables. */
    size_t member_size;
    size_t thread_locals_size; /* the last of these: see thread_locals.h; 0: they are the kernel thread's */
    int processors;            /* that it is to have now */
    bool several;              /* it began with more than one, and is no child of fork */
    bool strict_imports;
    bool traced;              /* what policies decide is recorded */
    bool activations;         /* threads are to leave the processor when they block in the kernel */
    int64_t handler_limit;    /* nanoseconds */
    int64_t starvation_limit; /* nanoseconds; 0: none */
};

extern struct runtime runtime;

/* As dispatcher_enter and dispatcher_leave, for calls that are allowed before catapults_init, when there is no other
 * thread. */
static inline void runtime_enter(void) {
    if (runtime.started)
        dispatcher_enter();
}
static inline void runtime_leave(void) {
    if (runtime.started)
        dispatcher_leave();
}

/* From now on every thread has room for what the policy keeps of it. */
void runtime_make_room(const struct catapults_policy *policy);

/* The part of it that is for a policy. */
static inline uint32_t runtime_room(void) {
    return (uint32_t)(runtime.member_size - runtime.thread_locals_size - offsetof(struct member, dispatched.policy));
}

/* Whether an environment variable is 1. Reports what is neither that nor 0 nor empty. */
bool runtime_switch(const char *name);

#endif
