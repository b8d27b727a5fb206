/*
 * What the files of the dispatcher share: its state, and what is too rare to stand in the way of dispatcher.c.
 */
#ifndef CATAPULTS_STATE_H
#define CATAPULTS_STATE_H

#include "dispatcher/builtin.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/processor.h"
#include "dispatcher/thread_record.h"
#include "dispatcher/scheduler.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* What is RUNNING on one processor at a time: see running_frames.c. */
struct running_frame {
    struct dispatcher_thread *turn; /* NULL: nothing */
    struct dispatcher_thread *runs; /* who runs on its turn, or is to once the turn's processor takes it; or NULL */
    uint16_t next;                  /* of those that are not in use */
};

enum { FORESIGHT = 4 }; /* a power of two: see foresight.h */

/* There is no libc here, which compilers call for what is large. */
static inline void dispatcher_clear(void *memory, unsigned long size) {
    for (unsigned long i = 0; i < size; i++)
        ((char *)memory)[i] = 0;
}

/* Whether nothing is to be asked at an event but the policy of the root (shortcut.h), and whether threads that go on
 * soon are fetched before (foresight.h). */
enum shortcut { NO_SHORTCUT, SHORTCUT, SHORTCUT_OF_MANY };

struct dispatcher {
    uint8_t shortcut;      /* enum shortcut */
    bool clients;          /* there is a scheduler outside of the tree, which never dispatches */
    bool accounting;       /* the host asks how long threads run, whatever the policies do */
    uint32_t recent_first; /* see foresight.h: the oldest of: */
    struct dispatcher_thread *recent[FORESIGHT];
    struct scheduler root; /* and, behind it, all others */
    struct scheduler *last;
    struct scheduler *removed;       /* that have ended; linked by `next` */
    struct dispatcher_thread nobody; /* stands for a thread that has ended: see foresight.h */
    uint32_t numbers;                /* threads that there ever were */
    struct timer *timers;
    struct dispatcher_thread *oldest, *newest;
    int64_t tidied;                          /* when the host was asked to last */
    int64_t marked;                          /* when starvation.c has looked */
    uint64_t decisions, enough;              /* since then, about; and how many serve everybody */
    const struct dispatcher_thread *starved; /* while the policy has to go that let it wait */
    const struct dispatcher_driver *driver;
    const struct dispatcher_host *host;
    volatile bool signalled; /* the host has said so */
    bool signals_expected;
    bool signals_begun; /* the host is to be asked whenever a thread goes on: several processors */

    /* Where there are several processors. */
    bool several;
    bool resized; /* host->resize is to be called */
    bool picky;   /* some threads may not run, or not go on, on any processor: not all can be stolen */
    struct dispatcher_thread *blocked_donors, **blocked_donors_last, *donor_next; /* of one processor: see donation.c */
    struct dispatcher_thread *picky_first, **picky_last;                          /* such as are READY: see nodes.c */
    uint32_t picky_count;
    bool nothing_to_steal; /* no node gave anything away, and nothing has happened since */
    int64_t found_nothing_at;
    uint32_t homeless;                                    /* threads */
    uint16_t free_frames;                                 /* the first */
    uint16_t frames_end;                                  /* those from there on were never in use */
    uint32_t waiting;                                     /* turns that wait for their processor */
    uint32_t left_off;                                    /* those that wait no longer, since postponed.c has looked */
    struct dispatcher_thread *postponed, *postponed_last; /* see postponed.c */
    uint32_t processors_count, active;                    /* those of which that are not parked */
    uint32_t known;                                       /* numbers from there on no processor ever had: spares */
    bool wants_spare;                                     /* host->another is to be called */
    bool no_more_spares;
    uint32_t running; /* frames that have a turn */
    uint32_t parked_asleep;
    uint32_t asleep, waking;  /* processors that are idle; those of which that have been woken */
    struct processor *poller; /* who sleeps in the driver */
    int64_t polls_until;      /* and how long */
    struct processor *processors[DISPATCHER_PROCESSORS];
    struct running_frame running_frames[FRAMES];
    union {
        struct {
            bool chains_changed; /* a blocked donor may be able to go on */
            bool turns_changed;  /* somebody may run on the turn of a thread that does not wait for it any longer */
            bool fewer_wait;     /* there may be room for somebody who is postponed */
            bool none_waits;     /* for some processor, where somebody who is postponed may run */
        };
        uint32_t changes; /* not 0: any of these */
    };
};

