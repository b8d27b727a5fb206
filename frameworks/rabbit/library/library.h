/*
 * What the files of the library share: the policy, whose handlers are inlined wherever they are called, and who runs.
 *
 * CATAPULTS_COMPILED_IN is the file of the scheduler. One function is in one file, so that only those that are used are
 * linked.
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
    CATAPULTS_THREAD policy; /* first: a thread is a thread of the policy; and within it, its stack pointer is first */
    uint8_t flags;           /* 0: it runs or is ready */
    void (*function)(void *);
    void *argument;
};

#define POLICY(thread) ((struct catapults_thread *)(thread))

extern struct catapults_thread *thread_running;
extern uint8_t thread_runnable; /* how many threads run or are ready */

/* The processor goes to `next`, until somebody switches back. */
void thread_switch(struct catapults_thread *next);

/* The policy decides who runs; the thread that ran has been put somewhere. */
void thread_decide(void);

/* One thread less can run; somebody else does. */
void thread_leave(void);

/* Raises an event of a thread. */
#define THREAD_MUST(stop)                                                                                              \
    do {                                                                                                               \
        const struct catapults_stop *stopped = stop;                                                                   \
        if (stopped)                                                                                                   \
            thread_policy_failed(stopped->line);                                                                       \
    } while (0)

#endif
