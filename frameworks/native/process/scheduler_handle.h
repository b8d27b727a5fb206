/*
 * What the runtime keeps of a scheduler, beside what the dispatcher keeps: its name, and which variables of the
 * application its policy reads.
 */
#ifndef CATAPULTS_PROCESS_SCHEDULER_HANDLE_H
#define CATAPULTS_PROCESS_SCHEDULER_HANDLE_H

#include "catapults.h"
#include "core/scheduler.h"
#include "process/member.h"

struct linked;
struct extra_record;

struct catapults_scheduler {
    struct scheduler *dispatched;
    void *instance;                         /* of its policy; NULL: not allocated here */
    const struct catapults_policy *policy;  /* that it was given; another one is in force once that is out */
    struct extra_record *records;           /* beside the one in `dispatched` */
    struct linked *linked;                  /* which members of its threads' objects the policy imports */
    const struct catapults_import *ceiling; /* the per-thread import of that name, or NULL */
    const struct catapults_import *release, *period, *deadline; /* the same */
    const struct catapults_hierarchy_parameter *parameters;
    uint32_t parameters_count;
    struct catapults_value *kept; /* while a child of fork begins anew: its values at its parent */
    size_t kept_count;
    char name[CATAPULTS_NAME_SIZE];
};

/* The root's; and that of the scheduler for threads that name none. */
extern struct catapults_scheduler scheduler_root;
extern struct catapults_scheduler *scheduler_default;

static inline struct catapults_scheduler *scheduler_handle(const struct scheduler *scheduler) {
    return scheduler ? scheduler->host : NULL;
}

/* Bytes that a thread under it needs, from the start of struct member. */
size_t scheduler_member_size(const struct catapults_policy *policy);

/* Adds all of a hierarchy but its root. Returns 0 or an error number, having reported. */
int schedulers_add(const struct catapults_hierarchy *hierarchy);

/* As catapults_policy_replace of the root, with a policy that stays in memory. Within dispatcher_enter; if it returns
 * 0, dispatcher_unblocked follows. */
int scheduler_replace_root(const struct catapults_policy *policy, struct refusal *refusal);

/* There is one more processor: each scheduler can be more threads to its parent. */
void schedulers_widen(void);

#endif
