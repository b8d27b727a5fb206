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
 * unblocked: it is "stalled". Those of its donors that are never dispatched meanwhile hear nothing of that: no
 * avalanche (§3.4). So a thread that is stalled always has at the end of its chain the thread whose list it is in.
 */
#include "dispatcher/state.h"

/* Whom the word names; NULL: nobody, or a thread that has ended. */
static struct dispatcher_thread *named_by(const uintptr_t *word) {
    uintptr_t name = __atomic_load_n(word, __ATOMIC_RELAXED), record = name & DISPATCHER_NAME_ADDRESS;
    if (!record)
        return NULL;
    struct dispatcher_thread *thread = (struct dispatcher_thread *)(record + dispatcher.host->record);
    uint16_t generation = (uint16_t)(name >> DISPATCHER_NAME_BITS);
    return UNLIKELY(generation && (thread->generation != generation || thread->state == THREAD_ENDED)) ? NULL : thread;
}

struct dispatcher_thread *dispatcher_waited_for(const struct dispatcher_thread *thread) {
    return thread->waits_for ? named_by(thread->waits_for) : NULL;
}

/* Whom the thread lends its turns to; NULL: it has them for itself. */
static struct dispatcher_thread *borrower_of(const struct dispatcher_thread *thread) {
    struct dispatcher_thread *borrower = thread->lends ? dispatcher_waited_for(thread) : NULL;
    return borrower == thread ? NULL : borrower;
}

static struct dispatcher_thread *end_of(struct dispatcher_thread *thread) {
    struct dispatcher_thread *next;
    while ((next = borrower_of(thread)))
        thread = next;
    return thread;
}

/* One that is LENDING, but to nobody, goes on: what it waited for has happened. */
static bool can_run(const struct dispatcher_thread *end, const struct dispatcher_thread *turn) {
    return end->state == THREAD_LENDING ||
           ((end->state == THREAD_RUNNABLE || end->state == THREAD_MARKED) && (!end->own_turn || end == turn));
}

static void enlist(struct dispatcher_thread *thread, struct dispatcher_thread *end);

/* The last in the chain of the turn, which ends in vain, whose scheduler is an application's thread and believes that
 * it is ready; or NULL. */
static struct dispatcher_thread *last_client(struct dispatcher_thread *turn) {
    struct dispatcher_thread *last = NULL;
    for (struct dispatcher_thread *thread = turn; thread; thread = borrower_of(thread))
        if (UNLIKELY(thread->scheduler->lent_only) && thread->state == THREAD_LENDING)
            last = thread;
    return last;
}

/* Who is to run on the turn, which is RUNNING. NULL: nobody can; it has been blocked. */
struct dispatcher_thread *dispatcher_borrow(struct dispatcher_thread *turn) {
    for (;;) {
        struct dispatcher_thread *end = end_of(turn);
        if (LIKELY(can_run(end, turn))) {
            end->state = THREAD_RUNNABLE;
            return end;
        }
        struct dispatcher_thread *client = last_client(turn);
        if (LIKELY(!client)) {
            dispatcher_stall(turn, end);
            return NULL;
        }
        enlist(client, end);
        dispatcher_set_aside(client); /* its scheduler may be awake now */
    }
}

bool dispatcher_can_lend(const struct dispatcher_thread *thread) {
    return can_run(end_of((struct dispatcher_thread *)thread), thread);
}

/* ---- Threads that are stalled ------------------------------------------------------------------------------------ */

static void enlist(struct dispatcher_thread *thread, struct dispatcher_thread *end) {
    for (struct dispatcher_thread *t = thread; t != end;) {
        t = borrower_of(t);
        t->relays = t != end;
    }
    if (end->state == THREAD_ENDED)
        return; /* for ever; its record may be another's soon */
    thread->stalled_on = end;
    thread->stalled_previous = NULL;
    thread->stalled_next = end->stalled;
    if (end->stalled)
        end->stalled->stalled_previous = thread;
    end->stalled = thread;
}

static void strike_off(struct dispatcher_thread *thread) {
    struct dispatcher_thread *end = thread->stalled_on;
    if (!end)
        return;
    if (thread->stalled_previous)
        thread->stalled_previous->stalled_next = thread->stalled_next;
    else
        end->stalled = thread->stalled_next;
    if (thread->stalled_next)
        thread->stalled_next->stalled_previous = thread->stalled_previous;
    thread->stalled_on = NULL;
}

/* `thread` is RUNNING; `end`, which its chain ends in, cannot run, or not any longer. */
void dispatcher_stall(struct dispatcher_thread *thread, struct dispatcher_thread *end) {
    enlist(thread, end);
    dispatcher_raise_block(thread);
}

static void rouse(struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    strike_off(thread);
    thread->state = THREAD_LENDING;
    dispatcher_raise_event(thread, runs);
}

/* `end` can run again, or has ended. */
void dispatcher_rouse(struct dispatcher_thread *end, const struct dispatcher_thread *runs) {
    while (end->stalled) {
        for (struct dispatcher_thread *t = borrower_of(end->stalled); t && t != end; t = borrower_of(t))
            t->relays = false;
        rouse(end->stalled, runs);
    }
}

/* Chains through `relay` have changed. That is so rare that it is found out who is concerned. */
static void rouse_behind(struct dispatcher_thread *relay, const struct dispatcher_thread *runs) {
    if (LIKELY(!relay->relays))
        return;
    relay->relays = false;
    for (struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer)
        if (thread->stalled_on && end_of(thread) != thread->stalled_on)
            rouse(thread, runs);
}

/* ---- The end of a wait, and a new one ---------------------------------------------------------------------------- */

/* The thread waits no longer. Whether it was READY or RUNNING to its policy all the time. */
bool dispatcher_stop_lending(struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    bool lending = thread->state == THREAD_LENDING;
    thread->waits_for = NULL;
    thread->lends = false;
    strike_off(thread);
    rouse_behind(thread, runs);
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
    thread->lends = !dispatcher.several && cycle_from(thread, named_by(to)) == CYCLE_NONE;
    if (lending || !thread->lends)
        return;
    if (dispatcher_can_lend(thread))
        rouse(thread, runs);
    else
        enlist(thread, end_of(thread));
    if (thread->stalled) /* chains that ended here go on now */
        dispatcher_rouse(thread, runs);
}

enum dispatcher_cycle dispatcher_cycle(const uintptr_t *to) {
    return cycle_from(processor_here()->current, named_by(to));
}