extern struct dispatcher dispatcher __attribute__((visibility("hidden")));

/* Of a word without what is its own, and not 0: who is meant, or has the place in the table by now. */
static inline struct dispatcher_thread *name_thread(uintptr_t name) {
    if (LIKELY(name & NAME_IN_TABLE))
        return dispatcher_named[name_place(name)];
    return (struct dispatcher_thread *)(name + dispatcher.host->record);
}

/* A policy has come into force; a thread has come under it. */
void dispatcher_clock_start(struct scheduler *scheduler);
/* ... whose policy asks how long its threads run. */
void dispatcher_clock_adopt(struct dispatcher_thread *thread);

/* Tells a scheduler that is `clocked` what time it is; `running`: what is RUNNING under it is charged for the time
 * since.
 */
void dispatcher_tell(struct scheduler *scheduler, bool running);

/* Puts what is RUNNING in a frame where the policy's handlers find it. */
void dispatcher_show(struct scheduler *scheduler, uint16_t frame);

/* The policy has been started: nothing is RUNNING in any frame. */
void dispatcher_running_frames_start(struct scheduler *scheduler);

/* The same before each call of a handler, whatever the policy; `running` unless it is the one that decides who does. */
static inline void tell(struct scheduler *scheduler, bool running) {
    if (UNLIKELY(scheduler->clocked))
        dispatcher_tell(scheduler, running);
}

/* Whose turn it is on the processor is charged for what has been sampled there. */
void dispatcher_charge_samples(struct processor *here);
static inline void charge_samples(struct processor *here) {
    if (UNLIKELY(here->sampled != here->charged))
        dispatcher_charge_samples(here);
}

/* Something has changed that `shortcut` depends on. */
void dispatcher_find_shortcut(void);

/* The scheduler has this policy; its instance is there, and has not been started. */
void dispatcher_put_in_force(struct scheduler *scheduler, const struct catapults_policy *policy, void *instance);

/* The event of a timer. */
const struct catapults_stop *dispatcher_raise_timeout(struct scheduler *scheduler,
                                                      const struct catapults_timeout *timeout,
                                                      struct catapults_thread *t);

/* What a handler stopped at that was left because it ran for too long. */
extern const struct catapults_stop dispatcher_overran __attribute__((visibility("hidden")));

/* A policy that lets a thread wait for too long is out. Nothing is RUNNING. */
void dispatcher_look_for_starving(int64_t now);

/* The policy of `scheduler` is out: says so, and files all that is under it under the built-in FIFO, as the host's book
 * has it; `runs` (or NULL) is the thread that is RUNNING. The event under way is complete then. */
void dispatcher_contain(struct scheduler *scheduler, const char *event, const struct catapults_stop *stop,
                        const char *text, const struct dispatcher_thread *runs);

/* ---- The tree: tree.c. None of it is needed while there is only the root
 * ---------------------------------------------- */

/* What a scheduler dispatched, after those above it, is no thread that can run: goes down to one that can, and waits
 * until there is one. Sets `turn`; returns who runs on it. */
struct dispatcher_thread *dispatcher_descend_from(struct processor *here, struct scheduler *scheduler,
                                                  struct catapults_thread *dispatched);

/* The thread, which is RUNNING, goes over to another scheduler. Returns what it was refused with, and then nothing has
 * changed; or NULL, and then it is READY there, and nothing is RUNNING. */
const struct catapults_stop *dispatcher_move(struct dispatcher_thread *thread, struct scheduler *to, void *room);

