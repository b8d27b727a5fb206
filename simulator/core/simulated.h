/*
 * The core of the native runtime (frameworks/native/core) in virtual time, on one processor: an owner of an instance
 * that the simulator calls instead of threads. As in a process, events go in and the core says who goes on; but no
 * context is switched, and a decision is taken only when the simulator asks for one. Until then all that happens at an
 * instant is raised while nobody, or the thread that has not lost the processor, is RUNNING.
 *
 *     simulator ── what happens ──► simulated.c ──► core ── events ──► policy
 *               ◄── records ───────             ◄──      ◄── stops ───
 *
 * The memory of all that is made here is the caller's: zeroed, aligned to 16, of as many bytes as the functions say,
 * and in use until the end. The functions are called by one kernel thread at a time. Events are given by the caller's
 * own numbers, which come back in records.
 */
#ifndef CATAPULTS_SIMULATED_H
#define CATAPULTS_SIMULATED_H

#include <stdbool.h>
#include <stdint.h>

#include "native_policy.h"

struct simulated;
struct simulated_thread;
struct simulated_scheduler;

/* The value of an imported variable: `size` bytes of `bits`, at this offset in a thread or an instance. */
struct simulated_value {
    uint32_t offset, size;
    uint64_t bits;
};

struct simulated_values {
    const struct simulated_value *values;
    uint64_t count;
};

/* What has happened to a thread, or to a scheduler as a thread of its parent. */
struct simulated_record {
    uint32_t kind;      /* enum trace_kind */
    uint32_t thread;    /* its number here */
    uint32_t donor;     /* the number of the thread whose turn it is; of the thread, if it is nobody's */
    uint32_t scheduler; /* the number of the one whose handler ran last */
    uint32_t line;      /* at which a handler of that one last moved a thread; 0: not known */
    /* PREEMPTED: the event by which the processor was taken, by the caller's number. Otherwise the handler that ran
     * last, by its place in struct native_handlers. */
    uint32_t event;
    bool of_scheduler;
    int64_t ready; /* how many threads are READY; -1: several schedulers share them */
};
/* Instead of such a number: a timer, by its place among its policy's, and by 2^16 times the number of its scheduler. */
#define SIMULATED_TIMEOUT (UINT32_C(1) << 31)

/* Why a policy is out. */
struct simulated_failure {
    bool failed;
    const char *event;                 /* the event that was raised */
    const struct catapults_stop *stop; /* what the handler stopped at; or NULL, and then: */
    const char *text;                  /* which rule it broke */
};

/* What the caller may read between two calls; all but the last it sets. */
struct simulated_state {
    int64_t now;                                          /* nanoseconds */
    uint32_t event_raised, suspend_thread, resume_thread; /* its numbers of these events */
    struct simulated_failure failure;
};

/* ---- Schedulers ------------------------------------------------------------------------------------------------- */

uint64_t simulated_size(void);
uint64_t simulated_instance_size(const struct catapults_policy *policy);

/*
 * The root begins. `record`, unless it is NULL, is called with `to` and each record; `policy` then says that it is
 * `unbounded`, whether it is or not. `root`: its values.
 */
void simulated_begin(struct simulated *of, const struct catapults_policy *policy, void *instance, uint64_t seed,
                     struct simulated_values root, void (*record)(void *to, const struct simulated_record *record),
                     void *to);

/* A scheduler comes under `parent`: NULL, the root. `number`: that of the thread that it is to its parent, with the
 * values `at_parent`; it has the values `own` itself. Schedulers are numbered in the order in which they come, the root
 * being 0. False: the parent refused it. */
uint64_t simulated_scheduler_size(const struct catapults_policy *parent);
bool simulated_add(struct simulated *of, struct simulated_scheduler *scheduler, struct simulated_scheduler *parent,
                   uint32_t number, const struct catapults_policy *policy, void *instance,
                   struct simulated_values at_parent, struct simulated_values own);

/* What the caller may read; the same for as long as the instance is in use. */
struct simulated_state *simulated_state(struct simulated *of);

/* The first instant of the policies' timers; INT64_MAX: none is armed. */
int64_t simulated_next_timeout(struct simulated *of);

/* Whether anything is READY. */
bool simulated_someone_waits(struct simulated *of);

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

uint64_t simulated_thread_size(const struct catapults_policy *policy);

/* A thread of this number comes under `scheduler`: NULL, the root. Returns what the policy refused it with; or NULL. */
const struct catapults_stop *simulated_create(struct simulated *of, struct simulated_thread *thread, uint32_t number,
                                              struct simulated_scheduler *scheduler, struct simulated_values values,
                                              uint32_t event);

/* The policy's part of a thread. */
struct catapults_thread *simulated_policy_part(struct simulated_thread *thread);

/* The numbers of the thread whose turn it is, and of the one that runs on it; 0: nobody. */
uint32_t simulated_turn(const struct simulated *of);
uint32_t simulated_current(const struct simulated *of);

/* Whether a policy has taken the processor from the turn, which has not given it up yet. */
bool simulated_has_lost(struct simulated *of);

/* The number of a thread that was suspended as soon as it ran again; each is returned once. 0: none. */
uint32_t simulated_take_suspended(struct simulated *of);

bool simulated_is_suspended(const struct simulated_thread *thread);
bool simulated_is_to_be_suspended(const struct simulated_thread *thread);

/* ---- What happens ----------------------------------------------------------------------------------------------- */

/* The running thread yields; `switch_out`: the number of that event. */
void simulated_yield(struct simulated *of, uint32_t switch_out);
/* The same, and asks that `thread` be next, by `set_next`. */
void simulated_yield_to(struct simulated *of, struct simulated_thread *thread, uint32_t set_next, uint32_t switch_out);

/* It blocks, for a reason by its place among the block events. */
void simulated_block(struct simulated *of, uint32_t reason, uint32_t event);
/* It ends. Its record may be used anew. */
void simulated_exit(struct simulated *of);

/* It waits for a lock, and lends its turns to the owner. */
void simulated_lend(struct simulated *of, struct simulated_thread *owner, uint32_t reason);
/* The thread lends to `owner` from now on; NULL: to nobody, so that it can go on. Its policy is told nothing. */
void simulated_redirect(struct simulated_thread *thread, struct simulated_thread *owner);
/* The chain of the turn may have another end, which then runs. */
void simulated_regain(struct simulated *of);

/* A thread's wait is over. Others may follow at once; then the third, by which the processor may be given up. Of a
 * thread that lends its turns, only the second is called. */
void simulated_unblock(struct simulated *of, struct simulated_thread *thread);
void simulated_unblock_lender(struct simulated *of, struct simulated_thread *thread);
void simulated_preempt(struct simulated *of);

void simulated_suspend(struct simulated *of, struct simulated_thread *thread);
void simulated_resume(struct simulated *of, struct simulated_thread *thread);

/* The policy is told that a job of the thread begins; that a variable of it has changed. */
void simulated_release(struct simulated *of, struct simulated_thread *thread, uint32_t event);
void simulated_change(struct simulated *of, struct simulated_thread *thread, uint32_t event);

/* The turn has lasted for a tick. */
void simulated_tick(struct simulated *of, uint32_t event);
/* Policies' timers expire. Whether some are left, because they are armed for now again and again. */
bool simulated_expire(struct simulated *of);

/* Nobody ran, and something has happened: schedulers that dispatched nothing are asked again. */
void simulated_wake_idle(struct simulated *of);

/* The decision: who runs, if nobody does. */
void simulated_decide(struct simulated *of);

#endif
