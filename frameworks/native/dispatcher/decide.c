/*
 * Several processors. They share the policy and all else under one lock of the host's, which is held by whoever is in
 * the dispatcher, across a switch, and let go by the thread that goes on.
 *
 * A decision is taken on the processor that needs a thread, in its frame (running_frames.c). What the policy dispatches
 * may have to run on another processor, because it still stands there: it was woken before it had left, or was
 * interrupted in the middle of code that counts on its kernel thread. Then it is RUNNING all the same, and its turn,
 * with the frame, waits for that processor, which takes it before it asks the policy; this one asks the policy anew.
 * But as long as there are spare kernel threads, who was interrupted waits for no other: see hand_over.c.
 *
 * Of a policy with an instance for each processor (nodes.c) a decision is taken in the one of the processor, whose
 * frame is always the same. While its turn waits for another processor, or is run there, it takes no decision: it has
 * no frame. But if that is the turn of a scheduler below, which chooses among threads of all processors, it stands in
 * for the one that runs it, and takes decisions in that one's instance; so the instances are served by as many
 * processors as there are, though not each by its own.
 *
 * Who waits for another lends its turns here as well (donation.c): a turn then waits for the processor on which the end
 * of its chain stands. If who is to run was left in the middle of its code, it cannot go on anywhere else, and to the
 * policy both it, or its donor, and who runs there are RUNNING: the latter gives up the processor, as if it had
 * yielded, for it may be less urgent, and run for ever. It may have been left so itself. When a second turn comes to
 * wait where such can go on, all of them are READY once more, and the processor is whose the policy dispatches first.
 * But where the policies limit turns, and do not say that it comes first, it waits: else turns would be cut short, and
 * threads would lose their places.
 */
#include "dispatcher/raise_loaded.h"
#include "dispatcher/state.h"
#include "dispatcher/trace.h"

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
static void queue(struct processor *there, struct dispatcher_thread *turn, uint16_t frame,
                  struct dispatcher_thread **place);
static struct dispatcher_thread **place_of_turn(struct processor *there, const struct dispatcher_thread *turn);
static struct dispatcher_thread **place_in_order(struct processor *there, const struct dispatcher_thread *turn);
static bool is_overdue(const struct dispatcher_thread *turn);
static bool makes_room(struct processor *there, const struct dispatcher_thread *turn);
static bool can_wait(const struct dispatcher_thread *turn, const struct dispatcher_thread *before);
static void clear_away(struct processor *there, const struct dispatcher_thread *turn);
static void give_back(uint16_t frame);
static void precede(struct processor *there, const struct dispatcher_thread *turn);
static void sort(struct processor *there);
static void let_go_who_has_left(struct processor *here);
static void set_runs(uint16_t frame, struct dispatcher_thread *thread);
static uint16_t take_frame(void);
static void give_frame(uint16_t frame);
static void move_to(struct processor *here, uint16_t frame);
static void give_up_all(struct dispatcher_thread *turn, uint16_t frame);

/* How often a turn is given back that is to run elsewhere. */
enum { MOST_PUT_BACK = 16 };

static const int64_t LONGEST_WAIT = 200000000; /* nanoseconds */

/* ---- Deciding ---------------------------------------------------------------------------------------------------- */

struct dispatcher_thread *dispatcher_decide(struct processor *here) {
    charge_samples(here);
    here->patience = 1; /* the next decision comes here, too */
    if (UNLIKELY(here->current->kept_on != NULL) && UNLIKELY(dispatcher.root.node != NULL))
        dispatcher_list_picky(here->current); /* it may be left */
    if (UNLIKELY(here->handed != NULL) && !here->over && dispatcher_is_taken(here->turn))
        dispatcher_end_turn(here->frame); /* by an event that was raised here while it was polling */
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
    if (UNLIKELY(here->late) || UNLIKELY(dispatcher.signalled) || UNLIKELY(--here->decisions <= 0)) {
        here->due = LOOK_OUTSIDE;
        return &here->idle;
    }
    return dispatcher_decide_after_all(here);
}

