/*
 * Donation: a thread that waits for another lends it its turns (CPU inheritance scheduling, 1996, §3.4).
 *
 *      turn ──waits_for──► a thread ──waits_for──► current        the chain of a turn: its end runs
 *      RUNNING             READY                   READY          what their policies see
 *
 * No thread knows its donors. A donor follows the word that names the owner of the lock. So a lock changes hands at the
 * same cost, however many threads wait for it. The chain is followed when a thread begins to wait, and its turn goes on
 * with the end of the chain; and when a policy dispatches a thread that is LENDING. A turn is charged to its own thread
 * (§4.4.2).
 *
 * If the end of the chain cannot run, the thread whose turn it is becomes BLOCKED: it is a "blocked donor". It is in a
 * list of the end, and becomes READY with it. Other donors of that thread that are not dispatched meanwhile hear
 * nothing: there is no avalanche (§3.4). A blocked donor always has the thread whose list it is in at the end of its
 * chain.
 *
 * With several processors, the end may already run, on its own turn or on that of another donor. One more donor cannot
 * speed it up. So that donor is blocked too, until the end stops running (blocked_donors.c). If a policy dispatches a
 * thread that runs on a loan on another processor, it goes on there on its own turn, and the donor is blocked
 * (decide.c).
 */
#include "core/blocked_donors.h"
#include "core/decide.h"
#include "core/donation.h"
#include "core/raise.h"
#include "core/tree.h"

/* The thread that the word names; NULL: none, or one that has ended. */
static struct dispatcher_thread *named_by(struct processor *here, const uintptr_t *word) {
    uintptr_t name = __atomic_load_n(word, __ATOMIC_RELAXED) & ~NAME_OWN;
    if (!name)
        return NULL;
    struct dispatcher_thread *thread = name_thread(here, name);
    bool is_gone = (name & NAME_IN_TABLE) && (thread->name != name || thread->state == THREAD_ENDED);
    return UNLIKELY(is_gone) ? NULL : thread;
}

struct dispatcher_thread *core_waited_for(struct processor *here, const struct dispatcher_thread *thread) {
    return thread->waits_for ? named_by(here, thread->waits_for) : NULL;
}

struct dispatcher_thread *core_lends_to(struct processor *here, const struct dispatcher_thread *thread) {
    struct dispatcher_thread *borrower = thread->lends ? core_waited_for(here, thread) : NULL;
    return borrower == thread ? NULL : borrower;
}

struct dispatcher_thread *core_end_of(struct processor *here, struct dispatcher_thread *thread) {
    struct dispatcher_thread *next;
    while ((next = core_lends_to(here, thread)))
        thread = next;
    return thread;
}

/* Whether it is RUNNING, on any processor, whichever thread runs on its turn. */
static bool is_running(struct processor *here, const struct dispatcher_thread *thread) {
    struct core *core = here->core;
    bool running = thread->turn_waits;
    for (uint32_t i = 0; i < core->processors_count && !running; i++)
        running = core->running_frames[core->processors[i]->frame].turn == thread;
    return running;
}

/* Several processors: it does not run on another turn, and is not to. */
static __attribute__((noinline)) bool is_free(struct processor *here, const struct dispatcher_thread *end,
                                              const struct dispatcher_thread *turn) {
    return end == turn || ((end->runs_in == NOBODY || here->core->running_frames[end->runs_in].turn == turn) &&
                           !is_running(here, end));
}

/* A LENDING thread that lends to nobody goes on: what it waited for has happened. */
static bool can_run(struct processor *here, const struct dispatcher_thread *end, const struct dispatcher_thread *turn) {
    bool can = end->state == THREAD_LENDING ||
               ((end->state == THREAD_RUNNABLE || end->state == THREAD_MARKED) && (!end->own_turn || end == turn));
    return can && (LIKELY(!here->core->several) || is_free(here, end, turn));
}

void core_about_to_run(struct processor *here, struct dispatcher_thread *end) {
    if (end->state == THREAD_LENDING) {
        end->waits_for = NULL;
        end->lends = false;
        if (timer_is_set(&end->timer))
            timer_cancel(&here->core->timers, &end->timer);
    }
    end->state = THREAD_RUNNABLE;
}

static void enlist(struct processor *here, struct dispatcher_thread *thread, struct dispatcher_thread *end);

