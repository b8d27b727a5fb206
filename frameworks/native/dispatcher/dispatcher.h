/*
 * The dispatcher raises events, and runs what the policy dispatched. It has no policy of its own but the built-in FIFO,
 * which takes over from a policy that is out. It calls no libc function, allocates nothing, and touches no vector
 * register.
 *
 * Everything here is called on a virtual processor, by the thread that runs there or by the driver's `poll`, and
 * between dispatcher_enter and dispatcher_leave unless it says otherwise.
 *
 * Some calls that raise an event may run other threads before they return: those that say so, and all those after which
 * the policy can have taken the processor from the caller (dispatcher_create, dispatcher_unblock, dispatcher_unblocked,
 * dispatcher_resume).
 */
#ifndef CATAPULTS_DISPATCHER_H
#define CATAPULTS_DISPATCHER_H

#include "contexts/tools.h"
#include "core/core.h"

/* Goes around all that touches what threads share, here and in the layers above; does not nest. What is held goes with
 * the processor: a thread that gets the processor back within a call holds it as when it gave the processor up, and a
 * new thread holds it until dispatcher_begin. With one processor that is never interrupted there is nothing to do. */
struct dispatcher_guard {
    bool guarded; /* there is something to do: */
    bool regains; /* the same of member_regain (process/member.h) */
    bool several; /* processors: what is used outside of this needs atomic instructions */
    void (*enter)(void), (*leave)(void);
    void (*regain)(void);
};
extern struct dispatcher_guard dispatcher_guard;

/* Sets the functions; NULL: none any more. */
void dispatcher_set_guard(void (*enter)(void), void (*leave)(void), bool several);

static inline void dispatcher_enter(void) {
    if (__builtin_expect(dispatcher_guard.guarded, 0))
        dispatcher_guard.enter();
}
static inline void dispatcher_leave(void) {
    if (__builtin_expect(dispatcher_guard.guarded, 0))
        dispatcher_guard.leave();
}

/* The processor goes on on another kernel thread, which has these variables (see dispatcher_host). */
struct dispatcher_exceptions;
void dispatcher_carry(int *error_number, struct dispatcher_exceptions *exceptions);

/* The caller's kernel thread carries this processor from now on. */
struct processor;
void dispatcher_carry_on(struct processor *processor, int *error_number, struct dispatcher_exceptions *exceptions);

/* ---- For those who wait for something outside: io ---------------------------------------------------------------- */

/* Returns the driver before. */
const struct dispatcher_driver *dispatcher_set_driver(const struct dispatcher_driver *driver);

/* The caller. Needs member_regain, but no dispatcher_enter. */
struct dispatcher_thread *dispatcher_self(void);

/* Blocks the running thread until dispatcher_unblock. Returns 0, or ETIMEDOUT if the instant came first; the caller
 * must then make sure that nobody unblocks it later. DISPATCHER_FOREVER: no timer. */
int dispatcher_block(enum dispatcher_reason reason, int64_t instant);

/* What the thread waits for has happened: raises event_raised. Once for each dispatcher_block; never for a running
 * thread. */
void dispatcher_unblock(struct dispatcher_thread *thread);

/* The same for several threads, none of which runs before all are unblocked: call the first for each, then the
 * second. */
void dispatcher_unblock_only(struct dispatcher_thread *thread);
void dispatcher_unblocked(void);

/* For several processors: the same without switching. If the running thread has lost the processor, it finds out when
 * it next enters. */
void dispatcher_unblocked_for_later(void);

/* ---- For those who wait for a thread: donation (CPU inheritance scheduling, 1996, §3.4) -------------------------- */

/*
 * Waits like dispatcher_block, for something that another thread is to do. *to names that thread: its record, as the
 * host knows it, except for the lowest bit. 0, or the caller itself: it need not wait any longer.
 *
 * If the caller `lends`, its policy is told nothing. On its turns, from this one on, runs the thread that it waits for;
 * if that waits for another thread, the end of the chain runs, which must not be the caller. The caller is blocked only
 * while that end cannot run (1996, §3.4 and §3.5). This may return before *to has changed: look, and wait again. `to`
 * must stay valid until then.
 *
 * If *to named the caller, a caller that changes it calls dispatcher_released afterwards. Otherwise it calls
 * dispatcher_redirected for the threads that wait by it.
 */
int dispatcher_wait_for(const uintptr_t *to, bool lends, enum dispatcher_reason reason, int64_t instant);

