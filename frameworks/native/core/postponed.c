/*
 * A turn that waits for a processor waits in a frame. There is one frame for the first turn at each processor, and
 * TURNS_WAITING more. When all are in use, a dispatched thread that has to wait behind others is postponed: it is
 * BLOCKED to its policy (suspend_thread), and the policy is asked for another thread. So no processor is idle for want
 * of frames, however many threads are bound to one processor.
 *
 *     postponed ──► thread ──turn_next──► thread ──► …          in the order of their policies, else as dispatched
 *
 * When a turn stops waiting (`fewer_wait`, `left_off` times), there is room for the first of the list. It becomes READY
 * at the next decision, or when the runtime is left. The room may be gone when it is dispatched. Wherever a postponed
 * thread may run, turns wait. So the others need no look before some processor has no turn that waits for it
 * (`none_waits`).
 *
 * A thread that lends its turns is not postponed: it becomes READY, and its policy may dispatch it again. If it lends
 * to a postponed thread, that thread gets the place in the list that the donor would have.
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

/* The link to the first thread that comes after this one. */
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

/* Returns whether it is READY now. */
static bool let_in(struct processor *here, struct dispatcher_thread *thread) {
    if (UNLIKELY(thread->to_be_suspended)) { /* as it is to its policy */
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
        return !there->turns_first; /* else it is first left there, for one of those turns */
    for (uint32_t i = 0; i < core->processors_count; i++) {
        const struct processor *one = core->processors[i];
        if (!one->turns_first && core_may_run_on(here, thread, one))
            return true;
    }
    return false;
}
