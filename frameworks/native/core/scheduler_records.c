/*
 * What a scheduler is to its parent where there are several processors: as many threads as it can use processors (1996,
 * §4.3). Each of them is a record. The parent hears of a record when it is needed for the first time.
 *
 *     at the parent of A   READY: A₁  A₃  B₁     RUNNING: A₂ (frame 1)
 *     at A                 READY: five threads   RUNNING: a thread, for A₂ (frame 1)
 *
 * A thread that is RUNNING under a scheduler runs for one of the records (`via`), which is RUNNING in the same frame.
 * Of the other records, as many are READY as other processors could use. There may be more for a while, but never more
 * than there are READY threads under the scheduler: a record that is dispatched always has something to run.
 *
 * The number of RUNNING records is not kept but looked up: a record is RUNNING if it is RUNNABLE and in no READY
 * container. So it counts as READY as soon as the parent's policy has taken the processor from it, even though its
 * thread has yet to give up. The record may even be suspended before that.
 *
 * If the parent's policy has nodes (nodes.c), each record is in one of its instances. A record that becomes READY is
 * chosen in an instance that has nothing to run, if possible. If there is none, and there are fewer records than
 * processors, a new record is introduced, and the policy places it.
 */
#include "core/ready.h"
#include "core/scheduler_records.h"
#include "core/schedulers.h"
#include "core/tree.h"

/* Counts of the records of a scheduler. */
struct count {
    int64_t running, ready, at_rest;
    struct dispatcher_thread *one_ready, *one_at_rest; /* one of each, if there is one */
};

/* Whether nothing keeps a record at rest from running at once where it is. */
static bool is_near(struct processor *here, const struct dispatcher_thread *record) {
    return LIKELY(!here->core->root.node) || record->homeless || !record->scheduler->node ||
           record->scheduler->runnable == 0;
}

static struct count count(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *except) {
    struct count of = {0};
    for (struct dispatcher_thread *record = &scheduler->record; record; record = record->newer) {
        if (record == except || record->state == THREAD_ENDED)
            continue;
        if (record->state != SCHEDULER_RUNNABLE) {
            of.at_rest++;
            if (!of.one_at_rest || (is_near(here, record) && !is_near(here, of.one_at_rest)))
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

int64_t core_running_under(struct processor *here, const struct scheduler *scheduler) {
    return count(here, (struct scheduler *)scheduler, NULL).running;
}

/* How many threads are READY under the scheduler. */
static int64_t most(const struct scheduler *scheduler, int64_t running) { return scheduler->runnable - running; }

/* How many of its records are to be READY at least. Turns that wait for a processor use none. */
static int64_t least(struct processor *here, const struct scheduler *scheduler, int64_t running) {
    if (scheduler->idle)
        return 0;
    int64_t processors = (int64_t)here->core->active + scheduler->waiting - running, ready = most(scheduler, running);
    return processors < ready ? processors : ready;
}

bool core_is_wanted(struct processor *here, const struct dispatcher_thread *record) {
    struct scheduler *scheduler = record->below;
    struct count others = count(here, scheduler, record);
    return others.ready < least(here, scheduler, others.running);
}

/* Introduces a record that its parent has not heard of. False: there is none, or the parent wants no more. */
static bool introduce_another(struct processor *here, struct scheduler *scheduler,
                              const struct dispatcher_thread *runs) {
    const struct catapults_policy *policy = scheduler->parent->policy;
    struct dispatcher_thread *record = scheduler->spare, *last = &scheduler->record;
    if (!record || scheduler->refused_by == policy)
        return false;
    while (last->newer)
        last = last->newer;
    scheduler->spare = record->newer; /* what is told now may introduce more of them */
    last->newer = record;             /* if the policy is out, it is among what goes on */
    if (core_introduce(here, scheduler, record, runs)) {
        last->newer = NULL;
        core_give_record(scheduler, record);
        scheduler->refused_by = policy;
        return false;
    }
    return true;
}

/* Whether a record that the policy has yet to place may find a processor that has nothing to run. */
static bool is_one_better(struct processor *here, const struct count *now) {
    struct core *core = here->core;
    if (now->running + now->ready + now->at_rest >= (int64_t)core->active)
        return false;
    for (const struct scheduler *node = &core->root; node; node = core_next_node(node))
        if (node->runnable == 0)
            return true;
    return false;
}

bool core_adjust_only(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    bool changed = false;
    while (scheduler->parent && !scheduler->leaving) {
        struct count now = count(here, scheduler, NULL);
        if (now.ready > most(scheduler, now.running))
            core_raise_at_parent(here, now.one_ready, THREAD_SUSPENDED, runs);
        else if (now.ready >= least(here, scheduler, now.running))
            break;
        else if (now.one_at_rest && is_near(here, now.one_at_rest))
            core_raise_at_parent(here, now.one_at_rest, SCHEDULER_RUNNABLE, runs);
        else if ((!now.one_at_rest || is_one_better(here, &now)) && introduce_another(here, scheduler, runs))
            ;
        else if (now.one_at_rest)
            core_raise_at_parent(here, now.one_at_rest, SCHEDULER_RUNNABLE, runs);
        else
            break;
        changed = true;
    }
    return changed;
}

void core_adjust(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs) {
    while (core_adjust_only(here, scheduler, runs))
        scheduler = scheduler->parent;
}

void core_adjust_all(struct processor *here) {
    struct core *core = here->core;
    const struct dispatcher_thread *runs = core->running_frames[here->frame].turn;
    for (struct scheduler *scheduler = core->root.next; scheduler; scheduler = scheduler->next)
        core_adjust(here, scheduler, runs);
}

struct dispatcher_thread *core_record_to_ask_for(struct processor *here, struct scheduler *scheduler) {
    struct dispatcher_thread *ready = count(here, scheduler, NULL).one_ready;
    return ready ? ready : &scheduler->record;
}

uint16_t core_number_of(const struct dispatcher_thread *record) {
    uint16_t number = 0;
    for (const struct dispatcher_thread *one = &record->below->record; one != record; one = one->newer)
        number++;
    return number;
}

void core_count_waiting(struct processor *here, struct dispatcher_thread *turn, int change) {
    for (struct dispatcher_thread *member = turn, *record; (record = core_above(here, member)); member = record)
        member->scheduler->waiting += (uint32_t)change;
}

void core_give_record(struct scheduler *scheduler, struct dispatcher_thread *record) {
    record->newer = scheduler->spare;
    scheduler->spare = record;
}

struct dispatcher_thread *core_next_record(const struct dispatcher_thread *record) { return record->newer; }
