/*
 * What may happen outside, and who looks at that.
 */
#ifndef CATAPULTS_CORE_OUTSIDE_H
#define CATAPULTS_CORE_OUTSIDE_H

#include "core/state.h"

/* An idle processor falls asleep, and is awake again. The third: where the sleeping ones of its kind are counted,
 * parked ones apart from the others. */
void core_fall_asleep(struct processor *here);
void core_wake_up(struct processor *here);
uint32_t *core_count_of_asleep(const struct processor *processor);

/* Wakes a processor that sleeps. The first only marks it: the caller wakes it. */
void core_begin_to_wake(struct processor *processor);
void core_wake(struct processor *here, struct processor *processor);

/* Tells another processor something (enum told), as soon as what is due here is done. */
static inline void core_tell_other(struct processor *here, struct processor *other, enum told what) {
    other->told |= what;
    here->due |= TELL_OTHERS;
}

/* Whether anything outside may still happen: operations of the driver, timers, signals. */
bool core_is_under_way(const struct core *core);

/* The first instant for which a timer is set, of threads and of policies. */
int64_t core_first_instant(const struct core *core);

/* The processor is not `polling` any more. */
void core_stop_polling(struct processor *here);

/* If a processor sleeps in the driver for longer than until the first timer, it is woken. */
void core_tell_poller(struct processor *here);

#endif
