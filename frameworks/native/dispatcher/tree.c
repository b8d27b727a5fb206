/*
 * The tree of schedulers. To its parent a scheduler is a thread: RUNNING while something under it is, READY while
 * something under it could be, BLOCKED otherwise. So a decision goes down from the root, and a thread that gives the
 * processor up takes it from all schedulers above it.
 *
 *     root ──dispatch──► record of A ──A's `schedule`──► record of B ──► … ──► a thread
 *
 * A scheduler blocks by `block.scheduler` if it was RUNNING, else by `suspend_thread`; it wakes by the event that
 * belongs to that. On several processors it is more than one thread to its parent: see scheduler_records.c.
 */
#include "dispatcher/raise_loaded.h"
#include "dispatcher/state.h"
#include "dispatcher/trace.h"

static struct scheduler *give_back(struct dispatcher_thread *record);
static void give_up_in_frame(struct dispatcher_thread *member);
static inline void switch_out(struct dispatcher_thread *member);

static struct dispatcher_thread *nth(struct dispatcher_thread *record, uint16_t number) {
    while (number-- > 0)
        record = record->newer;
    return record;
}

static inline struct dispatcher_thread *above(const struct dispatcher_thread *member) {
    struct scheduler *scheduler = member->scheduler;
    if (!scheduler->parent)
        return NULL;
    return UNLIKELY(dispatcher.several) ? nth(&scheduler->record, member->via) : &scheduler->record;
}

struct dispatcher_thread *dispatcher_above(const struct dispatcher_thread *member) { return above(member); }

struct dispatcher_thread *dispatcher_member(const struct scheduler *scheduler, const struct dispatcher_thread *turn) {
    struct dispatcher_thread *member = (struct dispatcher_thread *)turn;
    while (member && member->scheduler != scheduler)
        member = above(member);
    return member;
}

/* ---- Down -------------------------------------------------------------------------------------------------------- */

/* One processor: nothing can run until something happens outside. */
static struct dispatcher_thread *nobody(struct processor *here) {
    here->due = WAIT_OUTSIDE;
    return &here->idle;
}

struct dispatcher_thread *dispatcher_descend_from(struct processor *here, struct scheduler *scheduler,
                                                  struct catapults_thread *t) {
    struct dispatcher_thread *end, *record = NULL; /* for which what `scheduler` dispatches is RUNNING */
    const struct catapults_stop *stop = here->stop;
    here->stop = NULL;
    for (;;) {
        struct dispatcher_thread *member = t ? dispatcher_thread_of(t) : NULL;
        if (member && member->state == THREAD_MARKED)
            member->state = THREAD_RUNNABLE;
        if (member && UNLIKELY(dispatcher.several) && scheduler->parent)
            member->via = dispatcher_number_of(record);
        if (member && (member->state == THREAD_RUNNABLE || member->state == THREAD_LENDING)) {
            here->turn = member;
            if (LIKELY(member->state == THREAD_RUNNABLE))
                return member;
            end = dispatcher_borrower(member);
            if (LIKELY(end != NULL))
                return end;
            scheduler = &dispatcher.root; /* all have given the processor up with it */
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
            scheduler = give_back(record);
        } else if (member) {
            dispatcher_contain(scheduler, "schedule", NULL, "it dispatched a thread that is not ready", NULL);
        } else if (stop) {
            dispatcher_contain(scheduler, "schedule", stop, NULL, NULL);
        } else if (scheduler->parent) {
            scheduler->idle = true;
            scheduler = give_back(LIKELY(!dispatcher.several) ? &scheduler->record : record);
        } else if (dispatcher.several) {
            return NULL;
        } else {
            return nobody(here);
        }
        if (UNLIKELY(dispatcher.several) && !scheduler->parent) {
            scheduler = here->serves; /* the root, if the policy has just lost its nodes */
            if (dispatcher_ready_at(scheduler) == 0)
                return NULL;
        } else if (scheduler->runnable == 0) {
            return nobody(here);
        }
        stop = NULL;
        t = SCHEDULE(scheduler, &stop);
    }
}