/* A record of a scheduler that is leaving was dispatched: that was the last of it. */
void dispatcher_end(struct dispatcher_thread *record);
/* After that: its parent leaves, too, if it was removed and that was the last that was under it. */
void dispatcher_left(struct scheduler *parent);

/* The parent of the scheduler is told of one more of its records, which is READY then. Returns what it is refused with,
 * and then there is no such record; or NULL. */
const struct catapults_stop *dispatcher_introduce(struct scheduler *scheduler, struct dispatcher_thread *record,
                                                  const struct dispatcher_thread *runs);

/* The thread that is RUNNING, where events are raised, or NULL. */
static inline struct dispatcher_thread *dispatcher_running(void) {
    const struct processor *here = processor_here();
    if (UNLIKELY(here->sees != here->frame))
        return dispatcher.running_frames[here->sees].turn;
    return here->polling ? NULL : here->turn;
}

/* What was RUNNING has given the processor up at its scheduler: so do all schedulers above it. */
void dispatcher_give_up(struct dispatcher_thread *member);

/* Asks all schedulers between `thread` and what is RUNNING that it be next. False: it cannot be. */
bool dispatcher_ask_for(struct dispatcher_thread *thread, const struct dispatcher_thread *turn);

/* Of an event that was raised while the thread whose turn it is was RUNNING: whether it, or a scheduler above it, has
 * lost the processor. All of them have given it up then. */
bool dispatcher_preempted(struct dispatcher_thread *turn);
bool dispatcher_is_taken(const struct dispatcher_thread *turn);

/* It is RUNNING, unless the policy has moved it to a READY container: gives the processor up. */
void dispatcher_switch_out(struct dispatcher_thread *member);

/* What it is RUNNING for, one level up; NULL: nothing, it is right under the root. */
struct dispatcher_thread *dispatcher_above(const struct dispatcher_thread *member);

/* The record of a scheduler goes over to `state`. */
void dispatcher_raise_at_parent(struct dispatcher_thread *record, enum dispatcher_state state,
                                const struct dispatcher_thread *runs);

/* Schedulers that dispatched nothing are asked again when something has happened. `in_vain`: nothing ever will. Whether
 * there is one. */
bool dispatcher_wake_idle(bool in_vain);

/* Something under `scheduler` has become RUNNABLE, or something has happened that it may have waited for; nothing but
 * what is RUNNING has stopped being RUNNABLE under it. `runs`: the thread that is RUNNING, or NULL. */
void dispatcher_gained(struct scheduler *scheduler, const struct dispatcher_thread *runs);
void dispatcher_lost(struct scheduler *scheduler, const struct dispatcher_thread *runs);

/* What of `scheduler` is RUNNING while the thread `turn` is; NULL: nothing. */
struct dispatcher_thread *dispatcher_member(const struct scheduler *scheduler, const struct dispatcher_thread *turn);

/* ---- The tree on several processors: scheduler_records.c
 * -------------------------------------------------------------------
 */

/* Something has become READY under the scheduler, or is so no more. */
void dispatcher_adjust(struct scheduler *scheduler, const struct dispatcher_thread *runs);

/* The same at this level only; whether its parent was told anything. And of all schedulers. */
bool dispatcher_adjust_only(struct scheduler *scheduler, const struct dispatcher_thread *runs);
void dispatcher_adjust_all(void);

/* Whether the record, which is RUNNING no more, is to be READY. */
bool dispatcher_is_wanted(const struct dispatcher_thread *record);

/* One that is READY, if there is one. */
struct dispatcher_thread *dispatcher_record_to_ask_for(struct scheduler *scheduler);

/* Which of its scheduler's records it is. */
uint16_t dispatcher_number_of(const struct dispatcher_thread *record);

/* How many of its records are RUNNING. */
int64_t dispatcher_running_under(const struct scheduler *scheduler);

/* The turn, which is RUNNING, begins (1) or ceases (-1) to wait for a processor. */
void dispatcher_count_waiting(struct dispatcher_thread *turn, int change);

