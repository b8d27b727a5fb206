/*
 * What the files of the library share: the policy, whose handlers are inlined in each caller, and which thread runs.
 *
 * CATAPULTS_COMPILED_IN is the file of the scheduler. Each function has a file of its own, so that only those that are
 * used are linked.
 */
#ifndef CATAPULTS_LIBRARY_H
#define CATAPULTS_LIBRARY_H

#include CATAPULTS_COMPILED_IN
#include "catapults/list.h"
#include "thread.h"

#define THREAD_WAITS 1     /* for thread_signal */
#define THREAD_SUSPENDED 2 /* until thread_resume */

/* A thread's record, at the start of its memory. */
struct thread {
    CATAPULTS_THREAD policy; /* first, so that a thread is a thread of the policy; its stack pointer is first in that */
    uint8_t flags;           /* 0: it runs or is ready */
    void (*function)(void *);
    void *argument;
};

#define POLICY(thread) ((struct catapults_thread *)(thread))

extern struct catapults_thread *thread_running;
extern struct catapults_thread thread_program; /* the program's own stack, while threads run */
extern uint8_t thread_runnable;                /* how many threads run or are ready */

/* Gives the processor to `next`, until a thread switches back. */
void thread_switch(struct catapults_thread *next);

/* The policy decides which thread runs; the one that ran is in another container by now. */
void thread_decide(void);

/* One thread less can run; another one runs. */
void thread_leave(void);

/* Behind an event by which the policy can take the processor from the running thread: if it has, another thread runs.
 */
void thread_give_way(void);

/* Raises an event of a thread. */
#define THREAD_MUST(stop)                                                                                              \
    do {                                                                                                               \
        const struct catapults_stop *stopped = stop;                                                                   \
        if (stopped)                                                                                                   \
            thread_policy_failed(stopped->line);                                                                       \
    } while (0)

#endif