struct dispatcher_thread *dispatcher_decide_after_all(struct processor *here) {
    struct dispatcher_thread *next;
    for (;;) {
        if (UNLIKELY(dispatcher.changes))
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
    if (dispatcher.poller)
        dispatcher_tell_poller();
    return next;
}

static __attribute__((noinline)) void attend_between_turns(struct processor *here) {
    bool chains = dispatcher.chains_changed && (dispatcher_must_settle(1) || here->settles);
    bool room = dispatcher.fewer_wait || dispatcher.none_waits;
    if (!chains && !room)
        return;
    here->polling = true; /* nobody is RUNNING to those who are told, and tell others */
    if (UNLIKELY(room))
        dispatcher_let_in();
    if (chains) {
        dispatcher_step_aside(here, NULL);
        dispatcher_settle(NULL);
        dispatcher_step_back(here);
    }
    dispatcher_stop_polling(here);
}

bool dispatcher_must_settle(int64_t taken) {
    return dispatcher.root.node || dispatcher.root.next || dispatcher.clients ||
           dispatcher_ready() > taken + dispatcher.asleep + dispatcher.waking;
}

static void end_own_turn(struct processor *here) {
    uint16_t frame = here->frame;
    dispatcher_set_turn(frame, NULL);
    if (LIKELY(!dispatcher.root.node))
        return;
    move_to(here, NOBODY);
    if (frame != NOBODY && dispatcher.processors[frame - 1] != here)
        dispatcher_noticed(dispatcher.processors[frame - 1]->scheduler);
}

/* The policy. NULL: ask again. */
static struct dispatcher_thread *ask(struct processor *here) {
    if (!has_something(here))
        return &here->idle;
    struct scheduler *scheduler = here->serves;
    if (scheduler->node) {
        move_to(here, scheduler->node->frame);
        scheduler->node->decisions++;
    }
    scheduler->asked_for = false;
    struct catapults_thread *t = SCHEDULE(scheduler, &here->stop);
    struct dispatcher_thread *next = dispatcher_descend_from(here, scheduler, t);
    if (next)
        return begin_turn(here, next);
    here->serves->declined = true;
    if (dispatcher.root.node)
        move_to(here, NOBODY);
    return &here->idle;
}

/* That is to be decided about here. */
static bool has_something(struct processor *here) {
    here->serves = here->scheduler;
    if (UNLIKELY(here->scheduler->node != NULL)) {
        struct scheduler *instance = dispatcher_instance_for(here);
        if (!instance)
            return false;
        here->serves = instance;
        if (instance->runnable > 0 || dispatcher_steal(instance))
            return true;
        if (here->scheduler->node)
            return false;
    }
    if (UNLIKELY(here->put_back > 0) && here->put_back > dispatcher_ready()) {
        here->put_back = 0;
        here->serves->declined = true; /* there is nobody else: until something happens */
        return false;
    }
    return dispatcher_ready() > 0;
}

struct scheduler *dispatcher_instance_for(const struct processor *here) {
    const struct processor *one = here;
    for (uint32_t i = 0; one && i < dispatcher.processors_count; i++) {
        const struct node *node = one->scheduler->node;
        const struct dispatcher_thread *turn = node ? dispatcher.running_frames[node->frame].turn : NULL;
        if (!turn)
            return node ? one->scheduler : NULL;
        one = turn->scheduler->parent ? dispatcher_runner_of(node->frame) : NULL;
    }
    return NULL;
}

/* It is no longer in the list of the processor that it waited for. */
static void stop_waiting(struct dispatcher_thread *turn) {
    turn->turn_waits = false;
    dispatcher.waiting--;
    if (UNLIKELY(dispatcher.postponed != NULL)) {
        dispatcher.fewer_wait = true;
        dispatcher.left_off++;
        /* One that is postponed and stands there does so no longer. */
        dispatcher.none_waits |= !turn->turn_for->turns_first || turn->turn_for->current->state == THREAD_POSTPONED;
    }
    if (UNLIKELY(turn->scheduler->parent != NULL))
        dispatcher_count_waiting(turn, -1);
}

static struct dispatcher_thread *take_turn(struct processor *here) {
    struct dispatcher_thread *turn = here->turns_first;
    here->turns_first = turn->turn_next;
    stop_waiting(turn);
    if (here->frame != NOBODY)
        give_frame(here->frame);
    move_to(here, turn->turn_frame);
    dispatcher_noticed(here->scheduler); /* another may have to serve it now */
    here->turn = turn;
    if (UNLIKELY(here->turns_first != NULL))
        let_go_who_has_left(here);
    struct dispatcher_thread *next = dispatcher_borrower(turn);
    return next ? begin_turn(here, next) : NULL;
}

/* What was handed over to this one. Meanwhile who is to run may have come to be another. */
static __attribute__((noinline)) struct dispatcher_thread *take_handed(struct processor *here,
                                                                       const struct dispatcher_thread *handed) {
    struct dispatcher_thread *next = dispatcher_borrower(here->turn);
    if (UNLIKELY(next != handed) && here->recorded) {
        TRACE(TRACE_SWITCHED_OUT, handed, 0);
        here->recorded = false;
    }
    return next ? begin_turn(here, next) : NULL;
}

/* It was dispatched before it had left, and waits behind others: if it could be left anywhere, any processor will do.
 * Another asks the policy again, which has preferred it to whom it dispatched next. */
static void let_go_who_has_left(struct processor *here) {
    const struct dispatcher_thread *left = here->current;
    const struct dispatcher_thread *turn =
        left->runs_in != NOBODY ? dispatcher.running_frames[left->runs_in].turn : NULL;
    if (!turn || !turn->turn_waits || turn->turn_for != here || left->kept_on || left->bound || dispatcher.root.node)
        return;
    if (can_wait(turn, here->turns_first))
        return;
    give_back(left->runs_in);
    dispatcher_end_another_turn(here);
}

/* The kernel thread on which it stands; NULL: none. */
static struct processor *place_of(const struct dispatcher_thread *thread) {
    for (uint32_t i = 0; i < dispatcher.processors_count; i++)
        if (dispatcher.processors[i]->current == thread)
            return dispatcher.processors[i];
    return thread->kept_on;
}

/* Where it has to run; NULL: wherever it is. Of those that it is bound to, one that has nothing to do. If it goes on on
 * a kernel thread that can have the number of a processor, that of one that it is bound to. */
static struct processor *place_for(const struct dispatcher_thread *thread, struct processor *here) {
    struct processor *there = place_of(thread);
    bool carried = there && there != here && dispatcher_can_carry(there);
    if ((there && there != here && !carried) || (thread->kept_on && !carried) || dispatcher_may_run_on(thread, here))
        return there;
    struct processor *kept_on = there;
    there = NULL;
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *one = dispatcher.processors[i];
        if (!dispatcher_may_run_on(thread, one) || (carried && one->parked))
            continue;
        if (!there || (one->asleep && !there->asleep) || (there->turns_first && !one->turns_first))
            there = one;
    }
    return there ? there : kept_on;
}