/* ---- The world outside: idle.c
 * --------------------------------------------------------------------------------------- */

/* The thread, which is RUNNING, cannot go on: raises the event of its `reason`. */
void dispatcher_raise_block(struct dispatcher_thread *thread);

/* The thread, which is LENDING but was BLOCKED to its policy, is READY. `runs`: as for dispatcher_contain. */
void dispatcher_raise_event(struct dispatcher_thread *thread, const struct dispatcher_thread *runs);

/* The thread, which is READY to its policy, cannot run: raises suspend_thread. */
void dispatcher_set_aside(struct dispatcher_thread *thread);

/* See donation.c. Who is to run on a turn, which is RUNNING; NULL: nobody can, and it has been blocked. The second is
 * for that of this processor, which goes on with that one; NULL also: it waits for another processor. */
struct dispatcher_thread *dispatcher_borrower(struct dispatcher_thread *turn);
struct dispatcher_thread *dispatcher_borrow(struct dispatcher_thread *turn);
bool dispatcher_can_lend(const struct dispatcher_thread *thread);
void dispatcher_block_donor(struct dispatcher_thread *thread, struct dispatcher_thread *end);
void dispatcher_about_to_run(struct dispatcher_thread *end); /* it runs now: whatever it waited for, it looks again */
void dispatcher_rouse(struct dispatcher_thread *end, const struct dispatcher_thread *runs);
void dispatcher_rouse_one(struct dispatcher_thread *thread, const struct dispatcher_thread *runs);
/* Whom the thread lends its turns to; NULL: it has them for itself. The end of its chain, which may be itself. */
struct dispatcher_thread *dispatcher_lends_to(const struct dispatcher_thread *thread);
struct dispatcher_thread *dispatcher_end_of(struct dispatcher_thread *thread);
bool dispatcher_stop_lending(struct dispatcher_thread *thread, const struct dispatcher_thread *runs);

/* ---- Donation on several processors: blocked_donors.c
 * --------------------------------------------------------------------
 */

void dispatcher_blocked_donors_start(void);
void dispatcher_enlist(struct dispatcher_thread *thread);
void dispatcher_strike_off(struct dispatcher_thread *thread);

/* A blocked donor that can lend a turn now, or waits no longer, is roused. `runs`: as for dispatcher_contain. */
void dispatcher_settle(const struct dispatcher_thread *runs);

/* On turns of other processors may run somebody for whom those do not wait any longer: they see to that. */
void dispatcher_look_at_turns(void);
/* The thread runs no longer, or can again, or waits for another or not at all: blocked donors behind it look anew. */
static inline void dispatcher_changed(struct dispatcher_thread *thread) {
    if (UNLIKELY(thread->relays) && dispatcher.several) {
        thread->relays = false;
        dispatcher.chains_changed = true;
    }
}

/* `next` runs on the turn of this processor: see begin_turn in decide.c. */
struct dispatcher_thread *dispatcher_go_on(struct dispatcher_thread *next);

/* Under one policy: the thread is READY, and may run elsewhere than before: who comes last of those that run there on
 * other processors is READY again, if it comes after the thread. */
void dispatcher_precede(const struct dispatcher_thread *thread);

/* The donor waits for the thread, which is to run on a turn that waits for a processor: if it can go on nowhere else,
 * who runs there is to make room; else that turn is READY again, if the donor's comes before it. Or it is postponed:
 * then a turn that the donor comes before makes room. */
void dispatcher_hasten(struct dispatcher_thread *thread, const struct dispatcher_thread *donor);

/* The processor on which the turn of the frame runs; NULL: none. */
struct processor *dispatcher_runner_of(uint16_t frame);

/* Does what is due here: runs out timers and polls the driver, or waits for them. No thread is RUNNING. */
void dispatcher_do_due(struct processor *here);

/* The same, and decides: who runs here. */
struct dispatcher_thread *dispatcher_attend(struct processor *here);

