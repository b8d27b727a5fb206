/*
 * The tree of schedulers. A scheduler is a thread to its parent: RUNNING while something under it runs, READY while
 * something under it could run, BLOCKED otherwise. So a decision goes down from the root, and a thread that gives the
 * processor up takes it from all schedulers above it.
 *
 *     root ──dispatch──► record of A ──A's `schedule`──► record of B ──► … ──► a thread
 *
 * A RUNNING scheduler blocks by `block.scheduler`, and wakes by `event_raised`. A READY one is suspended by
 * `suspend_thread`, and resumed by `resume_thread`. With several processors it is several threads to its parent: see
 * scheduler_records.c.
 */
#include "core/containment.h"
#include "core/donation.h"
#include "core/frames.h"
#include "core/nodes.h"
#include "core/raise.h"
#include "core/ready.h"
#include "core/scheduler_records.h"
#include "core/schedulers.h"
#include "core/tree.h"

static struct scheduler *give_back(struct processor *here, struct dispatcher_thread *record);
static void give_up_in_frame(struct processor *here, struct dispatcher_thread *member);
static inline void switch_out(struct processor *here, struct dispatcher_thread *member);

static struct dispatcher_thread *nth(struct dispatcher_thread *record, uint16_t number) {
    while (number-- > 0)
        record = record->newer;
    return record;
}

static inline struct dispatcher_thread *above(struct processor *here, const struct dispatcher_thread *member) {
    struct scheduler *scheduler = member->scheduler;
    if (!scheduler->parent)
        return NULL;
    return UNLIKELY(here->core->several) ? nth(&scheduler->record, member->via) : &scheduler->record;
}

struct dispatcher_thread *core_above(struct processor *here, const struct dispatcher_thread *member) {
    return above(here, member);
}

struct dispatcher_thread *core_member(struct processor *here, const struct scheduler *scheduler,
                                      const struct dispatcher_thread *turn) {
    struct dispatcher_thread *member = (struct dispatcher_thread *)turn;
    while (member && member->scheduler != scheduler)
        member = above(here, member);
    return member;
}

/* ---- Down -------------------------------------------------------------------------------------------------------- */

/* One processor: nothing can run until something happens outside. */
static struct dispatcher_thread *nobody(struct processor *here) {
    here->due |= WAIT_OUTSIDE;
    return &here->idle;
}

struct dispatcher_thread *core_descend_from(struct processor *here, struct scheduler *scheduler,
                                            struct catapults_thread *t) {
    struct core *core = here->core;
    struct dispatcher_thread *end, *record = NULL; /* the one for which what `scheduler` dispatches is RUNNING */
    const struct catapults_stop *stop = here->stop;
    here->stop = NULL;
    for (;;) {
        struct dispatcher_thread *member = t ? dispatcher_thread_of(t) : NULL;
        if (member && member->state == THREAD_MARKED)
            member->state = THREAD_RUNNABLE;
        if (member && UNLIKELY(core->several) && scheduler->parent)
            member->via = core_number_of(record);
        if (member && (member->state == THREAD_RUNNABLE || member->state == THREAD_LENDING)) {
            here->turn = member;
            if (LIKELY(member->state == THREAD_RUNNABLE))
                return member;
            end = core_borrower(here, member);
            if (LIKELY(end != NULL))
                return end;
            scheduler = &core->root; /* all have given the processor up with it */
        } else if (member && member->state == SCHEDULER_RUNNABLE) {
            record = member;
            scheduler = scheduler_of(record);
            scheduler->served = true;
            if (LIKELY(!scheduler->leaving)) {
                TRACE(TRACE_DISPATCHED, record, 0);
                stop = NULL;
                scheduler->asked_for = false;
                t = SCHEDULE(scheduler, &stop);
                continue;
            }
            scheduler = give_back(here, record);
        } else if (member) {
            core_contain(here, scheduler, "schedule", NULL, "it dispatched a thread that is not ready", NULL);
        } else if (stop) {
            core_contain(here, scheduler, "schedule", stop, NULL, NULL);
        } else if (scheduler->parent) {
            scheduler->idle = true;
            scheduler = give_back(here, LIKELY(!core->several) ? &scheduler->record : record);
        } else if (core->several) {
            return NULL;
        } else {
            return nobody(here);
        }
        if (UNLIKELY(core->several) && !scheduler->parent) {
            scheduler = here->serves; /* the root, if the policy has just lost its nodes */
            if (core_ready_at(here, scheduler) == 0)
                return NULL;
        } else if (scheduler->runnable == 0) {
            return nobody(here);
        }
        stop = NULL;
        t = SCHEDULE(scheduler, &stop);
    }
}

