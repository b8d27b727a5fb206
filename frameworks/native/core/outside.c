/*
 * What is known of the world outside, and who looks at it.
 */
#include "core/outside.h"

bool core_is_under_way(const struct core *core) {
    return core->timers || core->signals_expected || (core->driver && core->driver->busy());
}

int64_t core_first_instant(const struct core *core) {
    int64_t instant = core->timers ? core->timers->instant : DISPATCHER_FOREVER;
    for (const struct scheduler *scheduler = &core->root; scheduler; scheduler = scheduler->next) {
        const struct catapults_timers *timeouts = scheduler->timeouts;
        if (timeouts && timeouts->first && timeouts->first->instant < instant)
            instant = timeouts->first->instant;
    }
    return instant;
}

void core_tell_poller(struct processor *here) {
    struct core *core = here->core;
    if (core_first_instant(core) >= core->polls_until)
        return;
    core->polls_until = 0;
    core_tell_other(here, core->poller, KICK);
}

/* In this order: an interruption in between finds the processor in the runtime, and comes back. */
void core_stop_polling(struct processor *here) {
    here->polling = false;
    if (here->came) {
        here->came = false;
        here->armed = 0;
    }
}

/* ---- Processors that have nothing to do ------------------------------------------------------------------------- */

uint32_t *core_count_of_asleep(const struct processor *processor) {
    return processor->parked ? &processor->core->parked_asleep : &processor->core->asleep;
}

void core_fall_asleep(struct processor *here) {
    here->asleep = true;
    *core_count_of_asleep(here) += 1;
}

void core_wake_up(struct processor *here) {
    *core_count_of_asleep(here) -= here->asleep;
    here->core->waking -= here->woken;
    here->asleep = here->woken = false;
}

void core_begin_to_wake(struct processor *processor) {
    *core_count_of_asleep(processor) -= 1;
    processor->asleep = false;
    processor->woken = true;
    processor->core->waking++;
}

void core_wake(struct processor *here, struct processor *processor) {
    core_begin_to_wake(processor);
    core_tell_other(here, processor, processor == here->core->poller ? KICK : WAKE);
}