/* The caller has ended the wait of `thread`, on whose turn it runs, and which is_lending_only. `thread` goes on.
 * Returns 0 when the caller goes on. */
int dispatcher_give_back(struct dispatcher_thread *thread);

/* The caller may have ended the wait of the thread on whose turn it runs. May run other threads. */
void dispatcher_released(void);

/* The caller is about to write a word that named `thread`, which is another thread. As dispatcher_unblock_only. */
void dispatcher_renamed(struct dispatcher_thread *thread);

/* The thread, which is in dispatcher_wait_for, waits and lends by *to from now on, which names a thread. As
 * dispatcher_unblock_only. */
void dispatcher_redirected(struct dispatcher_thread *thread, const uintptr_t *to);

enum dispatcher_cycle dispatcher_cycle(const uintptr_t *to);

/* The thread that `thread` waits for; NULL: not known. */
struct dispatcher_thread *dispatcher_waited_for(const struct dispatcher_thread *thread);

/* ---- For those who make threads ---------------------------------------------------------------------------------- */

/*
 * Starts with `first`, the caller, as the only thread. `policy` NULL: the one that is compiled in, else the built-in
 * FIFO. `instance`: zeroed memory of dispatcher_instance_size bytes, aligned to 16; not used for NULL. Each
 * dispatcher_thread that is given here or to dispatcher_create is in memory that has room for
 * dispatcher_thread_size(policy) bytes in all. All that is passed stays in use for good. Returns what the policy
 * refused the first thread with, or NULL.
 */
const struct catapults_stop *dispatcher_start(const struct dispatcher_host *host, const struct catapults_policy *policy,
                                              void *instance, struct dispatcher_thread *first);
unsigned long dispatcher_thread_size(const struct catapults_policy *policy);

/* Bytes of an instance; `several`: for several processors. */
unsigned long dispatcher_instance_size(const struct catapults_policy *policy, bool several);

/* The same in two steps, so that schedulers can be added in between: first the root; then the first thread, under any
 * of them. */
void dispatcher_prepare(const struct dispatcher_host *host, const struct catapults_policy *policy, void *instance);
const struct catapults_stop *dispatcher_start_under(struct scheduler *scheduler, struct dispatcher_thread *first);

/* Raises newthread at `scheduler` for a thread that will call entry(argument) on `stack` below `top` (aligned to 16).
 * Its record is clear (thread_record.h). Returns what the policy refused it with, and then there is no such thread; or
 * NULL. `entry` first calls dispatcher_begin, which leaves, and last dispatcher_exit. */
const struct catapults_stop *dispatcher_create(struct scheduler *scheduler, struct dispatcher_thread *thread,
                                               struct stack *stack, void *top, void (*entry)(void *), void *argument);
static inline void dispatcher_begin(void) {
    tools_begin();
    dispatcher_leave();
}

/* Called before dispatcher_exit, which needs a thread that runs on a turn of its own. May run other threads. */
void dispatcher_own_turn(void);

/* Ends the running thread, then unblocks `heir`, if there is one. When the heir runs, the record and the stack of the
 * thread are no longer in use. Without an heir they may be given back before the call, and used anew once another
 * thread runs. Does not return. It is not declared so, because the compiler then jumps instead of calling, and the
 * processor foresees the returns of the thread that goes on (see x86_64.S). */
void dispatcher_exit(struct dispatcher_thread *heir);

/* Enters and leaves by itself, because what comes after a switch costs time. */
void dispatcher_yield(void);

/* Asks the policy to make `thread` next, and yields. EAGAIN: it cannot be next; the call yields all the same. */
int dispatcher_yield_to(struct dispatcher_thread *thread);

/* The first raises `release` of a thread that runs or is about to be unblocked; the second `changed` of a thread or of
 * a scheduler's record. dispatcher_unblocked must follow when all has been said. */
void dispatcher_tell_released(struct dispatcher_thread *thread);
void dispatcher_tell_changed(struct dispatcher_thread *member);

/* A blocked thread is suspended once what it waits for has happened. */
void dispatcher_suspend(struct dispatcher_thread *thread);

/* EINVAL: it is not suspended. */
int dispatcher_resume(struct dispatcher_thread *thread);

/* In a child of fork: the running thread is the only one from now on, and all schedulers begin anew. Returns what a
 * policy refused the thread or a scheduler with, and then nothing can go on; or NULL. */
