/*
 * One timer of the kernel for all of the policy's: it expires when the first of them does.
 */
#ifndef CATAPULTS_TIMERS_BPF_H
#define CATAPULTS_TIMERS_BPF_H

#include "raise.bpf.h"

#ifdef CATAPULTS_TIMERS

struct catapults_alarm {
    struct bpf_timer timer;
};

struct {
    CATAPULTS_NUMBER(type, BPF_MAP_TYPE_ARRAY);
    CATAPULTS_NUMBER(max_entries, 1);
    CATAPULTS_TYPE(key, uint32_t);
    CATAPULTS_TYPE(value, struct catapults_alarm);
} catapults_alarm CATAPULTS_SECTION(".maps");

/* For which instant it was started last. */
static volatile int64_t catapults_alarmed;

/* Starts the timer for the first of the policy's. Two processors may do so at once, and the later one may come with the
 * older instant: so it looks again. */
static inline __attribute__((always_inline)) void catapults_set_alarm(void) {
    uint32_t zero = 0;
    struct catapults_alarm *alarm = bpf_map_lookup_elem(&catapults_alarm, &zero);
    if (!alarm)
        return;
    for (uint32_t i = CATAPULTS_COUNTED(0); CATAPULTS_LOOP(i < 4); i++) {
        int64_t first = catapults_first;
        if (first == 0 || first == catapults_alarmed)
            return;
        catapults_alarmed = first;
        bpf_timer_start(&alarm->timer, first > 0 ? (uint64_t)first : 1, BPF_F_TIMER_ABS);
    }
}

/* Raises the events of the timers that have expired. */
CATAPULTS_IN_PLACE void catapults_expire_all(struct catapults_after *after) {
    CATAPULTS_INSTANCE CATAPULTS_MEMORY *self = catapults_instance;
    while (CATAPULTS_LOOP(!after->stop)) {
        struct catapults_timer CATAPULTS_MEMORY *first = CATAPULTS_TIMERS(self).first;
        if (!first || first->instant > catapults_instant)
            return;
        struct catapults_thread CATAPULTS_MEMORY *t = first->thread;
        struct catapults_record CATAPULTS_MEMORY *record = catapults_record(t->number);
        catapults_see(record->frame ? record->frame : catapults_seen);
        after->stop = CATAPULTS_EXPIRE(self, first->timeout, t);
        after->thread = record->pid;
        catapults_told.events++;
        catapults_settle(after);
    }
}

#endif

/* Does what a handler has made necessary. */
static inline __attribute__((always_inline)) void catapults_finish(struct catapults_after *after) {
    uint64_t kicks = after->kicks;
    if (after->stop) {
        static char format[] = "catapults: the policy has stopped";
        unsigned long long none[1] = {0};
        scx_bpf_error_bstr(format, none, 0);
        return;
    }
    for (uint32_t cpu = CATAPULTS_COUNTED(0); CATAPULTS_LOOP(kicks != 0 && cpu < CATAPULTS_PROCESSORS); cpu++) {
        if (kicks & 1)
            scx_bpf_kick_cpu((int32_t)cpu, SCX_KICK_PREEMPT);
        kicks >>= 1;
    }
#ifdef CATAPULTS_TIMERS
    catapults_set_alarm();
#endif
}

#ifdef CATAPULTS_TIMERS

static int catapults_expired(void *map, uint32_t *key, struct catapults_alarm *alarm) {
    struct catapults_after after = {0};
    unsigned long flags;
    (void)map, (void)key, (void)alarm;
    catapults_alarmed = 0;
    struct bpf_res_spin_lock *lock = catapults_enter(&flags);
    if (!lock)
        return 0;
    catapults_expire_all(&after);
    catapults_leave(lock, &flags, &after);
    catapults_finish(&after);
    return 0;
}

static inline __attribute__((always_inline)) int catapults_make_alarm(void) {
    uint32_t zero = 0;
    struct catapults_alarm *alarm = bpf_map_lookup_elem(&catapults_alarm, &zero);
    if (!alarm || bpf_timer_init(&alarm->timer, &catapults_alarm, CATAPULTS_CLOCK_MONOTONIC))
        return -ENOMEM;
    return (int)bpf_timer_set_callback(&alarm->timer, catapults_expired);
}

#else

static inline int catapults_make_alarm(void) { return 0; }

#endif

#endif
