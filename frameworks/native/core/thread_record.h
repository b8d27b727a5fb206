/*
 * The dispatcher's record of a thread. The layer that makes threads embeds it as the last member of its own record, and
 * reserves core_thread_size() bytes for it.
 */
#ifndef CATAPULTS_CORE_THREAD_RECORD_H
#define CATAPULTS_CORE_THREAD_RECORD_H

#include "contexts/context.h"
#include "core/core.h"
#include "core/timer.h"
#include "native_policy.h"

/*
 * The host's book on each thread. A thread that runs stays RUNNABLE, and `current` says the rest, so a yield writes
 * nothing here. A LENDING thread is READY or RUNNING to its policy, and another one runs on its turns: see donation.c.
 */
enum dispatcher_state {
    THREAD_RUNNABLE,
    THREAD_BLOCKED,
    THREAD_SUSPENDED,
    THREAD_ENDED,
    THREAD_LENDING,
    THREAD_MARKED,    /* RUNNABLE, and not dispatched since starvation.c last looked */
    THREAD_POSTPONED, /* too many turns wait already: see postponed.c */
    /* Instead of the first, for the record of a scheduler: something under it is RUNNABLE. So one look at what was
     * dispatched tells a thread from a scheduler. */
    SCHEDULER_RUNNABLE
};

struct processor;
struct scheduler;

/*
 * What names a thread in a word of memory, such as the owner of a mutex:
 *
 *     bit 0         something of the word's own
 *     bit 1         set; else the word is the address of the record that embeds this one, which cannot have ended
 *     bits 2..28    where the table has the thread
 *     bits 29..63   the generation: how many threads have had that place
 *
 * A place is given up before its generations begin anew. So 2^62 threads have different names: at one thread every 50
 * nanoseconds, these last 7,000 years.
 */
enum { NAME_SHIFT = 2, NAME_PLACES = 1 << 27 };
#define NAME_OWN ((uintptr_t)1)
#define NAME_IN_TABLE ((uintptr_t)2)
#define NAME_NEXT ((uintptr_t)NAME_PLACES << NAME_SHIFT) /* the difference between two generations of a place */

static inline uint32_t name_place(uintptr_t name) { return (uint32_t)(name >> NAME_SHIFT) % NAME_PLACES; }

/* What a switch touches is together at the end, in one cache line with the beginning of the policy's part; what a wait
 * touches is before it. */
struct dispatcher_thread {
    struct scheduler *scheduler; /* which it is under */
    union {
        struct dispatcher_thread *older; /* of a thread */
        struct scheduler *below;         /* of a scheduler's record: the scheduler */
    };
    struct dispatcher_thread *newer;         /* all threads, in order of their numbers; all records of the scheduler */
    struct dispatcher_exceptions exceptions; /* while it does not run, if it is `excepted`; else there are none */
    struct dispatcher_thread *donor_next;    /* in the list of `donor_blocked_for` */
    uintptr_t name;                          /* set by the layer that makes it: see above */
    uint32_t room;                           /* bytes of `policy`, with the attributes that it has room for */
    uint16_t via;        /* several processors, while it is RUNNING: for which of its scheduler's records, from 0 */
    uint16_t turn_frame; /* while `turn_waits`: the frame in which it is RUNNING; */
    struct dispatcher_thread *turn_next; /* the turn behind it, or the thread postponed after it; */
    struct processor *turn_for;          /* and the processor that it waits for */

    struct timer timer;
    uint64_t bound;            /* to these processors, by their numbers; 0: to none */
    struct processor *kept_on; /* it was interrupted in its own code, and goes on only there; or NULL */
    union {
        struct dispatcher_thread *donor_previous; /* of the first in the list: the last */
        /* Several processors, while it is no blocked donor: since when turns of it wait for one, since it last ran; 0:
         * none has waited. */
        int64_t waits_since;
    };
    bool turn_waits : 1;        /* it is RUNNING, and waits for its processor: see decide.c */
    bool turn_stays : 1;        /* while it is postponed: it has the place of a donor that comes earlier */
    bool homeless;              /* its processor has departed, and it is placed once it can run: see nodes.c */
    uint8_t reason;             /* while it waits: enum dispatcher_reason */
    bool timed_out;             /* the instant came before dispatcher_unblock */
    uint16_t runs_in;           /* several processors: the frame on whose turn it runs, or is to run; or NOBODY */
    bool begins_job;            /* at the instant for which it waits, a job of it is released */
    int64_t consumed;           /* nanoseconds that it has been RUNNING, if asked for: see clock.c */
    const uintptr_t *waits_for; /* the word that names the thread it waits for (dispatcher_wait_for); NULL: not known */
    /* A blocked donor: the end of its chain, which could not run and in whose list it is. With several processors:
     * itself, in a list of blocked_donors.c. */
    struct dispatcher_thread *donor_blocked_for;
    union {
        struct dispatcher_thread *blocked_donors; /* behind this one, the first; NULL with several processors */
        struct dispatcher_thread
            *donor_other; /* several processors, while it is a blocked donor: see blocked_donors.c */
    };

