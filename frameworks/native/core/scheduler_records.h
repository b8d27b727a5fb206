/*
 * A scheduler that has several processors is several threads to its parent.
 */
#ifndef CATAPULTS_CORE_SCHEDULER_RECORDS_H
#define CATAPULTS_CORE_SCHEDULER_RECORDS_H

#include "core/state.h"

/* The number of READY threads under the scheduler has changed: as many of its records become READY, or no longer are.
 */
void core_adjust(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);

/* The first: at this level only; whether its parent heard of it. The second: of all schedulers. */
bool core_adjust_only(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);
void core_adjust_all(struct processor *here);

/* Whether a record that is no longer RUNNING is to be READY. */
bool core_is_wanted(struct processor *here, const struct dispatcher_thread *record);

/* A record that is READY, if there is one. */
struct dispatcher_thread *core_record_to_ask_for(struct processor *here, struct scheduler *scheduler);

/* The number of a record among those of its scheduler, from 0. */
uint16_t core_number_of(const struct dispatcher_thread *record);

/* How many records of the scheduler are RUNNING. */
int64_t core_running_under(struct processor *here, const struct scheduler *scheduler);

/* A RUNNING turn begins (1) or ceases (-1) to wait for a processor. */
void core_count_waiting(struct processor *here, struct dispatcher_thread *turn, int change);

/* As in dispatcher/dispatcher.h. */
void core_give_record(struct scheduler *scheduler, struct dispatcher_thread *record);
struct dispatcher_thread *core_next_record(const struct dispatcher_thread *record);

#endif