/* The scheduler whose record was dispatched does not run: it ends, or has nothing to run. Returns the nearest one above
 * that has something else, or the root; of several processors always that. */
static struct scheduler *give_back(struct dispatcher_thread *record) {
    for (;;) {
        struct scheduler *parent = record->scheduler;
        bool leaves = scheduler_of(record)->leaving;
        if (leaves)
            dispatcher_end(record);
        else
            dispatcher_raise_at_parent(record, THREAD_BLOCKED, NULL);
        if (UNLIKELY(dispatcher.several))
            give_up_in_frame(record);
        if (leaves)
            dispatcher_left(parent);
        if (UNLIKELY(dispatcher.several))
            return &dispatcher.root;
        if (!parent->parent || parent->runnable > 0)
            return parent;
        record = &parent->record;
    }
}

bool dispatcher_wake_idle(bool in_vain) {
    bool any = false;
    for (struct scheduler *scheduler = &dispatcher.root; scheduler; scheduler = scheduler->next) {
        if (!scheduler->idle || scheduler->runnable == 0)
            continue;
        if (in_vain)
            dispatcher_contain(scheduler, "schedule", NULL, "it dispatched nothing although a thread is ready", NULL);
        dispatcher_gained(scheduler, NULL);
        any = true;
    }
    return any;
}

/* ---- Up ---------------------------------------------------------------------------------------------------------- */

void dispatcher_give_up(struct dispatcher_thread *member) {
    if (UNLIKELY(dispatcher.several)) {
        give_up_in_frame(member);
        return;
    }
    for (struct scheduler *scheduler = member->scheduler; scheduler->parent; scheduler = scheduler->parent) {
        struct dispatcher_thread *record = &scheduler->record;
        if (record->state != SCHEDULER_RUNNABLE)
            continue; /* it has, by an event of its own */
        if (scheduler->runnable == 0)
            dispatcher_raise_at_parent(record, taken_from(record) ? THREAD_SUSPENDED : THREAD_BLOCKED, NULL);
        else if (LIKELY(!taken_from(record)))
            switch_out(record);
    }
}

/* The same on several processors, in the frame in which events are raised now: nobody's turn it is there afterwards. */
static void give_up_in_frame(struct dispatcher_thread *member) {
    for (struct dispatcher_thread *record; (record = above(member)); member = record) {
        struct scheduler *scheduler = member->scheduler;
        bool taken = taken_from(record);
        scheduler->idle = false; /* something has happened there */
        if (record->state == SCHEDULER_RUNNABLE && !dispatcher_is_wanted(record))
            dispatcher_raise_at_parent(record, taken ? THREAD_SUSPENDED : THREAD_BLOCKED, NULL);
        else if (record->state == SCHEDULER_RUNNABLE && !taken)
            switch_out(record);
        dispatcher_adjust_only(scheduler, NULL);
    }
    dispatcher_set_turn(processor_here()->sees, NULL);
}

bool dispatcher_is_taken(const struct dispatcher_thread *turn) {
    for (const struct dispatcher_thread *member = turn; member; member = above(member))
        if (taken_from(member) || (member->is_scheduler && !dispatcher_is_runnable(member)))
            return true; /* or was, and there is no use for so many records: it is suspended */
    return false;
}

bool dispatcher_preempted(struct dispatcher_thread *turn) {
    if (!dispatcher_is_taken(turn))
        return false;
    if (UNLIKELY(dispatcher.several)) {
        dispatcher_switch_out(turn);
        give_up_in_frame(turn);
        return true;
    }
    for (struct dispatcher_thread *member = turn; member; member = above(member)) {
        if (taken_from(member))
            TRACE(TRACE_SWITCHED_OUT, member, 0);
        else
            switch_out(member);
    }
    return true;
}