struct processor *dispatcher_stands_on(const struct dispatcher_thread *thread) { return place_of(thread); }

bool dispatcher_is_elsewhere(const struct dispatcher_thread *thread) {
    const struct processor *there = place_of(thread);
    return there && there != processor_here();
}

/* `turn` is RUNNING in the frame of this processor, and `next` runs on it. NULL: not here. */
static struct dispatcher_thread *begin_turn(struct processor *here, struct dispatcher_thread *next) {
    struct dispatcher_thread *turn = here->turn;
    if (UNLIKELY(next->runs_in != NOBODY) && next->runs_in != here->frame)
        return take_over(here, next);
    dispatcher_set_turn(here->frame, turn);
    set_runs(here->frame, next);
    struct processor *there = place_for(next, here);
    if (LIKELY(!there || there == here)) {
        if (UNLIKELY(here->kept != 0) && dispatcher_hands_on(here, next))
            return &here->idle;
        here->put_back = 0;
        if (UNLIKELY(turn->waits_since != 0))
            turn->waits_since = 0;
        if (UNLIKELY(here->timed) || dispatcher_nobody_looks(here))
            dispatcher_arm(here);
        dispatcher_about_to_run(next);
        if (UNLIKELY(dispatcher.signals_begun))
            dispatcher.host->about_to_run(next);
        return next;
    }
    if (dispatcher_hands_to(here, there, next))
        return &here->idle;
    if (UNLIKELY(dispatcher.root.node != NULL) && puts_back(here, turn, next))
        return NULL;
    bool shared = LIKELY(!dispatcher.root.node), overdue = shared && is_overdue(turn);
    if (there->turns_first && !there->sorted && shared && !overdue && place_of(next) == there &&
        !can_wait(turn, there->turns_first)) {
        sort(there);
        give_up_all(turn, here->frame);
        return NULL;
    }
    if (UNLIKELY(shared && there->turns_first && dispatcher.waiting >= TURNS_WAITING) && !makes_room(there, turn)) {
        if (next == turn && turn->state != THREAD_LENDING) {
            dispatcher_postpone(turn);
        } else {
            here->put_back++; /* it is asked for another, as often as something is READY: see has_something */
            give_up_all(turn, here->frame);
        }
        return NULL;
    }
    uint16_t frame = here->frame;
    if (UNLIKELY(dispatcher.running_frames[frame].turn != turn)) /* while room was made, another policy has come */
        return NULL;
    move_to(here, shared ? take_frame() : NOBODY);
    queue(there, turn, frame, overdue ? &there->turns_first : place_in_order(there, turn));
    if (overdue || (next->kept_on && (shared || next != turn)))
        clear_away(there, overdue ? NULL : turn);
    else if (shared && there->turns_first == turn)
        precede(there, turn);
    return NULL;
}

