/*
 * Signals. A kernel thread's mask and its stack for handlers are those of the thread that runs on it; if none does, it
 * blocks all. A handler runs as the kernel calls it, in the frame that the kernel makes, unless the signal comes while
 * the runtime is at work. Then it is kept, and sent again once the thread leaves the runtime. If the kernel thread goes
 * on with something else, another one may take it.
 */
#ifndef CATAPULTS_BENEATH_ARRIVED_H
#define CATAPULTS_BENEATH_ARRIVED_H

#include "beneath/thread.h"

/* The kernel's calls. */
long arrived_sigaction(const struct call *call);
long arrived_sigprocmask(const struct call *call);
long arrived_sigaltstack(const struct call *call);
long arrived_sigpending(const struct call *call);
long arrived_sigsuspend(const struct call *call);
long arrived_sigtimedwait(const struct call *call);
/* To one thread: tkill, tgkill, and with its data rt_tgsigqueueinfo. */
long arrived_send(int number, int signal, const siginfo_t *given, const struct call *call);

/* The same within dispatcher_enter, from this process: 0 or -EAGAIN. May run other threads. */
long arrived_direct(struct beneath_thread *thread, const siginfo_t *info);

/* While the call waits the thread blocks these; the second ends that. NULL: nothing changes. */
void arrived_mask_for_a_wait(const uint64_t *mask);
void arrived_mask_again(const uint64_t *mask);

/* The running thread leaves the runtime: what is for it comes now. Whether all handlers that have run have SA_RESTART.
 */
bool arrived_leave(void);

/* Whether something is for the thread. Within dispatcher_enter, as what follows. */
bool arrived_for(const struct beneath_thread *thread);

/* The kernel thread gets the mask and the stack for handlers of the thread; or no thread runs on it. It blocks all. */
void arrived_exchange(struct beneath_thread *thread);
void arrived_idle(void);
void arrived_close(void);

/* Whether one of these has come in the runtime. */
bool arrived_any(uint64_t signals);

/* The signals that every thread blocks, for a sleep of the kernel thread; and after it, ends the wait of a thread for
 * what has come. */
uint64_t arrived_blocked_by_all(void);
void arrived_interrupt(void);

/* What pends because the thread that runs here blocks it, while another does not. */
void arrived_let_in(void);

/* The thread ends: what has come for all, another may take. */
void arrived_retarget(struct beneath_thread *ending);

/* At the start: the mask that the program was started with. From now on all are blocked, as other kernel threads begin;
 * until arrived_exchange. The other is for a child of fork. */
uint64_t arrived_start(void);
void arrived_restart(struct beneath_thread *self);

#endif