/* ---- Turns that are postponed: postponed.c
 * ----------------------------------------------------------------------------
 */

/* The thread, whose turn it is here, and that has to wait behind others for a processor. */
void dispatcher_postpone(struct dispatcher_thread *thread);

/* The donor lends to the thread, which is postponed: it has the donor's place, if that comes first. */
void dispatcher_postpone_less(struct dispatcher_thread *thread, const struct dispatcher_thread *donor);

/* Those that have room now are READY. Not within dispatcher_step_aside: each is an event of its own. */
void dispatcher_let_in(void);

/* No turn waits for a processor that the thread, which is postponed, could wait for. */
bool dispatcher_is_expected(const struct dispatcher_thread *thread);

/* ---- Several processors: decide.c, processors.c ------------------------------------------------------------------
 */

/* Before policies are started. */
void dispatcher_several_prepare(struct processor *first);

/* Whose turn it is on this one, whose last turn is over: `turn`. Returns who runs on it, or `idle`: nobody does, or
 * something is due before. */
struct dispatcher_thread *dispatcher_decide(struct processor *here);

/* The same, after what was due. */
struct dispatcher_thread *dispatcher_decide_after_all(struct processor *here);

/* Of a policy with nodes: the instance after this one, which is in the list of all schedulers with the others. */
static inline struct scheduler *dispatcher_next_node(const struct scheduler *node) {
    struct scheduler *next = node->next;
    while (next && !next->node)
        next = next->next;
    return next;
}

/* How many are READY in the instance. */
static inline int64_t dispatcher_ready_at(const struct scheduler *scheduler) {
    if (UNLIKELY(scheduler->node != NULL))
        return scheduler->runnable - (dispatcher.running_frames[scheduler->node->frame].turn != NULL);
    if (UNLIKELY(scheduler->parent != NULL))
        return scheduler->runnable - dispatcher_running_under(scheduler);
    return scheduler->runnable - dispatcher.running;
}

/* The same of all instances, of the policy that the root has. */
static inline int64_t dispatcher_ready(void) {
    int64_t runnable = 0;
    for (const struct scheduler *node = dispatcher.root.node ? &dispatcher.root : NULL; node;
         node = dispatcher_next_node(node))
        runnable += node->runnable;
    return (dispatcher.root.node ? runnable : dispatcher.root.runnable) - dispatcher.running;
}

/* Whether the number of any processor can be handed over to this one: see hand_over.c. */
static inline bool dispatcher_can_carry(const struct processor *there) {
    return there->parked && there->current == &there->idle && !there->handed && !there->turns_first &&
           dispatcher.host->another && !dispatcher.root.node;
}

/* Whether the thread is bound to no other processors, and not left where it can go on on another kernel thread only. */
static inline bool dispatcher_may_run_on(const struct dispatcher_thread *thread, const struct processor *processor) {
    if (UNLIKELY(thread->kept_on != NULL) && thread->kept_on != processor && !dispatcher_can_carry(thread->kept_on))
        return false;
    return LIKELY(!thread->bound) ||
           (processor->number < 64 && processor->number < dispatcher.known && (thread->bound >> processor->number & 1));
}

/* What `here` has dispatched, `next`, is handed over with its number to another kernel thread. The first: since it goes
 * on there, where nothing runs. The second: since others go on here only. False: it is not. */
bool dispatcher_hands_to(struct processor *here, struct processor *there, struct dispatcher_thread *next);
bool dispatcher_hands_on(struct processor *here, struct dispatcher_thread *next);

/* The processor on whose kernel thread it stands, or goes on; NULL: none. */
struct processor *dispatcher_stands_on(const struct dispatcher_thread *thread);

/* The frame in which it is RUNNING; NOBODY: it is not. */
uint16_t dispatcher_frame_of(const struct dispatcher_thread *member);

/* An event of a thread that may be RUNNING on another processor is raised between these two, in the frame where it is;
 * it may not be RUNNING any more then. NOBODY: it is not RUNNING on another, and the second is not needed. */
