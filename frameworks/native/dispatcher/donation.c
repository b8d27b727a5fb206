/*
 * Donation: who waits for another thread lends it its turns (CPU inheritance scheduling, 1996, §3.4).
 *
 *      turn ──waits_for──► a thread ──waits_for──► current        the chain of a turn: its end runs
 *      RUNNING             READY                   READY          what their policies see
 *
 * No thread knows who lends to it, so a lock that changes hands costs the same however many wait for it: they follow
 * the word that names its owner. The chain is looked at when a thread begins to wait, whose turn then goes on with its
 * end, and when a policy dispatches a thread that is LENDING; a turn is charged to whose it is (§4.4.2).
 *
 * If the end cannot run, the thread whose turn it is is blocked, and is in a list of the end's, with which it is
 * unblocked: it is a "blocked donor". Those of its donors that are never dispatched meanwhile hear nothing of that: no
 * avalanche (§3.4). So a blocked donor always has at the end of its chain the thread whose list it is in.
 *
 * With several processors the end may run already, on a turn of its own or of another donor, which one donor more
 * cannot hasten: then, too, a donor is blocked, until the end is left (blocked_donors.c). If a policy gives a turn to a
 * thread that another processor runs on a loan, it goes on there on that turn, and the donor is blocked (decide.c).
 */
#include "dispatcher/state.h"

/* Whom the word names; NULL: nobody, or a thread that has ended. */
static struct dispatcher_thread *named_by(const uintptr_t *word) {
    uintptr_t name = __atomic_load_n(word, __ATOMIC_RELAXED) & ~NAME_OWN;
    if (!name)
        return NULL;
    struct dispatcher_thread *thread = name_thread(name);
    bool is_gone = (name & NAME_IN_TABLE) && (thread->name != name || thread->state == THREAD_ENDED);
    return UNLIKELY(is_gone) ? NULL : thread;
}

struct dispatcher_thread *dispatcher_waited_for(const struct dispatcher_thread *thread) {
    return thread->waits_for ? named_by(thread->waits_for) : NULL;
}

struct dispatcher_thread *dispatcher_lends_to(const struct dispatcher_thread *thread) {
    struct dispatcher_thread *borrower = thread->lends ? dispatcher_waited_for(thread) : NULL;
    return borrower == thread ? NULL : borrower;
}

struct dispatcher_thread *dispatcher_end_of(struct dispatcher_thread *thread) {
    struct dispatcher_thread *next;
    while ((next = dispatcher_lends_to(thread)))
        thread = next;
    return thread;
}

/* It is RUNNING, on whichever processor, whoever runs on its turn. */
static bool is_running(const struct dispatcher_thread *thread) {
    bool running = thread->turn_waits;
    for (uint32_t i = 0; i < dispatcher.processors_count && !running; i++)
        running = dispatcher.running_frames[dispatcher.processors[i]->frame].turn == thread;
    return running;
}

/* Of several processors: none runs it, or is to, on another turn. */
static __attribute__((noinline)) bool is_free(const struct dispatcher_thread *end,
                                              const struct dispatcher_thread *turn) {
    return end == turn ||
           ((end->runs_in == NOBODY || dispatcher.running_frames[end->runs_in].turn == turn) && !is_running(end));
}

/* One that is LENDING, but to nobody, goes on: what it waited for has happened. */
static bool can_run(const struct dispatcher_thread *end, const struct dispatcher_thread *turn) {
    bool can = end->state == THREAD_LENDING ||
               ((end->state == THREAD_RUNNABLE || end->state == THREAD_MARKED) && (!end->own_turn || end == turn));
    return can && (LIKELY(!dispatcher.several) || is_free(end, turn));
}

void dispatcher_about_to_run(struct dispatcher_thread *end) {
    if (end->state == THREAD_LENDING) {
        end->waits_for = NULL;
        end->lends = false;
        if (timer_is_set(&end->timer))
            timer_cancel(&dispatcher.timers, &end->timer);
    }
    end->state = THREAD_RUNNABLE;
}

static void enlist(struct dispatcher_thread *thread, struct dispatcher_thread *end);

/* The last in the chain of the turn, which ends in vain, whose scheduler is an application's thread and believes that
 * it is ready; or NULL. Not the end itself: if that is ready, it runs on another turn, or is to. */
