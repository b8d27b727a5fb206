/*
 * The record of a thread: what catapults_t points at, with what the calls of catapults.h need. What the runtime below
 * them needs is its last member.
 */
#ifndef CATAPULTS_THREADS_HANDLE_H
#define CATAPULTS_THREADS_HANDLE_H

#include "process/member.h"

/* Of a thread: see threads/cancel.h. */
enum cancel_state {
    CANCEL_ENABLED = 0,
    CANCEL_REQUESTED = 1, /* this alone: it ends at its next cancellation point */
    CANCEL_DISABLED = 2,
    CANCEL_ENDING = 4 /* for good */
};

/* What each wait touches is at the end, in the cache line before that of struct member. */
struct catapults_handle {
    void *(*start)(void *);
    void *argument;
    void *result;
    struct catapults_handle *joiner;   /* the thread that waits for its end */
    catapults_mutex_t *mutexes;        /* the robust and PROTECT mutexes that it has */
    struct stand_in *stand_ins;        /* see threads/stand_in.c */
    struct client *client;             /* it is under no policy; else NULL: see threads/client.h */
    struct catapults_cleanup *cleanup; /* the handler pushed last: see threads/cancel.h */
    struct key_values *values;         /* of keys; NULL: none, see threads/keys.c */
    struct selection *selects;         /* in catapults_select: see io/select.c; else NULL */
    struct {
        _Alignas(16) uint64_t words[4];
    } unwinding;                  /* the exception that unwinds its stack at its end: see threads/end.c */
    uintptr_t target;             /* in catapults_schedule: the client */
    const catapults_port_t *port; /* while it is blocked at a port; NULL: its message has been received */

    /* The next cache line begins here. */
    struct catapults_message *message; /* while it is blocked at a port: that it sends, or awaits the reply to; NULL:
                                          it receives, or the message was delivered */
    uintptr_t joins;                   /* the thread whose end it waits for, while it does */
    bool detached, ended;
    uint8_t cancel;   /* enum cancel_state */
    bool cancellable; /* it is in cancel_block */
    bool cancelled;   /* and is to return ECANCELED */

    /* While it waits for a lock or a condition: see threads/waiters.h. */
    bool asleep;                       /* it is in a list and blocked, so that whoever wakes it must unblock it */
    bool woken;                        /* a mutex has become free for it, and it has not looked yet */
    bool suspended;                    /* by catapults_suspend, at once or as soon as it no longer waits */
    uint32_t came;                     /* its number among those that have waited for the mutex */
    uint8_t sensitivity;               /* in catapults_schedule: enum catapults_sensitivity */
    const catapults_mutex_t *wants;    /* the one for which it is blocked */
    struct catapults_waiters *waiting; /* the list that it is in; NULL: none */
    struct catapults_handle *wait_next, *wait_previous;

    struct member member; /* last: the policy's part follows */
};
_Static_assert(offsetof(struct catapults_handle, message) % 64 == 0 &&
                   offsetof(struct catapults_handle, member) == offsetof(struct catapults_handle, message) + 64,
               "what each wait touches");

static inline __attribute__((always_inline)) struct catapults_handle *handle_of(struct member *member) {
    return (struct catapults_handle *)((char *)member - offsetof(struct catapults_handle, member));
}

/* The caller, after member_regain. */
static inline struct catapults_handle *handle_here(void) { return handle_of(member_here()); }

static inline struct catapults_handle *handle_self(void) { return handle_of(member_self()); }

#endif
