/*
 * The tree of schedulers. To its parent a scheduler is a thread: RUNNING while something under it is, READY while
 * something under it could be, BLOCKED otherwise. So a decision goes down from the root, and a thread that gives the
 * processor up takes it from all schedulers above it.
 *
 *     root ──dispatch──► record of A ──A's `schedule`──► record of B ──► … ──► a thread
 *
 * A scheduler blocks by `block.scheduler` if it was RUNNING, else by `suspend_thread`; it wakes by the event that
 * belongs to that.
 */
#include "dispatcher/raise_loaded.h"
#include "dispatcher/state.h"
#include "dispatcher/trace.h"

static struct scheduler *give_back(struct scheduler *scheduler);
static bool wake_idle(bool in_vain);
static inline void switch_out(struct dispatcher_thread *member);
static void raise_at_parent(struct scheduler *scheduler, enum dispatcher_state state,
                            const struct dispatcher_thread *runs);

/* What it is RUNNING for, one level up; NULL: nothing, it is right under the root. */
static struct dispatcher_thread *above(struct dispatcher_thread *member) {
    return member->scheduler->parent ? &member->scheduler->record : NULL;
}

struct dispatcher_thread *dispatcher_member(const struct scheduler *scheduler, const struct dispatcher_thread *turn) {
    struct dispatcher_thread *member = (struct dispatcher_thread *)turn;
    while (member && member->scheduler != scheduler)
        member = above(member);
    return member;
}

/* ---- Down -------------------------------------------------------------------------------------------------------- */

struct dispatcher_thread *dispatcher_descend(struct processor *here, struct catapults_thread *t) {
    struct scheduler *scheduler = here->scheduler;
    struct dispatcher_thread *end;
    const struct catapults_stop *stop = here->stop;
    here->stop = NULL;
    for (;;) {
        struct dispatcher_thread *member = t ? dispatcher_thread_of(t) : NULL;
        if (member && member->state == THREAD_MARKED)
            member->state = THREAD_RUNNABLE;
        if (member && (member->state == THREAD_RUNNABLE || member->state == THREAD_LENDING)) {
            here->turn = member;
            if (LIKELY(member->state == THREAD_RUNNABLE))
                return member;
            end = dispatcher_borrow(member);
            if (LIKELY(end != NULL))
                return end;
            scheduler = &dispatcher.root; /* all have given the processor up with it */
        } else if (member && member->state == SCHEDULER_RUNNABLE) {
            scheduler = scheduler_of(member);
            scheduler->served = true;
            if (LIKELY(!scheduler->leaving)) {
                TRACE(TRACE_DISPATCHED, member, 0);
                stop = NULL;
                t = SCHEDULE(scheduler, &stop);
                continue;
            }
            scheduler = give_back(scheduler);
        } else if (member) {
            dispatcher_contain(scheduler, "schedule", NULL, "it dispatched a thread that is not ready", NULL);
        } else if (stop) {
            dispatcher_contain(scheduler, "schedule", stop, NULL, NULL);
        } else if (scheduler->parent) {
            scheduler->idle = true;
            scheduler = give_back(scheduler);
        } else if (dispatcher.several) {
            return NULL;
        } else if (!dispatcher_wait()) {
            dispatcher_contain(scheduler, "schedule", NULL, "it dispatched nothing although a thread is ready", NULL);
        }
        if (UNLIKELY(dispatcher.several)) {
            scheduler = here->scheduler; /* the root, if the policy has just lost its nodes */
            if (dispatcher_ready_at(scheduler) == 0)
                return NULL;
        } else if (scheduler->runnable == 0) {
            dispatcher_await();
        }
        stop = NULL;
        t = SCHEDULE(scheduler, &stop);
    }
}

/* `scheduler`, which was dispatched, does not run: it ends, or has nothing to run. Returns the nearest one above that
 * has something else, or the root. */
static struct scheduler *give_back(struct scheduler *scheduler) {
    do {
        struct scheduler *parent = scheduler->parent;
        if (scheduler->leaving)
            dispatcher_end(scheduler);
        else
            raise_at_parent(scheduler, THREAD_BLOCKED, NULL);
        scheduler = parent;
    } while (scheduler->parent && scheduler->runnable == 0);
    return scheduler;
}