/* For whom those above have to be asked after `member`; NULL: for nobody, what is RUNNING is under the same. */
static struct dispatcher_thread *asked_for_next(const struct dispatcher_thread *member,
                                                const struct dispatcher_thread *turn) {
    struct scheduler *scheduler = member->scheduler;
    if (dispatcher_member(scheduler, turn) || !scheduler->parent)
        return NULL;
    return UNLIKELY(dispatcher.several) ? dispatcher_record_to_ask_for(scheduler) : &scheduler->record;
}

bool dispatcher_ask_for(struct dispatcher_thread *thread, const struct dispatcher_thread *turn) {
    if (thread == turn || !dispatcher_is_runnable(thread))
        return false;
    struct dispatcher_thread *member;
    for (member = thread; member; member = asked_for_next(member, turn)) {
        if (UNLIKELY(member->scheduler->node != NULL) && !dispatcher_member(member->scheduler, turn))
            return false; /* it is the next of another processor */
        /* It is RUNNING on another processor; or somebody is asked for there: a decision comes before the next request.
         */
        if (UNLIKELY(dispatcher.several) && (!taken_from(member) || member->scheduler->asked_for))
            return false;
        if (!HAS(member->scheduler, set_next_thread) || !RAISE(member->scheduler, can_switch_to, &member->policy))
            return false;
    }
    for (member = thread; member; member = asked_for_next(member, turn)) {
        member->scheduler->asked_for = true;
        const struct catapults_stop *stop = RAISE(member->scheduler, set_next_thread, &member->policy);
        if (UNLIKELY(stop))
            dispatcher_contain(member->scheduler, "set_next_thread", stop, NULL, turn);
    }
    return true;
}

void dispatcher_gained(struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    scheduler->idle = false;
    if (UNLIKELY(dispatcher.several)) {
        dispatcher_adjust(scheduler, runs);
        return;
    }
    for (; scheduler->parent && scheduler->record.state != SCHEDULER_RUNNABLE; scheduler = scheduler->parent)
        dispatcher_raise_at_parent(&scheduler->record, SCHEDULER_RUNNABLE, runs);
}

void dispatcher_lost(struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    if (UNLIKELY(dispatcher.several)) {
        dispatcher_adjust(scheduler, runs);
        return;
    }
    for (; scheduler->parent && scheduler->runnable == 0 && scheduler->record.state == SCHEDULER_RUNNABLE;
         scheduler = scheduler->parent)
        dispatcher_raise_at_parent(&scheduler->record, THREAD_SUSPENDED, runs);
}

void dispatcher_raise_at_parent(struct dispatcher_thread *record, enum dispatcher_state state,
                                const struct dispatcher_thread *runs) {
    struct scheduler *parent = record->scheduler;
    enum dispatcher_state before = record->state;
    const struct catapults_stop *stop;
    const char *event;
    record->state = (uint8_t)state;
    if (UNLIKELY(record->homeless)) {
        TRACE(TRACE_RESUMED, record, 0);
        dispatcher_place_anew(record, runs);
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
        dispatcher_contain(parent, event, stop, NULL, runs);
    dispatcher_noticed(record->scheduler);
}

static inline __attribute__((always_inline)) void switch_out(struct dispatcher_thread *member) {
    struct scheduler *scheduler = member->scheduler;
    const struct catapults_stop *stop = RAISE(scheduler, switch_out, &member->policy);
    if (UNLIKELY(stop))
        dispatcher_contain(scheduler, "switch_out", stop, NULL, NULL);
    TRACE(TRACE_SWITCHED_OUT, member, 0);
}

void dispatcher_switch_out(struct dispatcher_thread *member) {
    if (taken_from(member))
        TRACE(TRACE_SWITCHED_OUT, member, 0);
    else
        switch_out(member);
}