/* For so long turns wait for those that the policies limit: longer than quanta usually are. */
static int64_t longest_wait(void) {
    int64_t limit = dispatcher.host->starvation_limit;
    return limit && limit < LONGEST_WAIT ? limit : LONGEST_WAIT;
}

/* It has waited for so long for a processor, since it ran last: its policy may have taken turns from it meanwhile, and
 * given it others. */
static bool is_overdue(const struct dispatcher_thread *turn) {
    return turn->waits_since && dispatcher.host->now() - turn->waits_since >= longest_wait();
}

/* The turn waits for a processor whose own comes after it, as the policies say: that is READY again. */
static void precede(struct processor *there, const struct dispatcher_thread *turn) {
    const struct dispatcher_thread *runs = dispatcher.running_frames[there->frame].turn;
    if (runs && there != processor_here() && dispatcher_order(turn, runs) < 0)
        give_back(there->frame);
}

void dispatcher_precede(const struct dispatcher_thread *thread) {
    const struct dispatcher_thread *last = NULL;
    uint16_t frame = NOBODY;
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        const struct processor *one = dispatcher.processors[i];
        const struct dispatcher_thread *turn = dispatcher.running_frames[one->frame].turn;
        if (one == processor_here() || one->parked || !turn || !dispatcher_may_run_on(thread, one) ||
            dispatcher_order(thread, turn) >= 0 || (last && dispatcher_order(last, turn) >= 0))
            continue;
        last = turn;
        frame = one->frame;
    }
    if (last)
        give_back(frame);
}

/* Of a policy with nodes, whose processor would have nothing to do while the turn waits: a scheduler below has chosen
 * who can go on elsewhere only. It is asked for another a few times, as if that one had yielded. */
static bool puts_back(struct processor *here, struct dispatcher_thread *turn, const struct dispatcher_thread *next) {
    if (!turn->scheduler->parent || (!next->kept_on && !next->bound) || here->put_back++ >= MOST_PUT_BACK) {
        here->put_back = 0;
        return false;
    }
    give_up_all(turn, here->frame);
    return true;
}

struct dispatcher_thread *dispatcher_go_on(struct dispatcher_thread *next) {
    return begin_turn(processor_here(), next);
}

/* The policy has given `turn` a turn, which runs in another frame, or is to, on that of a donor: it goes on there on
 * its own, and the donor's comes here. But if both wait, and the donor comes first, it keeps to that. */
