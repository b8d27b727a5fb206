/*
 * What the files of the dispatcher share: its state, and what is too rare to stand in the way of dispatcher.c.
 */
#ifndef CATAPULTS_STATE_H
#define CATAPULTS_STATE_H

#include "catapults/trace.h"
#include "core/builtin.h"
#include "core/core.h"
#include "core/processor.h"
#include "core/thread_record.h"
#include "core/scheduler.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* What is RUNNING on one processor at a time: see running_frames.c. */
struct running_frame {
    struct dispatcher_thread *turn; /* NULL: nothing */
    struct dispatcher_thread *runs; /* who runs on its turn, or is to once the turn's processor takes it; or NULL */
    uint16_t next;                  /* of those that are not in use */
};

enum { DONORS_LISTS = 64 };

enum { FORESIGHT = 4 }; /* a power of two: see foresight.h */

/* There is no libc here, which compilers call for what is large. */
static inline void core_clear(void *memory, unsigned long size) {
    for (unsigned long i = 0; i < size; i++)
        ((char *)memory)[i] = 0;
}

/* Whether nothing is to be asked at an event but the policy of the root (shortcut.h), and whether threads that go on
 * soon are fetched before (foresight.h). */
enum shortcut { NO_SHORTCUT, SHORTCUT, SHORTCUT_OF_MANY };

/* Who records what happens: see dispatcher/trace.c. */
struct recorder {
    /* `thread` NULL: it concerns none. */
    void (*came_to)(enum trace_kind kind, const struct dispatcher_thread *thread, uint8_t detail);
    void (*dispatched)(const struct dispatcher_thread *next); /* this processor goes on with it, be it nobody */
    void (*named)(const struct dispatcher_thread *record, const char *name);
    void (*policy_in_force)(struct scheduler *scheduler);
    void (*policy_out)(uint32_t line); /* that it was left at; 0: not known */
};

/* How handlers are called that may run for ever: see dispatcher/overrun.c. */
struct watch {
    const struct native_handlers *handlers; /* whose `self` is the scheduler */
    const struct catapults_stop *(*raise)(struct scheduler *scheduler, native_thread_event *handler,
                                          struct catapults_thread *t);
};

