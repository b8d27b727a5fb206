/*
 * A thread, as all below the interface know it. The interface embeds this as the last member of its own record, and is
 * not known here: what it is asked is in face.h.
 *
 *     │ the interface's │ struct member │ the policy's part, `room` │ thread_local variables │
 *     └ threads/handle.h                └ of struct dispatcher_thread                        └ runtime.member_size
 *
 * The interface chooses where a record lies (threads/thread.c). Nothing here takes it to be on the thread's stack, or
 * at the same distance from `stack` as another.
 */
#ifndef CATAPULTS_PROCESS_MEMBER_H
#define CATAPULTS_PROCESS_MEMBER_H

#include "catapults.h"
#include "contexts/stack.h"
#include "core/thread_record.h"
#include "dispatcher/processor_here.h"
#include "process/refusal.h"
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

/* What each wait touches is in the first cache line, beside what it touches of the interface's part. */
struct member {
    _Alignas(64) uintptr_t word; /* names it, and no other thread whose record was or is here (core/thread_record.h);
                                    0: it has ended */
    struct signal_state signals;
    struct stack *stack; /* that it runs on; of the first thread, one that nothing runs on */

    const struct catapults_attributes *attributes; /* while it is being created; else NULL */
    void *object;                                  /* the application's, where per-thread imports are read; or NULL */
    int64_t period;                                /* of its jobs; 0: it has none */
    int64_t release;  /* of its job, or of the next one once that has ended: where the policy reads it */
    int64_t deadline; /* that its policy was told because the application has said none; 0: it was not */
    int64_t ceiling;  /* where the policy reads it */
    bool has_ceiling; /* it has a PROTECT mutex: `ceiling` */

    char name[CATAPULTS_NAME_SIZE];
    struct refusal refusal;                           /* of the last refused request */
    _Alignas(64) struct dispatcher_thread dispatched; /* last: the policy's part follows */
};
_Static_assert(offsetof(struct member, attributes) == 64, "what each wait touches");

static inline __attribute__((always_inline)) struct member *member_of(struct dispatcher_thread *thread) {
    return (struct member *)((char *)thread - offsetof(struct member, dispatched));
}

/* The thread that has, or had, the place in the table of a word that names a thread so. */
static inline struct member *member_placed(uintptr_t word) {
    struct dispatcher_thread *const *named = __atomic_load_n(&dispatcher_named, __ATOMIC_RELAXED);
    return member_of(named[name_place(word)]);
}

/* Whether the word names a thread that has not ended. */
static inline bool member_is_named(uintptr_t word) { return word && member_placed(word)->word == word; }

/* The thread that it waits for; NULL: not known. */
static inline const struct member *member_waited_for(const struct member *thread) {
    struct dispatcher_thread *other = dispatcher_waited_for(&thread->dispatched);
    return other ? member_of(other) : NULL;
}

/* With activations, a thread that comes back from a call of the kernel may have lost its processor there. It does not
 * know before it asks, or calls dispatcher_enter. Before that it must not look at what the processor has. */
static inline bool member_must_regain(void) {
    return __builtin_expect(dispatcher_guard.regains, 0) &&
           __builtin_expect(dispatcher_guard.several || !sa_runs(), 0); /* of several, it may have been given another */
}
static inline void member_regain(void) {
    if (member_must_regain())
        dispatcher_guard.regain();
}

/* The caller, after member_regain. */
static inline struct member *member_here(void) { return member_of(processor_here()->current); }

static inline struct member *member_self(void) {
    member_regain();
    return member_here();
}

#endif