static struct dispatcher_thread *take_over(struct processor *here, struct dispatcher_thread *turn) {
    uint16_t lent = turn->runs_in, own = here->frame;
    struct dispatcher_thread *donor = dispatcher.running_frames[lent].turn;
    struct processor *there = donor->turn_waits ? donor->turn_for : dispatcher_runner_of(lent);
    if (donor->turn_waits && !turn->own_turn && dispatcher_order(donor, turn) < 0) { /* it comes earlier as it is */
        dispatcher_set_turn(own, turn);
        here->put_back++;
        give_up_all(turn, own);
        return NULL;
    }
    dispatcher.running_frames[lent].runs = NULL;
    turn->runs_in = NOBODY;
    dispatcher_set_turn(own, turn);
    set_runs(own, turn);
    if (donor->turn_waits) {
        struct dispatcher_thread **place = place_of_turn(there, donor);
        *place = donor->turn_next;
        stop_waiting(donor);
        queue(there, turn, own, dispatcher_order(turn, donor) < 0 ? place_in_order(there, turn) : place);
    } else {
        there->turn = turn;
        move_to(there, own);
        if (dispatcher.host->arm && there->timed && !there->armed)
            dispatcher.host->interrupt(there);
    }
    move_to(here, lent);
    here->turn = donor;
    struct dispatcher_thread *next = dispatcher_borrower(donor);
    return next ? begin_turn(here, next) : NULL;
}

/* Whether `before` has the processor for no longer than policies limit, and they do not say that `turn` comes first. */
static bool can_wait(const struct dispatcher_thread *turn, const struct dispatcher_thread *before) {
    if (dispatcher_order(turn, before) < 0)
        return false;
    for (const struct dispatcher_thread *member = before; member; member = dispatcher_above(member))
        if (member->scheduler->timed)
            return true;
    return false;
}

/* A turn waits for the processor, where who is to run was left, from whoever runs there. `turn`: that, if it may wait
 * for the policy to end the one that runs. */
static void clear_away(struct processor *there, const struct dispatcher_thread *turn) {
    const struct dispatcher_thread *runs = dispatcher.running_frames[there->frame].turn;
    if (runs && there != processor_here() && !(turn && can_wait(turn, runs)))
        give_back(there->frame);
}

void dispatcher_end_another_turn(const struct processor *here) {
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *there = dispatcher.processors[i];
        if (there != here && !there->parked && dispatcher.running_frames[there->frame].turn) {
            clear_away(there, NULL);
            return;
        }
    }
}

void dispatcher_let_who_waits(int64_t now) {
    struct processor *here = processor_here();
    const struct dispatcher_thread *turn = dispatcher.running_frames[here->frame].turn, *waits = here->turns_first;
    if (LIKELY(!waits) || !turn || dispatcher_is_taken(turn) || now - waits->waits_since < longest_wait())
        return;
    give_back(here->frame);
    dispatcher_entered();
}

/* Who is RUNNING in the frame is READY, as if it had yielded. */
static void give_back(uint16_t frame) {
    struct processor *here = processor_here();
    struct dispatcher_thread *turn = dispatcher.running_frames[frame].turn;
    struct scheduler *scheduler = turn->scheduler;
    if (LIKELY(!scheduler->parent)) { /* else all of them are told below */
        bool saw_own = here->sees == here->frame;
        uint16_t sees = here->sees;
        here->sees = frame;
        const struct catapults_stop *stop = RAISE(scheduler, switch_out, &turn->policy);
        if (UNLIKELY(stop))
            dispatcher_contain(scheduler, "switch_out", stop, NULL, NULL);
        here->sees = saw_own ? here->frame : sees; /* as in give_up_all */
    }
    if (LIKELY(dispatcher.running_frames[frame].turn == turn))
        dispatcher_end_turn(frame);
}

/* Several can go on only on one processor, and the policy has dispatched each as if it would run at once. All are READY
 * again, with who lends to them: whom it dispatches first then has the processor. Once, until it has. */
static void sort(struct processor *there) {
    clear_away(there, NULL);
    while (there->turns_first)
        give_back(there->turns_first->turn_frame);
    there->sorted = true;
    processor_here()->settles = true;
}

void dispatcher_hasten(struct dispatcher_thread *thread, const struct dispatcher_thread *donor) {
    if (UNLIKELY(thread->state == THREAD_POSTPONED)) {
        struct processor *there = place_for(thread, processor_here());
        dispatcher_postpone_less(thread, donor);
        if (there && there->turns_first && dispatcher.waiting >= TURNS_WAITING)
            makes_room(there, donor);
        return;
    }
    struct dispatcher_thread *turn = dispatcher.running_frames[thread->runs_in].turn;
    if (!turn || !turn->turn_waits)
        return;
    struct processor *there = turn->turn_for;
    if (UNLIKELY(dispatcher.root.node != NULL)) {
        if (thread->kept_on)
            clear_away(there, NULL);
    } else if (thread->kept_on && !there->sorted) {
        sort(there);
    } else if (dispatcher_order(donor, turn) < 0) {
        give_back(turn->turn_frame); /* it waits on the donor's turn instead, which comes earlier */
        processor_here()->settles = true;
        processor_here()->put_back++;
    }
}

