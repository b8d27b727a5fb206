/*
 * What the files of this folder share about the process: how it was started, and its policy.
 */
#ifndef CATAPULTS_RUNTIME_H
#define CATAPULTS_RUNTIME_H

#include "catapults/hierarchy.h"
#include "contexts/here.h"
#include "threads/handle.h"

struct runtime {
    bool started;
    uint64_t forks;            /* how many of catapults_fork have led to this process */
    size_t stack_size;         /* of a thread, unless it asks for another */
    struct stack_pool *stacks; /* which has such with room for the record; NULL: there are none so large */
    /* Of struct catapults_handle, the policy's part (enough for every scheduler there is) and thread_local variables.
     */
    size_t record_size;
    size_t thread_locals_size; /* the last: see thread_locals.h; 0: they are the kernel thread's */
    int processors;            /* that it is to have now */
    bool several;              /* it began with more than one, and is no child of fork */
    bool strict_imports;
    bool traced;              /* what policies decide is recorded */
    bool activations;         /* threads are to leave the processor when they block in the kernel */
    int64_t handler_limit;    /* nanoseconds */
    int64_t starvation_limit; /* nanoseconds; 0: none */
};

extern struct runtime runtime;

/* As dispatcher_enter and dispatcher_leave, for calls that are allowed before catapults_init, when there is nobody
 * else.
 */
static inline void runtime_enter(void) {
    if (runtime.started)
        dispatcher_enter();
}
static inline void runtime_leave(void) {
    if (runtime.started)
        dispatcher_leave();
}

/* From now on every thread has room for what the policy keeps of it. */
void runtime_make_room(const struct catapults_policy *policy);

/* What of a record is for a policy's part. */
static inline uint32_t runtime_room(void) {
    return (uint32_t)(runtime.record_size - runtime.thread_locals_size -
                      offsetof(struct catapults_handle, dispatched.policy));
}

/* Those of which a thread can have one of `size` bytes beside its record; NULL: there are none so large. */
struct stack_pool *runtime_stacks(size_t size);

/* An environment variable; NULL also in a set-user-id program. */
const char *runtime_environment(const char *name);

/* Whether an environment variable is 1. Reports what is neither that nor 0 nor empty. */
bool runtime_switch(const char *name);

/* Writes "catapults: ..." and a newline to standard error. It is called on the stacks of threads, which may be small:
 * its buffer is not there, nor one of stdio. */
__attribute__((format(printf, 1, 2))) void runtime_report(const char *format, ...);

/* The policy in a shared object, or the hierarchy and the policy of its root; `hierarchy` NULL: that is refused. NULL
 * in *policy: none is asked for. Reports what is wrong; returns EINVAL or, unless `nodes` can be, ENOTSUP: the policy
 * has some. */
int policy_load(const char *file, bool nodes, const struct catapults_policy **policy,
                const struct catapults_hierarchy **hierarchy);
/* Before there are activations: from then on a kernel thread of its own loads policies. An error number, reported. */
int load_prepare_elsewhere(void);

/* Zeroed memory for an instance of it; NULL: there is none, which is reported. */
void *policy_instance(const struct catapults_policy *policy);

/* Links all per-thread imports that were registered with the thread's object. */
void imports_link(struct catapults_handle *thread);

/* The per-thread import `ceiling`, which the runtime itself keeps: whether the thread's policy has it; linking it
 * with that of the mutexes that the thread has, or with its default. */
bool imports_has_ceiling(const struct catapults_handle *thread);
void imports_link_ceiling(struct catapults_handle *thread);

/* The same of what it keeps of jobs: `release`; and its `period`, unless the policy has another of the thread, or
 * `anew` all the same. Whether the latter has changed. */
bool imports_link_job(struct catapults_handle *thread, bool anew);

/* Records who runs when, in a file. Returns 0 or an error number, having reported. */
int trace_open(const char *file, const char *policy);
void trace_name(struct dispatcher_thread *thread);

/* The SIGSEGV of a thread that has overflowed its stack says so. The second: on the calling kernel thread, too, where
 * the handler has `memory`, of at least OVERFLOW_STACK bytes, for a stack; NULL: it takes as many for good. */
