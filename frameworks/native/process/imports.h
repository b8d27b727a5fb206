/*
 * The variables of the application that policies import.
 */
#ifndef CATAPULTS_PROCESS_IMPORTS_H
#define CATAPULTS_PROCESS_IMPORTS_H

#include "process/scheduler_handle.h"

/* ---- Of a thread ------------------------------------------------------------------------------------------------- */

/* Links all per-thread imports that were registered with the thread's object. */
void imports_link(struct member *thread);

/* The per-thread import `ceiling`, which the runtime itself keeps. The first: whether the thread's policy has it. The
 * second links it with the ceiling of the mutexes that the thread has, or with its default. */
bool imports_has_ceiling(const struct member *thread);
void imports_link_ceiling(struct member *thread);

/* The same for what it keeps of jobs: `release`; `period`, unless the policy has another for the thread (`anew`: even
 * then); and `deadline`, which is the period where the application says nothing. Returns whether one of these two has
 * changed. */
bool imports_link_job(struct member *thread, bool anew);

/* The policy of the thread reads these values, which have been checked, in place of its defaults. Returns whether one
 * has changed. */
bool imports_set_values(struct member *thread, const struct catapults_value *values, size_t count);

/* ---- Of a policy ------------------------------------------------------------------------------------------------- */

/* NULL: it has no such import. */
const struct catapults_import *imports_find(const struct catapults_policy *policy, bool per_thread, const char *name);

/* Whether the runtime itself keeps it. */
bool imports_is_kept(const struct catapults_import *import, bool per_thread);

/* Where the scheduler's policy has its own imports. */
char *imports_of(const struct scheduler *scheduler);

/* ---- Of a scheduler ---------------------------------------------------------------------------------------------- */

/* EINVAL: not all its parameters are imports of the type that the policies say, which is reported. */
int imports_check_parameters(const struct catapults_scheduler *scheduler);

/* Called before it is started: finds out what it imports. EINVAL: a variable that was registered is not of the type
 * that the policy says, which is reported. ENOMEM. */
int imports_prepare(struct catapults_scheduler *scheduler);
void imports_release(struct catapults_scheduler *scheduler);

/* Its policy has been started; the parent's policy has adopted one of its records. */
void imports_started(struct catapults_scheduler *scheduler);
void imports_adopted(struct dispatcher_thread *record);

/* The values that the policy has in place of the defaults of its per-thread imports, for a thread or a scheduler under
 * it; to be freed. NULL: it imports none, or there is no memory. */
struct catapults_value *imports_values(const struct dispatcher_thread *member, size_t *count);

/* Whether the values can be those of a thread under it. EINVAL, which is reported. */
int imports_check_values(const struct catapults_scheduler *scheduler, const struct catapults_value *values,
                         size_t count);

#endif
