/*
 * What a policy is told of time: the instant (`now`), how long each thread has run (its import `consumed`), and how
 * long all of them have run together, which is the scheduler's virtual time (1996, §4.4.1: the policy's import
 * `consumed`). If no policy asks for any of it, the clock is not read.
 *
 * By time stamps: a thread is charged from the moment it goes on until the event by which it stops. Nobody is charged
 * for the time between two threads: the policy's decision, and time in which nothing is READY.
 *
 * By samples, if the host asks for that: the thread that runs when the processor has run for another tick is charged
 * for the whole tick. Events cost nothing then. A tick may come at any instruction, so it is only counted there. The
 * next decision charges the thread whose turn it was.
 */
#include "core/clock.h"
#include "core/running_frames.h"
#include "core/tree.h"

static bool is_consumed(const struct catapults_import *import) {
    static const char name[] = "consumed";
    unsigned length = 0;
    while (length < sizeof name && import->name[length] == name[length])
        length++;
    return length == sizeof name && import->type == CATAPULTS_IMPORT_TIME;
}

static const struct catapults_import *find_consumed(const struct catapults_import *imports, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (is_consumed(&imports[i]))
            return &imports[i];
    return NULL;
}

void core_clock_start(struct processor *here, struct scheduler *scheduler) {
    struct core *core = here->core;
    const struct catapults_policy *policy = scheduler->policy;
    char *instance = scheduler->instance;
    char *once = scheduler->shared ? scheduler->shared : instance;
    scheduler->now = policy->now ? (catapults_time *)(once + policy->now) : NULL;
    scheduler->timeouts = policy->timers ? (struct catapults_timers *)(instance + policy->timers) : NULL;
    scheduler->consumed = find_consumed(policy->thread_imports, policy->thread_imports_count);
    const struct catapults_import *supplied = find_consumed(policy->imports, policy->imports_count);
    scheduler->supplied = supplied ? (catapults_time *)(once + supplied->fallback) : NULL;
    scheduler->told = core->host->now();
    bool accounts = scheduler->consumed || scheduler->supplied || core->accounting || core->watched;
    if (accounts && core->host->sample) {
        core->host->sample();
        accounts = false;
    }
    scheduler->tells_time = scheduler->now || accounts;
    scheduler->clocked = scheduler->tells_time || core->several;
    scheduler->timed = scheduler->timeouts || scheduler->handlers.tick;
    core_lose_shortcut(core);
    if (!scheduler->timed || !core->host->arm)
        return;
    here->timed = true;
    for (uint32_t i = 0; i < core->processors_count; i++)
        core->processors[i]->timed = true;
}

static catapults_time *consumed_by(struct dispatcher_thread *thread) {
    return (catapults_time *)((char *)&thread->policy + thread->scheduler->consumed->fallback);
}

void core_clock_adopt(struct dispatcher_thread *thread) { *consumed_by(thread) = 0; }

static void charge(struct dispatcher_thread *member, int64_t time) {
    const struct scheduler *scheduler = member->scheduler;
    member->consumed += time;
    if (scheduler->consumed)
        *consumed_by(member) += time;
    if (scheduler->supplied)
        *scheduler->supplied += time;
}

void core_tell(struct processor *here, struct scheduler *scheduler, bool running) {
    struct core *core = here->core;
    const struct dispatcher_thread *turn = here->polling ? NULL : here->turn;
    if (UNLIKELY(core->several)) {
        uint16_t frame = here->sees;
        if (scheduler->node)
            frame = scheduler->node->frame; /* that of a node is never put aside */
        else
            core_show(scheduler, frame);
        turn = core->running_frames[frame].turn;
        if (running)
            scheduler->declined = false;
        if (!scheduler->tells_time)
            return;
    }
    int64_t now = core->host->now();
    if (scheduler->now)
        *scheduler->now = now;
    struct dispatcher_thread *member = running && !core->host->sample ? core_member(here, scheduler, turn) : NULL;
    if (member)
        charge(member, now - scheduler->told);
    scheduler->told = now;
}

void core_charge_samples(struct processor *here) {
    uint32_t ticks = here->sampled - here->charged;
    here->charged += ticks;
    struct dispatcher_thread *member = here->turn;
    for (; member; member = core_above(here, member))
        charge(member, ticks * here->core->host->tick);
}

static void account(struct processor *here) {
    struct core *core = here->core;
    if (core->host->sample) {
        core->host->sample();
        return;
    }
    int64_t now = core->host->now();
    for (struct scheduler *scheduler = &core->root; scheduler; scheduler = scheduler->next) {
        core_tell(here, scheduler, true);
        for (uint16_t frame = NOBODY; core->several && !scheduler->tells_time && frame < FRAMES; frame++)
            scheduler->told_in[frame] = now; /* what runs on others has run before that */
        if (!scheduler->tells_time)
            scheduler->told = now;
        scheduler->clocked = scheduler->tells_time = true;
    }
    core_lose_shortcut(core);
}

void core_account(struct processor *here) {
    here->core->accounting = true;
    account(here);
}

void core_watch_consumed(struct processor *here, bool watched) {
    struct core *core = here->core;
    core->watched = watched;
    if (watched)
        account(here);
    if (watched || core->accounting || core->host->sample)
        return;
    for (struct scheduler *scheduler = &core->root; scheduler; scheduler = scheduler->next) {
        core_tell(here, scheduler, true);
        scheduler->tells_time = scheduler->now || scheduler->consumed || scheduler->supplied;
        scheduler->clocked = scheduler->tells_time || core->several;
    }
    core_lose_shortcut(core);
}

bool core_counts_consumed(const struct core *core) {
    return core->accounting || core->watched || core->root.tells_time;
}

static void tell_all_above(struct processor *here, const struct dispatcher_thread *turn) {
    for (const struct dispatcher_thread *member = turn; member; member = core_above(here, member))
        tell(here, member->scheduler, true);
}

/* All records of a scheduler together. */
static int64_t consumed_by_all(const struct dispatcher_thread *member) {
    int64_t consumed = member->consumed;
    for (; member->is_scheduler && member->newer; member = member->newer)
        consumed += member->newer->consumed;
    return consumed;
}

int64_t core_consumed_by(struct processor *here, const struct dispatcher_thread *member) {
    struct core *core = here->core;
    if (core->host->sample) {
        charge_samples(here);
        for (uint32_t i = 0; i < core->processors_count; i++)
            charge_samples(core->processors[i]);
        return consumed_by_all(member);
    }
    tell_all_above(here, here->turn);
    for (uint16_t frame = NOBODY + 1; core->several && frame < core->frames_end; frame++) {
        here->sees = frame;
        if (core->running_frames[frame].turn)
            tell_all_above(here, core->running_frames[frame].turn);
    }
    here->sees = here->frame;
    return consumed_by_all(member);
}