void dispatcher_await(void) {
    while (!dispatcher.several && dispatcher.root.runnable == 0) {
        bool waited = dispatcher_wait();
        if (wake_idle(!waited) || waited)
            continue;
        if (dispatcher.oldest)
            dispatcher.host->deadlocked();
        dispatcher.host->finished();
    }
}

/* Schedulers that dispatched nothing are asked again when something has happened. `in_vain`: nothing ever will. */
static bool wake_idle(bool in_vain) {
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

void dispatcher_give_up(struct scheduler *scheduler) {
    for (; scheduler->parent; scheduler = scheduler->parent) {
        struct dispatcher_thread *record = &scheduler->record;
        if (record->state != SCHEDULER_RUNNABLE)
            continue; /* it has, by an event of its own */
        if (scheduler->runnable == 0)
            raise_at_parent(scheduler, taken_from(record) ? THREAD_SUSPENDED : THREAD_BLOCKED, NULL);
        else if (LIKELY(!taken_from(record)))
            switch_out(record);
    }
}

bool dispatcher_preempted(struct dispatcher_thread *turn) {
    bool taken = false;
    for (struct dispatcher_thread *member = turn; member && !taken; member = above(member))
        taken = taken_from(member);
    if (!taken)
        return false;
    for (struct dispatcher_thread *member = turn; member; member = above(member)) {
        if (taken_from(member))
            TRACE(TRACE_SWITCHED_OUT, member, 0);
        else
            switch_out(member);
    }
    return true;
}

bool dispatcher_ask_for(struct dispatcher_thread *thread, const struct dispatcher_thread *turn) {
    if (thread == turn || !dispatcher_is_runnable(thread))
        return false;
    if (UNLIKELY(dispatcher.root.node != NULL) && thread->scheduler != turn->scheduler)
        return false; /* it is the next of another processor */
    /* It is RUNNING on another processor; or somebody is asked for there: a decision comes before the next request. */
    if (UNLIKELY(dispatcher.several) && (!taken_from(thread) || thread->scheduler->asked_for))
        return false;
    struct dispatcher_thread *member;
    for (member = thread; member && member != dispatcher_member(member->scheduler, turn); member = above(member))
        if (!HAS(member->scheduler, set_next_thread) || !RAISE(member->scheduler, can_switch_to, &member->policy))
            return false;
    const struct dispatcher_thread *running = member;
    for (member = thread; member != running; member = above(member)) {
        member->scheduler->asked_for = true;
        const struct catapults_stop *stop = RAISE(member->scheduler, set_next_thread, &member->policy);
        if (UNLIKELY(stop))
            dispatcher_contain(member->scheduler, "set_next_thread", stop, NULL, turn);
    }
    return true;
}

void dispatcher_gained(struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    scheduler->idle = false;
    for (; scheduler->parent && scheduler->record.state != SCHEDULER_RUNNABLE; scheduler = scheduler->parent)
        raise_at_parent(scheduler, SCHEDULER_RUNNABLE, runs);
}

void dispatcher_lost(struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    for (; scheduler->parent && scheduler->runnable == 0 && scheduler->record.state == SCHEDULER_RUNNABLE;
         scheduler = scheduler->parent)
        raise_at_parent(scheduler, THREAD_SUSPENDED, runs);
}

/* The record of the scheduler goes over to `state`. */
static void raise_at_parent(struct scheduler *scheduler, enum dispatcher_state state,
                            const struct dispatcher_thread *runs) {
    struct scheduler *parent = scheduler->parent;
    struct dispatcher_thread *record = &scheduler->record;
    enum dispatcher_state before = record->state;
    const struct catapults_stop *stop;
    const char *event;
    record->state = (uint8_t)state;
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
}

static inline __attribute__((always_inline)) void switch_out(struct dispatcher_thread *member) {
    struct scheduler *scheduler = member->scheduler;
    const struct catapults_stop *stop = RAISE(scheduler, switch_out, &member->policy);
    if (UNLIKELY(stop))
        dispatcher_contain(scheduler, "switch_out", stop, NULL, NULL);
    TRACE(TRACE_SWITCHED_OUT, member, 0);
}
