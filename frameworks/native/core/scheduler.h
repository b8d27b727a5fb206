/*
 * A scheduler: one instance of a policy, with the threads that are under it. To its parent it is a thread (CPU
 * inheritance scheduling, 1996, §3).
 */
#ifndef CATAPULTS_CORE_SCHEDULER_H
#define CATAPULTS_CORE_SCHEDULER_H

#include "catapults/timers.h"
#include "core/builtin.h"
#include "core/thread_record.h"

/* The frames of what is RUNNING: see running_frames.c. In NOBODY nothing ever is. The others belong to a processor, to
 * the turn that waits first for one, or to another turn that waits. */
enum { NOBODY, TURNS_WAITING = 63, FRAMES = 1 + 2 * DISPATCHER_PROCESSORS + TURNS_WAITING };

/* A processor, to a policy that has an instance for each: see nodes.c. */
struct node {
    struct scheduler *scheduler;                 /* the instance */
    struct processor *processor;                 /* which asks it */
    uint16_t frame;                              /* in which its thread is RUNNING, wherever that runs */
    int64_t load;                                /* which the policy was told last */
    uint64_t decisions, enough;                  /* as in struct core, for this node */
    _Alignas(16) struct catapults_thread policy; /* last: its properties and attributes follow */
};

struct scheduler {
    struct native_handlers handlers; /* of its policy, or of what watches them: see overrun.c */
    /* `switch_out` and `schedule` in one: as `yield` of struct catapults_policy. */
    struct catapults_thread *(*yield)(void *self, struct catapults_thread *t, const struct catapults_stop **stop);
    void *self; /* what handlers are given: the instance, or the scheduler itself if they are watched */
    void *instance;
    bool clocked;    /* its policy looks at the clock: see clock.c */
    bool tells_time; /* that is what `clocked` is for; otherwise only frames are */
    bool asked_for;  /* set_next_thread was raised, and `schedule` not since */
    bool declined;   /* it dispatched nothing although something is ready, and nothing has happened since */
    uint16_t traced; /* the first of its policy's names in the trace (trace.h); 0: it has none */
    uint16_t frame;  /* the frame whose RUNNING containers are in the instance now: see running_frames.c */
    uint32_t frame_size;
    char *frames;             /* the RUNNING containers of the others; NULL: one processor */
    bool timed;               /* its policy has timers or a handler of `tick`: see quantum.c */
    int64_t runnable;         /* how much under it is READY or RUNNING */
    struct scheduler *parent; /* NULL: the root */
    bool idle;                /* it dispatched nothing although something under it is RUNNABLE, and waits */
    bool served;              /* it was dispatched since starvation.c last looked */
    bool removed;             /* nothing comes under it any more */
    bool leaving;             /* and nothing is: it ends when its parent dispatches it next */
    bool lent_only;           /* it never dispatches: threads under it run only on turns of others */
    uint32_t before;          /* schedulers that were added before it, the root included */
    uint32_t attaching;       /* threads that come to it as soon as they have turns of their own */

    struct catapults_timers *timeouts;       /* armed by the policy; NULL: it has no timers */
    catapults_time *now;                     /* where the policy reads the time; NULL: it does not */
    const struct catapults_import *consumed; /* NULL: the policy does not ask how long threads run */
    catapults_time *supplied;                /* where it reads how long it has been RUNNING; NULL: it does not ask */
    int64_t told;                            /* when the clock was last read for the policy, in `frame` */

    struct node *node; /* NULL: its policy has one instance only, or the processor has departed */
    void *shared;      /* what the instances of its policy share; NULL: it has one */

    const struct catapults_policy *policy;
    const char *name;       /* for messages and traces; NULL: the root of a tree that has none */
    struct scheduler *next; /* all schedulers, parents before their children */
    void *host;             /* what the host keeps of it */
    _Alignas(16) char builtin[DISPATCHER_BUILTIN_INSTANCE]; /* its instance after its policy is out */
    /* For several processors: see scheduler_records.c. */
    int64_t told_in[FRAMES];                   /* `told`, in the others */
    struct dispatcher_thread *spare;           /* records that its parent does not know yet */
    const struct catapults_policy *refused_by; /* the parent's policy that refused one more; or NULL */
    uint32_t waiting;                          /* turns under it that wait for a processor */

    struct dispatcher_thread record; /* what it is to its parent; last: the attributes of the parent's policy follow */
};

static inline struct scheduler *scheduler_of(struct dispatcher_thread *record) { return record->below; }

/* Whether the policy has taken the processor from a member that was RUNNING, by moving it to a READY container. The
 * policy's queries do not count: they answer what their author likes. */
static inline bool taken_from(const struct dispatcher_thread *member) {
    return member->scheduler->policy->classes[member->policy.container] == CATAPULTS_READY;
}

#endif