/* The scheduler whose record was dispatched does not run: it ends, or has nothing to run. Returns the nearest one above
 * that has something else, or the root; with several processors always the root. */
static struct scheduler *give_back(struct processor *here, struct dispatcher_thread *record) {
    struct core *core = here->core;
    for (;;) {
        struct scheduler *parent = record->scheduler;
        bool leaves = scheduler_of(record)->leaving;
        if (leaves)
            core_end(here, record);
        else
            core_raise_at_parent(here, record, THREAD_BLOCKED, NULL);
        if (UNLIKELY(core->several))
            give_up_in_frame(here, record);
        if (leaves)
            core_left(here, parent);
        if (UNLIKELY(core->several))
            return &core->root;
        if (!parent->parent || parent->runnable > 0)
            return parent;
        record = &parent->record;
    }
}

bool core_wake_idle(struct processor *here, bool in_vain) {
    bool any = false;
    for (struct scheduler *scheduler = &here->core->root; scheduler; scheduler = scheduler->next) {
        if (!scheduler->idle || scheduler->runnable == 0)
            continue;
        if (in_vain)
            core_contain(here, scheduler, "schedule", NULL, "it dispatched nothing although a thread is ready", NULL);
        core_gained(here, scheduler, NULL);
        any = true;
    }
    return any;
}

/* ---- Up ---------------------------------------------------------------------------------------------------------- */

void core_give_up(struct processor *here, struct dispatcher_thread *member) {
    if (UNLIKELY(here->core->several)) {
        give_up_in_frame(here, member);
        return;
    }
    for (struct scheduler *scheduler = member->scheduler; scheduler->parent; scheduler = scheduler->parent) {
        struct dispatcher_thread *record = &scheduler->record;
        if (record->state != SCHEDULER_RUNNABLE)
            continue; /* it has done so, by an event of its own */
        if (scheduler->runnable == 0)
            core_raise_at_parent(here, record, taken_from(record) ? THREAD_SUSPENDED : THREAD_BLOCKED, NULL);
        else if (LIKELY(!taken_from(record)))
            switch_out(here, record);
    }
}

/* The same on several processors, in the frame in which events are raised now. It is nobody's turn there afterwards. */
static void give_up_in_frame(struct processor *here, struct dispatcher_thread *member) {
    for (struct dispatcher_thread *record; (record = above(here, member)); member = record) {
        struct scheduler *scheduler = member->scheduler;
        bool taken = taken_from(record);
        scheduler->idle = false; /* something has happened there */
        if (record->state == SCHEDULER_RUNNABLE && !core_is_wanted(here, record))
            core_raise_at_parent(here, record, taken ? THREAD_SUSPENDED : THREAD_BLOCKED, NULL);
        else if (record->state == SCHEDULER_RUNNABLE && !taken)
            switch_out(here, record);
        core_adjust_only(here, scheduler, NULL);
    }
    core_set_turn(here, here->sees, NULL);
}

bool core_is_taken(struct processor *here, const struct dispatcher_thread *turn) {
    for (const struct dispatcher_thread *member = turn; member; member = above(here, member))
        if (taken_from(member) || (member->is_scheduler && !core_is_runnable(member)))
            return true; /* or was, and there is no use for so many records: it is suspended */
    return false;
}

bool core_preempted(struct processor *here, struct dispatcher_thread *turn) {
    if (!core_is_taken(here, turn))
        return false;
    if (UNLIKELY(here->core->several)) {
        core_switch_out(here, turn);
        give_up_in_frame(here, turn);
        return true;
    }
    for (struct dispatcher_thread *member = turn; member; member = above(here, member)) {
        if (taken_from(member))
            TRACE(TRACE_SWITCHED_OUT, member, 0);
        else
            switch_out(here, member);
    }
    return true;
}

/* The record that the schedulers above have to be asked for after `member`; NULL: none, what is RUNNING is under the
 * same. */
static struct dispatcher_thread *asked_for_next(struct processor *here, const struct dispatcher_thread *member,
                                                const struct dispatcher_thread *turn) {
    struct scheduler *scheduler = member->scheduler;
    if (core_member(here, scheduler, turn) || !scheduler->parent)
        return NULL;
    return UNLIKELY(here->core->several) ? core_record_to_ask_for(here, scheduler) : &scheduler->record;
}

