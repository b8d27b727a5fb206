/*
 * A scheduler that has several processors is several threads to its parent.
 */
#ifndef CATAPULTS_CORE_SCHEDULER_RECORDS_H
#define CATAPULTS_CORE_SCHEDULER_RECORDS_H

#include "core/state.h"

/* Something has become READY under the scheduler, or is so no more. */
void core_adjust(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);

/* The same at this level only; whether its parent was told anything. And of all schedulers. */
bool core_adjust_only(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);
void core_adjust_all(struct processor *here);

/* Whether the record, which is RUNNING no more, is to be READY. */
bool core_is_wanted(struct processor *here, const struct dispatcher_thread *record);

/* One that is READY, if there is one. */
struct dispatcher_thread *core_record_to_ask_for(struct processor *here, struct scheduler *scheduler);

/* Which of its scheduler's records it is. */
uint16_t core_number_of(const struct dispatcher_thread *record);

/* How many of its records are RUNNING. */
int64_t core_running_under(struct processor *here, const struct scheduler *scheduler);

/* The turn, which is RUNNING, begins (1) or ceases (-1) to wait for a processor. */
void core_count_waiting(struct processor *here, struct dispatcher_thread *turn, int change);

/* As in dispatcher/dispatcher.h. */
void core_give_record(struct scheduler *scheduler, struct dispatcher_thread *record);
struct dispatcher_thread *core_next_record(const struct dispatcher_thread *record);

#endif
