/*
 * What others of the same user ask of the process while it runs (docs/live.md).
 *
 *     catapults top ──signal──► the handler: makes a kernel thread, for this conversation only
 *          │                         │ live.c
 *          └◄────────socket─────────► it reads what is asked (live_talk.c), waits until a processor has done it within
 *                                     the runtime's lock (live_attend.c), and answers
 *
 * So nothing of it is there until somebody asks, and who reads slowly keeps nobody waiting. The kernel thread has a
 * table of descriptors of its own, and calls no function of libc, which does not know of it.
 */
#ifndef CATAPULTS_PROCESS_LIVE_H
#define CATAPULTS_PROCESS_LIVE_H

#include "preemption/preemption.h"
#include "process/member.h"

/* From now on it can be asked. Called once. */
void live_start(void);

/* Whether something is to be done for those who ask: for handlers of signals. */
bool live_wanted(void);

/* Does it. Within dispatcher_enter; dispatcher_unblocked follows. */
void live_attend(void);

/* For the handler by which a processor is interrupted, when something is wanted: does it at once if the interrupted
 * code allows that, else at the next decision. */
void live_interrupted(enum preemption_where where);

/* ---- Between the files ------------------------------------------------------------------------------------------- */

enum { LIVE_VERSION = 1, LIVE_TEXT = 256, LIVE_HEAD = 16 << 10, LIVE_WAIT = 96 };

enum live_kind { LIVE_LOOK, LIVE_WATCH, LIVE_SET, LIVE_REPLACE };

enum live_state { LIVE_RUNNING, LIVE_READY, LIVE_BLOCKED, LIVE_LENDING, LIVE_SUSPENDED };

/* What is said of a thread. */
struct live_thread {
    uint32_t number, waits_for; /* a thread's number; 0: not known */
    uint8_t state;              /* enum live_state */
    uint32_t scheduler;         /* which of all, from 0 */
    int64_t consumed;           /* nanoseconds */
    int64_t instant;            /* at which its wait ends; INT64_MAX: none */
    char name[CATAPULTS_NAME_SIZE];
    char wait[LIVE_WAIT]; /* what it waits for, in words */
};

/* What is asked, and the answer. */
struct live_request {
    enum live_kind kind;
    bool watch;                            /* LIVE_WATCH: how long threads run is counted from now on, or no longer */
    uint32_t thread;                       /* LIVE_SET: its number; 0: a variable of the policy */
    int type;                              /* LIVE_SET: of struct catapults_import */
    uint64_t bits;                         /* its value */
    const char *name;                      /* of the variable */
    const struct catapults_policy *policy; /* LIVE_REPLACE */

    const char *refused; /* why nothing was done; NULL: it was done */
    char text[LIVE_TEXT];
    /* LIVE_LOOK: what is said of the process and of its schedulers, in lines; and its threads, of which the first
     * `room` have found room. */
    char head[LIVE_HEAD];
    size_t head_length;
    struct live_thread *threads;
    uint32_t room, count;
};

/* Around what a processor does: what is asked, or NULL, and then the second is not to be called. */
struct live_request *live_begin(void);
void live_end(void);

/* Has a processor do it. False: none could for seconds. Called by the kernel threads that talk; one at a time. */
bool live_ask(struct live_request *request);

/* A conversation with who has the socket of this name. */
void live_talk(uint32_t name);

#endif