bool core_ask_for(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *turn) {
    if (thread == turn || !core_is_runnable(thread))
        return false;
    struct dispatcher_thread *member;
    for (member = thread; member; member = asked_for_next(here, member, turn)) {
        if (UNLIKELY(member->scheduler->node != NULL) && !core_member(here, member->scheduler, turn))
            return false; /* it comes next on another processor */
        if (UNLIKELY(here->core->several) && !taken_from(member))
            return false; /* it is RUNNING on another processor */
        /* A decision comes before the next request. That of the root does, if there is one processor. */
        if (member->scheduler->asked_for && (here->core->several || member->scheduler->parent))
            return false;
        if (!HAS(member->scheduler, set_next_thread) || !RAISE(member->scheduler, can_switch_to, &member->policy))
            return false;
    }
    for (member = thread; member; member = asked_for_next(here, member, turn)) {
        member->scheduler->asked_for = true;
        const struct catapults_stop *stop = RAISE(member->scheduler, set_next_thread, &member->policy);
        if (UNLIKELY(stop))
            core_contain(here, member->scheduler, "set_next_thread", stop, NULL, turn);
    }
    return true;
}

void core_gained(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    scheduler->idle = false;
    if (UNLIKELY(here->core->several)) {
        core_adjust(here, scheduler, runs);
        return;
    }
    for (; scheduler->parent && scheduler->record.state != SCHEDULER_RUNNABLE; scheduler = scheduler->parent)
        core_raise_at_parent(here, &scheduler->record, SCHEDULER_RUNNABLE, runs);
}

void core_lost(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    if (UNLIKELY(here->core->several)) {
        core_adjust(here, scheduler, runs);
        return;
    }
    for (; scheduler->parent && scheduler->runnable == 0 && scheduler->record.state == SCHEDULER_RUNNABLE;
         scheduler = scheduler->parent)
        core_raise_at_parent(here, &scheduler->record, THREAD_SUSPENDED, runs);
}

void core_raise_at_parent(struct processor *here, struct dispatcher_thread *record, enum dispatcher_state state,
                          const struct dispatcher_thread *runs) {
    struct scheduler *parent = record->scheduler;
    enum dispatcher_state before = record->state;
    const struct catapults_stop *stop;
    const char *event;
    record->state = (uint8_t)state;
    if (UNLIKELY(record->homeless)) {
        TRACE(TRACE_RESUMED, record, 0);
        core_place_anew(here, record, runs);
        return;
    }
    parent->runnable += state == SCHEDULER_RUNNABLE ? 1 : -1;
    if (state == THREAD_BLOCKED) {
        event = "block.scheduler";
        stop = RAISE(parent, block_scheduler, &record->policy);
        TRACE(TRACE_BLOCKED, record, BLOCK_SCHEDULER);
    } else if (state == THREAD_SUSPENDED) {
        event = "suspend_thread";
        stop = RAISE(parent, suspend_thread, &record->policy);
        TRACE(TRACE_SUSPENDED, record, 0);
    } else if (before == THREAD_BLOCKED && !record->set_aside) {
        event = "event_raised";
        stop = RAISE(parent, event_raised, &record->policy);
        TRACE(TRACE_RAISED, record, 0);
    } else {
        event = "resume_thread";
        record->set_aside = false;
        stop = RAISE(parent, resume_thread, &record->policy);
        TRACE(TRACE_RESUMED, record, 0);
    }
    if (UNLIKELY(stop))
        core_contain(here, parent, event, stop, NULL, runs);
    core_noticed(here, record->scheduler);
}

static inline __attribute__((always_inline)) void switch_out(struct processor *here, struct dispatcher_thread *member) {
    struct scheduler *scheduler = member->scheduler;
    const struct catapults_stop *stop = RAISE(scheduler, switch_out, &member->policy);
    if (UNLIKELY(stop))
        core_contain(here, scheduler, "switch_out", stop, NULL, NULL);
    TRACE(TRACE_SWITCHED_OUT, member, 0);
}

void core_switch_out(struct processor *here, struct dispatcher_thread *member) {
    if (taken_from(member))
        TRACE(TRACE_SWITCHED_OUT, member, 0);
    else
        switch_out(here, member);
}