uint16_t dispatcher_see(const struct dispatcher_thread *thread);
void dispatcher_seen(const struct dispatcher_thread *thread, uint16_t frame);

/* Of two turns. Less than 0: the policies dispatch the first one first, which are asked from the root down to where the
 * two part. */
int dispatcher_order(const struct dispatcher_thread *a, const struct dispatcher_thread *b);

/* The frame in which an event by which `thread` may become READY (NULL: one of several) may take the processor from
 * somebody, if that runs something: see running_frames.c. NOBODY: there is none, or need not be, as one that has
 * nothing to do takes what the event is about. And back from there. */
uint16_t dispatcher_frame_to_take(struct processor *here, const struct dispatcher_thread *thread);
void dispatcher_come_back(struct processor *here);

/* It will be in use. */
static inline void dispatcher_in_use(uint16_t frame) {
    if (frame >= dispatcher.frames_end)
        dispatcher.frames_end = frame + 1;
}

/* Of a processor that is new. */
void dispatcher_take_frame(struct processor *processor);

/* Threads may be READY that no processor takes, of those that have nothing to do and of the caller, if it takes one. It
 * is known only where all are under one scheduler. */
bool dispatcher_must_settle(int64_t taken);

/* The turn of another processor ends, if one has any: so it asks its policy. */
void dispatcher_end_another_turn(const struct processor *here);

/* Whose turn it is in a frame; NULL: nobody's. */
void dispatcher_set_turn(uint16_t frame, struct dispatcher_thread *turn);

/* Who runs here gives the processor up, if a turn has waited for it for so long that the policies do not limit turns
 * after all. May run other threads. */
void dispatcher_let_who_waits(int64_t now);

/* What is RUNNING in the frame is so no more, by an event: if that is a processor's, it finds that out when it comes
 * here next. */
void dispatcher_end_turn(uint16_t frame);

/* The same of all that is RUNNING under the scheduler on other processors. */
void dispatcher_end_turns_under(const struct scheduler *scheduler);

/* ---- A policy with an instance for each processor: nodes.c --------------------------------------------------------
 */

/* The policy of the root has nodes: `memory` is that of dispatcher_instance_size. Starts it, with the first one. */
void dispatcher_nodes_start(struct processor *first, const struct catapults_policy *policy, char *memory);

/* A processor comes, whose node lies there; one goes. */
void dispatcher_node_arrives(struct processor *processor, void *memory);
void dispatcher_node_departs(struct processor *processor);

/* The same in place of another policy: starts it, with a node for each processor that is not parked; `nodes`: memory of
 * dispatcher_node_size for each but the first. Returns what it stopped at. */
const struct catapults_stop *dispatcher_nodes_begin(const struct catapults_policy *policy, char *memory,
                                                    void *const *nodes);

/* Of a thread that it has adopted and that is in no instance: tells it, as of a new one. Returns what it stopped at. */
const struct catapults_stop *dispatcher_place_first(struct dispatcher_thread *thread);

/* All that is homeless and can run is placed. */
void dispatcher_place_homeless(void);

/* It has another policy now: there is one instance for all. */
void dispatcher_nodes_end(void);

/* Of a thread, or the record of a scheduler, that is new, RUNNABLE and under `scheduler`, an instance: that which it is
 * to be in; NULL: the policy is out, and has been seen to. */
struct scheduler *dispatcher_place(struct dispatcher_thread *thread, struct scheduler *scheduler,
                                   const struct dispatcher_thread *runs);

/* The thread, or the record of a scheduler, which is homeless and RUNNABLE, goes on somewhere. */
void dispatcher_place_anew(struct dispatcher_thread *thread, const struct dispatcher_thread *runs);

/* The instance has nothing to run: asks the others. False: they gave nothing, or the policy is out. */
bool dispatcher_steal(struct scheduler *scheduler);