struct core {
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
    struct dispatcher_thread *donors_lists[DONORS_LISTS]; /* see blocked_donors.c */
    uint64_t donors_lists_used;                           /* which of them are not empty */
#ifdef CATAPULTS_CHECKED
    uint32_t checked, checks; /* threads at the last look; and looks: see check.c */
#endif
    const struct recorder *recorder; /* NULL: nothing is recorded */
    /* Of a policy that has no `yield`, or is watched; called of the root's only. */
    struct catapults_thread *(*yield_in_two)(void *self, struct catapults_thread *t,
                                             const struct catapults_stop **stop);
    const struct watch *watch;                     /* NULL: handlers are called straight, whatever they do */
    struct dispatcher_thread *const *const *named; /* where the table of names stands: see thread_record.h */
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

/* A thread, or the record of a scheduler, has come to a state. */
#define TRACE(kind, thread, detail)                                                                                    \
    do {                                                                                                               \
        if (UNLIKELY(here->core->recorder != NULL))                                                                    \
            here->core->recorder->came_to(kind, thread, (uint8_t)(detail));                                            \
    } while (0)

/* Of a word without what is its own, and not 0: who is meant, or has the place in the table by now. */
static inline struct dispatcher_thread *name_thread(struct processor *here, uintptr_t name) {
    if (LIKELY(name & NAME_IN_TABLE))
        return (*here->core->named)[name_place(name)];
    return (struct dispatcher_thread *)(name + here->core->host->record);
}

/* A policy has come into force; a thread has come under it. */
void core_clock_start(struct processor *here, struct scheduler *scheduler);
/* ... whose policy asks how long its threads run. */
void core_clock_adopt(struct dispatcher_thread *thread);

/* Tells a scheduler that is `clocked` what time it is; `running`: what is RUNNING under it is charged for the time
 * since.
 */
void core_tell(struct processor *here, struct scheduler *scheduler, bool running);

/* Puts what is RUNNING in a frame where the policy's handlers find it. */
void core_show(struct scheduler *scheduler, uint16_t frame);

/* The policy has been started: nothing is RUNNING in any frame. */
void core_running_frames_start(struct processor *here, struct scheduler *scheduler);

/* The same before each call of a handler, whatever the policy; `running` unless it is the one that decides who does. */
static inline void tell(struct processor *here, struct scheduler *scheduler, bool running) {
    if (UNLIKELY(scheduler->clocked))
        core_tell(here, scheduler, running);
}

/* Whose turn it is on the processor is charged for what has been sampled there. */
void core_charge_samples(struct processor *here);
static inline void charge_samples(struct processor *here) {
    if (UNLIKELY(here->sampled != here->charged))
        core_charge_samples(here);
}

/* Something has changed that `shortcut` depends on: whoever has the core finds it anew. */
static inline void core_lose_shortcut(struct core *core) {
    if (core->shortcut) /* of several processors it is read without their lock, and so not written */
        core->shortcut = NO_SHORTCUT;
}

/* The scheduler has this policy; its instance is there, and has not been started. */
void core_put_in_force(struct processor *here, struct scheduler *scheduler, const struct catapults_policy *policy,
                       void *instance);
/* The policy has set up what there is of it once, its instance or what instances share: what it draws from is seeded. */
void core_seed(const struct core *core, const struct catapults_policy *policy, void *once);

/* The event of a timer. */
const struct catapults_stop *core_raise_timeout(struct processor *here, struct scheduler *scheduler,
                                                const struct catapults_timeout *timeout, struct catapults_thread *t);

/* What a handler stopped at that was left because it ran for too long. */
extern const struct catapults_stop core_overran __attribute__((visibility("hidden")));

/* A policy that lets a thread wait for too long is out. Nothing is RUNNING. */
void core_look_for_starving(struct processor *here, int64_t now);

/* The policy of `scheduler` is out: says so, and files all that is under it under the built-in FIFO, as the host's book
 * has it; `runs` (or NULL) is the thread that is RUNNING. The event under way is complete then. */
void core_contain(struct processor *here, struct scheduler *scheduler, const char *event,
                  const struct catapults_stop *stop, const char *text, const struct dispatcher_thread *runs);

/* ---- What the dispatcher passes on, as described there: dispatcher/dispatcher.h -----------------------------------
 */

void core_account(struct processor *here);
const struct catapults_stop *core_add(struct processor *here, struct scheduler *scheduler, struct scheduler *parent,
                                      const char *text, const struct catapults_policy *policy, void *instance);
int64_t core_consumed_by(struct processor *here, const struct dispatcher_thread *member);
enum dispatcher_cycle core_cycle(struct processor *here, const uintptr_t *to);
void core_give_record(struct scheduler *scheduler, struct dispatcher_thread *record);
bool core_has_room(struct processor *here, const struct scheduler *scheduler, const struct catapults_policy *policy,
                   unsigned long *parts);
unsigned long core_instance_size(const struct catapults_policy *policy, bool several);
bool core_is_elsewhere(struct processor *here, const struct dispatcher_thread *thread);
struct dispatcher_thread *core_next_record(const struct dispatcher_thread *record);
struct scheduler *core_next_scheduler(const struct scheduler *scheduler);
unsigned long core_node_size(const struct catapults_policy *policy);
void core_redirected(struct processor *here, struct dispatcher_thread *thread, const uintptr_t *to);
int core_remove(struct processor *here, struct scheduler *scheduler);
void core_renamed(struct processor *here, struct dispatcher_thread *thread);
const struct catapults_stop *core_replace(struct processor *here, struct scheduler *scheduler,
                                          const struct catapults_policy *policy, void *instance, void *const *nodes,
                                          void *parts);
const struct catapults_stop *core_restart(struct processor *here);
unsigned long core_scheduler_size(const struct scheduler *parent);
struct scheduler *core_take_removed(struct processor *here);
void core_tell_changed(struct processor *here, struct dispatcher_thread *member);
void core_tell_released(struct processor *here, struct dispatcher_thread *thread);
unsigned long core_thread_size(const struct catapults_policy *policy);
struct dispatcher_thread *core_waited_for(struct processor *here, const struct dispatcher_thread *thread);

/* ---- The tree: tree.c. None of it is needed while there is only the root
 * ---------------------------------------------- */

/* What a scheduler dispatched, after those above it, is no thread that can run: goes down to one that can, and waits
 * until there is one. Sets `turn`; returns who runs on it. */
struct dispatcher_thread *core_descend_from(struct processor *here, struct scheduler *scheduler,
                                            struct catapults_thread *dispatched);

/* The thread, which is RUNNING, goes over to another scheduler. Returns what it was refused with, and then nothing has
 * changed; or NULL, and then it is READY there, and nothing is RUNNING. */
const struct catapults_stop *core_move(struct processor *here, struct dispatcher_thread *thread, struct scheduler *to,
                                       void *room);

/* A record of a scheduler that is leaving was dispatched: that was the last of it. */
void core_end(struct processor *here, struct dispatcher_thread *record);
/* After that: its parent leaves, too, if it was removed and that was the last that was under it. */
void core_left(struct processor *here, struct scheduler *parent);

/* The parent of the scheduler is told of one more of its records, which is READY then. Returns what it is refused with,
 * and then there is no such record; or NULL. */
const struct catapults_stop *core_introduce(struct processor *here, struct scheduler *scheduler,
                                            struct dispatcher_thread *record, const struct dispatcher_thread *runs);

/* The thread that is RUNNING, where events are raised, or NULL. */
static inline struct dispatcher_thread *core_running(struct processor *here) {
    if (UNLIKELY(here->sees != here->frame))
        return here->core->running_frames[here->sees].turn;
    return here->polling ? NULL : here->turn;
}

/* What was RUNNING has given the processor up at its scheduler: so do all schedulers above it. */
void core_give_up(struct processor *here, struct dispatcher_thread *member);

/* Asks all schedulers between `thread` and what is RUNNING that it be next. False: it cannot be. */
bool core_ask_for(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *turn);

/* Of an event that was raised while the thread whose turn it is was RUNNING: whether it, or a scheduler above it, has
 * lost the processor. All of them have given it up then. */
bool core_preempted(struct processor *here, struct dispatcher_thread *turn);
bool core_is_taken(struct processor *here, const struct dispatcher_thread *turn);

/* It is RUNNING, unless the policy has moved it to a READY container: gives the processor up. */
void core_switch_out(struct processor *here, struct dispatcher_thread *member);

/* What it is RUNNING for, one level up; NULL: nothing, it is right under the root. */
struct dispatcher_thread *core_above(struct processor *here, const struct dispatcher_thread *member);

/* The record of a scheduler goes over to `state`. */
void core_raise_at_parent(struct processor *here, struct dispatcher_thread *record, enum dispatcher_state state,
                          const struct dispatcher_thread *runs);

/* Schedulers that dispatched nothing are asked again when something has happened. `in_vain`: nothing ever will. Whether
 * there is one. */
bool core_wake_idle(struct processor *here, bool in_vain);

/* Something under `scheduler` has become RUNNABLE, or something has happened that it may have waited for; nothing but
 * what is RUNNING has stopped being RUNNABLE under it. `runs`: the thread that is RUNNING, or NULL. */
void core_gained(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);
void core_lost(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);

/* What of `scheduler` is RUNNING while the thread `turn` is; NULL: nothing. */
struct dispatcher_thread *core_member(struct processor *here, const struct scheduler *scheduler,
                                      const struct dispatcher_thread *turn);

/* ---- The tree on several processors: scheduler_records.c
 * -------------------------------------------------------------------
 */

/* Something has become READY under the scheduler, or is so no more. */
void core_adjust(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);

/* The same at this level only; whether its parent was told anything. And of all schedulers. */
bool core_adjust_only(struct processor *here, struct scheduler *scheduler, const struct dispatcher_thread *runs);
void core_adjust_all(struct processor *here);

/* Whether the record, which is RUNNING no more, is to be READY. */
bool core_is_wanted(struct processor *here, const struct dispatcher_thread *record);

/* One that is READY, if there is one. */
struct dispatcher_thread *core_record_to_ask_for(struct processor *here, struct scheduler *scheduler);

/* Which of its scheduler's records it is. */
uint16_t core_number_of(const struct dispatcher_thread *record);

/* How many of its records are RUNNING. */
int64_t core_running_under(struct processor *here, const struct scheduler *scheduler);

/* The turn, which is RUNNING, begins (1) or ceases (-1) to wait for a processor. */
void core_count_waiting(struct processor *here, struct dispatcher_thread *turn, int change);

/* ---- The world outside: idle.c
 * --------------------------------------------------------------------------------------- */

/* The thread, which is RUNNING, cannot go on: raises the event of its `reason`. */
void core_raise_block(struct processor *here, struct dispatcher_thread *thread);

/* The thread, which is LENDING but was BLOCKED to its policy, is READY. `runs`: as for core_contain. */
void core_raise_event(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs);

/* The thread, which is READY to its policy, cannot run: raises suspend_thread. */
void core_set_aside(struct processor *here, struct dispatcher_thread *thread);

/* See donation.c. Who is to run on a turn, which is RUNNING; NULL: nobody can, and it has been blocked. The second is
 * for that of this processor, which goes on with that one; NULL also: it waits for another processor. */
struct dispatcher_thread *core_borrower(struct processor *here, struct dispatcher_thread *turn);
struct dispatcher_thread *core_borrow(struct processor *here, struct dispatcher_thread *turn);
bool core_can_lend(struct processor *here, const struct dispatcher_thread *thread);
void core_block_donor(struct processor *here, struct dispatcher_thread *thread, struct dispatcher_thread *end);
void core_about_to_run(struct processor *here,
                       struct dispatcher_thread *end); /* it runs now: whatever it waited for, it looks again */
void core_rouse(struct processor *here, struct dispatcher_thread *end, const struct dispatcher_thread *runs);
void core_rouse_one(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs);
/* Whom the thread lends its turns to; NULL: it has them for itself. The end of its chain, which may be itself. */
struct dispatcher_thread *core_lends_to(struct processor *here, const struct dispatcher_thread *thread);
struct dispatcher_thread *core_end_of(struct processor *here, struct dispatcher_thread *thread);
bool core_stop_lending(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs);

/* ---- Donation on several processors: blocked_donors.c
 * --------------------------------------------------------------------
 */

void core_blocked_donors_start(struct core *core);
void core_enlist(struct processor *here, struct dispatcher_thread *thread);
void core_strike_off(struct processor *here, struct dispatcher_thread *thread);

/* A blocked donor that can lend a turn now, or waits no longer, is roused. `runs`: as for core_contain. */
void core_settle(struct processor *here, const struct dispatcher_thread *runs);

/* On turns of other processors may run somebody for whom those do not wait any longer: they see to that. */
void core_look_at_turns(struct processor *here);
/* The thread runs no longer, or can again, or waits for another or not at all: blocked donors behind it look anew. */
static inline void core_changed(struct processor *here, struct dispatcher_thread *thread) {
    struct core *core = here->core;
    if (UNLIKELY(thread->relays) && core->several) {
        thread->relays = false;
        core->chains_changed = true;
    }
}

/* `next` runs on the turn of this processor: see begin_turn in decide.c. */
struct dispatcher_thread *core_go_on(struct processor *here, struct dispatcher_thread *next);

/* Under one policy: the thread is READY, and may run elsewhere than before: who comes last of those that run there on
 * other processors is READY again, if it comes after the thread. */
void core_precede(struct processor *here, const struct dispatcher_thread *thread);

/* The donor waits for the thread, which is to run on a turn that waits for a processor: if it can go on nowhere else,
 * who runs there is to make room; else that turn is READY again, if the donor's comes before it. Or it is postponed:
 * then a turn that the donor comes before makes room. */
void core_hasten(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *donor);

/* The processor on which the turn of the frame runs; NULL: none. */
struct processor *core_runner_of(struct processor *here, uint16_t frame);

/* ---- Turns that are postponed: postponed.c
 * ----------------------------------------------------------------------------
 */

/* The thread, whose turn it is here, and that has to wait behind others for a processor. */
void core_postpone(struct processor *here, struct dispatcher_thread *thread);

/* The donor lends to the thread, which is postponed: it has the donor's place, if that comes first. */
void core_postpone_less(struct processor *here, struct dispatcher_thread *thread,
                        const struct dispatcher_thread *donor);

/* Those that have room now are READY. Not within core_step_aside: each is an event of its own. */
void core_let_in(struct processor *here);

/* No turn waits for a processor that the thread, which is postponed, could wait for. */
bool core_is_expected(struct processor *here, const struct dispatcher_thread *thread);

/* ---- Several processors: decide.c, processors.c ------------------------------------------------------------------
 */

/* Whose turn it is on this one, whose last turn is over: `turn`. Returns who runs on it, or `idle`: nobody does, or
 * something is due before. */
struct dispatcher_thread *core_decide(struct processor *here);

/* The same, after what was due. */
struct dispatcher_thread *core_decide_after_all(struct processor *here);

/* Of a policy with nodes: the instance after this one, which is in the list of all schedulers with the others. */
static inline struct scheduler *core_next_node(const struct scheduler *node) {
    struct scheduler *next = node->next;
    while (next && !next->node)
        next = next->next;
    return next;
}

/* How many are READY in the instance. */
static inline int64_t core_ready_at(struct processor *here, const struct scheduler *scheduler) {
    struct core *core = here->core;
    if (UNLIKELY(scheduler->node != NULL))
        return scheduler->runnable - (core->running_frames[scheduler->node->frame].turn != NULL);
    if (UNLIKELY(scheduler->parent != NULL))
        return scheduler->runnable - core_running_under(here, scheduler);
    return scheduler->runnable - core->running;
}

/* The same of all instances, of the policy that the root has. */
static inline int64_t core_ready(struct processor *here) {
    struct core *core = here->core;
    int64_t runnable = 0;
    for (const struct scheduler *node = core->root.node ? &core->root : NULL; node; node = core_next_node(node))
        runnable += node->runnable;
    return (core->root.node ? runnable : core->root.runnable) - core->running;
}

/* Whether the number of any processor can be handed over to this one: see hand_over.c. */
static inline bool core_can_carry(struct processor *here, const struct processor *there) {
    struct core *core = here->core;
    return there->parked && there->current == &there->idle && !there->handed && !there->turns_first &&
           core->host->another && !core->root.node;
}

/* Whether the thread is bound to no other processors, and not left where it can go on on another kernel thread only. */
static inline bool core_may_run_on(struct processor *here, const struct dispatcher_thread *thread,
                                   const struct processor *processor) {
    if (UNLIKELY(thread->kept_on != NULL) && thread->kept_on != processor && !core_can_carry(here, thread->kept_on))
        return false;
    return LIKELY(!thread->bound) || (processor->number < 64 && processor->number < here->core->known &&
                                      (thread->bound >> processor->number & 1));
}

/* What `here` has dispatched, `next`, is handed over with its number to another kernel thread. The first: since it goes
 * on there, where nothing runs. The second: since others go on here only. False: it is not. */
bool core_hands_to(struct processor *here, struct processor *there, struct dispatcher_thread *next);
bool core_hands_on(struct processor *here, struct dispatcher_thread *next);

/* The processor on whose kernel thread it stands, or goes on; NULL: none. */
struct processor *core_stands_on(struct processor *here, const struct dispatcher_thread *thread);

/* The frame in which it is RUNNING; NOBODY: it is not. */
uint16_t core_frame_of(struct processor *here, const struct dispatcher_thread *member);

/* An event of a thread that may be RUNNING on another processor is raised between these two, in the frame where it is;
 * it may not be RUNNING any more then. NOBODY: it is not RUNNING on another, and the second is not needed. */
uint16_t core_see(struct processor *here, const struct dispatcher_thread *thread);
void core_seen(struct processor *here, const struct dispatcher_thread *thread, uint16_t frame);

/* Of two turns. Less than 0: the policies dispatch the first one first, which are asked from the root down to where the
 * two part. */
int core_order(struct processor *here, const struct dispatcher_thread *a, const struct dispatcher_thread *b);

/* The frame in which an event by which `thread` may become READY (NULL: one of several) may take the processor from
 * somebody, if that runs something: see running_frames.c. NOBODY: there is none, or need not be, as one that has
 * nothing to do takes what the event is about. And back from there. */
uint16_t core_frame_to_take(struct processor *here, const struct dispatcher_thread *thread);
void core_come_back(struct processor *here);

/* It will be in use. */
static inline void core_in_use(struct processor *here, uint16_t frame) {
    struct core *core = here->core;
    if (frame >= core->frames_end)
        core->frames_end = frame + 1;
}

/* Of a processor that is new. */
void core_take_frame(struct processor *here, struct processor *processor);

/* Threads may be READY that no processor takes, of those that have nothing to do and of the caller, if it takes one. It
 * is known only where all are under one scheduler. */
bool core_must_settle(struct processor *here, int64_t taken);

/* The turn of another processor ends, if one has any: so it asks its policy. */
void core_end_another_turn(struct processor *here);

/* Who runs on the turn of a frame, or is to; NULL: nobody. */
void core_set_runs(struct processor *here, uint16_t frame, struct dispatcher_thread *thread);

/* One that is not in use, and is now: there is one. And it is in use no more. */
uint16_t core_new_frame(struct processor *here);
void core_give_frame(struct processor *here, uint16_t frame);

/* What the processor has RUNNING is that of the frame. */
void core_move_to(struct processor *processor, uint16_t frame);

/* In a tree: the turn and all schedulers above it give the processor up, in the frame in which they are RUNNING. */
void core_give_up_all(struct processor *here, struct dispatcher_thread *turn, uint16_t frame);

/* The turn does not wait for its processor any longer. */
void core_leave_queue(struct processor *here, struct dispatcher_thread *turn);

/* Whose turn it is in a frame; NULL: nobody's. */
void core_set_turn(struct processor *here, uint16_t frame, struct dispatcher_thread *turn);

/* Who runs here gives the processor up, if a turn has waited for it for so long that the policies do not limit turns
 * after all: whether it does. */
bool core_let_who_waits(struct processor *here, int64_t now);

/* What is RUNNING in the frame is so no more, by an event: if that is a processor's, it finds that out when it comes
 * here next. */
void core_end_turn(struct processor *here, uint16_t frame);

/* The same of all that is RUNNING under the scheduler on other processors. */
void core_end_turns_under(struct processor *here, const struct scheduler *scheduler);

/* ---- A policy with an instance for each processor: nodes.c --------------------------------------------------------
 */

/* The policy of the root has nodes: `memory` is that of core_instance_size. Starts it, with the first one. */
void core_nodes_start(struct processor *here, struct processor *first, const struct catapults_policy *policy,
                      char *memory);

/* A processor comes, whose node lies there; one goes. */
void core_node_arrives(struct processor *here, struct processor *processor, void *memory);
void core_node_departs(struct processor *here, struct processor *processor);

/* The same in place of another policy: starts it, with a node for each processor that is not parked; `nodes`: memory of
 * core_node_size for each but the first. Returns what it stopped at. */
const struct catapults_stop *core_nodes_begin(struct processor *here, const struct catapults_policy *policy,
                                              char *memory, void *const *nodes);

/* Of a thread that it has adopted and that is in no instance: tells it, as of a new one. Returns what it stopped at. */
const struct catapults_stop *core_place_first(struct processor *here, struct dispatcher_thread *thread);

/* All that is homeless and can run is placed. */
void core_place_homeless(struct processor *here);

/* It has another policy now: there is one instance for all. */
void core_nodes_end(struct processor *here);

/* Of a thread, or the record of a scheduler, that is new, RUNNABLE and under `scheduler`, an instance: that which it is
 * to be in; NULL: the policy is out, and has been seen to. */
struct scheduler *core_place(struct processor *here, struct dispatcher_thread *thread, struct scheduler *scheduler,
                             const struct dispatcher_thread *runs);

/* The thread, or the record of a scheduler, which is homeless and RUNNABLE, goes on somewhere. */
void core_place_anew(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs);

/* The instance has nothing to run: asks the others. False: they gave nothing, or the policy is out. */
bool core_steal(struct processor *here, struct scheduler *scheduler);

/* The thread, which has become READY, is looked at when it could be stolen; or no longer, as it ends. */
void core_list_picky(struct processor *here, struct dispatcher_thread *thread);
void core_unlist_picky(struct processor *here, struct dispatcher_thread *thread);
static inline void core_became_ready(struct processor *here, struct dispatcher_thread *thread) {
    if (UNLIKELY(here->core->picky))
        core_list_picky(here, thread);
}

/* Whether some instance may have something to give away. */
bool core_is_something_to_steal(struct processor *here);

/* Threads have become READY there, or its turn is over, or may have been taken: its processor sees to that. */
void core_notice(struct processor *here, struct scheduler *scheduler);
static inline void core_noticed(struct processor *here, struct scheduler *scheduler) {
    if (UNLIKELY(here->core->several) && scheduler->node)
        core_notice(here, scheduler);
}

/* A processor that is idle falls asleep, and is awake again; how many of its kind are asleep: of those that are parked,
 * or of the others. */
void core_fall_asleep(struct processor *here);
void core_wake_up(struct processor *here);
uint32_t *core_count_of_asleep(const struct processor *processor);

/* It sleeps, and is to come back. The first: the caller wakes it. */
void core_begin_to_wake(struct processor *processor);
void core_wake(struct processor *processor);

/* Frames are given out to processors as they come, as long as no policy has nodes. */
void core_give_out_frames(struct processor *here);

/* Those that run and that nothing interrupts, although threads wait. */
void core_interrupt_others(struct processor *here);

/* Whether something is under way, or timers are set. */
bool core_is_under_way(const struct core *core);

/* The first instant for which a timer is set. */
int64_t core_first_instant(const struct core *core);

/* The processor is not `polling` any more. */
void core_stop_polling(struct processor *here);

/* One that does so for longer than until the first timer is to wake before. */
void core_tell_poller(struct processor *here);

/* An event about another thread is raised between these two, or about several: NULL. Within such a pair others may
 * stand: the first that ends ends what has been taken, and what is raised after it is so in the processor's own frame.
 */
static inline void core_step_aside(struct processor *here, const struct dispatcher_thread *thread) {
    struct core *core = here->core;
    if (UNLIKELY(core->several) && !core->root.node && here->sees == here->frame)
        here->sees = core_frame_to_take(here, thread);
}
static inline void core_step_back(struct processor *here) {
    if (UNLIKELY(here->sees != here->frame))
        core_come_back(here);
}

/* Which instance of a policy with nodes the processor is to ask: its own; while a turn of a scheduler below runs there,
 * on another processor, that one's. NULL: none. */
struct scheduler *core_instance_for(struct processor *here);

/* Has the processor interrupted if there is a reason: see quantum.c. */
void core_arm(struct processor *here);

/* Whether a processor that computes looks at who is to wake, before that is to be done here. Not one that is parked: it
 * may stop at any time, and nobody goes on there. */
bool core_is_seen_to(const struct processor *here, int64_t instant);

/* Several processors: whether nobody else would find out in time what happens outside while a thread runs here. */
static inline bool core_nobody_looks(const struct processor *here) {
    struct core *core = here->core;
    if (core->poller)
        return false;
    if (!here->armed)
        return core_is_under_way(here->core);
    const struct timer *first = core->timers;
    return UNLIKELY(first != NULL) && first->instant < here->armed && !core_is_seen_to(here, first->instant);
}

/* Several processors: whether all of this agrees, in builds that look: see check.c. How many donors are blocked. */
#ifdef CATAPULTS_CHECKED
void core_check(struct processor *here);
uint32_t core_check_blocked_donors(struct processor *here);
#else
static inline void core_check(struct processor *here) { (void)here; }
#endif

#endif
