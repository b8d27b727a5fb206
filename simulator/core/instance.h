/*
 * An instance of the core in virtual time, for the files of this folder.
 */
#ifndef CATAPULTS_SIMULATED_INSTANCE_H
#define CATAPULTS_SIMULATED_INSTANCE_H

#include "core/events.h"
#include "simulated.h"

/* The place of a handler. */
#define NUMBER(name) (offsetof(struct native_handlers, name) / sizeof(void *))

/* What is kept of a scheduler. */
struct kept {
    uint32_t number;
    uint32_t moved_by;                 /* the line at which a handler of it last moved a thread */
    uint32_t record;                   /* the number of the thread that it is to its parent */
    struct simulated_values at_parent; /* that thread's values, and its own; until it has started */
    struct simulated_values own;
};

struct simulated_scheduler {
    struct kept kept;
    struct scheduler scheduler; /* last: attributes of the parent's policy follow */
};

struct simulated_thread {
    uint32_t number;
    uintptr_t owner;                 /* the word by which it lends its turns */
    struct simulated_thread *next;   /* in the list of those that were suspended as soon as they ran again */
    struct dispatcher_thread record; /* last: the policy's attributes follow */
};

struct simulated {
    struct core core;
    struct processor here;
    struct dispatcher_host host;
    struct simulated_state state;
    struct kept root;
    struct simulated_values of_new; /* of the thread that comes */
    uint32_t schedulers;
    bool declined;       /* the root dispatched nothing although something is READY, and nothing has happened since */
    bool taken;          /* the processor is yet to be given up; it was taken */
    uint32_t taken_by;   /* by this event */
    uint32_t last_event; /* by which a thread has become READY */
    bool preempting;     /* the turn is being given up because of that */
    bool blocks_aside;   /* a thread blocks by suspend_thread */
    bool dispatch_noted; /* of the turn */
    bool idle_noted;
    struct simulated_thread *suspended;

    /* While records are wanted. */
    void (*record)(void *to, const struct simulated_record *record);
    void *to;
    const struct scheduler *told; /* whose handler ran last */
    uint32_t raised;              /* which handler that was */
    const struct scheduler *dispatched_by;
    uint32_t dispatched_at;
};

/* The one at work: what the core asks does not say of which instance. Set by every call that raises events. */
extern _Thread_local struct simulated *simulated_at_work;

static inline struct simulated_thread *simulated_of(const struct dispatcher_thread *thread) {
    return (struct simulated_thread *)((char *)thread - offsetof(struct simulated_thread, record));
}

static inline struct kept *kept_of(const struct scheduler *scheduler) { return scheduler->host; }

static inline uint32_t number_of(const struct dispatcher_thread *member) {
    return member->is_scheduler ? kept_of(scheduler_of((struct dispatcher_thread *)member))->record
                                : simulated_of(member)->number;
}

/* ---- Records: records.c ----------------------------------------------------------------------------------------- */

/* What the core records, and how it calls handlers meanwhile. */
extern const struct recorder simulated_recorder;
extern const struct watch simulated_watch;

/* A record of this kind, by the handler that ran last. */
void simulated_note(struct simulated *of, enum trace_kind kind, const struct dispatcher_thread *thread, uint32_t line,
                    uint32_t event);

/* The turn has begun, if that is not noted yet; and nothing is to be run. */
void simulated_note_dispatch(struct simulated *of);
void simulated_note_idle(struct simulated *of);

/* An event may be followed by others before the turn ends. The first by which the processor is lost is noted. */
void simulated_note_taken(struct simulated *of, uint32_t event);

#endif