/* ---- Turns that wait for a processor ----------------------------------------------------------------------------- */

/* What leads to the turn among those that wait there; NULL: to whatever comes after them. */
static struct dispatcher_thread **place_of_turn(struct processor *there, const struct dispatcher_thread *turn) {
    struct dispatcher_thread **place = &there->turns_first;
    while (*place != turn)
        place = &(*place)->turn_next;
    return place;
}

/* The same, where the policies' order has a turn that comes: behind others that are as urgent. */
static struct dispatcher_thread **place_in_order(struct processor *there, const struct dispatcher_thread *turn) {
    struct dispatcher_thread **place = &there->turns_first;
    while (*place && dispatcher_order(turn, *place) >= 0)
        place = &(*place)->turn_next;
    return place;
}

/* The last of the turns that wait there, and that the policies say `turn` comes before, is READY again. */
static bool makes_room(struct processor *there, const struct dispatcher_thread *turn) {
    const struct dispatcher_thread *last = NULL;
    for (const struct dispatcher_thread *one = there->turns_first; one; one = one->turn_next)
        if (dispatcher_order(turn, one) < 0)
            last = one;
    if (last)
        give_back(last->turn_frame);
    return last != NULL;
}

static void queue(struct processor *there, struct dispatcher_thread *turn, uint16_t frame,
                  struct dispatcher_thread **place) {
    turn->turn_waits = true;
    dispatcher.waiting++;
    turn->turn_for = there;
    if (!turn->waits_since)
        turn->waits_since = dispatcher.host->now();
    turn->turn_frame = frame;
    turn->turn_next = *place;
    *place = turn;
    if (UNLIKELY(turn->scheduler->parent != NULL)) {
        struct processor *here = processor_here();
        here->sees = NOBODY;
        dispatcher_count_waiting(turn, 1);
        for (struct dispatcher_thread *member = turn; member; member = dispatcher_above(member))
            dispatcher_adjust(member->scheduler, NULL); /* another processor can have something of it instead */
        here->sees = here->frame;
    }
    if (there->asleep)
        dispatcher_wake(there);
    else if (dispatcher.host->arm && there->timed && !there->armed)
        dispatcher.host->interrupt(there); /* it knows of nobody who waits */
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

void dispatcher_set_turn(uint16_t frame, struct dispatcher_thread *turn) {
    struct running_frame *one = &dispatcher.running_frames[frame];
    dispatcher.running += (turn != NULL) - (one->turn != NULL);
    if (!turn && one->turn) {
        dispatcher_changed(one->turn);
        set_runs(frame, NULL);
    }
    one->turn = turn;
}

static void set_runs(uint16_t frame, struct dispatcher_thread *thread) {
    struct running_frame *one = &dispatcher.running_frames[frame];
    struct dispatcher_thread *before = one->runs;
    one->runs = thread;
    if (before && before != thread) {
        before->runs_in = NOBODY;
        dispatcher_changed(before);
    }
    if (thread)
        thread->runs_in = frame;
}

/* There is one. */
static uint16_t take_frame(void) {
    uint16_t frame = dispatcher.free_frames;
    dispatcher.free_frames = dispatcher.running_frames[frame].next;
    dispatcher_in_use(frame);
    return frame;
}

static void give_frame(uint16_t frame) {
    dispatcher.running_frames[frame].next = dispatcher.free_frames;
    dispatcher.free_frames = frame;
}

static void move_to(struct processor *here, uint16_t frame) {
    here->frame = frame;
    here->sees = frame;
}

void dispatcher_take_frame(struct processor *processor) { move_to(processor, take_frame()); }

uint16_t dispatcher_frame_of(const struct dispatcher_thread *member) {
    for (uint16_t frame = NOBODY + 1; frame < dispatcher.frames_end; frame++) {
        const struct dispatcher_thread *turn = dispatcher.running_frames[frame].turn;
        if (turn && dispatcher_member(member->scheduler, turn) == member)
            return frame;
    }
    return NOBODY;
}

uint16_t dispatcher_see(const struct dispatcher_thread *thread) {
    struct processor *here = processor_here();
    uint16_t frame = dispatcher.several ? dispatcher_frame_of(thread) : NOBODY;
    if (frame == NOBODY || frame == here->frame)
        return NOBODY;
    here->sees = frame;
    return frame;
}

void dispatcher_seen(const struct dispatcher_thread *thread, uint16_t frame) {
    struct processor *here = processor_here();
    here->sees = here->frame;
    if (!dispatcher_is_runnable(thread) || taken_from(thread))
        dispatcher_end_turn(frame);
}

/* In a tree: the thread and all schedulers above it, in the frame in which they are RUNNING. */
static void give_up_all(struct dispatcher_thread *turn, uint16_t frame) {
    struct processor *here = processor_here();
    bool saw_own = here->sees == here->frame;
    uint16_t sees = here->sees;
    here->sees = frame;
    if (dispatcher_is_runnable(turn))
        dispatcher_switch_out(turn);
    dispatcher_give_up(turn);
    here->sees = saw_own ? here->frame : sees; /* it is given one if the policy had to go and had nodes */
}

struct processor *dispatcher_runner_of(uint16_t frame) {
    for (uint32_t i = 0; i < dispatcher.processors_count; i++)
        if (dispatcher.processors[i]->frame == frame)
            return dispatcher.processors[i];
    return NULL;
}

void dispatcher_end_turn(uint16_t frame) {
    struct dispatcher_thread *turn = dispatcher.running_frames[frame].turn;
    bool waits = turn->turn_waits;
    if (waits) {
        *place_of_turn(turn->turn_for, turn) = turn->turn_next;
        stop_waiting(turn);
    }
    if (UNLIKELY(turn->scheduler->parent != NULL))
        give_up_all(turn, frame);
    else if (dispatcher_is_runnable(turn) && !waits) /* else no record says that it runs */
        TRACE(TRACE_SWITCHED_OUT, turn, 0);
    dispatcher_set_turn(frame, NULL);
    if (waits) {
        if (LIKELY(!dispatcher.root.node))
            give_frame(frame);
        else
            dispatcher_noticed(dispatcher.processors[frame - 1]->scheduler);
        return;
    }
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *there = dispatcher.processors[i];
        if (there->frame != frame)
            continue;
        there->over = true;
        if (dispatcher.root.node)
            move_to(there, NOBODY); /* its own may be another's by the time that it comes */
        if (dispatcher.host->interrupt && there != processor_here())
            dispatcher.host->interrupt(there);
    }
    if (dispatcher.root.node)
        dispatcher_noticed(dispatcher.processors[frame - 1]->scheduler);
}

