/*
 * A thread that was interrupted in its own code can go on only on that kernel thread. If other threads ran there, it
 * would wait for each of their turns. So no other thread runs where such a thread stands: the processor changes kernel
 * threads instead.
 *
 *     A is interrupted on the first      0: a, runs A    1: b, runs B    c is spare
 *     C is dispatched in its place       0: c, runs C    1: b, runs B    a is spare, A stands there
 *     B is interrupted, A is dispatched  0: c, runs C    1: a, runs A    b is spare, B stands there
 *
 * Whatever others know of the processor goes over to the other kernel thread: its number, its place in the list, its
 * frame with the turn, and the turns that wait for it. The other kernel thread goes on with the thread that is to run.
 * The first one is parked. Threads that are bound to processors, and traces, see no difference.
 *
 * A spare kernel thread is made when a thread is interrupted and none is left. Few are needed, because few threads
 * stand somewhere at a time. There are at most DISPATCHER_PROCESSORS kernel threads. When there are no more, several
 * threads stand on one kernel thread, and a turn may wait for another one, until it is overdue (decide.c).
 *
 * With a policy that has nodes nothing is handed over: a thread stays in the instance of its kernel thread (nodes.c).
 */
#include "core/hand_over.h"
#include "core/outside.h"

/* Whether a turn that waits for the processor needs this kernel thread, and so cannot go with the number. */
static bool waits_for_kernel_thread(const struct processor *here) {
    for (const struct dispatcher_thread *turn = here->turns_first; turn; turn = turn->turn_next) {
        const struct dispatcher_thread *runs = here->core->running_frames[turn->turn_frame].runs;
        if (runs && (runs->kept_on == here || runs == here->current))
            return true;
    }
    return false;
}

static bool may_hand_over(const struct processor *here) {
    struct core *core = here->core;
    return core->host->another && !core->root.node && !here->parked && !waits_for_kernel_thread(here);
}

static void swap_numbers(struct processor *here, struct processor *one, struct processor *other) {
    struct core *core = here->core;
    uint32_t number = one->number;
    uint16_t frame = one->frame;
    one->number = other->number;
    other->number = number;
    core->processors[one->number] = one;
    core->processors[other->number] = other;
    one->frame = one->sees = other->frame;
    other->frame = other->sees = frame;
}

/* Hands over the turn of `here`, which has begun, with all that is the processor's. */
static void hand_over(struct processor *here, struct processor *there, struct dispatcher_thread *next) {
    struct core *core = here->core;
    here->number_before = here->number;
    here->handed_on = next;
    if (UNLIKELY(here->core->recorder != NULL) && here->current == &here->idle)
        here->core->recorder->dispatched(&here->idle); /* else that is recorded when the thread that runs here leaves */
    swap_numbers(here, here, there);
    there->turn = here->turn;
    there->serves = here->serves;
    there->turns_first = here->turns_first;
    here->turns_first = NULL;
    for (struct dispatcher_thread *turn = there->turns_first; turn; turn = turn->turn_next)
        turn->turn_for = there;
    core->none_waits |= core->postponed != NULL;
    here->put_back = there->put_back = 0;
    there->handed = next;
    there->recorded = true;
    there->over = false;
    here->parked = true;
    if (there->asleep) {
        core->parked_asleep--;
        there->asleep = false;
        core_tell_other(here, there, WAKE);
    }
    there->parked = false;
}

bool core_hands_to(struct processor *here, struct processor *there, struct dispatcher_thread *next) {
    if (next->kept_on != there || !core_can_carry(here, there) || !may_hand_over(here))
        return false;
    hand_over(here, there, next);
    return true;
}

/* The spare on which the fewest threads stand; NULL: there is none. */
static struct processor *spare(struct processor *here) {
    struct core *core = here->core;
    struct processor *least = NULL;
    for (uint32_t i = core->active; i < core->processors_count; i++) {
        struct processor *one = core->processors[i];
        if (core_can_carry(here, one) && (!least || one->kept < least->kept))
            least = one;
    }
    return least;
}

bool core_hands_on(struct processor *here, struct dispatcher_thread *next) {
    struct core *core = here->core;
    if (next->kept_on == here || !may_hand_over(here))
        return false;
    struct processor *there = spare(here);
    if ((!there || there->kept > 0) && !core->no_more_spares) {
        core->wants_spare = true; /* an idle processor makes it, as this one is now */
        here->handed = next;
        here->recorded = false;
        return true;
    }
    if (!there || there->kept >= here->kept)
        return false;
    hand_over(here, there, next);
    return true;
}
