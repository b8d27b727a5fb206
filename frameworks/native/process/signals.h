/*
 * Signals per thread. The kernel knows one kernel thread, with one mask. The masks of threads, what pends for them, and
 * the application's handlers are kept here. A switch pays nothing for that.
 *
 *   kernel ──► preemption/arrivals.c ──► signals_post ──► a thread in sigwait, or
 *                 catapults_kill ──────►              ──► the target is `due`: signals_run, in its own context:
 *
 * - A thread that runs in the application's code: at once, in the kernel's handler (signal_catch.c).
 *
 * - A thread that runs elsewhere is `late`: as soon as the timer finds it back there, or in a call that looks. If it
 *   runs on another processor, that is interrupted.
 *
 * - A thread that waits in such a call is unblocked: when all is in order (ERESTART of cancel_block), or in the middle
 *   of the wait (waiters_run_handlers).
 *
 * - A thread that is ready or suspended: when it runs next, because a frame is put upon its stack.
 *
 * With several processors the holder of the runtime's lock does all of this. The mask and `due` of a thread, which it
 * reads without the lock, are read and written by atomic instructions. A handler of the kernel's keeps what arrives,
 * and passes it on if its processor is not in the dispatcher (`inside`). If it cannot soon, another processor is told
 * to (processors_alert).
 *
 *   signals.c         masks, what pends, who gets what
 *   signal_actions.c  the application's actions, and the kernel's
 *   signal_catch.c    what the kernel's handler does
 *   signal_run.c      running handlers
 *
 *   and in threads: signal_wait.c, waiting for signals; signal_send.c, sending them to a thread
 */
#ifndef CATAPULTS_PROCESS_SIGNALS_H
#define CATAPULTS_PROCESS_SIGNALS_H

#include "process/member.h"

struct signal_node {
    struct signal_node *next;
    siginfo_t info;
};

/* A thread in catapults_sigwait, on its stack. */
struct signal_waiter {
    struct signal_waiter *next;
    struct member *thread;
    uint64_t set;
    bool given; /* `info` is what it waited for */
    siginfo_t info;
};

/* Of the process. */
struct signals {
    struct sigaction actions[_NSIG]; /* of those that are taken: what the application wants */
    uint64_t taken;                  /* the runtime has the kernel's handler, unless they are ignored */
    uint64_t handled;                /* there is a handler */
    uint64_t pending;                /* directed at the process */
    struct signal_queue queue;
    struct signal_waiter *waiters; /* in the order in which they came */
    struct member *late;           /* it is due, and ran where it could not be interrupted; or NULL. With several
                                                processors, any that is due and runs is late */
    uint64_t reset;                /* signals whose handler a fault has used up (SA_RESETHAND) without the lock */
    uint32_t writing;              /* odd: an action is being written. It counts, for those that read without the
                                      lock */
    volatile bool arrived;         /* something has: see preemption_arrival */
    uint32_t alerted;              /* how many processors were told to look for it */
    volatile bool off;             /* an interrupted system call is the runtime's own */
    bool by_upcall;                /* signals arrive by sa.h */
};
extern struct signals signals;

static inline uint64_t signal_bit(int number) { return UINT64_C(1) << (number - 1); }

/* The signals of the runtime, of the kernel, and those that libc keeps for itself: in no set. */
uint64_t signals_reserved(void);
uint64_t signals_of(const sigset_t *set);
void signals_to(sigset_t *set, uint64_t signals);

/* ---- Within dispatcher_enter ------------------------------------------------------------------------------------- */

/* A signal for the thread, or for the process if it is NULL. Threads that it wakes do not run before
 * dispatcher_unblocked. EAGAIN: no memory, or too many. */
int signals_post(struct member *thread, const siginfo_t *info);

/* Take up what has arrived. The first may run other threads. After the second, threads that it wakes do not run before
 * dispatcher_unblocked. */
void signals_take_up(void);
void signals_take_up_only(void);
void signals_post_arrived(const siginfo_t *info); /* from the kernel */

/* For one processor: the thread is due, and runs where it must not be interrupted. The next decision looks, too. */
void signals_postpone_for(struct member *thread);

/* Takes the first signal in the set that pends for the thread or for the process. */
bool signals_take(struct member *thread, uint64_t set, siginfo_t *info);

/* The thread blocks more signals, or ends: others get the signals of the process that it would have had. */
void signals_retarget(void);

/* The thread ends, and blocks all signals, while something pends for it or for the process. May run other threads. */
void signals_end(struct member *self);
/* What pends for it is dropped. */
void signals_forget(struct member *self);

/* In a child of fork. After the second, signals come to the kernel's handlers. */
void signals_restart(struct member *self);
void signals_leave_upcalls(void);

static inline bool signals_due(const struct member *thread) {
    return __atomic_load_n(&thread->signals.due, __ATOMIC_RELAXED);
}
static inline void signals_set_due(struct member *thread, bool due) {
    __atomic_store_n(&thread->signals.due, due, __ATOMIC_RELAXED);
}
static inline uint64_t signals_mask(const struct member *thread) {
    return __atomic_load_n(&thread->signals.mask, __ATOMIC_RELAXED);
}
static inline void signals_set_mask(struct member *thread, uint64_t mask) {
    __atomic_store_n(&thread->signals.mask, mask, __ATOMIC_RELAXED);
}

/* Something has arrived, by preemption_keep: the next decision looks. */
void signals_arrived(void);

/* ---- Outside of it ----------------------------------------------------------------------------------------------- */

enum signals_outcome {
    SIGNALS_NONE,    /* another thread had taken it */
    SIGNALS_RESTART, /* all handlers say that interrupted calls go on */
    SIGNALS_EINTR
};

/* Runs the handlers of the caller, which is `due`. */
enum signals_outcome signals_run(struct member *self);

/* Called at the end of a call that can wait and has returned something. */
static inline void signals_check(struct member *self) {
    if (__builtin_expect(signals_due(self), 0))
        signals_run(self);
}

/* Runs the handler of a fault, which the thread does not block; `anywhere`: in whatever code it was. */
void signals_deliver_fault(struct member *self, siginfo_t *info, void *context, bool anywhere);

/* What the application has asked for. */
struct sigaction signals_action_of(int number);

/* For the dispatcher (dispatcher_host). */
void signals_attend(void), signals_undisturbed(void), signals_about_to_run(struct dispatcher_thread *thread);

/* From now on the runtime has the kernel's handler of the signal. */
void signals_own(int number);
void signals_set_action(int number, const struct sigaction *action);
bool signals_ignores(int number);
void signals_default(int number);

/* Something waits that the interrupted thread could deal with. To be called in a handler of the kernel's, where the
 * code may be left; `held`: not for good. True: come again. */
bool signals_wait_for_code(void);
bool signals_interrupted(bool held);
bool signals_postpone(void); /* the same where the code may not be left */
void signals_catch_start(void);

#endif
