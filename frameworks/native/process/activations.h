/*
 * Threads that leave the processor when they block in the kernel.
 */
#ifndef CATAPULTS_PROCESS_ACTIVATIONS_H
#define CATAPULTS_PROCESS_ACTIVATIONS_H

#include "process/member.h"

/* Whether threads leave the processor when they block in the kernel. */
bool activations_running(void);

/* Called before the dispatcher is started, with the driver in place. Returns 0 or an error number, having reported. */
int activations_start(bool several);

/* Several processors: puts the guard in force. From now on the activation is held while it has entered, as it has on
 * return. `first`: the caller's processor. */
void activations_guard(struct processor *first);

/* Has a processor carried that has been added. Returns 0 or an error number. */
int activations_carry(uint32_t number, struct processor *processor);

/* The processor of the calling kernel thread; NULL: it has none. For handlers of signals. */
struct processor *activations_processor(void);

/* For an idle processor, without the lock: lets upcalls come. */
void activations_let_come(void);

/* Has the thread that runs on another processor find out that its turn is over. */
void activations_interrupt(uint32_t number);

/* The thread leaves its handlers of signals: the code that they interrupted, as far as `until`, does not go on. */
struct stopped;
void activations_forget(struct member *self, const struct stopped *until);

/* Sets host->arm: threads are preempted by time. */
void activations_preempt(struct dispatcher_host *host);

/* Around fork, which waits for the locks of libc's allocator. The first waits until threads that may have one have gone
 * on, and may run others. False: they have not, and fork would wait for ever. */
bool activations_before_fork(void);
void activations_after_fork(bool child);

#endif
