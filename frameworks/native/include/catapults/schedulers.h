/*
 * Catapults: several schedulers at once in a tree, each with its own policy (CPU inheritance scheduling, 1996; Bossa
 * 2005, §3). Part of catapults.h.
 *
 * To its parent a scheduler is a thread: RUNNING while a thread below it runs, READY while one could, BLOCKED otherwise
 * (`block.scheduler`, or `suspend_thread` if it does not run). When the runtime starts with a policy, only the root
 * exists. $CATAPULTS_POLICY and catapults_options.policy may also name a hierarchy, which `catapults build` makes from
 * a NAME.hierarchy file.
 *
 * With several processors a scheduler is as many threads to its parent as it can use (1996, §4.3): the first when it is
 * added, others when more is ready below it than one processor can run. Each has the scheduler's values there, and
 * counts in the answers of the parent's policy. If that refuses one, the scheduler uses fewer processors.
 */
#ifndef CATAPULTS_SCHEDULERS_H
#define CATAPULTS_SCHEDULERS_H

#include <stddef.h>
#include <stdint.h>

#include "catapults/hierarchy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Valid until it is removed. */
typedef struct catapults_scheduler *catapults_scheduler_t;

/* Finds one by its name; NULL: there is none. The root of a hierarchy has the name that it has there, else "". */
catapults_scheduler_t catapults_scheduler_find(const char *name);
catapults_scheduler_t catapults_scheduler_root(void);
catapults_scheduler_t catapults_scheduler_self(void);                              /* the caller's */
catapults_scheduler_t catapults_scheduler_parent(catapults_scheduler_t scheduler); /* NULL: it is the root */
const char *catapults_scheduler_name(catapults_scheduler_t scheduler);
const char *catapults_scheduler_policy_name(catapults_scheduler_t scheduler); /* see catapults_policy_name */

/* How long all threads under it have had the processor: see catapults_account. Not for the root. */
int64_t catapults_scheduler_consumed(catapults_scheduler_t scheduler);

struct catapults_scheduler_attributes {
    const char *name;             /* unique; copied, cut at 31 bytes */
    catapults_scheduler_t parent; /* NULL: the root */
    const char *policy;           /* a shared object; NULL: the built-in FIFO */
    /* Values of variables that its policy imports, and of those that the parent's policy imports per thread. */
    const struct catapults_hierarchy_parameter *parameters; /* must stay valid */
    uint32_t parameters_count;
};

/*
 * Adds a scheduler while the program runs, as Bossa does. Variables that the application has registered are linked with
 * its policy's imports. EINVAL: the policy cannot be used or a parameter is not one (standard error says why). EEXIST:
 * there is one of that name. EAGAIN: the parent's policy refuses it (catapults_refusal says why). ENOTSUP: the policy
 * has nodes, which only the root can. ENOMEM. EPERM: there was no catapults_init. May run other threads.
 */
int catapults_scheduler_add(catapults_scheduler_t *scheduler, const struct catapults_scheduler_attributes *attributes);

/* Sets other values of variables that the parent's policy imports per thread, for example an application's number of
 * tickets: as catapults_set_values for threads. The policy reads them at its next event about the scheduler. EINVAL: it
 * is the root, or as catapults_set_values says. */
struct catapults_value;
int catapults_scheduler_set_values(catapults_scheduler_t scheduler, const struct catapults_value *values, size_t count);

/*
 * Removes a scheduler that has nothing under it, except schedulers that were removed before. EBUSY: something is under
 * it, or is about to be (catapults_scheduler_attach). EINVAL: it is the root, or the `default` of the hierarchy, which
 * new threads are under. Its name is free at once. It ends when its parent next dispatches it (each thread that it is
 * there), after the schedulers that were under it; the parent's policy is told `exit`. May run other threads.
 */
int catapults_scheduler_remove(catapults_scheduler_t scheduler);

/* Puts the caller under another scheduler: `newthread` there, `exit` at its own. EAGAIN: the policy there refuses the
 * caller, which stays (catapults_refusal says why). ENOSPC: that policy has more attributes than the caller's record
 * has room for, because the caller was created before the scheduler was added. ENOMEM. Runs other threads. */
int catapults_scheduler_attach(catapults_scheduler_t scheduler);

/*
 * Replaces the policy of a scheduler (NULL: the root), also after its policy is out. All that is under the scheduler
 * goes on. The new policy is told `newthread` of each, and `suspend_thread` of what is blocked or suspended, in the
 * order of creation. An attribute that both policies have, with one name and type, keeps its value, and `newthread` may
 * set it anew. The policy initializes its own variables, because only that was proved of it. Values of a hierarchy,
 * values that threads were given, and variables that the application has registered are linked where it imports them.
 * `policy`: a shared object; NULL: the built-in FIFO. EAGAIN: the new policy refuses a thread (catapults_refusal says
 * why), and the old one goes on as if nothing had happened. EINVAL: it cannot be used (standard error says why).
 * ENOSPC: a thread's record has no room for its attributes. ENOMEM. ENOTSUP: the new policy has nodes, and the
 * scheduler is not the root; or it is, there are others, and the old or the new policy has nodes. Runs other threads.
 */
int catapults_policy_replace(catapults_scheduler_t scheduler, const char *policy);

#ifdef __cplusplus
}
#endif
#endif
