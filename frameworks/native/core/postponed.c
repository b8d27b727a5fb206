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
#include "core/blocked_donors.h"
#include "core/decide.h"
#include "core/hand_over.h"
#include "core/postponed.h"
#include "core/raise.h"
#include "core/running_frames.h"
#include "core/tree.h"

/* In a tree only what is RUNNING can be compared. */
static bool comes_first(struct processor *here, const struct dispatcher_thread *thread,
                        const struct dispatcher_thread *other) {
    return LIKELY(!here->core->root.next) && core_order(here, thread, other) < 0;
}

/* The link to the first that comes after the thread. */
static struct dispatcher_thread **place_of(struct processor *here, const struct dispatcher_thread *thread) {
    struct dispatcher_thread **place = &here->core->postponed;
    while (*place && ((*place)->turn_stays || !comes_first(here, thread, *place)))
        place = &(*place)->turn_next;
    return place;
}

static void insert(struct processor *here, struct dispatcher_thread *thread, struct dispatcher_thread **place) {
    thread->turn_next = *place;
    thread->turn_stays = false;
    *place = thread;
    if (!thread->turn_next)
        here->core->postponed_last = thread;
}

static void take_out(struct processor *here, struct dispatcher_thread *thread) {
    struct core *core = here->core;
    struct dispatcher_thread **place = &core->postponed, *before = NULL;
    while (*place != thread) {
        before = *place;
        place = &before->turn_next;
    }
    *place = thread->turn_next;
    if (core->postponed_last == thread)
        core->postponed_last = before;
}

void core_postpone(struct processor *here, struct dispatcher_thread *thread) {
    struct core *core = here->core;
    struct dispatcher_thread *last = core->postponed ? core->postponed_last : NULL;
    /* Policies dispatch in their order, so it is the last more often than not. */
    insert(here, thread, last && !comes_first(here, thread, last) ? &last->turn_next : place_of(here, thread));
    core_set_aside(here, thread);
    thread->state = THREAD_POSTPONED;
    if (UNLIKELY(thread->scheduler->parent != NULL))
        core_give_up(here, thread);
}

void core_postpone_less(struct processor *here, struct dispatcher_thread *thread,
                        const struct dispatcher_thread *donor) {
    if (!comes_first(here, donor, thread))
        return;
    take_out(here, thread);
    insert(here, thread, place_of(here, donor));
    thread->turn_stays = true;
}

/* Whether it is READY now. */
static bool let_in(struct processor *here, struct dispatcher_thread *thread) {
    if (UNLIKELY(thread->to_be_suspended)) { /* which it is to its policy */
        thread->to_be_suspended = thread->set_aside = false;
        thread->state = THREAD_SUSPENDED;
        return false;
    }
    thread->state = THREAD_RUNNABLE;
    core_step_aside(here, thread);
    core_raise_event(here, thread, core_running(here));
    core_step_back(here);
    core_changed(here, thread);
    return true;
}

void core_let_in(struct processor *here) {
    struct core *core = here->core;
    bool all = core->none_waits;
    core->fewer_wait = core->none_waits = false;
    int64_t room = (int64_t)TURNS_WAITING - core->waiting;
    if (room > core->left_off)
        room = core->left_off; /* others may have been let in, and be READY still */
    core->left_off = 0;
    struct dispatcher_thread **place = &core->postponed, *thread;
    while ((thread = *place) && (room > 0 || all)) {
        if (room <= 0 && !core_is_expected(here, thread)) {
            place = &thread->turn_next;
            continue;
        }
        take_out(here, thread);
        room -= let_in(here, thread);
    }
}

bool core_is_expected(struct processor *here, const struct dispatcher_thread *thread) {
    struct core *core = here->core;
    const struct processor *there = core_stands_on(here, thread);
    if (there)
        return !there->turns_first; /* else it is left there, before anything else can become of it, for one of those */
    for (uint32_t i = 0; i < core->processors_count; i++) {
        const struct processor *one = core->processors[i];
        if (!one->turns_first && core_may_run_on(here, thread, one))
            return true;
    }
    return false;
}
