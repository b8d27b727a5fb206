/*
 * Kernel threads as processors, which share one lock.
 */
#ifndef CATAPULTS_PROCESS_KERNEL_THREADS_H
#define CATAPULTS_PROCESS_KERNEL_THREADS_H

#include "process/handle.h"

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

#endif
