/*
 * The runtime's record of a thread: what catapults_t points at. It lies at the high end of the thread's stack; the
 * first thread, whose stack is the system's, has a stack of ours for its record alone.
 */
#ifndef CATAPULTS_PROCESS_HANDLE_H
#define CATAPULTS_PROCESS_HANDLE_H

#include "catapults.h"
#include "contexts/stack.h"
#include "core/thread_record.h"
#include "dispatcher/processor_here.h"
#include "sa.h"

enum { CATAPULTS_NAME_SIZE = 32 };

struct signal_queue {
    struct signal_node *first, *last;
};

/* Where a thread is, for those who have a signal for it. */
enum signal_place {
    SIGNAL_PLACE_ELSEWHERE,
    SIGNAL_PLACE_NEW,
    SIGNAL_PLACE_WAIT,  /* in a call that looks */
    SIGNAL_PLACE_UPCALL /* an upcall goes on in its name, and looks at its end */
};

/* Of a thread: see threads/cancel.h. */
enum cancel_state {
    CANCEL_ENABLED = 0,
    CANCEL_REQUESTED = 1, /* this alone: it ends at its next cancellation point */
    CANCEL_DISABLED = 2,
    CANCEL_ENDING = 4 /* for good */
};

/* Of a thread: see signals.h. */
struct signal_state {
    uint8_t place;             /* enum signal_place */
    bool due;                  /* it is to look for what pends, and to run handlers */
    bool interrupted;          /* it was unblocked for that */
    bool interposed;           /* a frame on its stack does that */
    struct stopped *stopped;   /* its code that waits on other kernel threads: see activations.c */
    uint64_t mask, pending;    /* what pends for the thread itself */
    struct signal_queue queue; /* the same, with its data, in order of arrival */
};

struct catapults_handle {
    struct stack *stack;
    void *(*start)(void *);
    void *argument;
    void *result;

    /* A new thread has nothing of this, as far as `suspended`: see threads/thread.c. */
    const struct catapults_attributes *attributes; /* while it is being created; else NULL */
    void *object;                                  /* the application's, where per-thread imports are read; or NULL */
    struct catapults_handle *joiner;               /* the thread that waits for its end */
    const char *refusal;                           /* of the last refused request, or NULL */
    catapults_mutex_t *mutexes;                    /* the robust and PROTECT mutexes that it has */
    struct stand_in *stand_ins;                    /* see threads/stand_in.c */
    struct client *client;                         /* it is under no policy; else NULL: see threads/client.h */
    struct catapults_cleanup *cleanup;             /* the handler pushed last: see threads/cancel.h */
    struct key_values *values;                     /* of keys; NULL: none, see threads/keys.c */
    struct selection *selects;                     /* in catapults_select: see io/select.c; else NULL */
    struct catapults_message *message;             /* while it is blocked at a port: that it sends, or awaits the
                                                      reply to; NULL: it receives, or the message was delivered */
    bool detached, ended;
    uint8_t cancel;   /* enum cancel_state */
    bool cancellable; /* it is in cancel_block */
    bool cancelled;   /* and is to return ECANCELED */
    bool has_ceiling; /* it has a PROTECT mutex: `ceiling` */

    /* While it waits for a lock or a condition: see threads/waiters.h. */
    const catapults_mutex_t *wants;    /* the one for which it is blocked */
    struct catapults_waiters *waiting; /* the list that it is in; NULL: none */
    struct catapults_handle *wait_next, *wait_previous;
    bool asleep;         /* it is in a list and blocked, so that whoever wakes it must unblock it */
    bool woken;          /* a mutex has become free for it, and it has not looked yet */
    bool suspended;      /* by catapults_suspend, at once or as soon as it no longer waits */
    uint8_t sensitivity; /* in catapults_schedule: enum catapults_sensitivity */
    uint32_t came;       /* its number among those that have waited for the mutex */

    uintptr_t word; /* names it, and no other thread whose record was or is here (core/thread_record.h); 0: it has
                       ended */
    struct signal_state signals;
    int64_t period;               /* of its jobs; 0: it has none */
    int64_t release;              /* of its job, or of the next one once that has ended: where the policy reads it */
    uintptr_t joins;              /* the handle of the thread whose end it waits for, while it does */
    int64_t ceiling;              /* where the policy reads it */
    uintptr_t target;             /* in catapults_schedule: the client */
    const catapults_port_t *port; /* while it is blocked at a port; NULL: its message has been received */

    char name[CATAPULTS_NAME_SIZE];
    struct {
        _Alignas(16) uint64_t words[4];
    } unwinding; /* the exception that unwinds its stack at its end: see threads/end.c */
    _Alignas(64) struct dispatcher_thread dispatched; /* last: the policy's part follows */
};

static inline __attribute__((always_inline)) struct catapults_handle *handle_of(struct dispatcher_thread *thread) {
    return (struct catapults_handle *)((char *)thread - offsetof(struct catapults_handle, dispatched));
}

/* The thread that has, or had, the place in the table of a word that names a thread so. */
static inline struct catapults_handle *handle_placed(uintptr_t word) {
    struct dispatcher_thread *const *named = __atomic_load_n(&dispatcher_named, __ATOMIC_RELAXED);
    return handle_of(named[name_place(word)]);
}

/* Whether the word names a thread that has not ended. */
static inline bool handle_is_named(uintptr_t word) { return word && handle_placed(word)->word == word; }

/* With activations, a thread that comes back from a call of the kernel may have lost its processor there. It does not
 * know before it asks, or calls dispatcher_enter. Before that it must not look at what the processor has. */
static inline bool handle_must_regain(void) {
    return __builtin_expect(dispatcher_guard.regains, 0) &&
           __builtin_expect(dispatcher_guard.several || !sa_runs(), 0); /* of several, it may have been given another */
}
static inline void handle_regain(void) {
    if (handle_must_regain())
        dispatcher_guard.regain();
}

/* The caller, after handle_regain. */
static inline struct catapults_handle *handle_here(void) { return handle_of(processor_here()->current); }

static inline struct catapults_handle *handle_self(void) {
    handle_regain();
    return handle_here();
}

#endif
