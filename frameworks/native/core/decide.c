/*
 * Decisions where there are several processors. They share the policy under one lock of the host. Whoever is in the
 * dispatcher holds it, also across a switch; the thread that goes on releases it.
 *
 * The processor that needs a thread asks the policy, in its own frame (running_frames.c). The thread that the policy
 * dispatches may be unable to run there, because it still stands on another kernel thread:
 *
 *   - it was woken before it had left its processor; or
 *   - it was interrupted in code that depends on its kernel thread (`kept_on`).
 *
 * Such a thread is RUNNING to the policy all the same. Its turn, with the frame, waits for the other processor, which
 * takes waiting turns before it asks the policy. This processor asks the policy again. While there are spare kernel
 * threads, an interrupted thread does not wait: the processor changes kernel threads (hand_over.c).
 *
 * A turn that waits may belong to a thread that is more urgent than the one that runs there. Both are RUNNING to the
 * policy, so the policy cannot compare them. Therefore:
 *
 *   - If the waiting thread can run nowhere else, the running thread gives the processor up, as if it had yielded.
 *   - If a second turn comes to wait at such a place, all of these threads become READY, and the policy chooses.
 *   - If the policies limit turns, and do not say that the waiting thread comes first, it waits. Otherwise turns would
 *     be cut short, and threads would lose their places.
 *
 * The same holds for donation (donation.c): a turn waits for the processor on which the end of its chain stands.
 *
 * Policies with nodes (nodes.c): a processor asks its own instance, always in the same frame. While the turn of that
 * instance waits for another processor, or runs there, this processor has no frame, and asks nothing. There is one
 * exception: if that turn belongs to a scheduler below the root, which chooses among threads of all processors, this
 * processor stands in for the one that runs the turn, and asks its instance. So all instances are served.
 */
#include "core/blocked_donors.h"
#include "core/clock.h"
#include "core/containment.h"
#include "core/decide.h"
#include "core/donation.h"
#include "core/frames.h"
#include "core/hand_over.h"
#include "core/nodes.h"
#include "core/outside.h"
#include "core/postponed.h"
#include "core/quantum.h"
#include "core/raise.h"
#include "core/ready.h"
#include "core/running_frames.h"
#include "core/scheduler_records.h"
#include "core/tree.h"

static struct dispatcher_thread *decided(struct processor *here, struct dispatcher_thread *next);
static struct dispatcher_thread *ask(struct processor *here);
static void attend_between_turns(struct processor *here);
static bool has_something(struct processor *here);
static void end_own_turn(struct processor *here);
static struct dispatcher_thread *take_turn(struct processor *here);
static struct dispatcher_thread *take_handed(struct processor *here, const struct dispatcher_thread *handed);
static struct dispatcher_thread *begin_turn(struct processor *here, struct dispatcher_thread *next);
static bool puts_back(struct processor *here, struct dispatcher_thread *turn, const struct dispatcher_thread *next);
static struct dispatcher_thread *take_over(struct processor *here, struct dispatcher_thread *turn);
static void queue(struct processor *here, struct processor *there, struct dispatcher_thread *turn, uint16_t frame,
                  struct dispatcher_thread **place);
static struct dispatcher_thread **place_of_turn(struct processor *there, const struct dispatcher_thread *turn);
static struct dispatcher_thread **place_in_order(struct processor *here, struct processor *there,
                                                 const struct dispatcher_thread *turn);
static bool is_overdue(struct processor *here, const struct dispatcher_thread *turn);
static bool makes_room(struct processor *here, struct processor *there, const struct dispatcher_thread *turn);
static bool can_wait(struct processor *here, const struct dispatcher_thread *turn,
                     const struct dispatcher_thread *before);
static void clear_away(struct processor *here, struct processor *there, const struct dispatcher_thread *turn);
static void give_back(struct processor *here, uint16_t frame);
static void precede(struct processor *here, struct processor *there, const struct dispatcher_thread *turn);
static void sort(struct processor *here, struct processor *there);
static void let_go_who_has_left(struct processor *here);

/* How often a turn is given back because it is to run elsewhere. */
enum { MOST_PUT_BACK = 16 };

static const int64_t LONGEST_WAIT = 200000000; /* nanoseconds */

/* ---- Deciding ---------------------------------------------------------------------------------------------------- */

