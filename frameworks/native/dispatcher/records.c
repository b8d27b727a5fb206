/*
 * What a scheduler is to its parent where there are several processors: as many threads as it can use processors (1996,
 * §4.3). Each of them is a record, which its parent hears of when it is needed first.
 *
 *     at the parent of A   READY: A₁  A₃  B₁     RUNNING: A₂ (frame 1)
 *     at A                 READY: five threads   RUNNING: a thread, for A₂ (frame 1)
 *
 * What is RUNNING under a scheduler is so for one of its records, which is RUNNING in the same frame (`via`). Of the
 * others as many are READY as other processors could have something of it. More of them can be so for a while, but
 * never more than something is READY under the scheduler: whatever is dispatched has something to run.
 *
 * How many are RUNNING is not counted but looked up: one that is RUNNABLE and in no READY container. So it counts as
 * READY as soon as the parent's policy has taken the processor from it, though what is RUNNING for it has yet to give
 * up; it may even be suspended before that.
 */
#include "dispatcher/raise_loaded.h"
#include "dispatcher/state.h"

/* Of the records of a scheduler. */
struct count {
    int64_t running, ready;
    struct dispatcher_thread *one_ready, *one_at_rest; /* of each, if there is one */
};

static struct count count(struct scheduler *scheduler, const struct dispatcher_thread *except) {
    struct count of = {0};
    for (struct dispatcher_thread *record = &scheduler->record; record; record = record->newer) {
        if (record == except || record->state == THREAD_ENDED)
            continue;
        if (record->state != SCHEDULER_RUNNABLE) {
            if (!of.one_at_rest)
                of.one_at_rest = record;
        } else if (taken_from(record)) {
            of.ready++;
            of.one_ready = record;
        } else {
            of.running++;
        }
    }
    return of;
}

int64_t dispatcher_running_under(const struct scheduler *scheduler) {
    return count((struct scheduler *)scheduler, NULL).running;
}

/* What is READY under the scheduler. */
static int64_t most(const struct scheduler *scheduler, int64_t running) { return scheduler->runnable - running; }

/* How many of its records are to be READY at least. What waits for a processor uses none. */
static int64_t least(const struct scheduler *scheduler, int64_t running) {
    if (scheduler->idle)
        return 0;
    int64_t processors = (int64_t)dispatcher.active + scheduler->waiting - running, ready = most(scheduler, running);
    return processors < ready ? processors : ready;
}

bool dispatcher_is_wanted(const struct dispatcher_thread *record) {
    struct scheduler *scheduler = record->below;
    struct count others = count(scheduler, record);
    return others.ready < least(scheduler, others.running);
}

/* One that its parent has not heard of. False: there is none, or it wants no more. */
static bool introduce_another(struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    const struct catapults_policy *policy = scheduler->parent->policy;
    struct dispatcher_thread *record = scheduler->spare, *last = &scheduler->record;
    if (!record || scheduler->refused_by == policy)
        return false;
    while (last->newer)
        last = last->newer;
    struct dispatcher_thread *next_spare = record->newer;
    last->newer = record; /* before it is introduced: if the policy has to go, it is among what goes on */
    if (dispatcher_introduce(scheduler, record, runs)) {
        last->newer = NULL;
        record->newer = next_spare;
        scheduler->refused_by = policy;
        return false;
    }
    scheduler->spare = next_spare;
    return true;
}

bool dispatcher_adjust_only(struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    bool changed = false;
    while (scheduler->parent && !scheduler->leaving) {
        struct count now = count(scheduler, NULL);
        if (now.ready > most(scheduler, now.running))
            dispatcher_raise_at_parent(now.one_ready, THREAD_SUSPENDED, runs);
        else if (now.ready >= least(scheduler, now.running))
            break;
        else if (now.one_at_rest)
            dispatcher_raise_at_parent(now.one_at_rest, SCHEDULER_RUNNABLE, runs);
        else if (!introduce_another(scheduler, runs))
            break;
        changed = true;
    }
    return changed;
}

void dispatcher_adjust(struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    while (dispatcher_adjust_only(scheduler, runs))
        scheduler = scheduler->parent;
}

void dispatcher_adjust_all(void) {
    const struct dispatcher_thread *runs = dispatcher.frames[processor_here()->frame].turn;
    for (struct scheduler *scheduler = dispatcher.root.next; scheduler; scheduler = scheduler->next)
        dispatcher_adjust(scheduler, runs);
}

struct dispatcher_thread *dispatcher_record_to_ask_for(struct scheduler *scheduler) {
    struct dispatcher_thread *ready = count(scheduler, NULL).one_ready;
    return ready ? ready : &scheduler->record;
}

uint16_t dispatcher_number_of(const struct dispatcher_thread *record) {
    uint16_t number = 0;
    for (const struct dispatcher_thread *one = &record->below->record; one != record; one = one->newer)
        number++;
    return number;
}

void dispatcher_count_waiting(struct dispatcher_thread *turn, int change) {
    for (struct dispatcher_thread *member = turn, *record; (record = dispatcher_above(member)); member = record)
        member->scheduler->waiting += (uint32_t)change;
}

void dispatcher_give_record(struct scheduler *scheduler, struct dispatcher_thread *record) {
    record->newer = scheduler->spare;
    scheduler->spare = record;
}

struct dispatcher_thread *dispatcher_next_record(const struct dispatcher_thread *record) { return record->newer; }
