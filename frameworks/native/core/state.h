/*
 * What the core keeps, for all of its files: struct core. With several processors, the owner of a core holds its lock
 * around every call. In every function, `here` is the processor that acts.
 */
#ifndef CATAPULTS_CORE_STATE_H
#define CATAPULTS_CORE_STATE_H

#include "catapults/trace.h"
#include "core/builtin.h"
#include "core/core.h"
#include "core/processor.h"
#include "core/thread_record.h"
#include "core/scheduler.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* What is RUNNING on one processor at a time: see running_frames.c. */
struct running_frame {
    struct dispatcher_thread *turn; /* NULL: nothing */
    struct dispatcher_thread *runs; /* the thread that runs on its turn, or will once the turn's processor takes it;
                                       or NULL */
    uint16_t next;                  /* in the list of frames that are not in use */
};

enum { DONORS_LISTS = 64 };

enum { FORESIGHT = 4 }; /* a power of two: see foresight.h */

/* Compilers call libc to clear what is large, and there is none here. */
static inline void core_clear(void *memory, unsigned long size) {
    for (unsigned long i = 0; i < size; i++)
        ((char *)memory)[i] = 0;
}

/* Whether an event asks only the root's policy (shortcut.h), and whether threads that go on soon are fetched before
 * (foresight.h). */
enum shortcut { NO_SHORTCUT, SHORTCUT, SHORTCUT_OF_MANY };

/* Records what happens: see dispatcher/trace.c. */
struct recorder {
    /* `thread` NULL: it concerns none. */
    void (*came_to)(enum trace_kind kind, const struct dispatcher_thread *thread, uint8_t detail);
    void (*dispatched)(const struct dispatcher_thread *next); /* this processor goes on with it, or with nobody */
    void (*named)(const struct dispatcher_thread *record, const char *name);
    void (*policy_in_force)(struct scheduler *scheduler);
    void (*policy_out)(uint32_t line); /* the line at which it was left; 0: not known */
};

/* How handlers that may run for ever are called: see dispatcher/overrun.c. */
struct watch {
    const struct native_handlers *handlers; /* whose `self` is the scheduler */
    const struct catapults_stop *(*raise)(struct scheduler *scheduler, native_thread_event *handler,
                                          struct catapults_thread *t);
};

/* One instance of the core. What a switch touches comes first. */
struct core {
    uint8_t shortcut;      /* enum shortcut */
    bool clients;          /* there is a scheduler outside of the tree, which never dispatches */
    bool accounting;       /* the host asks how long threads run, whatever the policies do: for good, */
    bool watched;          /* or while somebody looks on */
    uint32_t recent_first; /* index of the oldest of these: see foresight.h */
    struct dispatcher_thread *recent[FORESIGHT];
    struct scheduler root; /* the first of all schedulers */
    struct scheduler *last;
    struct scheduler *removed;       /* schedulers that have ended; linked by `next` */
    struct dispatcher_thread nobody; /* stands for a thread that has ended: see foresight.h */
    uint32_t numbers;                /* threads that there ever were */
    uint32_t added;                  /* schedulers that there ever were, except the root */
    struct timer *timers;
    struct dispatcher_thread *oldest, *newest;
    int64_t tidied;                          /* when the host was last asked to */
    int64_t marked;                          /* when starvation.c last looked */
    uint64_t decisions, enough;              /* since then, about; and how many are enough to serve everybody */
    uint64_t decided;                        /* decisions that there ever were, about */
    const struct dispatcher_thread *starved; /* the thread that waited too long, while its policy is contained */
    const struct dispatcher_driver *driver;
    const struct dispatcher_host *host;
    volatile bool signalled; /* the host has said so */
    bool signals_expected;
    bool signals_begun; /* the host is asked whenever a thread goes on: several processors */

