/*
 * Checks, with several processors, that what the dispatcher keeps agrees with itself and with what the policies do. It
 * does so whenever the lock is released, in builds with CATAPULTS_CHECKED (those for the sanitizers, and `make
 * stress`). So a fault is found where it happened, not where something stumbles over it. A breach is a fault of this
 * runtime, or of a policy that the compiler did not make: the program says which check failed, and is killed.
 */
#include "core/check.h"
#include "core/donation.h"
#include "core/frames.h"
#include "core/outside.h"
#include "core/postponed.h"

#ifdef CATAPULTS_CHECKED

static __attribute__((noinline, noreturn)) void broken(const struct core *core, const char *what, const void *whose) {
    if (core->host->inconsistent)
        core->host->inconsistent(what);
    __asm__ volatile("" : : "r"(whose) : "memory"); /* a debugger finds it */
    __builtin_trap();
}

#define CHECK(condition, whose)                                                                                        \
    do {                                                                                                               \
        if (UNLIKELY(!(condition)))                                                                                    \
            broken(here->core, #condition, whose);                                                                     \
    } while (0)

/* ---- Processors, and what is RUNNING ----------------------------------------------------------------------------- */

static uint32_t length_of(struct processor *here, const struct processor *processor) {
    uint32_t length = 0;
    for (const struct dispatcher_thread *turn = processor->turns_first; turn; turn = turn->turn_next) {
        CHECK(turn->turn_waits && turn->turn_for == processor, turn);
        CHECK(here->core->running_frames[turn->turn_frame].turn == turn, turn);
        length++;
    }
    return length;
}

static void check_processors(struct processor *here) {
    struct core *core = here->core;
    uint32_t asleep = 0, parked_asleep = 0, woken = 0, waiting = 0;
    for (uint32_t i = 0; i < core->processors_count; i++) {
        const struct processor *one = core->processors[i];
        waiting += length_of(here, one);
        asleep += one->asleep && !one->parked;
        parked_asleep += one->asleep && one->parked;
        woken += one->woken;
        CHECK(one->number == i && one->parked == (i >= core->active), one);
        for (uint32_t j = 0; j < i; j++) {
            CHECK(core->processors[j]->current != one->current, one->current);
            CHECK(core->processors[j]->frame != one->frame || one->frame == NOBODY, one);
        }
        const struct running_frame *frame = &core->running_frames[one->frame];
        if (!frame->turn)
            continue;
        CHECK(frame->turn == one->turn && !frame->turn->turn_waits, one);
        CHECK(!one->over && (frame->runs == one->current || one->handed), one);
    }
    CHECK(asleep == core->asleep && parked_asleep == core->parked_asleep, core);
    CHECK(woken == core->waking && waiting == core->waiting, core);
}

/* A turn waits wherever a postponed thread may run, unless a look at them is due. */
static void check_postponed(struct processor *here) {
    struct core *core = here->core;
    uint32_t count = 0;
    for (const struct dispatcher_thread *thread = core->postponed; thread; thread = thread->turn_next, count++) {
        CHECK(thread->state == THREAD_POSTPONED && thread->set_aside, thread);
        CHECK(thread->turn_next || core->postponed_last == thread, thread);
        CHECK(core->none_waits || !core_is_expected(here, thread), thread);
    }
    for (const struct dispatcher_thread *thread = core->oldest; thread; thread = thread->newer)
        count -= thread->state == THREAD_POSTPONED;
    CHECK(count == 0, core);
}

static void check_frames(struct processor *here) {
    struct core *core = here->core;
    uint32_t running = 0;
    CHECK(!core->running_frames[NOBODY].turn && !core->running_frames[NOBODY].runs, core);
    for (uint16_t number = NOBODY + 1; number < FRAMES; number++) {
        const struct running_frame *frame = &core->running_frames[number];
        CHECK(!frame->runs || (frame->turn && frame->runs->runs_in == number), frame);
        if (!frame->turn)
            continue;
        running++;
        CHECK(core_is_runnable(frame->turn) && !frame->turn->scheduler->lent_only, frame->turn);
        CHECK(frame->turn->turn_waits || core_runner_of(here, number), frame->turn);
    }
    CHECK(running == core->running, core);
}

/* ---- What is under schedulers ------------------------------------------------------------------------------------ */

/* The policy has it where it is. */
static void check_container(struct processor *here, const struct dispatcher_thread *member) {
    uint8_t class = member->scheduler->policy->classes[member->policy.container];
    bool is_builtin = member->scheduler->policy == &dispatcher_builtin && class == CATAPULTS_IN_HAND;
    if (!core_is_runnable(member))
        CHECK(class == CATAPULTS_BLOCKED || is_builtin, member);
    else if (core_frame_of(here, member) != NOBODY)
        CHECK(class == CATAPULTS_RUNNING || is_builtin, member);
    else
        CHECK(class == CATAPULTS_READY, member);
}

/* A thread in its chain has a turn, or will get one, and is looked at after that: a lock that was free when the lists
 * were looked through may have been taken since. */
static bool will_be_looked_at(struct processor *here, const struct dispatcher_thread *thread) {
    const struct dispatcher_thread *behind = thread;
    while ((behind = core_lends_to(here, behind)))
        if (behind->relays &&
            (behind->runs_in != NOBODY || (core_is_runnable(behind) && !behind->scheduler->lent_only)))
            return true;
    return false;
}

static void check_thread(struct processor *here, const struct dispatcher_thread *thread) {
    struct core *core = here->core;
    CHECK(thread->state != THREAD_ENDED, thread);
    CHECK(thread->runs_in == NOBODY || core->running_frames[thread->runs_in].runs == thread, thread);
    CHECK(!thread->set_aside || thread->state == THREAD_BLOCKED || thread->state == THREAD_POSTPONED ||
              thread->homeless,
          thread);
    CHECK(thread->state != THREAD_LENDING || thread->waits_for, thread);
    CHECK(!thread->lends || thread->waits_for, thread);
    if (!thread->scheduler->lent_only && !thread->homeless)
        check_container(here, thread);
    if (thread->donor_blocked_for)
        CHECK(thread->donor_blocked_for == thread && thread->state == THREAD_BLOCKED && thread->waits_for, thread);
    else
        CHECK(thread->state != THREAD_BLOCKED || !thread->lends, thread); /* nobody would rouse it */
    /* Nor if its chain has changed and nobody has said so. A donor that lends to nobody any more need not hurry. */
    if (thread->donor_blocked_for && !core->chains_changed && core_lends_to(here, thread))
        CHECK(!core_can_lend(here, thread) || will_be_looked_at(here, thread), thread);
}

static void check_counts(struct processor *here, const struct scheduler *scheduler) {
    struct core *core = here->core;
    int64_t runnable = 0;
    for (const struct dispatcher_thread *thread = core->oldest; thread; thread = thread->newer)
        runnable += thread->scheduler == scheduler && !thread->homeless && core_is_runnable(thread);
    for (const struct scheduler *child = &core->root; child; child = child->next)
        for (const struct dispatcher_thread *record = &child->record; record && child->parent; record = record->newer) {
            if (record->scheduler != scheduler || record->state == THREAD_ENDED || record->homeless)
                continue;
            runnable += record->state == SCHEDULER_RUNNABLE;
            check_container(here, record);
        }
    CHECK(scheduler->runnable == runnable, scheduler);
}

/* ---- Who sleeps -------------------------------------------------------------------------------------------------- */

enum { LATE_AT_MOST = 50000 }; /* nanoseconds: quantum.c lets sleepers wake so late */

/* Whether the processor finds out in time that a thread is to wake at `instant`. */
static bool looks_at(const struct processor *one, int64_t instant) {
    if (one->woken || one->over || one->anew || one->late || one->came || one->handed)
        return true; /* it decides next, or looks after that */
    return one->current != &one->idle && one->armed && one->armed <= instant + LATE_AT_MOST;
}

/* Some processor does. */
static void check_timers(struct processor *here) {
    struct core *core = here->core;
    if (!core->timers || !core->host->arm || core->asleep)
        return; /* one that sleeps is woken for that, if none polls */
    if (core->poller) {
        CHECK(core->poller->woken || core_first_instant(core) >= core->polls_until, core->poller);
        return;
    }
    int64_t instant = core->timers->instant, now = core->host->now();
    bool looks = false;
    for (uint32_t i = 0; i < core->processors_count; i++)
        looks |= looks_at(core->processors[i], instant > now ? instant : now);
    CHECK(looks, core->timers);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

/* With many threads it is done only now and then. */
enum { MANY = 100 };

void core_check(struct processor *here) {
    struct core *core = here->core;
    uint32_t threads = 0, blocked_donors = 0;
    if (core->checked > MANY && ++core->checks % core->checked != 0)
        return;
    check_processors(here);
    check_postponed(here);
    check_frames(here);
    check_timers(here);
    for (const struct dispatcher_thread *thread = core->oldest; thread; thread = thread->newer) {
        check_thread(here, thread);
        blocked_donors += thread->donor_blocked_for != NULL;
        threads++;
    }
    CHECK(core_check_blocked_donors(here) == blocked_donors, core);
    for (const struct scheduler *scheduler = &core->root; scheduler; scheduler = scheduler->next)
        check_counts(here, scheduler);
    core->checked = threads;
}

#endif
