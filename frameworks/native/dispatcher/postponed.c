/*
 * Turns that wait for a processor wait in frames, of which there are only so many: for the one that is first at each
 * processor, and TURNS_WAITING more. When these are in use, a thread that is dispatched and has to wait behind others
 * is postponed: BLOCKED to its policy (suspend_thread), which is asked for another, until there is room. So no
 * processor is idle for want of frames, however many threads are bound to another one that somebody keeps.
 *
 *     postponed ──► thread ──turn_next──► thread ──► …          as their policies order them, else as they were
 * dispatched
 *
 * There is room when one waits no longer (`fewer_wait`, as often as `left_off` says): for the first of the list, at the
 * next decision, or when the runtime is left. It may not be there any more when that one is dispatched. Wherever one of
 * them may run, turns wait, so others need not be looked at before there is a processor that no turn waits for
 * (`none_waits`).
 *
 * Who lends its turns is not postponed: it is READY again, and comes back as often as its policy dispatches it. If it
 * lends to one that is postponed, that one has the place in the list that the donor would have.
 */
#include "dispatcher/state.h"

/* In a tree only what is RUNNING can be compared. */
static bool comes_first(const struct dispatcher_thread *thread, const struct dispatcher_thread *other) {
    return LIKELY(!dispatcher.root.next) && dispatcher_order(thread, other) < 0;
}

/* The link to the first that comes after the thread. */
static struct dispatcher_thread **place_of(const struct dispatcher_thread *thread) {
    struct dispatcher_thread **place = &dispatcher.postponed;
    while (*place && ((*place)->turn_stays || !comes_first(thread, *place)))
        place = &(*place)->turn_next;
    return place;
}

static void insert(struct dispatcher_thread *thread, struct dispatcher_thread **place) {
    thread->turn_next = *place;
    thread->turn_stays = false;
    *place = thread;
    if (!thread->turn_next)
        dispatcher.postponed_last = thread;
}

static void take_out(struct dispatcher_thread *thread) {
    struct dispatcher_thread **place = &dispatcher.postponed, *before = NULL;
    while (*place != thread) {
        before = *place;
        place = &before->turn_next;
    }
    *place = thread->turn_next;
    if (dispatcher.postponed_last == thread)
        dispatcher.postponed_last = before;
}

void dispatcher_postpone(struct dispatcher_thread *thread) {
    struct dispatcher_thread *last = dispatcher.postponed ? dispatcher.postponed_last : NULL;
    /* Policies dispatch in their order, so it is the last more often than not. */
    insert(thread, last && !comes_first(thread, last) ? &last->turn_next : place_of(thread));
    dispatcher_set_aside(thread);
    thread->state = THREAD_POSTPONED;
    if (UNLIKELY(thread->scheduler->parent != NULL))
        dispatcher_give_up(thread);
}

void dispatcher_postpone_less(struct dispatcher_thread *thread, const struct dispatcher_thread *donor) {
    if (!comes_first(donor, thread))
        return;
    take_out(thread);
    insert(thread, place_of(donor));
    thread->turn_stays = true;
}

/* Whether it is READY now. */
static bool let_in(struct dispatcher_thread *thread) {
    if (UNLIKELY(thread->to_be_suspended)) { /* which it is to its policy */
        thread->to_be_suspended = thread->set_aside = false;
        thread->state = THREAD_SUSPENDED;
        return false;
    }
    struct processor *here = processor_here();
    thread->state = THREAD_RUNNABLE;
    dispatcher_step_aside(here, thread);
    dispatcher_raise_event(thread, dispatcher_running());
    dispatcher_step_back(here);
    dispatcher_changed(thread);
    return true;
}

void dispatcher_let_in(void) {
    bool all = dispatcher.none_waits;
    dispatcher.fewer_wait = dispatcher.none_waits = false;
    int64_t room = (int64_t)TURNS_WAITING - dispatcher.waiting;
    if (room > dispatcher.left_off)
        room = dispatcher.left_off; /* others may have been let in, and be READY still */
    dispatcher.left_off = 0;
    struct dispatcher_thread **place = &dispatcher.postponed, *thread;
    while ((thread = *place) && (room > 0 || all)) {
        if (room <= 0 && !dispatcher_is_expected(thread)) {
            place = &thread->turn_next;
            continue;
        }
        take_out(thread);
        room -= let_in(thread);
    }
}

bool dispatcher_is_expected(const struct dispatcher_thread *thread) {
    const struct processor *there = dispatcher_stands_on(thread);
    if (there)
        return !there->turns_first; /* else it is left there, before anything else can become of it, for one of those */
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        const struct processor *one = dispatcher.processors[i];
        if (!one->turns_first && dispatcher_may_run_on(thread, one))
            return true;
    }
    return false;
}