    /* Where there are several processors. */
    bool several;
    bool resized; /* host->resize is to be called */
    bool picky;   /* some threads may not run, or go on, on every processor: not all can be stolen */
    struct dispatcher_thread *blocked_donors, **blocked_donors_last, *donor_next; /* of one processor: see donation.c */
    struct dispatcher_thread *picky_first, **picky_last;                          /* those of them that are READY:
                                                                                     see nodes.c */
    uint32_t picky_count;
    bool nothing_to_steal; /* no node gave anything away, and nothing has happened since */
    int64_t found_nothing_at;
    uint32_t homeless;                                    /* threads */
    uint16_t free_frames;                                 /* the first of the list */
    uint16_t frames_end;                                  /* the frames from here on were never in use */
    uint32_t waiting;                                     /* turns that wait for their processor */
    uint32_t left_off;                                    /* turns that wait no longer, since postponed.c last looked */
    struct dispatcher_thread *postponed, *postponed_last; /* see postponed.c */
    uint32_t processors_count, active;                    /* all; those that are not parked */
    uint32_t known;                                       /* numbers from here on no processor ever had: spares */
    bool wants_spare;                                     /* host->another is to be called */
    bool no_more_spares;
    uint32_t running; /* frames that have a turn */
    uint32_t parked_asleep;
    uint32_t asleep, waking;                              /* idle processors: asleep, and woken since */
    struct processor *poller;                             /* the processor that sleeps in the driver */
    int64_t polls_until;                                  /* and until when */
    struct dispatcher_thread *donors_lists[DONORS_LISTS]; /* see blocked_donors.c */
    uint64_t donors_lists_used;                           /* which of them are not empty */
#ifdef CATAPULTS_CHECKED
    uint32_t checked, checks; /* threads at the last look; and looks: see check.c */
#endif
    const struct recorder *recorder; /* NULL: nothing is recorded */
    /* For a policy that has no `yield`, or is watched; called for the root only. */
    struct catapults_thread *(*yield_in_two)(void *self, struct catapults_thread *t,
                                             const struct catapults_stop **stop);
    const struct watch *watch;                     /* NULL: handlers are called directly, whatever they do */
    struct dispatcher_thread *const *const *named; /* where the table of names is: see thread_record.h */
    struct processor *processors[DISPATCHER_PROCESSORS];
    struct running_frame running_frames[FRAMES];
    union {
        struct {
            bool chains_changed; /* a blocked donor may be able to go on */
            bool turns_changed;  /* a thread may run on the turn of one that no longer waits for it */
            bool fewer_wait;     /* there may be room for a postponed thread */
            bool none_waits;     /* for some processor, where a postponed thread may run */
        };
        uint32_t changes; /* not 0: any of these */
    };
};

/* A thread, or the record of a scheduler, has come to a state. */
#define TRACE(kind, thread, detail)                                                                                    \
    do {                                                                                                               \
        if (UNLIKELY(here->core->recorder != NULL))                                                                    \
            here->core->recorder->came_to(kind, thread, (uint8_t)(detail));                                            \
    } while (0)

/* The thread that a word names, or that has its place in the table by now. The word is not 0, and without NAME_OWN. */
static inline struct dispatcher_thread *name_thread(struct processor *here, uintptr_t name) {
    if (LIKELY(name & NAME_IN_TABLE))
        return (*here->core->named)[name_place(name)];
    return (struct dispatcher_thread *)(name + here->core->host->record);
}

/* Something that `shortcut` depends on has changed: the owner of the core finds it anew. */
static inline void core_lose_shortcut(struct core *core) {
    if (core->shortcut) /* with several processors it is read without the lock, and so not written */
        core->shortcut = NO_SHORTCUT;
}

/* The thread that is RUNNING, where events are raised, or NULL. */
static inline struct dispatcher_thread *core_running(struct processor *here) {
    if (UNLIKELY(here->sees != here->frame))
        return here->core->running_frames[here->sees].turn;
    return here->polling ? NULL : here->turn;
}

#endif