struct dispatcher_thread *core_decide(struct processor *here) {
    struct core *core = here->core;
    charge_samples(here);
    here->patience = 1; /* the next decision comes here, too */
    if (UNLIKELY(here->current->kept_on != NULL) && UNLIKELY(core->root.node != NULL))
        core_list_picky(here, here->current); /* it may be left */
    if (UNLIKELY(here->handed != NULL) && !here->over && core_is_taken(here, here->turn))
        core_end_turn(here, here->frame); /* by an event that was raised here while it was polling */
    struct dispatcher_thread *handed = here->over ? NULL : here->handed;
    here->handed = NULL;
    if (UNLIKELY(here->over)) {
        here->recorded = false;
        here->over = false;
        here->armed = 0; /* it may have been interrupted just now, and not have come to say so */
    }
    here->anew = false;
    here->expected = false;
    here->sorted = false;
    struct dispatcher_thread *next = UNLIKELY(handed != NULL) ? take_handed(here, handed) : NULL;
    if (UNLIKELY(next != NULL))
        return decided(here, next);
    end_own_turn(here);
    if (UNLIKELY(here->late) || UNLIKELY(core->signalled) || UNLIKELY(--here->decisions <= 0)) {
        here->due |= LOOK_OUTSIDE;
        return &here->idle;
    }
    return core_decide_after_all(here);
}

struct dispatcher_thread *core_decide_after_all(struct processor *here) {
    struct dispatcher_thread *next;
    for (;;) {
        if (UNLIKELY(here->core->changes))
            attend_between_turns(here);
        next = here->turns_first ? take_turn(here) : here->parked ? &here->idle : ask(here);
        if (LIKELY(next != NULL))
            break;
        end_own_turn(here); /* it is a blocked donor now */
    }
    return decided(here, next);
}

static struct dispatcher_thread *decided(struct processor *here, struct dispatcher_thread *next) {
    here->settles = false;
    if (here->core->poller)
        core_tell_poller(here);
    return next;
}

static __attribute__((noinline)) void attend_between_turns(struct processor *here) {
    struct core *core = here->core;
    bool chains = core->chains_changed && (core_must_settle(here, 1) || here->settles);
    bool room = core->fewer_wait || core->none_waits;
    if (!chains && !room)
        return;
    here->polling = true; /* to those that are told, and tell others, nothing is RUNNING */
    if (UNLIKELY(room))
        core_let_in(here);
    if (chains) {
        core_step_aside(here, NULL);
        core_settle(here, NULL);
        core_step_back(here);
    }
    core_stop_polling(here);
}

bool core_must_settle(struct processor *here, int64_t taken) {
    struct core *core = here->core;
    return core->root.node || core->root.next || core->clients ||
           core_ready(here) > taken + core->asleep + core->waking;
}

static void end_own_turn(struct processor *here) {
    struct core *core = here->core;
    uint16_t frame = here->frame;
    core_set_turn(here, frame, NULL);
    if (LIKELY(!core->root.node))
        return;
    core_move_to(here, NOBODY);
    if (frame != NOBODY && core->processors[frame - 1] != here)
        core_noticed(here, core->processors[frame - 1]->scheduler);
}

/* Asks the policy. NULL: ask again. */
static struct dispatcher_thread *ask(struct processor *here) {
    if (!has_something(here))
        return &here->idle;
    struct scheduler *scheduler = here->serves;
    if (scheduler->node) {
        core_move_to(here, scheduler->node->frame);
        scheduler->node->decisions++;
    }
    scheduler->asked_for = false;
    struct catapults_thread *t = SCHEDULE(scheduler, &here->stop);
    struct dispatcher_thread *next = core_descend_from(here, scheduler, t);
    if (next)
        return begin_turn(here, next);
    here->serves->declined = true;
    if (here->core->root.node)
        core_move_to(here, NOBODY);
    return &here->idle;
}

/* Whether there is something to decide here. */
static bool has_something(struct processor *here) {
    here->serves = here->scheduler;
    if (UNLIKELY(here->scheduler->node != NULL)) {
        struct scheduler *instance = core_instance_for(here);
        if (!instance)
            return false;
        here->serves = instance;
        if (instance->runnable > 0 || core_steal(here, instance))
            return true;
        if (here->scheduler->node)
            return false;
    }
    if (UNLIKELY(here->put_back > 0) && here->put_back > core_ready(here)) {
        here->put_back = 0;
        here->serves->declined = true; /* there is nobody else: until something happens */
        return false;
    }
    return core_ready(here) > 0;
}