void dispatcher_end_turns_under(const struct scheduler *scheduler) {
    const struct processor *here = processor_here();
    for (uint16_t frame = NOBODY + 1; frame < dispatcher.frames_end; frame++) {
        const struct dispatcher_thread *turn = dispatcher.running_frames[frame].turn;
        if (turn && frame != here->frame && dispatcher_member(scheduler, turn))
            dispatcher_end_turn(frame);
    }
}

void dispatcher_give_out_frames(void) {
    bool used[FRAMES] = {false};
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        const struct processor *one = dispatcher.processors[i];
        used[one->frame] = true;
        for (const struct dispatcher_thread *turn = one->turns_first; turn; turn = turn->turn_next)
            used[turn->turn_frame] = true;
    }
    dispatcher.free_frames = NOBODY;
    for (uint16_t frame = FRAMES - 1; frame > NOBODY; frame--)
        if (!used[frame])
            give_frame(frame);
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *one = dispatcher.processors[i];
        bool sees_own = one->sees == one->frame; /* else it is about to end what is RUNNING in another */
        if (one->frame == NOBODY)
            one->frame = take_frame();
        if (sees_own)
            one->sees = one->frame;
    }
}

void dispatcher_interrupt_others(void) {
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *there = dispatcher.processors[i];
        if (there != processor_here() && there->current != &there->idle && !there->armed)
            dispatcher.host->interrupt(there);
    }
}