/* The thread, which has become READY, is looked at when it could be stolen; or no longer, as it ends. */
void dispatcher_list_picky(struct dispatcher_thread *thread);
void dispatcher_unlist_picky(struct dispatcher_thread *thread);
static inline void dispatcher_became_ready(struct dispatcher_thread *thread) {
    if (UNLIKELY(dispatcher.picky))
        dispatcher_list_picky(thread);
}

/* Whether some instance may have something to give away. */
bool dispatcher_is_something_to_steal(void);

/* Threads have become READY there, or its turn is over, or may have been taken: its processor sees to that. */
void dispatcher_notice(struct scheduler *scheduler);
static inline void dispatcher_noticed(struct scheduler *scheduler) {
    if (UNLIKELY(dispatcher.several) && scheduler->node)
        dispatcher_notice(scheduler);
}

/* It sleeps, and is to come back. */
void dispatcher_wake(struct processor *processor);

/* Frames are given out to processors as they come, as long as no policy has nodes. */
void dispatcher_give_out_frames(void);

/* Those that run and that nothing interrupts, although threads wait. */
void dispatcher_interrupt_others(void);

/* Whether something is under way, or timers are set. */
bool dispatcher_is_under_way(void);

/* The world outside is attended to: there may be other CPUs. */
void dispatcher_look_for_processors(int64_t now);

/* The first instant for which a timer is set. */
int64_t dispatcher_first_instant(void);

/* The processor is not `polling` any more. */
void dispatcher_stop_polling(struct processor *here);

/* Sleeps in the driver. */
void dispatcher_poll(struct processor *here);

/* One that does so for longer than until the first timer is to wake before. */
void dispatcher_tell_poller(void);

/* Goes on with `next`: see run in dispatcher.c. */
void dispatcher_run(struct processor *here, struct dispatcher_thread *self, struct dispatcher_thread *next);

/* dispatcher_yield, within dispatcher_enter. */
void dispatcher_yield_inside(void);

/* An event about another thread is raised between these two, or about several: NULL. Within such a pair others may
 * stand: the first that ends ends what has been taken, and what is raised after it is so in the processor's own frame.
 */
static inline void dispatcher_step_aside(struct processor *here, const struct dispatcher_thread *thread) {
    if (UNLIKELY(dispatcher.several) && !dispatcher.root.node && here->sees == here->frame)
        here->sees = dispatcher_frame_to_take(here, thread);
}
static inline void dispatcher_step_back(struct processor *here) {
    if (UNLIKELY(here->sees != here->frame))
        dispatcher_come_back(here);
}

/* The same, at an instant, while a thread is RUNNING: it may be READY afterwards. */
void dispatcher_look(int64_t now);

/* Which instance of a policy with nodes the processor is to ask: its own; while a turn of a scheduler below runs there,
 * on another processor, that one's. NULL: none. */
struct scheduler *dispatcher_instance_for(const struct processor *here);

/* Has the processor interrupted if there is a reason: see quantum.c. */
void dispatcher_arm(struct processor *here);

/* Whether a processor that computes looks at who is to wake, before that is to be done here. Not one that is parked: it
 * may stop at any time, and nobody goes on there. */
bool dispatcher_is_seen_to(const struct processor *here, int64_t instant);

/* Several processors: whether nobody else would find out in time what happens outside while a thread runs here. */
static inline bool dispatcher_nobody_looks(const struct processor *here) {
    if (dispatcher.poller)
        return false;
    if (!here->armed)
        return dispatcher_is_under_way();
    const struct timer *first = dispatcher.timers;
    return UNLIKELY(first != NULL) && first->instant < here->armed && !dispatcher_is_seen_to(here, first->instant);
}

/* Several processors: whether all of this agrees, in builds that look: see check.c. How many donors are blocked. */
#ifdef CATAPULTS_CHECKED
void dispatcher_check(void);
uint32_t dispatcher_check_blocked_donors(void);
#else
static inline void dispatcher_check(void) {}
#endif

#endif
