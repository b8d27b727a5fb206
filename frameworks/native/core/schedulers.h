/*
 * Schedulers come and go, and threads go from one to another.
 */
#ifndef CATAPULTS_CORE_SCHEDULERS_H
#define CATAPULTS_CORE_SCHEDULERS_H

#include "core/state.h"

/* Moves the RUNNING thread to another scheduler. Returns what that refused it with, and then nothing has changed; or
 * NULL, and then the thread is READY there, and nothing is RUNNING. */
const struct catapults_stop *core_move(struct processor *here, struct dispatcher_thread *thread, struct scheduler *to,
                                       void *room);

/* A record of a scheduler that leaves was dispatched: the record ends, and the scheduler with its last record. */
void core_end(struct processor *here, struct dispatcher_thread *record);
/* After that: the parent leaves as well, if it was removed, and nothing is left under it. */
void core_left(struct processor *here, struct scheduler *parent);

/* Introduces one more record of the scheduler to its parent. It is READY then. Returns what the parent refused it with,
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