struct scheduler *core_instance_for(struct processor *here) {
    struct core *core = here->core;
    const struct processor *one = here;
    for (uint32_t i = 0; one && i < core->processors_count; i++) {
        const struct node *node = one->scheduler->node;
        const struct dispatcher_thread *turn = node ? core->running_frames[node->frame].turn : NULL;
        if (!turn)
            return node ? one->scheduler : NULL;
        one = turn->scheduler->parent ? core_runner_of(here, node->frame) : NULL;
    }
    return NULL;
}

/* The turn is no longer in the list of the processor that it waited for. */
static void stop_waiting(struct processor *here, struct dispatcher_thread *turn) {
    struct core *core = here->core;
    turn->turn_waits = false;
    core->waiting--;
    if (UNLIKELY(core->postponed != NULL)) {
        core->fewer_wait = true;
        core->left_off++;
        /* A postponed thread that stands there does so no longer. */
        core->none_waits |= !turn->turn_for->turns_first || turn->turn_for->current->state == THREAD_POSTPONED;
    }
    if (UNLIKELY(turn->scheduler->parent != NULL))
        core_count_waiting(here, turn, -1);
}

static struct dispatcher_thread *take_turn(struct processor *here) {
    struct dispatcher_thread *turn = here->turns_first;
    here->turns_first = turn->turn_next;
    stop_waiting(here, turn);
    if (here->frame != NOBODY)
        core_give_frame(here, here->frame);
    core_move_to(here, turn->turn_frame);
    core_noticed(here, here->scheduler); /* another may have to serve it now */
    here->turn = turn;
    if (UNLIKELY(here->turns_first != NULL))
        let_go_who_has_left(here);
    struct dispatcher_thread *next = core_borrower(here, turn);
    return next ? begin_turn(here, next) : NULL;
}

/* Goes on with what was handed over to this one. By now another thread may be the one to run. */
static __attribute__((noinline)) struct dispatcher_thread *take_handed(struct processor *here,
                                                                       const struct dispatcher_thread *handed) {
    struct dispatcher_thread *next = core_borrower(here, here->turn);
    if (UNLIKELY(next != handed) && here->recorded) {
        TRACE(TRACE_SWITCHED_OUT, handed, 0);
        here->recorded = false;
    }
    return next ? begin_turn(here, next) : NULL;
}

/* `current` was dispatched before it had left, and waits here behind others. If it can be left anywhere, any processor
 * will do: another one asks the policy again, which has preferred it to what it dispatched next. */
static void let_go_who_has_left(struct processor *here) {
    struct core *core = here->core;
    const struct dispatcher_thread *left = here->current;
    const struct dispatcher_thread *turn = left->runs_in != NOBODY ? core->running_frames[left->runs_in].turn : NULL;
    if (!turn || !turn->turn_waits || turn->turn_for != here || left->kept_on || left->bound || core->root.node)
        return;
    if (can_wait(here, turn, here->turns_first))
        return;
    give_back(here, left->runs_in);
    core_end_another_turn(here);
}

/* The processor on whose kernel thread it stands; NULL: none. */
static struct processor *place_of(struct processor *here, const struct dispatcher_thread *thread) {
    struct core *core = here->core;
    for (uint32_t i = 0; i < core->processors_count; i++)
        if (core->processors[i]->current == thread)
            return core->processors[i];
    return thread->kept_on;
}

/* Where it has to run; NULL: anywhere. Of the processors that it is bound to, an idle one. If it goes on on a kernel
 * thread that can carry the number of a processor, that of one that it is bound to. */
static struct processor *place_for(const struct dispatcher_thread *thread, struct processor *here) {
    struct core *core = here->core;
    struct processor *there = place_of(here, thread);
    bool carried = there && there != here && core_can_carry(here, there);
    if ((there && there != here && !carried) || (thread->kept_on && !carried) || core_may_run_on(here, thread, here))
        return there;
    struct processor *kept_on = there;
    there = NULL;
    for (uint32_t i = 0; i < core->processors_count; i++) {
        struct processor *one = core->processors[i];
        if (!core_may_run_on(here, thread, one) || (carried && one->parked))
            continue;
        if (!there || (one->asleep && !there->asleep) || (there->turns_first && !one->turns_first))
            there = one;
    }
    return there ? there : kept_on;
}

