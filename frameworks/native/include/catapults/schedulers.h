/*
 * Catapults: several schedulers at once, each with a policy of its own, above and below each other (CPU inheritance
 * scheduling, 1996; Bossa 2005, §3). Part of catapults.h.
 *
 * To its parent a scheduler is a thread: RUNNING while a thread below it runs, READY while one could, BLOCKED otherwise
 * (`block.scheduler`, or `suspend_thread` if it does not run). The root alone exists when the runtime starts with a
 * policy; $CATAPULTS_POLICY and catapults_options.policy may also name a hierarchy, which `catapults build` has made of
 * a NAME.hierarchy file.
 *
 * With several processors a scheduler is to its parent as many threads as it can use of them (1996, §4.3): the first
 * when it is added, others when more is ready below it than one processor can run. Each has the values that the
 * scheduler has there, and counts in the answers of the parent's policy; if that refuses one, the scheduler uses fewer.
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

/* By its name; NULL: there is none. The root of a hierarchy has the name that it has there, else "". */
catapults_scheduler_t catapults_scheduler_find(const char *name);
catapults_scheduler_t catapults_scheduler_root(void);
catapults_scheduler_t catapults_scheduler_self(void);                              /* that the caller is under */
catapults_scheduler_t catapults_scheduler_parent(catapults_scheduler_t scheduler); /* NULL: it is the root */
const char *catapults_scheduler_name(catapults_scheduler_t scheduler);
const char *catapults_scheduler_policy_name(catapults_scheduler_t scheduler); /* see catapults_policy_name */

/* How long all threads under it have had the processor: see catapults_account. Not of the root. */
int64_t catapults_scheduler_consumed(catapults_scheduler_t scheduler);

struct catapults_scheduler_attributes {
    const char *name;             /* unique; copied, cut at 31 bytes */
    catapults_scheduler_t parent; /* NULL: the root */
    const char *policy;           /* a shared object; NULL: the built-in FIFO */
    /* Values of variables that its policy imports, and of those that the parent's policy imports per thread. */
    const struct catapults_hierarchy_parameter *parameters; /* stay in use */
    uint32_t parameters_count;
};

/*
 * Adds a scheduler while the program runs, as Bossa does. Variables that the application has registered are linked with
 * the imports of its policy. EINVAL: the policy cannot be used or a parameter is not one (standard error says why),
 * EEXIST: there is one of that name, EAGAIN: the parent's policy refuses it (catapults_refusal says why), ENOTSUP: the
 * policy has nodes, which only the root can, ENOMEM, EPERM: there was no catapults_init. May run other threads.
 */
int catapults_scheduler_add(catapults_scheduler_t *scheduler, const struct catapults_scheduler_attributes *attributes);

/* Other values of variables that the parent's policy imports per thread, as catapults_set_values for threads: how many
 * tickets an application has, for example. The policy reads them at its next event about the scheduler. EINVAL: it is
 * the root, or as catapults_set_values says. */
struct catapults_value;
int catapults_scheduler_set_values(catapults_scheduler_t scheduler, const struct catapults_value *values, size_t count);

/*
 * Removes a scheduler that nothing is under, but for schedulers that were removed before it; EBUSY: something is, or is
 * about to be (catapults_scheduler_attach). EINVAL: it is the root, or the `default` of
 * the hierarchy, which new threads are under. Its name is free at once. It ends when its parent
 * dispatches it next (all that it is there), after those that were under it, which `exit` tells the parent's policy.
 * May run other threads.
 */
int catapults_scheduler_remove(catapults_scheduler_t scheduler);

/* Puts the caller under another scheduler: `newthread` there, `exit` at its own. EAGAIN: the policy there refuses it
 * (catapults_refusal says why), and it stays; ENOSPC: that policy has more attributes than the caller's record has room
 * for (it was created before the scheduler was added); ENOMEM. Runs other threads. */
int catapults_scheduler_attach(catapults_scheduler_t scheduler);

/*
 * Puts another policy in the place of that of a scheduler (NULL: the root), also of one that had to go. All that is
 * under the scheduler goes on: to the new policy, `newthread` is raised for each, and `suspend_thread` for what is
 * blocked or suspended, in the order of creation. What both policies keep of a thread under one name and type it finds
 * there, and may set anew in `newthread`; its own variables it starts with itself, because that is what was proved of
 * it. Values of a hierarchy, values that threads were given, and variables that the application has registered are
 * linked where it imports them. `policy`: a shared object; NULL: the built-in FIFO. EAGAIN: the new policy refuses a
 * thread (catapults_refusal says why), and the old one goes on, as if nothing had happened. EINVAL: it cannot be used
 * (standard error says why); ENOSPC: a thread's record has no room for its attributes; ENOMEM; ENOTSUP:
 * the new policy has nodes, and the scheduler is not the root; or it is, there are others, and the old or the new
 * policy has nodes. Runs other threads.
 */
int catapults_policy_replace(catapults_scheduler_t scheduler, const char *policy);

#ifdef __cplusplus
}
#endif
#endif