static struct dispatcher_thread *last_client(struct dispatcher_thread *turn, const struct dispatcher_thread *end) {
    struct dispatcher_thread *last = NULL;
    for (struct dispatcher_thread *thread = turn; thread != end; thread = dispatcher_lends_to(thread))
        if (UNLIKELY(thread->scheduler->lent_only) && thread->state == THREAD_LENDING)
            last = thread;
    return last;
}

struct dispatcher_thread *dispatcher_borrower(struct dispatcher_thread *turn) {
    for (;;) {
        struct dispatcher_thread *end = dispatcher_end_of(turn);
        if (LIKELY(can_run(end, turn))) {
            if (LIKELY(
                    !dispatcher.several)) /* else it may have to wait for a processor, and wait for others until then */
                dispatcher_about_to_run(end);
            return end;
        }
        struct dispatcher_thread *client = last_client(turn, end);
        if (LIKELY(!client)) {
            dispatcher_block_donor(turn, end);
            return NULL;
        }
        enlist(client, end);
        dispatcher_set_aside(client); /* its scheduler may be awake now */
        if (UNLIKELY(dispatcher_preempted(turn)))
            return NULL;
    }
}

struct dispatcher_thread *dispatcher_borrow(struct dispatcher_thread *turn) {
    struct dispatcher_thread *next = dispatcher_borrower(turn);
    return LIKELY(!dispatcher.several) || !next ? next : dispatcher_go_on(next);
}

bool dispatcher_can_lend(const struct dispatcher_thread *thread) {
    return can_run(dispatcher_end_of((struct dispatcher_thread *)thread), thread);
}

/* ---- Blocked donors -----------------------------------------------------------------------------------------------
 */

/* All blocked donors are in one list, too, in the order of their numbers, so that a chain that changes costs no look
 * at those that are not. Who is blocked last is mostly the youngest. */
static void list(struct dispatcher_thread *thread) {
    if (!dispatcher.blocked_donors_last)
        dispatcher.blocked_donors_last = &dispatcher.blocked_donors;
    struct dispatcher_thread **link = dispatcher.blocked_donors_last;
    while (link != &dispatcher.blocked_donors) {
        struct dispatcher_thread *before =
            (struct dispatcher_thread *)((char *)link - offsetof(struct dispatcher_thread, listed_next));
        if ((int32_t)(before->policy.number - thread->policy.number) < 0)
            break;
        link = before->listed_link;
    }
    thread->listed_next = *link;
    thread->listed_link = link;
    *(thread->listed_next ? &thread->listed_next->listed_link : &dispatcher.blocked_donors_last) = &thread->listed_next;
    *link = thread;
}

static void unlist(struct dispatcher_thread *thread) {
    if (dispatcher.donor_next == thread)
        dispatcher.donor_next = thread->listed_next;
    *thread->listed_link = thread->listed_next;
    *(thread->listed_next ? &thread->listed_next->listed_link : &dispatcher.blocked_donors_last) = thread->listed_link;
}

static void enlist(struct dispatcher_thread *thread, struct dispatcher_thread *end) {
    if (UNLIKELY(dispatcher.several)) {
        dispatcher_enlist(thread);
        return;
    }
    for (struct dispatcher_thread *t = thread; t != end;) {
        t = dispatcher_lends_to(t);
        t->relays = t != end;
    }
    if (end->state == THREAD_ENDED)
        return; /* for ever; its record may be another's soon */
    list(thread);
    struct dispatcher_thread *first = end->blocked_donors;
    thread->donor_blocked_for = end;
    thread->donor_next = NULL;
    thread->donor_previous = first ? first->donor_previous : thread;
    *(first ? &first->donor_previous->donor_next : &end->blocked_donors) = thread;
    (first ? first : thread)->donor_previous = thread;
}

static void strike_off(struct dispatcher_thread *thread) {
    struct dispatcher_thread *end = thread->donor_blocked_for;
    if (!end)
        return;
    if (UNLIKELY(dispatcher.several)) {
        dispatcher_strike_off(thread);
        return;
    }
    struct dispatcher_thread *first = end->blocked_donors, *next = thread->donor_next;
    *(thread == first ? &end->blocked_donors : &thread->donor_previous->donor_next) = next;
    (next ? next : first)->donor_previous = thread->donor_previous;
    thread->donor_blocked_for = NULL;
    unlist(thread);
}