struct processor *core_stands_on(struct processor *here, const struct dispatcher_thread *thread) {
    return place_of(here, thread);
}

bool core_is_elsewhere(struct processor *here, const struct dispatcher_thread *thread) {
    const struct processor *there = place_of(here, thread);
    return there && there != here;
}

/* `turn` is RUNNING in the frame of this processor, and `next` runs on it. NULL: not here. */
static struct dispatcher_thread *begin_turn(struct processor *here, struct dispatcher_thread *next) {
    struct core *core = here->core;
    struct dispatcher_thread *turn = here->turn;
    if (UNLIKELY(next->runs_in != NOBODY) && next->runs_in != here->frame)
        return take_over(here, next);
    core_set_turn(here, here->frame, turn);
    core_set_runs(here, here->frame, next);
    struct processor *there = place_for(next, here);
    if (LIKELY(!there || there == here)) {
        if (UNLIKELY(here->kept != 0) && core_hands_on(here, next))
            return &here->idle;
        here->put_back = 0;
        if (UNLIKELY(turn->waits_since != 0))
            turn->waits_since = 0;
        if (UNLIKELY(here->timed) || core_nobody_looks(here))
            core_arm(here);
        core_about_to_run(here, next);
        if (UNLIKELY(core->signals_begun))
            core->host->about_to_run(next);
        return next;
    }
    if (core_hands_to(here, there, next))
        return &here->idle;
    if (UNLIKELY(core->root.node != NULL) && puts_back(here, turn, next))
        return NULL;
    bool shared = LIKELY(!core->root.node), overdue = shared && is_overdue(here, turn);
    if (there->turns_first && !there->sorted && shared && !overdue && place_of(here, next) == there &&
        !can_wait(here, turn, there->turns_first)) {
        sort(here, there);
        core_give_up_all(here, turn, here->frame);
        return NULL;
    }
    if (UNLIKELY(shared && there->turns_first && core->waiting >= TURNS_WAITING) && !makes_room(here, there, turn)) {
        if (next == turn && turn->state != THREAD_LENDING) {
            core_postpone(here, turn);
        } else {
            here->put_back++; /* the policy is asked for another, as often as something is READY: see has_something */
            core_give_up_all(here, turn, here->frame);
        }
        return NULL;
    }
    uint16_t frame = here->frame;
    if (UNLIKELY(core->running_frames[frame].turn != turn)) /* while room was made, another policy has come */
        return NULL;
    core_move_to(here, shared ? core_new_frame(here) : NOBODY);
    queue(here, there, turn, frame, overdue ? &there->turns_first : place_in_order(here, there, turn));
    if (overdue || (next->kept_on && (shared || next != turn)))
        clear_away(here, there, overdue ? NULL : turn);
    else if (shared && there->turns_first == turn)
        precede(here, there, turn);
    return NULL;
}

/* How long turns wait for those that the policies limit: longer than quanta usually are. */
static int64_t longest_wait(struct processor *here) {
    int64_t limit = here->core->host->starvation_limit;
    return limit && limit < LONGEST_WAIT ? limit : LONGEST_WAIT;
}

/* Its turns have waited for so long for a processor, since it last ran. Its policy may have taken turns from it
 * meanwhile, and given it others. */
static bool is_overdue(struct processor *here, const struct dispatcher_thread *turn) {
    return turn->waits_since && here->core->host->now() - turn->waits_since >= longest_wait(here);
}

/* The turn waits for a processor whose own turn comes after it, as the policies say: that becomes READY again. */
static void precede(struct processor *here, struct processor *there, const struct dispatcher_thread *turn) {
    const struct dispatcher_thread *runs = here->core->running_frames[there->frame].turn;
    if (runs && there != here && core_order(here, turn, runs) < 0)
        give_back(here, there->frame);
}

void core_precede(struct processor *here, const struct dispatcher_thread *thread) {
    struct core *core = here->core;
    const struct dispatcher_thread *last = NULL;
    uint16_t frame = NOBODY;
    for (uint32_t i = 0; i < core->processors_count; i++) {
        const struct processor *one = core->processors[i];
        const struct dispatcher_thread *turn = core->running_frames[one->frame].turn;
        if (one == here || one->parked || !turn || !core_may_run_on(here, thread, one) ||
            core_order(here, thread, turn) >= 0 || (last && core_order(here, last, turn) >= 0))
            continue;
        last = turn;
        frame = one->frame;
    }
    if (last)
        give_back(here, frame);
}

