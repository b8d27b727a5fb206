/*
 * What may happen outside, and who looks at that.
 */
#ifndef CATAPULTS_CORE_OUTSIDE_H
#define CATAPULTS_CORE_OUTSIDE_H

#include "core/state.h"

/* A processor that is idle falls asleep, and is awake again; how many of its kind are asleep: of those that are parked,
 * or of the others. */
void core_fall_asleep(struct processor *here);
void core_wake_up(struct processor *here);
uint32_t *core_count_of_asleep(const struct processor *processor);

/* It sleeps, and is to come back. The first: the caller wakes it. */
void core_begin_to_wake(struct processor *processor);
void core_wake(struct processor *here, struct processor *processor);

/* Another processor is told something (enum told), as soon as what is due here is done. */
static inline void core_tell_other(struct processor *here, struct processor *other, enum told what) {
    other->told |= what;
    here->due |= TELL_OTHERS;
}

/* Whether something is under way, or timers are set. */
bool core_is_under_way(const struct core *core);

/* The first instant for which a timer is set. */
int64_t core_first_instant(const struct core *core);

/* The processor is not `polling` any more. */
void core_stop_polling(struct processor *here);

/* One that does so for longer than until the first timer is to wake before. */
void core_tell_poller(struct processor *here);

#endif