const struct catapults_stop *dispatcher_restart(void);

/* ---- For those who make schedulers ------------------------------------------------------------------------------- */

/* The root; the next scheduler, each after its parent; the bytes of a scheduler under `parent`, aligned to 16. */
struct scheduler *dispatcher_root(void);
struct scheduler *dispatcher_next_scheduler(const struct scheduler *scheduler);
unsigned long dispatcher_scheduler_size(const struct scheduler *parent);

/* Puts a new scheduler under `parent`: raises newthread there, then suspend_thread until it has something to run.
 * `name` and `instance` (zeroed, aligned to 16) stay in use. Returns what the parent's policy refused it with, and then
 * there is no such scheduler; or NULL. May run other threads. */
const struct catapults_stop *dispatcher_add(struct scheduler *scheduler, struct scheduler *parent, const char *name,
                                            const struct catapults_policy *policy, void *instance);

/* For several processors: gives the scheduler one more record, so that it can use one more of them at a time. The
 * record is clear, has as much room as the scheduler's own, and is in use until the scheduler has ended. */
void dispatcher_give_record(struct scheduler *scheduler, struct dispatcher_thread *record);

/* The record of a scheduler after this one, beginning with its own; NULL: no more. */
struct dispatcher_thread *dispatcher_next_record(const struct dispatcher_thread *record);

/* The scheduler ends when its parent next dispatches it. EBUSY: threads or schedulers are under it, or about to be.
 * EINVAL: it is the root, or ends already. May run other threads. */
int dispatcher_remove(struct scheduler *scheduler);

/* Puts the caller under `scheduler`: newthread there, exit where it was. `room`: as many bytes as its record has for
 * attributes, at least those of the policy there; not used afterwards. Returns what the caller was refused with, and
 * then it stays where it was; or NULL, when it runs there. Runs other threads. */
const struct catapults_stop *dispatcher_attach(struct scheduler *scheduler, void *room);

/*
 * Replaces the policy of `scheduler`. Raises newthread for all that is under it, and suspend_thread for what cannot
 * run; attributes that both policies have keep their values. `parts`: as many bytes as dispatcher_has_room says, for
 * what the old policy keeps; not used afterwards. False: some record has no room for the attributes of the new policy.
 * Returns what the new policy stopped at, and then nothing has changed; or NULL, and then the old instance is no longer
 * used. The caller must call dispatcher_unblocked next: what was RUNNING under the scheduler has given the processor
 * up. If one of the policies has nodes, the scheduler must be the root, and the only one. `nodes`, if the new one has:
 * memory for each processor as in dispatcher_add_processor, by their numbers, except 0.
 */
bool dispatcher_has_room(const struct scheduler *scheduler, const struct catapults_policy *policy,
                         unsigned long *parts);
const struct catapults_stop *dispatcher_replace(struct scheduler *scheduler, const struct catapults_policy *policy,
                                                void *instance, void *const *nodes, void *parts);

/* The memory of a processor's node; NULL: it has none, or is the first, whose node is in the instance. */
void *dispatcher_node_of(const struct processor *processor);

/* A scheduler that has ended, so that its memory can be given back; each is returned once. NULL: none. */
struct scheduler *dispatcher_take_removed(void);

/* ---- Several processors: after dispatcher_start, with host->lock ------------------------------------------------- */

/* From now on the caller's processor, the first, can be idle in a context of its own, on `stack` below `top`, and
 * dispatcher_enter locks. */
void dispatcher_several(struct stack *stack, void *top);

/* Adds a processor. Its kernel thread calls dispatcher_process, which does not return. `node`: zeroed memory of
 * dispatcher_node_size bytes, aligned to 16, if the policy in force at the root has nodes, else NULL; 0: it has none.
 * May run other threads. */
void dispatcher_add_processor(struct processor *processor, void *host, void *node);

/* Adds a kernel thread that can have the number of a processor, but no processor. */
void dispatcher_add_spare(struct processor *processor, void *host);

/* How many processors take turns: the first of dispatcher_processors(). The others are parked, or spare. */
uint32_t dispatcher_active(void);

/* How many numbers there are that processors have, or had. */
uint32_t dispatcher_known(void);
unsigned long dispatcher_node_size(const struct catapults_policy *policy);
__attribute__((noreturn)) void dispatcher_process(struct processor *processor, int *error_number,
                                                  struct dispatcher_exceptions *exceptions);

