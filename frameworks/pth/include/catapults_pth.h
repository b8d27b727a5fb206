/*
 * What an application for GNU Pth tells its policy, beside <pth.h>. Link libcatapults_pth before libpth.
 *
 * As in Pth, calls return TRUE, or FALSE with errno. Without a policy they do nothing, and succeed.
 */
#ifndef CATAPULTS_PTH_H
#define CATAPULTS_PTH_H

#include <pth.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catapults/policy.h" /* catapults_int, catapults_time */

#ifdef __cplusplus
extern "C" {
#endif

/* Links a variable of the application with the variable of that name in the policy's `imports` (2005, §5.2), before
 * pth_init or after it. It must outlive the policy. Each side sees the changes of the other. ENOENT: the policy has
 * none of that name, which ends the program if PTH_SCHED_STRICT is 1. EINVAL: it has another type. */
int pth_schedvar_register(const char *name, catapults_int *variable);
int pth_schedvar_register_bool(const char *name, bool *variable);
int pth_schedvar_register_time(const char *name, catapults_time *nanoseconds);
int pth_schedvar_register_float(const char *name, double *variable);

/* Links the member at this offset of each thread's object with the variable of that name in the `threadimports`, for
 * threads with an object, now and later. A thread without one has the default. */
int pth_threadvar_register(const char *name, size_t offset);
int pth_threadvar_register_bool(const char *name, size_t offset);
int pth_threadvar_register_time(const char *name, size_t offset);
int pth_threadvar_register_float(const char *name, size_t offset);

/* Tells the policy, by its event `changed`, that the application has changed a variable of the thread: nobody else sees
 * changes to members of an object. Registering a member, naming an object, and pth_attr_set of PTH_ATTR_PRIO tell it by
 * themselves. A policy finds PTH_ATTR_PRIO in its `int priority`, unless a member is registered for that. The policy
 * may give the processor to another thread before the call returns. ESRCH: there is no such thread, or it has ended. */
int pth_sched_changed(pth_t thread);

/* Names a thread's object; NULL: it has none. ESRCH: there is no such thread. */
int pth_threadvar_object(pth_t thread, void *object);
/* pth_spawn of a thread that has its object from the start. */
pth_t pth_spawn_object(pth_attr_t attributes, void *(*start)(void *), void *argument, void *object);

/* The `fail` by which the policy last refused a pth_spawn; NULL: it never did. */
const char *pth_sched_refusal(void);

/* The name of the policy that decides now; NULL: Pth's own scheduler does. */
const char *pth_sched_name(void);

/* What the policy answers; -1 (false) while Pth's own scheduler decides. */
int64_t pth_sched_threads_ready(void), pth_sched_threads_suspended(void), pth_sched_threads_total(void);
bool pth_sched_is_ready(pth_t thread);

#ifdef __cplusplus
}
#endif
#endif
