/*
 * Several processors. They share the policy and all else under one lock of the host's, which is held by whoever is in
 * the dispatcher, across a switch, and let go by the thread that goes on.
 *
 * A decision is taken on the processor that needs a thread, in its frame (frames.c). What the policy dispatches may
 * have to run on another processor, because it still stands there: it was woken before it had left, or was interrupted
 * in the middle of code that counts on its kernel thread. Then it is RUNNING all the same, and its turn, with the
 * frame, waits for that processor, which takes it before it asks the policy; this one asks the policy anew.
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
 *
 * A processor with nothing to run goes on in a context of its own, for the stack of the thread that it left may be run
 * on by another: there it sleeps in the driver, if nobody else does, or until it is woken.
 */
#include <errno.h>

#include "dispatcher/raise_loaded.h"
#include "dispatcher/state.h"
#include "dispatcher/trace.h"

static struct dispatcher_thread *ask(struct processor *here);
static bool has_something(struct processor *here);
static void end_own_turn(struct processor *here);
static struct dispatcher_thread *take_turn(struct processor *here);
static struct dispatcher_thread *begin_turn(struct processor *here, struct dispatcher_thread *next);
static bool puts_back(struct processor *here, struct dispatcher_thread *turn, const struct dispatcher_thread *next);
static struct dispatcher_thread *take_over(struct processor *here, struct dispatcher_thread *turn);
static void queue(struct processor *there, struct dispatcher_thread *turn, uint16_t frame,
                  struct dispatcher_thread **place);
static struct dispatcher_thread **place_of_turn(struct processor *there, const struct dispatcher_thread *turn);
static bool can_wait(const struct dispatcher_thread *turn, const struct dispatcher_thread *before);
static void clear_away(struct processor *there, const struct dispatcher_thread *turn);
static void give_back(uint16_t frame);
static void sort(struct processor *there);
static void let_go_who_has_left(struct processor *here);
static void set_runs(uint16_t frame, struct dispatcher_thread *thread);
static bool must_settle(int64_t taken);
static uint16_t take_frame(void);
static void give_frame(uint16_t frame);
static void move_to(struct processor *here, uint16_t frame);
static void give_up_all(struct dispatcher_thread *turn, uint16_t frame);
static uint32_t *count_of(const struct processor *processor);
static void begin_to_wake(struct processor *processor);
static void wake_any(void);
static void rest(struct processor *here);
static void hand_over(void);
static void give_up_hope(void);
static struct processor *some_sleeper(void);
static bool wants_another(void);
static bool can_go_on(const struct processor *here);

/* How often a turn is given back that is to run elsewhere. */
enum { MOST_PUT_BACK = 16 };

/* For so many nanoseconds a turn waits for those that the policies limit: longer than quanta usually are. */
static const int64_t LONGEST_WAIT = 200000000;

/* ---- Deciding ---------------------------------------------------------------------------------------------------- */

struct dispatcher_thread *dispatcher_decide(struct processor *here) {
    charge_samples(here);
    here->patience = 1; /* the next decision comes here, too */
    if (UNLIKELY(here->over)) {
        here->over = false;
        here->armed = 0; /* it may have been interrupted just now, and not have come to say so */
    }
    here->anew = false;
    here->expected = false;
    here->sorted = false;
    end_own_turn(here);
    if (here->late || UNLIKELY(dispatcher.signalled) || --here->decisions <= 0)
        dispatcher_glance(here, &here->decisions);
    struct dispatcher_thread *next;
    for (;;) {
        if (UNLIKELY(dispatcher.chains_changed) && (must_settle(1) || here->settles)) {
            here->polling = true; /* nobody is RUNNING to those who are told, and tell others */
            dispatcher_step_aside(here, NULL);
            dispatcher_settle(NULL);
            dispatcher_step_back(here);
            dispatcher_stop_polling(here);
        }
        next = here->turns_first ? take_turn(here) : here->parked ? &here->idle : ask(here);
        if (LIKELY(next != NULL))
            break;
        end_own_turn(here); /* it stalled */
    }
    here->settles = false;
    if (dispatcher.poller && dispatcher_first_instant() < dispatcher.polls_until) {
        dispatcher.polls_until = 0;
        dispatcher.driver->kick();
    }
    return next;
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
        const struct dispatcher_thread *turn = node ? dispatcher.frames[node->frame].turn : NULL;
        if (!turn)
            return node ? one->scheduler : NULL;
        one = turn->scheduler->parent ? dispatcher_runner_of(node->frame) : NULL;
    }
    return NULL;
}