/* The last thread in the chain of the turn, whose end cannot run, that an application's thread schedules and believes
 * to be ready; or NULL. Not the end itself: if that is ready, it runs on another turn, or is to. */
static struct dispatcher_thread *last_client(struct processor *here, struct dispatcher_thread *turn,
                                             const struct dispatcher_thread *end) {
    struct dispatcher_thread *last = NULL;
    for (struct dispatcher_thread *thread = turn; thread != end; thread = core_lends_to(here, thread))
        if (UNLIKELY(thread->scheduler->lent_only) && thread->state == THREAD_LENDING)
            last = thread;
    return last;
}

struct dispatcher_thread *core_borrower(struct processor *here, struct dispatcher_thread *turn) {
    for (;;) {
        struct dispatcher_thread *end = core_end_of(here, turn);
        if (LIKELY(can_run(here, end, turn))) {
            if (LIKELY(!here->core->several)) /* else it may have to wait for a processor, and for others until then */
                core_about_to_run(here, end);
            return end;
        }
        struct dispatcher_thread *client = last_client(here, turn, end);
        if (LIKELY(!client)) {
            core_block_donor(here, turn, end);
            return NULL;
        }
        enlist(here, client, end);
        core_set_aside(here, client); /* its scheduler may be awake now */
        if (UNLIKELY(core_preempted(here, turn)))
            return NULL;
    }
}

struct dispatcher_thread *core_borrow(struct processor *here, struct dispatcher_thread *turn) {
    struct dispatcher_thread *next = core_borrower(here, turn);
    return LIKELY(!here->core->several) || !next ? next : core_go_on(here, next);
}

bool core_can_lend(struct processor *here, const struct dispatcher_thread *thread) {
    return can_run(here, core_end_of(here, (struct dispatcher_thread *)thread), thread);
}

/* ---- Blocked donors -----------------------------------------------------------------------------------------------
 */

/* All blocked donors are also in one list, in the order of their numbers, so that a changed chain costs no look at
 * other threads. The last to be blocked is mostly the youngest. */
static void list(struct processor *here, struct dispatcher_thread *thread) {
    struct core *core = here->core;
    if (!core->blocked_donors_last)
        core->blocked_donors_last = &core->blocked_donors;
    struct dispatcher_thread **link = core->blocked_donors_last;
    while (link != &core->blocked_donors) {
        struct dispatcher_thread *before =
            (struct dispatcher_thread *)((char *)link - offsetof(struct dispatcher_thread, listed_next));
        if ((int32_t)(before->policy.number - thread->policy.number) < 0)
            break;
        link = before->listed_link;
    }
    thread->listed_next = *link;
    thread->listed_link = link;
    *(thread->listed_next ? &thread->listed_next->listed_link : &core->blocked_donors_last) = &thread->listed_next;
    *link = thread;
}

static void unlist(struct processor *here, struct dispatcher_thread *thread) {
    struct core *core = here->core;
    if (core->donor_next == thread)
        core->donor_next = thread->listed_next;
    *thread->listed_link = thread->listed_next;
    *(thread->listed_next ? &thread->listed_next->listed_link : &core->blocked_donors_last) = thread->listed_link;
}

static void enlist(struct processor *here, struct dispatcher_thread *thread, struct dispatcher_thread *end) {
    if (UNLIKELY(here->core->several)) {
        core_enlist(here, thread);
        return;
    }
    for (struct dispatcher_thread *t = thread; t != end;) {
        t = core_lends_to(here, t);
        t->relays = t != end;
    }
    if (end->state == THREAD_ENDED)
        return; /* for ever; its record may be another's soon */
    list(here, thread);
    struct dispatcher_thread *first = end->blocked_donors;
    thread->donor_blocked_for = end;
    thread->donor_next = NULL;
    thread->donor_previous = first ? first->donor_previous : thread;
    *(first ? &first->donor_previous->donor_next : &end->blocked_donors) = thread;
    (first ? first : thread)->donor_previous = thread;
}

static void strike_off(struct processor *here, struct dispatcher_thread *thread) {
    struct dispatcher_thread *end = thread->donor_blocked_for;
    if (!end)
        return;
    if (UNLIKELY(here->core->several)) {
        core_strike_off(here, thread);
        return;
    }
    struct dispatcher_thread *first = end->blocked_donors, *next = thread->donor_next;
    *(thread == first ? &end->blocked_donors : &thread->donor_previous->donor_next) = next;
    (next ? next : first)->donor_previous = thread->donor_previous;
    thread->donor_blocked_for = NULL;
    unlist(here, thread);
}