/* What dispatcher_enter does when it has the lock. May run other threads. */
void dispatcher_entered(void);

/* How many processors there are, and each of them; and sets how many of the first ones take turns. The last may run
 * other threads. */
uint32_t dispatcher_processors(void);
const struct processor *dispatcher_processor_at(uint32_t number);
void dispatcher_set_processors(uint32_t count);

/* The thread runs only on the processors with these numbers, 0 to 63; 0: on all. It may stand on another until its next
 * decision. EINVAL: there is none of them. */
int dispatcher_bind(struct dispatcher_thread *thread, uint64_t processors);
bool dispatcher_can_bind(uint64_t processors);

/* Whether another processor runs on its stack. */
bool dispatcher_is_elsewhere(const struct dispatcher_thread *thread);

/* What the host keeps of the processor, for host->wake and host->interrupt. */
void *dispatcher_processor_host(const struct processor *processor);

/* ---- Preemption by time ------------------------------------------------------------------------------------------ */

/*
 * The processor has been interrupted, as host->arm asked for, or for any other reason. `may_leave`: the code of the
 * interrupted thread can be left where it stands. Then what is due is done (the policy's timers, `tick`, what has
 * happened outside), and other threads may run before this returns. True: nothing was done, because the code must be
 * finished first: interrupt it again shortly. Called without dispatcher_enter, in a signal handler.
 */
bool dispatcher_interrupted(bool may_leave);

/* The same for a host that is within dispatcher_enter and in no handler: it has stopped what runs. */
bool dispatcher_interrupted_within(void);

/* Between these two, which nest, the caller is not preempted by time. Need no dispatcher_enter. */
void dispatcher_hold(void);
void dispatcher_release(void);

/* host->signalled is called soon: at the next decision, or at once if there is nothing to run. For signal handlers that
 * may have interrupted anything. */
void dispatcher_signalled(void);

/* Whether that can happen while nothing else is under way: if so, it is no deadlock when all threads wait. */
void dispatcher_expect_signals(bool expected);

/* The caller's code was interrupted where it depends on its kernel thread. It goes on only here, until the second is
 * called with what the first has returned. Need no dispatcher_enter. */
struct processor *dispatcher_keep_here(void);
void dispatcher_keep_as(struct processor *before);

/* Has one of several processors that may be idle look what there is: see host->signalled. For signal handlers that may
 * have interrupted anything; once too often does no harm. */
void dispatcher_alert(struct processor *processor);

/* ---- Accounting by samples --------------------------------------------------------------------------------------- */

/* `here`, the caller's processor, has run for so many ticks more: see host->sample. For signal handlers that may have
 * interrupted anything. */
struct processor;
void dispatcher_sampled(struct processor *here, uint32_t ticks);

/* ---- Handlers that do not end ------------------------------------------------------------------------------------ */

/* For a signal that comes to the kernel thread each time it has run for as long as a handler may run. The first returns
 * whether one call of a handler has lasted since the last signal. If so, the interrupted code must go on with
 * dispatcher_leave_handler (on its own stack, as if it had called it), which does not return; the policy is then
 * out. */
bool dispatcher_overruns(void);
void dispatcher_leave_handler(void);

/* ---- For those who look ------------------------------------------------------------------------------------------ */

/* The policy in force at the root, be it compiled in or the built-in FIFO. */
const struct catapults_policy *dispatcher_policy(void);

/* The policy that is compiled in, or NULL. */
const struct catapults_policy *dispatcher_compiled_in(void);

/* From now on reads the clock at each event, or takes samples, whatever the policies ask. The second returns for how
 * long a thread, or a scheduler's record, has been RUNNING since then, in nanoseconds. If another thread runs on a
 * turn, the turn's owner is charged. */
void dispatcher_account(void);
int64_t dispatcher_consumed_by(const struct dispatcher_thread *member);

/* The same as the first while somebody looks on. The second: whether it is counted at all. */
void dispatcher_watch_consumed(bool watched);
bool dispatcher_counts_consumed(void);

/* How many decisions there were, about. */
uint64_t dispatcher_decided(void);

/* All threads that have not ended, in order of their numbers. */
struct dispatcher_thread *dispatcher_first_thread(void);
struct dispatcher_thread *dispatcher_next_thread(const struct dispatcher_thread *thread);

/* What the caller's policy answers. */
int64_t dispatcher_threads_ready(void), dispatcher_threads_suspended(void), dispatcher_threads_total(void);

#endif