/* `thread` is RUNNING; `end`, which its chain ends in, cannot run, or not any longer. */
void dispatcher_block_donor(struct dispatcher_thread *thread, struct dispatcher_thread *end) {
    enlist(thread, end);
    if (UNLIKELY(end->runs_in != NOBODY || end->state == THREAD_POSTPONED))
        dispatcher_hasten(end, thread);
    dispatcher_raise_block(thread);
}

void dispatcher_rouse_one(struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    strike_off(thread);
    thread->state = THREAD_LENDING;
    if (UNLIKELY(dispatcher.several) && !dispatcher_lends_to(thread))
        dispatcher_changed(thread); /* it can run itself: who is behind it may have been looked at before */
    dispatcher_raise_event(thread, runs);
}

/* `end` can run again, or has ended. */
void dispatcher_rouse(struct dispatcher_thread *end, const struct dispatcher_thread *runs) {
    while (end->blocked_donors) {
        for (struct dispatcher_thread *t = dispatcher_lends_to(end->blocked_donors); t && t != end;
             t = dispatcher_lends_to(t))
            t->relays = false;
        dispatcher_rouse_one(end->blocked_donors, runs);
    }
}

/* Chains through `relay` have changed. That is so rare that it is found out who is concerned. */
static void rouse_behind(struct dispatcher_thread *relay, const struct dispatcher_thread *runs) {
    if (LIKELY(!relay->relays))
        return;
    relay->relays = false;
    /* A thread that schedules is told of its clients, and others may be struck off by that; or all of this is done
     * within. */
    struct dispatcher_thread *thread;
    dispatcher.donor_next = dispatcher.blocked_donors;
    while ((thread = dispatcher.donor_next)) {
        dispatcher.donor_next = thread->listed_next;
        if (dispatcher_end_of(thread) != thread->donor_blocked_for)
            dispatcher_rouse_one(thread, runs);
    }
}

/* ---- The end of a wait, and a new one ---------------------------------------------------------------------------- */

/* The thread waits no longer. Whether it was READY or RUNNING to its policy all the time. */
bool dispatcher_stop_lending(struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    bool lending = thread->state == THREAD_LENDING;
    strike_off(thread);
    thread->waits_for = NULL;
    thread->lends = false;
    if (UNLIKELY(dispatcher.several)) {
        dispatcher_changed(thread);
        dispatcher.turns_changed |= lending;
    } else {
        rouse_behind(thread, runs);
    }
    return lending;
}

/* What would be if `waiter` waited for `thread`. */
static enum dispatcher_cycle cycle_from(const struct dispatcher_thread *waiter,
                                        const struct dispatcher_thread *thread) {
    const struct dispatcher_thread *mark = NULL;
    enum dispatcher_cycle cycle = CYCLE_CLOSED;
    for (unsigned steps = 1; thread && thread != mark; steps++) {
        if (thread == waiter)
            return cycle;
        if ((thread->reason != BLOCK_LOCK && thread->reason != BLOCK_JOIN) || timer_is_set(&thread->timer))
            cycle = CYCLE_OPEN;
        if ((steps & (steps - 1)) == 0)
            mark = thread; /* others may wait in a ring already: it is met again */
        thread = dispatcher_waited_for(thread);
    }
    return CYCLE_NONE;
}

void dispatcher_redirected(struct dispatcher_thread *thread, const uintptr_t *to) {
    const struct processor *here = processor_here();
    const struct dispatcher_thread *runs = here->polling ? NULL : here->turn;
    bool lending = dispatcher_stop_lending(thread, runs);
    thread->waits_for = to;
    thread->lends = cycle_from(thread, named_by(to)) == CYCLE_NONE;
    if (lending || !thread->lends)
        return;
    if (dispatcher_can_lend(thread))
        dispatcher_rouse_one(thread, runs);
    else
        enlist(thread, dispatcher_end_of(thread));
    if (thread->blocked_donors && !dispatcher.several) /* chains that ended here go on now */
        dispatcher_rouse(thread, runs);
}

void dispatcher_renamed(struct dispatcher_thread *thread) {
    if (thread->blocked_donors && !dispatcher.several)
        dispatcher_rouse(thread, dispatcher_running());
    dispatcher_changed(thread);
}

enum dispatcher_cycle dispatcher_cycle(const uintptr_t *to) {
    return cycle_from(processor_here()->current, named_by(to));
}
