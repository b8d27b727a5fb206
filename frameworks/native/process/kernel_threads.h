/*
 * Kernel threads as processors, which share one lock.
 */
#ifndef CATAPULTS_PROCESS_KERNEL_THREADS_H
#define CATAPULTS_PROCESS_KERNEL_THREADS_H

#include "process/member.h"

/* How many processors are wanted; 0: a number that cannot be, which is reported. */
int processors_wanted(const struct catapults_options *options);

/* EINVAL, which is reported: something does not go with several. */
int processors_refuse(void);

/* What they need of the world. */
void processors_prepare(struct dispatcher_host *host);

/* Once the first thread runs: starts the kernel threads of all but the first. Returns 0 or an error number, having
 * reported. */
int processors_start(void);

/* The lock alone. False: it is taken. The second waits for it, until `given_up` says so. */
bool processors_try_lock(void);
bool processors_lock_unless(bool (*given_up)(int argument), int argument);

/* In a child of fork: there is one processor. */
void processors_restart(void);

/* Calls it for each kernel thread that is a processor. Within dispatcher_enter; there are several. */
void processors_each(void (*function)(pid_t thread));

/* The first has a processor's kernel thread interrupted, to look at what it runs. The second: the processor that a
 * thread runs on; NULL: none. Both within dispatcher_enter. */
void processors_interrupt(const struct processor *processor);
const struct processor *processors_runner_of(const struct dispatcher_thread *thread);

/* The same as the first, from any kernel thread, without dispatcher_enter; if the processor sleeps, it looks what there
 * is. Once too often does no harm. */
void processors_rouse(const struct processor *processor);

/* Something has arrived that the caller's processor may not attend to soon: an idle one does, if there is one, or
 * another that runs something. For handlers of signals that may have interrupted anything. */
void processors_alert(void);

/* Whether another processor had this one interrupted for the dispatcher, and nothing was done about it yet. Only its
 * own handler asks. `still`: the answer from now on. */
bool processors_called(bool still);

/* It can be interrupted again. The same question. */
bool processors_answer(void);

#endif