/* For a policy with nodes, whose processor would have nothing to do while the turn waits: a scheduler below has chosen
 * a thread that can go on only elsewhere. It is asked for another a few times, as if that one had yielded. */
static bool puts_back(struct processor *here, struct dispatcher_thread *turn, const struct dispatcher_thread *next) {
    if (!turn->scheduler->parent || (!next->kept_on && !next->bound) || here->put_back++ >= MOST_PUT_BACK) {
        here->put_back = 0;
        return false;
    }
    core_give_up_all(here, turn, here->frame);
    return true;
}

struct dispatcher_thread *core_go_on(struct processor *here, struct dispatcher_thread *next) {
    return begin_turn(here, next);
}

/* The policy has dispatched `turn`, which runs in another frame, or is to, on the turn of a donor. It goes on there on
 * its own turn, and the donor's turn comes here. But if both wait, and the donor comes first, it stays on the
 * donor's. */
static struct dispatcher_thread *take_over(struct processor *here, struct dispatcher_thread *turn) {
    struct core *core = here->core;
    uint16_t lent = turn->runs_in, own = here->frame;
    struct dispatcher_thread *donor = core->running_frames[lent].turn;
    struct processor *there = donor->turn_waits ? donor->turn_for : core_runner_of(here, lent);
    if (donor->turn_waits && !turn->own_turn && core_order(here, donor, turn) < 0) { /* it comes earlier as it is */
        core_set_turn(here, own, turn);
        here->put_back++;
        core_give_up_all(here, turn, own);
        return NULL;
    }
    core->running_frames[lent].runs = NULL;
    turn->runs_in = NOBODY;
    core_set_turn(here, own, turn);
    core_set_runs(here, own, turn);
    if (donor->turn_waits) {
        struct dispatcher_thread **place = place_of_turn(there, donor);
        *place = donor->turn_next;
        stop_waiting(here, donor);
        queue(here, there, turn, own, core_order(here, turn, donor) < 0 ? place_in_order(here, there, turn) : place);
    } else {
        there->turn = turn;
        core_move_to(there, own);
        if (core->host->arm && there->timed && !there->armed)
            core_tell_other(here, there, INTERRUPT);
    }
    core_move_to(here, lent);
    here->turn = donor;
    struct dispatcher_thread *next = core_borrower(here, donor);
    return next ? begin_turn(here, next) : NULL;
}

/* Whether the policies limit the turn of `before`, and do not say that `turn` comes first. */
static bool can_wait(struct processor *here, const struct dispatcher_thread *turn,
                     const struct dispatcher_thread *before) {
    if (core_order(here, turn, before) < 0)
        return false;
    for (const struct dispatcher_thread *member = before; member; member = core_above(here, member))
        if (member->scheduler->timed)
            return true;
    return false;
}

/* A turn waits for the processor, where the thread that is to run was left: takes it from the thread that runs there.
 * `turn`: the one that waits, if it may wait until the policy ends the other. */
static void clear_away(struct processor *here, struct processor *there, const struct dispatcher_thread *turn) {
    const struct dispatcher_thread *runs = here->core->running_frames[there->frame].turn;
    if (runs && there != here && !(turn && can_wait(here, turn, runs)))
        give_back(here, there->frame);
}

void core_end_another_turn(struct processor *here) {
    struct core *core = here->core;
    for (uint32_t i = 0; i < core->processors_count; i++) {
        struct processor *there = core->processors[i];
        if (there != here && !there->parked && core->running_frames[there->frame].turn) {
            clear_away(here, there, NULL);
            return;
        }
    }
}

bool core_let_who_waits(struct processor *here, int64_t now) {
    const struct dispatcher_thread *turn = here->core->running_frames[here->frame].turn, *waits = here->turns_first;
    if (LIKELY(!waits) || !turn || core_is_taken(here, turn) || now - waits->waits_since < longest_wait(here))
        return false;
    give_back(here, here->frame);
    return true;
}