static void stop_waiting(struct dispatcher_thread *turn) {
    turn->turn_waits = false;
    dispatcher.waiting--;
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

/* It was dispatched before it had left, and waits behind others: if it could be left anywhere, any processor will do.
 * Another asks the policy again, which has preferred it to whom it dispatched next. */
static void let_go_who_has_left(struct processor *here) {
    const struct dispatcher_thread *left = here->current;
    const struct dispatcher_thread *turn = left->runs_in != NOBODY ? dispatcher.frames[left->runs_in].turn : NULL;
    if (!turn || !turn->turn_waits || turn->turn_for != here || left->kept_on || left->bound || dispatcher.root.node)
        return;
    if (can_wait(turn, here->turns_first))
        return;
    give_back(left->runs_in);
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *there = dispatcher.processors[i];
        if (there != here && !there->parked && dispatcher.frames[there->frame].turn) {
            clear_away(there, NULL);
            return;
        }
    }
}

/* The kernel thread on which it stands; NULL: none. */
static struct processor *place_of(const struct dispatcher_thread *thread) {
    for (uint32_t i = 0; i < dispatcher.processors_count; i++)
        if (dispatcher.processors[i]->current == thread)
            return dispatcher.processors[i];
    return thread->kept_on;
}

static uint64_t bit_of(const struct processor *processor) {
    return processor->number < 64 ? (uint64_t)1 << processor->number : 0;
}

/* Where it has to run; NULL: wherever it is. Of those that it is bound to, one that has nothing to do. */
static struct processor *place_for(const struct dispatcher_thread *thread, struct processor *here) {
    struct processor *there = place_of(thread);
    if ((there && there != here) || thread->kept_on || dispatcher_may_run_on(thread, here))
        return there;
    there = NULL;
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *one = dispatcher.processors[i];
        if (!dispatcher_may_run_on(thread, one))
            continue;
        if (!there || (one->asleep && !there->asleep) || (there->turns_first && !one->turns_first))
            there = one;
    }
    return there;
}

struct processor *dispatcher_stands_on(const struct dispatcher_thread *thread) { return place_of(thread); }

bool dispatcher_is_elsewhere(const struct dispatcher_thread *thread) {
    const struct processor *there = place_of(thread);
    return there && there != processor_here();
}

/* Whether nobody else would find out what happens outside while a thread runs here. */
static bool looks_outside(const struct processor *here) {
    return !here->armed && !dispatcher.poller && dispatcher_is_under_way();
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
        here->put_back = 0;
        if (UNLIKELY(here->timed) || looks_outside(here))
            dispatcher_arm(here);
        dispatcher_goes_on(next);
        if (UNLIKELY(dispatcher.signals_begun))
            dispatcher.host->goes_on(next);
        return next;
    }
    if (UNLIKELY(dispatcher.root.node != NULL) && puts_back(here, turn, next))
        return NULL;
    bool shared = LIKELY(!dispatcher.root.node);
    if (there->turns_first && !there->sorted && shared && place_of(next) == there &&
        !can_wait(turn, there->turns_first)) {
        sort(there);
        give_up_all(turn, here->frame);
        return NULL;
    }
    if (UNLIKELY(shared && dispatcher.waiting >= TURNS_WAITING)) {
        here->put_back++; /* it is asked for another, as often as something is READY: see has_something */
        give_up_all(turn, here->frame);
        return NULL;
    }
    uint16_t frame = here->frame;
    move_to(here, shared ? take_frame() : NOBODY);
    queue(there, turn, frame, place_of_turn(there, NULL));
    if (next->kept_on && (shared || next != turn))
        clear_away(there, turn);
    return NULL;
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
 * its own, and the donor's comes here. */