/* `thread` is RUNNING; `end`, the end of its chain, cannot run, or no longer. */
void core_block_donor(struct processor *here, struct dispatcher_thread *thread, struct dispatcher_thread *end) {
    enlist(here, thread, end);
    if (UNLIKELY(end->runs_in != NOBODY || end->state == THREAD_POSTPONED))
        core_hasten(here, end, thread);
    core_raise_block(here, thread);
}

void core_rouse_one(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    strike_off(here, thread);
    thread->state = THREAD_LENDING;
    if (UNLIKELY(here->core->several) && !core_lends_to(here, thread))
        core_changed(here, thread); /* it can run itself: those behind it may have been looked at before */
    core_raise_event(here, thread, runs);
}

/* `end` can run again, or has ended. */
void core_rouse(struct processor *here, struct dispatcher_thread *end, const struct dispatcher_thread *runs) {
    while (end->blocked_donors) {
        for (struct dispatcher_thread *t = core_lends_to(here, end->blocked_donors); t && t != end;
             t = core_lends_to(here, t))
            t->relays = false;
        core_rouse_one(here, end->blocked_donors, runs);
    }
}

/* Chains through `relay` have changed. That is so rare that the donors concerned are looked for. */
static void rouse_behind(struct processor *here, struct dispatcher_thread *relay,
                         const struct dispatcher_thread *runs) {
    struct core *core = here->core;
    if (LIKELY(!relay->relays))
        return;
    relay->relays = false;
    /* A thread that schedules is told of its clients, and that may strike off others, or do all of this. */
    struct dispatcher_thread *thread;
    core->donor_next = core->blocked_donors;
    while ((thread = core->donor_next)) {
        core->donor_next = thread->listed_next;
        if (core_end_of(here, thread) != thread->donor_blocked_for)
            core_rouse_one(here, thread, runs);
    }
}

/* ---- The end of a wait, and a new one ---------------------------------------------------------------------------- */

/* The thread waits no longer. Whether it was READY or RUNNING to its policy all the time. */
bool core_stop_lending(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    struct core *core = here->core;
    bool lending = thread->state == THREAD_LENDING;
    strike_off(here, thread);
    thread->waits_for = NULL;
    thread->lends = false;
    if (UNLIKELY(core->several)) {
        core_changed(here, thread);
        core->turns_changed |= lending;
    } else {
        rouse_behind(here, thread, runs);
    }
    return lending;
}

/* What would come of it if `waiter` waited for `thread`. */
static enum dispatcher_cycle cycle_from(struct processor *here, const struct dispatcher_thread *waiter,
                                        const struct dispatcher_thread *thread) {
    const struct dispatcher_thread *mark = NULL;
    enum dispatcher_cycle cycle = CYCLE_CLOSED;
    for (unsigned steps = 1; thread && thread != mark; steps++) {
        if (thread == waiter)
            return cycle;
        if ((thread->reason != BLOCK_LOCK && thread->reason != BLOCK_JOIN) || timer_is_set(&thread->timer))
            cycle = CYCLE_OPEN;
        if ((steps & (steps - 1)) == 0)
            mark = thread; /* others may already wait in a ring, which is met again */
        thread = core_waited_for(here, thread);
    }
    return CYCLE_NONE;
}

void core_redirected(struct processor *here, struct dispatcher_thread *thread, const uintptr_t *to) {
    const struct dispatcher_thread *runs = here->polling ? NULL : here->turn;
    bool lending = core_stop_lending(here, thread, runs);
    thread->waits_for = to;
    thread->lends = cycle_from(here, thread, named_by(here, to)) == CYCLE_NONE;
    if (lending || !thread->lends)
        return;
    if (core_can_lend(here, thread))
        core_rouse_one(here, thread, runs);
    else
        enlist(here, thread, core_end_of(here, thread));
    if (thread->blocked_donors && !here->core->several) /* chains that ended here go on now */
        core_rouse(here, thread, runs);
}

void core_renamed(struct processor *here, struct dispatcher_thread *thread) {
    if (thread->blocked_donors && !here->core->several)
        core_rouse(here, thread, core_running(here));
    core_changed(here, thread);
}

enum dispatcher_cycle core_cycle(struct processor *here, const uintptr_t *to) {
    return cycle_from(here, here->current, named_by(here, to));
}