/* What is RUNNING in the frame becomes READY, as if it had yielded. */
static void give_back(struct processor *here, uint16_t frame) {
    struct core *core = here->core;
    struct dispatcher_thread *turn = core->running_frames[frame].turn;
    struct scheduler *scheduler = turn->scheduler;
    if (LIKELY(!scheduler->parent)) { /* else all of them are told below */
        bool saw_own = here->sees == here->frame;
        uint16_t sees = here->sees;
        here->sees = frame;
        const struct catapults_stop *stop = RAISE(scheduler, switch_out, &turn->policy);
        if (UNLIKELY(stop))
            core_contain(here, scheduler, "switch_out", stop, NULL, NULL);
        here->sees = saw_own ? here->frame : sees; /* as in give_up_all */
    }
    if (LIKELY(core->running_frames[frame].turn == turn))
        core_end_turn(here, frame);
}

/* Several threads can go on only on one processor, and the policy has dispatched each as if it would run at once. All
 * become READY again, with their donors; the one that it then dispatches first has the processor. Once, until it
 * has. */
static void sort(struct processor *here, struct processor *there) {
    clear_away(here, there, NULL);
    while (there->turns_first)
        give_back(here, there->turns_first->turn_frame);
    there->sorted = true;
    here->settles = true;
}

void core_hasten(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *donor) {
    struct core *core = here->core;
    if (UNLIKELY(thread->state == THREAD_POSTPONED)) {
        struct processor *there = place_for(thread, here);
        core_postpone_less(here, thread, donor);
        if (there && there->turns_first && core->waiting >= TURNS_WAITING)
            makes_room(here, there, donor);
        return;
    }
    struct dispatcher_thread *turn = core->running_frames[thread->runs_in].turn;
    if (!turn || !turn->turn_waits)
        return;
    struct processor *there = turn->turn_for;
    if (UNLIKELY(core->root.node != NULL)) {
        if (thread->kept_on)
            clear_away(here, there, NULL);
    } else if (thread->kept_on && !there->sorted) {
        sort(here, there);
    } else if (core_order(here, donor, turn) < 0) {
        give_back(here, turn->turn_frame); /* it waits on the donor's turn instead, which comes earlier */
        here->settles = true;
        here->put_back++;
    }
}

/* ---- Turns that wait for a processor ----------------------------------------------------------------------------- */

/* The link to the turn among those that wait there; NULL: the one at the end. */
static struct dispatcher_thread **place_of_turn(struct processor *there, const struct dispatcher_thread *turn) {
    struct dispatcher_thread **place = &there->turns_first;
    while (*place != turn)
        place = &(*place)->turn_next;
    return place;
}

void core_leave_queue(struct processor *here, struct dispatcher_thread *turn) {
    *place_of_turn(turn->turn_for, turn) = turn->turn_next;
    stop_waiting(here, turn);
}

/* The link where the policies' order has a turn that comes: behind others that are as urgent. */
static struct dispatcher_thread **place_in_order(struct processor *here, struct processor *there,
                                                 const struct dispatcher_thread *turn) {
    struct dispatcher_thread **place = &there->turns_first;
    while (*place && core_order(here, turn, *place) >= 0)
        place = &(*place)->turn_next;
    return place;
}

/* Of the turns that wait there, and that `turn` comes before, as the policies say, the last becomes READY again. */
static bool makes_room(struct processor *here, struct processor *there, const struct dispatcher_thread *turn) {
    const struct dispatcher_thread *last = NULL;
    for (const struct dispatcher_thread *one = there->turns_first; one; one = one->turn_next)
        if (core_order(here, turn, one) < 0)
            last = one;
    if (last)
        give_back(here, last->turn_frame);
    return last != NULL;
}

static void queue(struct processor *here, struct processor *there, struct dispatcher_thread *turn, uint16_t frame,
                  struct dispatcher_thread **place) {
    struct core *core = here->core;
    turn->turn_waits = true;
    core->waiting++;
    turn->turn_for = there;
    if (!turn->waits_since)
        turn->waits_since = core->host->now();
    turn->turn_frame = frame;
    turn->turn_next = *place;
    *place = turn;
    if (UNLIKELY(turn->scheduler->parent != NULL)) {
        here->sees = NOBODY;
        core_count_waiting(here, turn, 1);
        for (struct dispatcher_thread *member = turn; member; member = core_above(here, member))
            core_adjust(here, member->scheduler, NULL); /* another processor can have something of it instead */
        here->sees = here->frame;
    }
    if (there->asleep)
        core_wake(here, there);
    else if (core->host->arm && there->timed && !there->armed)
        core_tell_other(here, there, INTERRUPT); /* it knows of none that waits */
}
