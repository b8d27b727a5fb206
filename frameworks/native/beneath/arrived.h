/*
 * Signals. All threads are on one kernel thread, whose mask and whose stack for handlers are those of the thread that
 * runs. A handler runs as the kernel calls it, in the frame that the kernel makes, unless the signal comes while the
 * runtime is at work. Then it is kept, and sent again once the thread leaves the runtime.
 */
#ifndef CATAPULTS_BENEATH_ARRIVED_H
#define CATAPULTS_BENEATH_ARRIVED_H

#include "beneath/thread.h"

/* The kernel's calls. */
long arrived_sigaction(const struct call *call);
long arrived_sigprocmask(const struct call *call);
long arrived_sigaltstack(const struct call *call);
long arrived_sigsuspend(const struct call *call);
long arrived_sigtimedwait(const struct call *call);
/* To one thread: tkill and tgkill. */
long arrived_send(int number, int signal, const struct call *call);

/* While the call waits the thread blocks these; the second ends that. NULL: nothing changes. */
void arrived_mask_for_a_wait(const uint64_t *mask);
void arrived_mask_again(const uint64_t *mask);

/* The running thread leaves the runtime: what is for it comes now. */
void arrived_leave(void);

/* Whether something is for the thread. */
bool arrived_for(const struct beneath_thread *thread);

/* The kernel thread gets the mask and the stack for handlers of the thread. */
void arrived_exchange(struct beneath_thread *thread);

/* The signals that every thread blocks, for a sleep of the kernel thread; and after it, ends the wait of a thread for
 * what has come. */
uint64_t arrived_blocked_by_all(void);
void arrived_interrupt(void);

/* The thread ends: what has come for all, another may take. */
void arrived_retarget(struct beneath_thread *ending);

/* At the start; and in a child of fork. */
void arrived_start(void);
void arrived_restart(struct beneath_thread *self);

#endif