    /* With one processor: in the list of blocked donors (donation.c). With several: in that of threads that not every
     * processor can have, or NULL (nodes.c). */
    struct dispatcher_thread *listed_next, **listed_link;
    /* The next cache line begins here, as records begin with one. */
    uint8_t state;       /* enum dispatcher_state */
    bool own_turn;       /* it is to run only on a turn of its own, for an event of the running thread */
    bool is_scheduler;   /* it is the record of a scheduler */
    bool excepted;       /* it handles C++ exceptions, or some are on their way; not known while it runs */
    int error_number;    /* while it does not run */
    uint32_t hold_depth; /* see dispatcher_hold */
    union {
        struct {
            bool to_be_suspended; /* while it waits: once it no longer does */
            bool set_aside;       /* its policy was told suspend_thread, and is to be told resume_thread: it blocked
                                     on the turn of another, or is postponed, or another policy has come */
            bool lends;           /* it waits for a thread that is to run on its turns */
            bool relays;          /* a donor may be blocked behind this one */
        };
        uint32_t unusual; /* not 0: any of these. Not beside `state`: one load of both would wait until what was
                             stored there is in the cache */
    };
    struct context context;
    struct dispatcher_thread *follower;          /* the thread that ran some switches after it: see foresight.h */
    _Alignas(16) struct catapults_thread policy; /* last: the policy's attributes follow */
};

/* For the layer that makes a thread, before it sets `room`, `name` and `bound`: zeroes all else that dispatcher_create
 * does not set. */
static inline void record_clear(struct dispatcher_thread *thread) {
    enum {
        START = offsetof(struct dispatcher_thread, timer.node.previous),
        END = offsetof(struct dispatcher_thread, context)
    };
    /* In pieces of a few instructions each: all at once would be one instruction that is slow to begin. */
    enum { PIECE = 32, PIECES = (END - START) / PIECE };
    char *piece = (char *)thread + START;
#pragma GCC unroll 8
    for (int i = 0; i < PIECES; i++, piece += PIECE)
        __builtin_memset(piece, 0, PIECE);
    __builtin_memset(piece, 0, (END - START) % PIECE);
}
_Static_assert(THREAD_RUNNABLE == 0, "record_clear");
_Static_assert(offsetof(struct dispatcher_thread, state) % 64 == 0 &&
                   (sizeof(struct tools_context) > 0 ||
                    offsetof(struct dispatcher_thread, policy.number) - offsetof(struct dispatcher_thread, state) < 64),
               "what a switch touches");

static inline struct dispatcher_thread *dispatcher_thread_of(struct catapults_thread *t) {
    return (struct dispatcher_thread *)((char *)t - offsetof(struct dispatcher_thread, policy));
}

/* Whether it is in dispatcher_block or dispatcher_wait_for, and so may be unblocked. */
static inline bool core_is_blocked(const struct dispatcher_thread *thread) {
    return thread->state == THREAD_BLOCKED || thread->state == THREAD_LENDING;
}

/* Whether it lends its turns, and only has to go on when it need not wait any longer. */
static inline bool is_lending_only(const struct dispatcher_thread *thread) {
    return thread->state == THREAD_LENDING && !thread->to_be_suspended && !thread->relays &&
           !timer_is_set(&thread->timer);
}

/* Whether it is READY or RUNNING to its policy. */
static inline bool core_is_runnable(const struct dispatcher_thread *member) {
    return member->state == THREAD_RUNNABLE || member->state == THREAD_MARKED || member->state == THREAD_LENDING ||
           member->state == SCHEDULER_RUNNABLE;
}

#endif
