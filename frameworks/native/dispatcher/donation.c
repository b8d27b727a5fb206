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
 *
 * With several processors the end may run already, on a turn of its own or of another donor, which one donor more
 * cannot hasten: then, too, a donor is stalled, until the end is left (stalled.c). If a policy gives a turn to a thread
 * that another processor runs on a loan, it goes on there on that turn, and the donor is stalled (decide.c).
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
        running = dispatcher.frames[dispatcher.processors[i]->frame].turn == thread;
    return running;
}

/* Of several processors: none runs it, or is to, on another turn. */
static __attribute__((noinline)) bool is_free(const struct dispatcher_thread *end,
                                              const struct dispatcher_thread *turn) {
    return end == turn ||
           ((end->runs_in == NOBODY || dispatcher.frames[end->runs_in].turn == turn) && !is_running(end));
}

/* One that is LENDING, but to nobody, goes on: what it waited for has happened. */
static bool can_run(const struct dispatcher_thread *end, const struct dispatcher_thread *turn) {
    bool can = end->state == THREAD_LENDING ||
               ((end->state == THREAD_RUNNABLE || end->state == THREAD_MARKED) && (!end->own_turn || end == turn));
    return can && (LIKELY(!dispatcher.several) || is_free(end, turn));
}

void dispatcher_goes_on(struct dispatcher_thread *end) {
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
                dispatcher_goes_on(end);
            return end;
        }
        struct dispatcher_thread *client = last_client(turn, end);
        if (LIKELY(!client)) {
            dispatcher_stall(turn, end);
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

/* ---- Threads that are stalled ------------------------------------------------------------------------------------ */

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
    struct dispatcher_thread *first = end->stalled;
    thread->stalled_on = end;
    thread->stalled_next = NULL;
    thread->stalled_previous = first ? first->stalled_previous : thread;
    *(first ? &first->stalled_previous->stalled_next : &end->stalled) = thread;
    (first ? first : thread)->stalled_previous = thread;
}

static void strike_off(struct dispatcher_thread *thread) {
    struct dispatcher_thread *end = thread->stalled_on;
    if (!end)
        return;
    if (UNLIKELY(dispatcher.several)) {
        dispatcher_strike_off(thread);
        return;
    }
    struct dispatcher_thread *first = end->stalled, *next = thread->stalled_next;
    *(thread == first ? &end->stalled : &thread->stalled_previous->stalled_next) = next;
    (next ? next : first)->stalled_previous = thread->stalled_previous;
    thread->stalled_on = NULL;
}

/* `thread` is RUNNING; `end`, which its chain ends in, cannot run, or not any longer. */
void dispatcher_stall(struct dispatcher_thread *thread, struct dispatcher_thread *end) {
    enlist(thread, end);
    if (UNLIKELY(end->runs_in != NOBODY || end->state == THREAD_PUT_OFF))
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
    while (end->stalled) {
        for (struct dispatcher_thread *t = dispatcher_lends_to(end->stalled); t && t != end; t = dispatcher_lends_to(t))
            t->relays = false;
        dispatcher_rouse_one(end->stalled, runs);
    }
}

/* Chains through `relay` have changed. That is so rare that it is found out who is concerned. */
static void rouse_behind(struct dispatcher_thread *relay, const struct dispatcher_thread *runs) {
    if (LIKELY(!relay->relays))
        return;
    relay->relays = false;
    for (struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer)
        if (thread->stalled_on && dispatcher_end_of(thread) != thread->stalled_on)
            dispatcher_rouse_one(thread, runs);
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
    if (thread->stalled && !dispatcher.several) /* chains that ended here go on now */
        dispatcher_rouse(thread, runs);
}

void dispatcher_renamed(struct dispatcher_thread *thread) {
    if (thread->stalled && !dispatcher.several)
        dispatcher_rouse(thread, dispatcher_running());
    dispatcher_changed(thread);
}

enum dispatcher_cycle dispatcher_cycle(const uintptr_t *to) {
    return cycle_from(processor_here()->current, named_by(to));
}
