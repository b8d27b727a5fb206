/*
 * Schedulers come and go, and threads go from one to another.
 */
#ifndef CATAPULTS_CORE_SCHEDULERS_H
#define CATAPULTS_CORE_SCHEDULERS_H

#include "core/state.h"

/* The thread, which is RUNNING, goes over to another scheduler. Returns what it was refused with, and then nothing has
 * changed; or NULL, and then it is READY there, and nothing is RUNNING. */
const struct catapults_stop *core_move(struct processor *here, struct dispatcher_thread *thread, struct scheduler *to,
                                       void *room);

/* A record of a scheduler that is leaving was dispatched: that was the last of it. */
void core_end(struct processor *here, struct dispatcher_thread *record);
/* After that: its parent leaves, too, if it was removed and that was the last that was under it. */
void core_left(struct processor *here, struct scheduler *parent);

/* The parent of the scheduler is told of one more of its records, which is READY then. Returns what it is refused with,
 * and then there is no such record; or NULL. */
const struct catapults_stop *core_introduce(struct processor *here, struct scheduler *scheduler,
                                            struct dispatcher_thread *record, const struct dispatcher_thread *runs);

/* As in dispatcher/dispatcher.h. */
const struct catapults_stop *core_add(struct processor *here, struct scheduler *scheduler, struct scheduler *parent,
                                      const char *text, const struct catapults_policy *policy, void *instance);
struct scheduler *core_next_scheduler(const struct scheduler *scheduler);
int core_remove(struct processor *here, struct scheduler *scheduler);
unsigned long core_scheduler_size(const struct scheduler *parent);
struct scheduler *core_take_removed(struct processor *here);
unsigned long core_thread_size(const struct catapults_policy *policy);

#endif
