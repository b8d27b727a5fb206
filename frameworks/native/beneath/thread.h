/*
 * The record of a thread that NPTL has made: what the kernel would keep of it. What the runtime keeps is its last
 * member. It lies in the runtime's own memory, because the stack is NPTL's, which uses it anew as soon as the thread's
 * number is cleared.
 */
#ifndef CATAPULTS_BENEATH_THREAD_H
#define CATAPULTS_BENEATH_THREAD_H

#include <poll.h>

#include "beneath/call.h"
#include "beneath/pending.h"
#include "beneath/scheduling.h"
#include "beneath/vectors.h"
#include "process/member.h"

struct robust_list_head;
struct variables;

struct beneath_thread {
    struct beneath_thread *next; /* of the records that are in no use */
    uint64_t last_name;          /* that the record has given: see process/names.h */

    int number;                      /* that gettid returns */
    struct beneath_thread *numbered; /* the next with a number like it */
    struct scheduling scheduling;
    uint32_t *clear;                 /* a word that is cleared at its end, and of which waiters are woken; or NULL */
    struct robust_list_head *robust; /* NPTL's, of its robust mutexes: see robust.c; or NULL */
    uintptr_t pointer;               /* to its thread_local variables: %fs */
    const struct call *call;         /* of a new thread: where it begins */

    /* That it has and others wait for, and how many those are: its policy's imports `owns` and `waiters`, see owner.c.
     */
    struct {
        catapults_int owned, waiters;
    } locks;

    struct variables *variables; /* that its policy imports, and nothing tells it of: see variables.h */

    _Atomic bool elsewhere; /* its call has been made: see elsewhere.c */

    /* In a wait for a word: see futex.c. */
    struct {
        const uint32_t *word; /* NULL: it is in no list, because it was woken or does not wait */
        uint32_t bits;
        struct beneath_thread *next, *previous;
    } futex;

    /* In a wait for descriptors: see descriptors.c. */
    struct {
        struct pollfd *first;
        nfds_t count; /* 0: it is in no list */
        struct beneath_thread *next, *previous;
    } descriptors;

    /* See arrived.c. */
    struct {
        uint64_t mask;          /* that it blocks */
        uint64_t awaited;       /* for these it waits, though it may block them */
        struct pending pending; /* for it alone */
        bool interrupted;       /* its wait has ended for one of them */
        bool waits;             /* in a wait that may end so */
        bool broken;            /* a handler without SA_RESTART has run */
        stack_t stack;          /* for handlers */
    } signals;

    struct stack nowhere; /* the runtime has no stack of its: what it is told of it */
    struct vectors vectors;
    struct member member; /* last: the policy's part follows */
};

static inline struct beneath_thread *thread_of(struct dispatcher_thread *thread) {
    return (struct beneath_thread *)((char *)member_of(thread) - offsetof(struct beneath_thread, member));
}

static inline struct beneath_thread *thread_self(void) { return thread_of(processor_here()->current); }

/* A record with zeros and a name; NULL: no memory. The second gives it back. What is said of records and threads here
 * is called within dispatcher_enter, but for the calls below. */
struct beneath_thread *thread_take(void);
void thread_give(struct beneath_thread *thread);

/* The thread with the number; NULL: there is none, or it has ended. */
struct beneath_thread *thread_numbered(int number);

/* The calls. `call` is on the caller's stack. */
long thread_clone(struct call *call);
_Noreturn void thread_exit(void);
/* In a child of fork, in which only the caller is left. */
void thread_restart(void);

/* For struct face. The first thread blocks these signals. */
struct member *thread_first(void);
size_t thread_values(const struct member *member, struct catapults_value *values);
extern uint64_t thread_first_mask;
void thread_exchange(struct dispatcher_thread *from, struct dispatcher_thread *to);

/* Whether there is more than one: else nobody loses anything while the kernel makes it wait. */
static inline bool threads_are_many(void) { return dispatcher_next_thread(dispatcher_first_thread()) != NULL; }

/* Blocks the caller, until dispatcher_unblock or the instant. 0, ETIMEDOUT, or EINTR: a signal has come for it. Within
 * dispatcher_enter; the second is for callers that are not. The third lends its turns to the thread that *to names, and
 * may end early. */
int thread_wait(enum dispatcher_reason reason, int64_t instant);
int thread_wait_alone(enum dispatcher_reason reason, int64_t instant);
int thread_lend(const uintptr_t *to, enum dispatcher_reason reason, int64_t instant);

#endif
