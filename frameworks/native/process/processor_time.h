/*
 * What is done whenever the kernel thread of a processor has used some CPU time.
 */
#ifndef CATAPULTS_PROCESS_PROCESSOR_TIME_H
#define CATAPULTS_PROCESS_PROCESSOR_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

struct processor_time {
    int64_t every; /* nanoseconds */
    /* They have passed, once or more often since the last call. Called in a handler of signals, wherever the program
     * is. */
    void (*passed)(ucontext_t *context);
    const char *without; /* what is not done without it: for a message */
    bool started;
    struct processor_time *next;
};

/* Starts it on all processors that there are, and that come. Once is enough. Within dispatcher_enter. */
void processor_time_start(struct processor_time *what);

/* One more kernel thread is a processor. Within dispatcher_enter. */
void processor_time_attach(pid_t thread);

/* In a child of fork: all that was started. */
void processor_time_restart(void);

#endif