enum { OVERFLOW_STACK = 16 << 10 };
void overflow_install(void);
void overflow_attach(void *memory, size_t size);

/* Sets host->arm, unless the program cannot be preempted; the calling kernel thread then can be. */
void preempt_start(const struct catapults_options *options, struct dispatcher_host *host);

/* The calling kernel thread can be interrupted, too. */
void preempt_attach(void);

/* In a child of fork: its kernel thread can be interrupted, too. */
void preempt_restart(void);

/* For signals that are caught for threads: the calling kernel thread can be interrupted, and where the application's
 * code is is known, whether or not threads are preempted. */
void preempt_for_signals(void);

/* Watches handlers that may run for ever, on all processors. Once is enough. */
void watch_start(void);

/* Sets host->sample, if accounting is to be statistical. */
void account_prepare(const struct catapults_options *options, struct dispatcher_host *host);

/* Whether threads leave the processor when they block in the kernel. */
bool activations_running(void);

/* Before the dispatcher is started, with the driver in place. Returns 0 or an error number, having reported. */
int activations_start(bool several);

/* Several processors: the guard in force, which is held from now on while one is entered, as it is on return; `first`
 * is that of the caller. */
void activations_guard(struct processor *first);

/* One more, which has been added. Returns 0 or an error number. */
int activations_carry(uint32_t number, struct processor *processor);

/* That of the calling kernel thread; NULL: it has none. For handlers of signals. */
struct processor *activations_processor(void);

/* For a processor that is idle, without the lock: whatever upcalls there are. */
void activations_let_come(void);

/* Has the thread that runs on another processor find out that its turn is over. */
void activations_interrupt(uint32_t number);

/* The thread leaves its handlers of signals: the code that they have interrupted does not go on, as far as `until`. */
struct stopped;
void activations_forget(struct catapults_handle *self, const struct stopped *until);

/* Sets host->arm: threads are preempted by time. */
void activations_preempt(struct dispatcher_host *host);

/* Around fork, which waits for the locks of libc's allocator. The first waits until threads that may have one have gone
 * on, and may run others. False: they have not, and fork would wait for ever. */
bool activations_before_fork(void);
void activations_after_fork(bool child);

/* How many processors are wanted; 0: that is none that can be, which is reported. */
int processors_wanted(const struct catapults_options *options);

/* EINVAL, which is reported: what does not go with several. */
int processors_refuse(void);

/* What they need of the world. */
void processors_prepare(struct dispatcher_host *host);

/* Once the first thread runs: the kernel threads of all but the first. Returns 0 or an error number, having reported.
 */
int processors_start(void);

/* The lock alone; false: somebody has it. The second waits for it, until `given_up` says so. */
bool processors_try_lock(void);
bool processors_lock_unless(bool (*given_up)(int argument), int argument);

/* In a child of fork: there is one. */
void processors_restart(void);

/* Calls it for each kernel thread that is a processor. Within dispatcher_enter; there are several. */
void processors_each(void (*function)(pid_t thread));

/* Has the kernel thread of a processor interrupted, so that it looks at what it runs. The processor that a thread runs
 * on; NULL: none. Both within dispatcher_enter. */
void processors_interrupt(const struct processor *processor);
const struct processor *processors_runner_of(const struct dispatcher_thread *thread);

/* Something has arrived that the processor of the caller may not be able to see to soon: one that is idle does, if
 * there is one, or another that runs something. From a handler of signals that interrupts whatever it likes. */
void processors_alert(void);

/* Whether another processor had this one interrupted for the dispatcher, and nothing was done about it yet. Only its
 * own handler asks. */
bool processors_called(bool still);

/* That it can be interrupted again; the same question. */
bool processors_answer(void);

/* For the dispatcher. */
void report_contained(const struct dispatcher_failure *failure);
void report_deadlock(void);

/* The caller is about to wait for `thread`, which waits, or others between them, for the caller. */
void report_cycle(const struct catapults_handle *thread);

#endif