static struct dispatcher_thread *take_over(struct processor *here, struct dispatcher_thread *turn) {
    uint16_t lent = turn->runs_in, own = here->frame;
    struct dispatcher_thread *donor = dispatcher.frames[lent].turn;
    struct processor *there = donor->turn_waits ? donor->turn_for : dispatcher_runner_of(lent);
    dispatcher.frames[lent].runs = NULL;
    turn->runs_in = NOBODY;
    dispatcher_set_turn(own, turn);
    set_runs(own, turn);
    if (donor->turn_waits) {
        struct dispatcher_thread **place = place_of_turn(there, donor);
        *place = donor->turn_next;
        stop_waiting(donor);
        queue(there, turn, own, place);
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
    const struct dispatcher_thread *runs = dispatcher.frames[there->frame].turn;
    if (runs && there != processor_here() && !(turn && can_wait(turn, runs)))
        give_back(there->frame);
}

void dispatcher_let_who_waits(int64_t now) {
    struct processor *here = processor_here();
    const struct dispatcher_thread *turn = dispatcher.frames[here->frame].turn, *waits = here->turns_first;
    if (LIKELY(!waits) || !turn || dispatcher_is_taken(turn) ||
        now - dispatcher.frames[waits->turn_frame].since < LONGEST_WAIT)
        return;
    give_back(here->frame);
    dispatcher_entered();
}

/* Who is RUNNING in the frame is READY, as if it had yielded. */
static void give_back(uint16_t frame) {
    struct processor *here = processor_here();
    struct dispatcher_thread *turn = dispatcher.frames[frame].turn;
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
    if (LIKELY(dispatcher.frames[frame].turn == turn))
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

void dispatcher_hasten(const struct dispatcher_thread *thread) {
    const struct dispatcher_thread *turn = dispatcher.frames[thread->runs_in].turn;
    if (!thread->kept_on || !turn || !turn->turn_waits)
        return;
    if (UNLIKELY(dispatcher.root.node != NULL))
        clear_away(turn->turn_for, NULL);
    else if (!turn->turn_for->sorted)
        sort(turn->turn_for);
}

/* ---- Turns that wait for a processor ----------------------------------------------------------------------------- */

/* What leads to the turn among those that wait there; NULL: to whatever comes after them. */
static struct dispatcher_thread **place_of_turn(struct processor *there, const struct dispatcher_thread *turn) {
    struct dispatcher_thread **place = &there->turns_first;
    while (*place != turn)
        place = &(*place)->turn_next;
    return place;
}

static void queue(struct processor *there, struct dispatcher_thread *turn, uint16_t frame,
                  struct dispatcher_thread **place) {
    turn->turn_waits = true;
    dispatcher.waiting++;
    turn->turn_for = there;
    dispatcher.frames[frame].since = dispatcher.host->now();
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
    struct frame *one = &dispatcher.frames[frame];
    dispatcher.running += (turn != NULL) - (one->turn != NULL);
    if (!turn && one->turn) {
        dispatcher_changed(one->turn);
        set_runs(frame, NULL);
    }
    one->turn = turn;
}

static void set_runs(uint16_t frame, struct dispatcher_thread *thread) {
    struct frame *one = &dispatcher.frames[frame];
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
    dispatcher.free_frames = dispatcher.frames[frame].next;
    return frame;
}

static void give_frame(uint16_t frame) {
    dispatcher.frames[frame].next = dispatcher.free_frames;
    dispatcher.free_frames = frame;
}

static void move_to(struct processor *here, uint16_t frame) {
    here->frame = frame;
    here->sees = frame;
}

uint16_t dispatcher_frame_of(const struct dispatcher_thread *member) {
    for (uint16_t frame = NOBODY + 1; frame < FRAMES; frame++) {
        const struct dispatcher_thread *turn = dispatcher.frames[frame].turn;
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
    struct dispatcher_thread *turn = dispatcher.frames[frame].turn;
    bool waits = turn->turn_waits;
    if (waits)
        stop_waiting(turn);
    if (UNLIKELY(turn->scheduler->parent != NULL))
        give_up_all(turn, frame);
    else if (dispatcher_is_runnable(turn) && !waits) /* else no record says that it runs */
        TRACE(TRACE_SWITCHED_OUT, turn, 0);
    dispatcher_set_turn(frame, NULL);
    if (waits) {
        *place_of_turn(turn->turn_for, turn) = turn->turn_next;
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
    for (uint16_t frame = NOBODY + 1; frame < FRAMES; frame++) {
        const struct dispatcher_thread *turn = dispatcher.frames[frame].turn;
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

/* ---- The lock ---------------------------------------------------------------------------------------------------- */

static void resize(void) {
    dispatcher.resized = false;
    dispatcher.host->resize();
}

void dispatcher_entered(void) {
    struct processor *here = processor_here();
    if (UNLIKELY(here->over)) { /* as if the caller had been interrupted before the call */
        dispatcher_run(here, here->current, dispatcher_decide(here));
    } else if (UNLIKELY(here->anew)) {
        here->anew = false;
        here->armed = 0; /* as in dispatcher_decide */
        dispatcher_arm(here);
        dispatcher_released();
    }
    if (UNLIKELY(dispatcher.resized))
        resize();
}

/* Threads may be READY that no processor takes, of those that have nothing to do and of the caller, if it takes one. It
 * is known only where all are under one scheduler. */
static bool must_settle(int64_t taken) {
    return dispatcher.root.node || dispatcher.root.next || dispatcher.clients ||
           dispatcher_ready() > taken + dispatcher.asleep + dispatcher.waking;
}

/* A chain may have changed. May run other threads. */
static __attribute__((noinline)) void attend_to_chains(void) {
    if (dispatcher.turns_changed)
        dispatcher_look_at_turns();
    for (;;) {
        struct processor *here = processor_here();
        if (!dispatcher.chains_changed || !must_settle(0) || here->attends || here->over ||
            here->current == &here->idle)
            return;
        dispatcher_step_aside(here, NULL);
        dispatcher_settle(dispatcher_running());
        dispatcher_step_back(here);
        dispatcher_unblocked();
    }
}

static void enter(void) {
    __atomic_store_n(&processor_here()->inside, true, __ATOMIC_RELAXED);
    dispatcher.host->lock();
    dispatcher_entered();
}

/* If there is something for another processor to do, one that is idle is woken. Those that have a node are, for what
 * comes there, at once (dispatcher_notice). */
static void leave(void) {
    if (UNLIKELY(dispatcher.chains_changed) || UNLIKELY(dispatcher.turns_changed))
        attend_to_chains();
    dispatcher_check();
    struct processor *sleeper = dispatcher.asleep && wants_another() ? some_sleeper() : NULL;
    if (sleeper)
        begin_to_wake(sleeper);
    bool polls = sleeper && sleeper == dispatcher.poller;
    dispatcher.host->unlock();
    if (polls)
        dispatcher.driver->kick();
    else if (sleeper)
        dispatcher.host->wake(sleeper);
    __atomic_store_n(&processor_here()->inside, false, __ATOMIC_RELAXED);
}

/* That could take a turn, if there is one; not that which polls, if there is another. */
static struct processor *some_sleeper(void) {
    struct processor *sleeper = NULL;
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *one = dispatcher.processors[i];
        const struct node *node = one->scheduler->node;
        bool busy = UNLIKELY(node != NULL) && !dispatcher_instance_for(one) && dispatcher.poller;
        if (one->asleep && !one->parked && !busy && (!sleeper || one != dispatcher.poller))
            sleeper = one;
    }
    return sleeper;
}

/* Of those that share the root. */
static bool has_work(int64_t for_others) { return dispatcher_ready() > for_others && !dispatcher.root.declined; }

static bool wants_another(void) {
    bool something = UNLIKELY(dispatcher.root.node != NULL)
                         ? dispatcher.waking == 0 && dispatcher_is_something_to_steal()
                         : has_work(dispatcher.waking);
    return something || (!dispatcher.poller && dispatcher.waking == 0 && dispatcher_is_under_way());
}

static void begin_to_wake(struct processor *processor) {
    *count_of(processor) -= 1;
    processor->asleep = false;
    processor->woken = true;
    dispatcher.waking++;
}

void dispatcher_wake(struct processor *processor) {
    begin_to_wake(processor);
    if (processor == dispatcher.poller)
        dispatcher.driver->kick();
    else
        dispatcher.host->wake(processor);
}

TOOLS_UNSEEN void dispatcher_alert(struct processor *processor) {
    if (processor == dispatcher.poller)
        dispatcher.driver->kick();
    else
        dispatcher.host->wake(processor);
}

/* ---- Idle -------------------------------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void idle(void) {
    for (;;) {
        if (UNLIKELY(dispatcher.resized))
            resize();
        struct processor *here = processor_here();
        struct dispatcher_thread *next = dispatcher_decide(here);
        if (next != &here->idle)
            dispatcher_run(here, &here->idle, next);
        else
            rest(here);
    }
}

static uint32_t *count_of(const struct processor *processor) {
    return processor->parked ? &dispatcher.parked_asleep : &dispatcher.asleep;
}

static void fall_asleep(struct processor *here) {
    here->asleep = true;
    *count_of(here) += 1;
}

static void wake_up(struct processor *here) {
    *count_of(here) -= here->asleep;
    dispatcher.waking -= here->woken;
    here->asleep = here->woken = false;
}

/* Nothing is to be run: sleeps until that may have changed. */
static void rest(struct processor *here) {
    here->polling = true;
    if (dispatcher.driver)
        dispatcher.driver->poll(-1);
    bool all_others = dispatcher.asleep + dispatcher.parked_asleep + 1 == dispatcher.processors_count;
    if (here->parked) {
        hand_over();
        fall_asleep(here);
        dispatcher.host->sleep(here);
        wake_up(here);
    } else if (can_go_on(here)) {
        /* There is something to be run now. */
    } else if (!dispatcher.poller && dispatcher_is_under_way()) {
        fall_asleep(here);
        dispatcher.poller = here;
        dispatcher_poll(here);
        dispatcher.poller = NULL;
        wake_up(here);
        dispatcher_wake_idle(false);
    } else if (all_others && !dispatcher.poller && dispatcher.running == 0) {
        give_up_hope();
    } else {
        fall_asleep(here);
        dispatcher.host->sleep(here);
        wake_up(here);
    }
    dispatcher_stop_polling(here);
}

/* What a processor would do that is parked is for the others: for one that is idle, or for those that run, each of
 * which may not know that something waits. */
static void hand_over(void) {
    if (!wants_another())
        return;
    if (dispatcher.asleep)
        wake_any();
    else if (dispatcher.host->arm)
        dispatcher_interrupt_others();
}

static bool can_go_on(const struct processor *here) {
    if (LIKELY(!dispatcher.root.node))
        return has_work(0);
    const struct scheduler *scheduler = dispatcher_instance_for(here);
    return scheduler && (scheduler->runnable > 0 ? !scheduler->declined : dispatcher_is_something_to_steal());
}

static void wake_any(void) {
    struct processor *sleeper = some_sleeper();
    if (sleeper)
        dispatcher_wake(sleeper);
}

/* Nothing runs, and nothing can ever happen. */
static void give_up_hope(void) {
    if (dispatcher_ready() > 0)
        dispatcher_contain(&dispatcher.root, "schedule", NULL, "it dispatched nothing although a thread is ready",
                           NULL);
    else if (dispatcher_wake_idle(true))
        return;
    else if (dispatcher.oldest)
        dispatcher.host->deadlocked();
    else {
        dispatcher_leave();
        dispatcher.host->finished();
    }
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

static void idle_first(void *argument) {
    (void)argument;
    tools_begin();
    idle();
}

void dispatcher_several_prepare(struct processor *first) {
    dispatcher.several = true;
    dispatcher_stalled_start();
    dispatcher.processors[dispatcher.processors_count++] = first;
    dispatcher.active = 1;
    dispatcher_give_out_frames();
}

void dispatcher_several(struct stack *stack, void *top) {
    struct processor *here = processor_here();
    context_make(&here->idle.context, stack, top, idle_first, NULL);
    dispatcher_set_guard(enter, leave, true);
}

/* There is another number of processors: schedulers are as many threads to their parents. The caller may have lost its
 * turn by that, or with its processor. */
static void fit(struct processor *here) {
    bool lost = here->over;
    dispatcher_adjust_all();
    struct dispatcher_thread *turn = dispatcher.frames[here->frame].turn;
    if (lost || (turn && dispatcher_preempted(turn)))
        dispatcher_run(here, here->current, dispatcher_decide(here));
}

void dispatcher_add_processor(struct processor *processor, void *host, void *node) {
    bool timed = processor_here()->timed;
    *processor = (struct processor){.patience_full = 1,
                                    .number = dispatcher.processors_count,
                                    .timed = timed,
                                    .current = &processor->idle,
                                    .scheduler = &dispatcher.root,
                                    .host = host};
    dispatcher.processors[dispatcher.processors_count++] = processor;
    if (dispatcher.root.node)
        dispatcher_node_arrives(processor, node);
    else
        move_to(processor, take_frame());
    dispatcher.active++;
    fit(processor_here());
}

void dispatcher_process(struct processor *processor, int *error_number, struct dispatcher_exceptions *exceptions) {
    dispatcher.host->lock(); /* whoever has made it is done then */
    dispatcher_here = processor;
    __atomic_store_n(&processor->inside, true, __ATOMIC_RELAXED);
    processor->error_number = error_number;
    processor->exceptions = exceptions;
    context_adopt(&processor->idle.context);
    idle();
}

void dispatcher_unblocked_for_later(void) {
    struct processor *here = processor_here();
    /* It is about to sleep, or was interrupted in that; of those that share the root dispatcher_leave wakes one. */
    const struct scheduler *instance = UNLIKELY(here->asleep) ? dispatcher_instance_for(here) : NULL;
    if (instance && dispatcher_ready_at(instance) > 0)
        dispatcher_wake(here);
    if (!here->attends && !here->over)
        dispatcher_come_back(here);
}

void dispatcher_carry_on(struct processor *processor, int *error_number, struct dispatcher_exceptions *exceptions) {
    dispatcher_here = processor;
    processor->error_number = error_number;
    processor->exceptions = exceptions;
}

TOOLS_UNSEEN uint32_t dispatcher_processors(void) { return dispatcher.processors_count; }

TOOLS_UNSEEN const struct processor *dispatcher_processor_at(uint32_t number) { return dispatcher.processors[number]; }

/* Threads are READY that counted on a processor which is given up now: the event that made them so saw it idle, and so
 * took the processor from nobody. Somebody's turn ends, so that the policy decides between them. */
static void give_way(struct processor *here) {
    if (dispatcher.root.node || dispatcher_ready() <= dispatcher.asleep)
        return;
    if (here->current != &here->idle) {
        dispatcher_yield_inside();
        return;
    }
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *there = dispatcher.processors[i];
        if (!there->parked && there != here && dispatcher.frames[there->frame].turn) {
            clear_away(there, NULL);
            return;
        }
    }
}

void dispatcher_set_processors(uint32_t count) {
    bool fewer = count < dispatcher.active;
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *one = dispatcher.processors[i];
        if (one->parked == (i >= count))
            continue;
        *count_of(one) -= one->asleep;
        one->parked = i >= count;
        *count_of(one) += one->asleep;
        if (one->asleep)
            dispatcher_wake(one); /* it looks at what it is to do now */
        if (dispatcher.root.node && one->parked)
            dispatcher_node_departs(one);
        else if (dispatcher.root.node)
            dispatcher_node_arrives(one, one->scheduler);
    }
    dispatcher_place_homeless();
    dispatcher.active = count < dispatcher.processors_count ? count : dispatcher.processors_count;
    fit(processor_here());
    if (fewer)
        give_way(processor_here());
}

void dispatcher_look_for_processors(int64_t now) {
    if (dispatcher.host->resized && dispatcher.host->resized(now))
        dispatcher.resized = true;
}

bool dispatcher_can_bind(uint64_t processors) {
    uint64_t all = 1;
    for (uint32_t i = 0; i < dispatcher.processors_count; i++)
        all |= bit_of(dispatcher.processors[i]);
    return processors == 0 || (processors & all);
}

int dispatcher_bind(struct dispatcher_thread *thread, uint64_t processors) {
    if (!dispatcher_can_bind(processors))
        return EINVAL;
    thread->bound = processors;
    dispatcher.picky = true;
    return 0;
}

TOOLS_UNSEEN void *dispatcher_processor_host(const struct processor *processor) { return processor->host; }

void *dispatcher_node_of(const struct processor *processor) {
    return processor->scheduler == &dispatcher.root ? NULL : processor->scheduler;
}
