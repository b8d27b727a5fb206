/*
 * A policy with nodes: each processor has its own instance of the policy, and asks only that one (Bossa 2005; CPU
 * inheritance scheduling 1996, §4.3.1).
 *
 *     what is shared ──► node 0 │ node 1 │ node 2 │ …        arrival, departure, dispatch
 *                        root   │        │        │          one struct scheduler each, in the list of all schedulers
 *                        steal ─┴► migrate                   newthread, migrate, steal and all else
 *
 * An event of a thread is raised in the thread's instance, whichever processor raises it. The RUNNING thread of an
 * instance stays in its container, so nothing is exchanged: a frame only says whose turn it is. If an event takes the
 * processor from that thread, its turn ends wherever it runs. If the event makes something READY, the processor of the
 * node is woken.
 *
 * When a processor departs, its threads are in no instance. A thread that can run is placed at once. Any other is
 * "homeless" until what it waits for has happened, and is placed then.
 *
 * In a hierarchy only the root has nodes. A scheduler below it is as many threads to the root as it can use processors
 * (scheduler_records.c). Each of these records is in one of the instances, which is its `scheduler`, and is placed and
 * stolen like a thread. `parent` is the first instance, for all of them.
 */
#include "catapults/list.h"
#include "core/clock.h"
#include "core/containment.h"
#include "core/decide.h"
#include "core/frames.h"
#include "core/hand_over.h"
#include "core/in_force.h"
#include "core/nodes.h"
#include "core/outside.h"
#include "core/raise.h"
#include "core/ready.h"
#include "core/running_frames.h"
#include "core/tree.h"

static uint32_t rounded(uint32_t size) { return (size + 15) & ~(uint32_t)15; }

/* Of a node: scheduler │ instance │ record, followed by its properties and attributes. */
unsigned long core_node_size(const struct catapults_policy *policy) {
    if (!policy->shared_size)
        return 0;
    return sizeof(struct scheduler) + rounded(policy->instance_size) +
           rounded((uint32_t)offsetof(struct node, policy) + policy->node_size);
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

/* Calls a handler of what is shared; any of the instances tells it the time. */
static const struct catapults_stop *raise(struct processor *here, native_thread_event *handler,
                                          struct catapults_thread *t) {
    struct scheduler *root = &here->core->root;
    tell(here, root, true);
    return handler(root->self == root ? root : root->shared, t);
}

static void set_property(struct processor *here, struct node *node, const char *name, int64_t value) {
    struct core *core = here->core;
    const struct catapults_policy *policy = core->root.policy;
    for (uint32_t i = 0; i < policy->properties_count; i++) {
        const struct catapults_property *property = &policy->properties[i];
        const char *a = property->name, *b = name;
        while (*a && *a == *b)
            a++, b++;
        if (*a == *b && property->type == CATAPULTS_IMPORT_INT)
            property->set(core->root.shared, &node->policy, &value);
    }
}

/* Tells the policy the loads, before it decides by them. */
static void tell_loads(struct processor *here) {
    for (struct scheduler *scheduler = &here->core->root; scheduler; scheduler = core_next_node(scheduler)) {
        if (scheduler->node->load == scheduler->runnable)
            continue;
        scheduler->node->load = scheduler->runnable;
        set_property(here, scheduler->node, "load", scheduler->runnable);
    }
}

/* `memory`: that of the node, as above; node 0 does not use the first part. */
static void begin(struct processor *here, struct scheduler *scheduler, struct processor *processor, char *memory,
                  const struct catapults_policy *policy, void *shared) {
    char *instance = memory + sizeof(struct scheduler);
    struct node *node = (struct node *)(instance + rounded(policy->instance_size));
    core_clear(instance, core_node_size(policy) - sizeof(struct scheduler));
    *(void **)instance = shared;
    node->scheduler = scheduler;
    node->processor = processor;
    node->frame = (uint16_t)(processor->number + 1);
    core_in_use(here, node->frame);
    scheduler->shared = shared;
    core_put_in_force(here, scheduler, policy, instance);
    policy->start(instance);
    core_running_frames_start(here, scheduler);
    core_clock_start(here, scheduler);
    processor->scheduler = scheduler;
    scheduler->node = node;
    core_lose_shortcut(here->core);
}

/* Returns what the policy stopped at, and then in `event` which event. */
static const struct catapults_stop *arrive(struct processor *here, struct scheduler *scheduler, const char **event) {
    struct node *node = scheduler->node;
    node->policy.number = node->processor->number;
    scheduler->policy->adopt_node(scheduler->shared, &node->policy);
    set_property(here, node, "number", node->policy.number);
    set_property(here, node, "load", 0);
    tell_loads(here);
    *event = "arrival";
    const struct catapults_stop *stop = raise(here, here->core->root.handlers.arrival, &node->policy);
    if (!stop && scheduler->handlers.init) {
        *event = "init";
        stop = RAISE_INIT(scheduler);
    }
    return stop;
}

static const struct catapults_stop *start(struct processor *here, struct processor *first,
                                          const struct catapults_policy *policy, char *memory, const char **event) {
    struct core *core = here->core;
    struct scheduler *root = &core->root;
    core_clear(memory, rounded(policy->shared_size));
    policy->share(memory);
    core->homeless = 0;
    core->nothing_to_steal = false;
    if (!core->picky_last)
        core->picky_last = &core->picky_first;
    begin(here, root, first, memory + rounded(policy->shared_size), policy, memory);
    core_seed(core, root, memory);
    if (core->host->scheduler_started)
        core->host->scheduler_started(root);
    return arrive(here, root, event);
}

void core_nodes_start(struct processor *here, struct processor *first, const struct catapults_policy *policy,
                      char *memory) {
    const char *event;
    const struct catapults_stop *stop = start(here, first, policy, memory, &event);
    if (UNLIKELY(stop))
        core_contain(here, &here->core->root, event, stop, NULL, core_running(here));
}

static const struct catapults_stop *come(struct processor *here, struct processor *processor, void *memory,
                                         const char **event) {
    struct core *core = here->core;
    struct scheduler *scheduler = memory, *root = &core->root;
    *scheduler = (struct scheduler){.name = root->name, .host = root->host};
    begin(here, scheduler, processor, memory, root->policy, root->shared);
    core->last->next = scheduler;
    core->last = scheduler;
    return arrive(here, scheduler, event);
}

/* ---- Records of schedulers under it ------------------------------------------------------------------------------ */

/* Records that have ended do not count. */
static struct dispatcher_thread *first_record_from(struct processor *here, struct scheduler *child,
                                                   struct dispatcher_thread *record) {
    for (;;) {
        for (; record; record = record->newer)
            if (record->state != THREAD_ENDED)
                return record;
        do
            child = child->next;
        while (child && child->parent != &here->core->root);
        if (!child)
            return NULL;
        record = &child->record;
    }
}

static struct dispatcher_thread *first_record(struct processor *here) {
    return first_record_from(here, &here->core->root, NULL);
}

static struct dispatcher_thread *next_record(struct processor *here, struct dispatcher_thread *record) {
    return first_record_from(here, scheduler_of(record), record->newer);
}

/* The record rests until it is needed (scheduler_records.c). */
static void leave_home(struct processor *here, struct dispatcher_thread *record) {
    record->policy.container = 0;
    record->state = THREAD_SUSPENDED;
    record->homeless = true;
    here->core->homeless++;
}

void core_node_arrives(struct processor *here, struct processor *processor, void *memory) {
    const char *event;
    const struct catapults_stop *stop = come(here, processor, memory, &event);
    if (UNLIKELY(stop))
        core_contain(here, processor->scheduler, event, stop, NULL, core_running(here));
}

const struct catapults_stop *core_nodes_begin(struct processor *here, const struct catapults_policy *policy,
                                              char *memory, void *const *nodes) {
    struct core *core = here->core;
    struct processor *first = core->several ? core->processors[0] : here;
    const char *event;
    const struct catapults_stop *stop = start(here, first, policy, memory, &event);
    for (uint32_t i = 1; i < core->processors_count && !stop; i++) {
        struct processor *processor = core->processors[i];
        if (processor->parked)
            processor->scheduler = nodes[i]; /* it comes later */
        else
            stop = come(here, processor, nodes[i], &event);
    }
    return stop;
}

static struct dispatcher_thread *runs_here(struct processor *here) { return here->over ? NULL : core_running(here); }

/* If its turn is of a scheduler below, that turn ends first: the instance is told of it. */
void core_node_departs(struct processor *here, struct processor *processor) {
    struct core *core = here->core;
    struct scheduler *scheduler = processor->scheduler, *previous = &core->root;
    struct node *node = scheduler->node;
    const struct dispatcher_thread *turn = core->running_frames[node->frame].turn;
    if (turn && turn->scheduler->parent)
        core_end_turn(here, node->frame);
    if (UNLIKELY(!scheduler->node))
        return; /* the policy is out for what it was told */
    tell_loads(here);
    tell(here, scheduler, true); /* what has passed until now is still charged */
    const struct catapults_stop *stop = raise(here, core->root.handlers.departure, &node->policy);
    if (UNLIKELY(stop)) {
        core_contain(here, scheduler, "departure", stop, NULL, runs_here(here));
        return;
    }
    struct catapults_timers *timers = scheduler->timeouts;
    while (timers && timers->first)
        catapults_timers_set(timers, timers->first, 0);
    scheduler->timeouts = NULL;
    while (previous->next != scheduler)
        previous = previous->next;
    previous->next = scheduler->next;
    if (core->last == scheduler)
        core->last = previous;
    for (struct dispatcher_thread *thread = core->oldest; thread; thread = thread->newer) {
        if (thread->scheduler != scheduler || thread->homeless)
            continue;
        thread->policy.container = 0;
        thread->homeless = true;
        core->homeless++;
    }
    for (struct dispatcher_thread *record = first_record(here); record; record = next_record(here, record))
        if (record->scheduler == scheduler && !record->homeless)
            leave_home(here, record);
    scheduler->runnable = 0;
    scheduler->node = NULL;
    if (core->running_frames[node->frame].turn)
        core_end_turn(here, node->frame);
}

static void forget_node(struct scheduler *instance) {
    instance->node = NULL;
    instance->shared = NULL;
    instance->timeouts = NULL;
    instance->timed = false;
}

static void move_in_with_root(struct processor *here, struct dispatcher_thread *member) {
    struct core *core = here->core;
    member->scheduler = &core->root;
    member->homeless = false;
    core->root.runnable += core_is_runnable(member);
}

void core_nodes_end(struct processor *here) {
    struct core *core = here->core;
    struct scheduler *root = &core->root, *last = root;
    for (struct scheduler *scheduler = root->next; scheduler; scheduler = scheduler->next) {
        if (!scheduler->node) {
            last->next = scheduler;
            last = scheduler;
            continue;
        }
        forget_node(scheduler);
        scheduler->policy = &dispatcher_builtin; /* nothing is in a container of the old one */
    }
    forget_node(root);
    last->next = NULL;
    core->last = last;
    root->runnable = 0;
    core->homeless = 0;
    for (struct dispatcher_thread *thread = core->oldest; thread; thread = thread->newer)
        if (!thread->scheduler->parent && !thread->scheduler->lent_only) /* else it is under no policy */
            move_in_with_root(here, thread);
    for (struct dispatcher_thread *record = first_record(here); record; record = next_record(here, record))
        move_in_with_root(here, record);
    here->scheduler = root;
    for (uint32_t i = 0; i < core->processors_count; i++)
        core->processors[i]->scheduler = core->processors[i]->serves = root;
    if (core->several)
        core_give_out_frames(here);
}

/* ---- Where ------------------------------------------------------------------------------------------------------- */

static struct scheduler *node_of(struct catapults_thread *t) {
    return ((struct node *)((char *)t - offsetof(struct node, policy)))->scheduler;
}

static struct catapults_list *sent(struct processor *here) {
    struct core *core = here->core;
    return (struct catapults_list *)((char *)core->root.shared + core->root.policy->sent);
}

/* The instance with the least load, of the processors that the thread is bound to if one of them is there, else of
 * all. */
static struct scheduler *least(struct processor *here, uint64_t bound) {
    struct scheduler *one = NULL;
    for (struct scheduler *scheduler = &here->core->root; scheduler; scheduler = core_next_node(scheduler)) {
        uint32_t number = scheduler->node->policy.number;
        bool fits = !bound || (number < 64 && (bound >> number & 1));
        if (fits && (!one || scheduler->runnable < one->runnable))
            one = scheduler;
    }
    return one ? one : least(here, 0);
}

/* Whether the instance's processor may run it. If it waited there for another processor, it would keep this one from
 * running others. */
static bool can_have(struct processor *here, const struct scheduler *scheduler,
                     const struct dispatcher_thread *thread) {
    return core_may_run_on(here, thread, scheduler->node->processor);
}

/* Asks where a thread is to be that is in hand, and in no instance. `usual`: where, if the policy does not say; NULL:
 * anywhere. Or sets what the policy stopped at. */
static struct scheduler *ask_where(struct processor *here, struct dispatcher_thread *thread, struct scheduler *usual,
                                   const struct catapults_stop **stop) {
    struct core *core = here->core;
    native_thread_event *dispatch = core->root.handlers.dispatch;
    *stop = NULL;
    if (UNLIKELY(thread->bound != 0)) {
        core->picky = true;
        return least(here, thread->bound);
    }
    const struct processor *kept_on = core->several ? thread->kept_on : NULL;
    if (UNLIKELY(kept_on != NULL) && kept_on->scheduler->node)
        return kept_on->scheduler;
    if (!dispatch)
        return usual ? usual : least(here, 0);
    tell_loads(here);
    *stop = raise(here, dispatch, &thread->policy);
    return *stop ? NULL : node_of(catapults_list_pop(sent(here))->parent);
}

static struct scheduler *where(struct processor *here, struct dispatcher_thread *thread, struct scheduler *usual,
                               const struct dispatcher_thread *runs) {
    const struct catapults_stop *stop;
    struct scheduler *there = ask_where(here, thread, usual, &stop);
    if (UNLIKELY(stop))
        core_contain(here, &here->core->root, "dispatch", stop, NULL, runs);
    return there;
}

/* The instance of what is RUNNING; NULL: nothing is. */
static struct scheduler *instance_of(struct processor *here, const struct dispatcher_thread *runs) {
    const struct dispatcher_thread *member = runs, *next;
    while (member && (next = core_above(here, member)))
        member = next;
    return member && member->scheduler->node ? member->scheduler : NULL;
}

static void enter(struct processor *here, struct dispatcher_thread *thread, struct scheduler *scheduler) {
    thread->scheduler = scheduler;
    scheduler->runnable++;
    core_became_ready(here, thread);
}

static void leave(struct dispatcher_thread *thread) { thread->scheduler->runnable--; }

struct scheduler *core_place(struct processor *here, struct dispatcher_thread *thread, struct scheduler *scheduler,
                             const struct dispatcher_thread *runs) {
    leave(thread); /* it does not count as load yet */
    struct scheduler *creators = instance_of(here, runs), *usual = creators ? creators : scheduler;
    struct scheduler *to = where(here, thread, thread->is_scheduler ? NULL : usual, runs);
    if (to)
        enter(here, thread, to);
    return to;
}

/* A thread that runs stays where it runs: its processor could not run it for another, and would keep that one from its
 * own. */
const struct catapults_stop *core_place_first(struct processor *here, struct dispatcher_thread *thread) {
    const struct catapults_stop *stop = NULL;
    struct processor *on = here->core->several ? core_stands_on(here, thread) : NULL;
    bool stays = on && on->scheduler->node && can_have(here, on->scheduler, thread);
    struct scheduler *to = stays ? on->scheduler : ask_where(here, thread, NULL, &stop);
    if (!stop) {
        enter(here, thread, to);
        stop = RAISE(to, newthread, &thread->policy);
    }
    if (!stop && !core_is_runnable(thread)) {
        leave(thread);
        stop = RAISE(to, suspend_thread, &thread->policy);
    }
    return stop;
}

static void migrate(struct processor *here, struct dispatcher_thread *thread, struct scheduler *to,
                    const struct dispatcher_thread *runs) {
    enter(here, thread, to);
    const struct catapults_stop *stop = RAISE(to, migrate, &thread->policy);
    if (UNLIKELY(stop))
        core_contain(here, to, "migrate", stop, NULL, runs);
    core_noticed(here, to);
}

void core_place_anew(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    thread->homeless = false;
    here->core->homeless--;
    thread->set_aside = false;
    struct scheduler *to = where(here, thread, NULL, runs);
    if (to)
        migrate(here, thread, to, runs);
}

void core_place_homeless(struct processor *here) {
    struct core *core = here->core;
    if (!core->homeless)
        return;
    for (struct dispatcher_thread *thread = core->oldest; thread; thread = thread->newer)
        if (thread->homeless && core_is_runnable(thread))
            core_place_anew(here, thread, runs_here(here));
}

/* ---- Stealing ---------------------------------------------------------------------------------------------------- */

/* The instance with the highest load after `before`; equals as they came. NULL: no more. */
static struct scheduler *next_by_load(struct processor *here, const struct scheduler *before) {
    struct scheduler *most = NULL;
    bool passed = !before;
    for (struct scheduler *scheduler = &here->core->root; scheduler; scheduler = core_next_node(scheduler)) {
        bool behind =
            !before || scheduler->runnable < before->runnable || (scheduler->runnable == before->runnable && passed);
        passed = passed || scheduler == before;
        if (behind && (!most || scheduler->runnable > most->runnable))
            most = scheduler;
    }
    return most;
}

/* One list has what can be READY in some instance, and cannot be had by every processor. What is no longer so is taken
 * out when it is met there: a thread that blocks and wakes stays in it. */
void core_list_picky(struct processor *here, struct dispatcher_thread *thread) {
    struct core *core = here->core;
    if (!thread->scheduler->node || (!thread->bound && !thread->kept_on) || thread->listed_link)
        return;
    thread->listed_next = NULL;
    thread->listed_link = core->picky_last;
    *core->picky_last = thread;
    core->picky_last = &thread->listed_next;
    core->picky_count++;
}

void core_unlist_picky(struct processor *here, struct dispatcher_thread *thread) {
    struct core *core = here->core;
    if (!thread->listed_link)
        return;
    *thread->listed_link = thread->listed_next;
    *(thread->listed_next ? &thread->listed_next->listed_link : &core->picky_last) = thread->listed_link;
    thread->listed_link = NULL;
    core->picky_count--;
}

/* How many of these are looked at. If there are more, the policy is asked in any case. */
enum { MOST_LOOKED_AT = 256 };

/* Whether the victim has something that the thief can have. */
static bool has_for(struct processor *here, const struct scheduler *thief, const struct scheduler *victim) {
    struct core *core = here->core;
    const struct dispatcher_thread *turn = core->running_frames[victim->node->frame].turn;
    int64_t others = core_ready_at(here, victim), looks = MOST_LOOKED_AT;
    if (others > core->picky_count)
        return true;
    for (struct dispatcher_thread *thread = core->picky_first, *next; thread && looks > 0; thread = next, looks--) {
        next = thread->listed_next;
        if (!core_is_runnable(thread) || thread->homeless || (!thread->bound && !thread->kept_on)) {
            core_unlist_picky(here, thread);
        } else if (thread->scheduler == victim && thread != turn) {
            if (can_have(here, thief, thread))
                return true;
            others--;
        }
    }
    return others > 0;
}

/* What the policy has given goes to the thief, or back. */
static bool take(struct processor *here, struct scheduler *thief, struct scheduler *victim) {
    bool taken = false;
    struct catapults_list list = *sent(here);
    catapults_list_init(sent(here));
    while (list.first && thief->node) {
        struct dispatcher_thread *thread = dispatcher_thread_of(catapults_list_pop(&list));
        bool goes = can_have(here, thief, thread);
        leave(thread);
        migrate(here, thread, goes ? thief : victim, NULL);
        taken = taken || goes;
    }
    return taken;
}

/* How often a policy is asked that gives what cannot be had. */
enum { MOST_ASKED = 64 };

bool core_steal(struct processor *here, struct scheduler *thief) {
    struct core *core = here->core;
    struct scheduler *root = &core->root, *victim = NULL;
    if (!root->handlers.steal || core->nothing_to_steal)
        return false;
    tell_loads(here);
    while ((victim = next_by_load(here, victim))) {
        if (victim == thief || core_ready_at(here, victim) == 0 ||
            (UNLIKELY(core->picky) && !has_for(here, thief, victim)))
            continue;
        for (int64_t asked = 0; asked < core_ready_at(here, victim) && asked < MOST_ASKED; asked++) {
            tell(here, victim, true);
            const struct catapults_stop *stop = victim->handlers.steal(victim->self, &thief->node->policy);
            if (UNLIKELY(stop)) {
                core_contain(here, victim, "steal", stop, NULL, NULL);
                return false;
            }
            if (!sent(here)->first)
                break;
            bool taken = take(here, thief, victim);
            if (taken || !thief->node)
                return thief->node != NULL;
        }
    }
    core->nothing_to_steal = true;
    core->found_nothing_at = core->host->now();
    return false;
}

bool core_is_something_to_steal(struct processor *here) {
    struct core *core = here->core;
    if (!core->root.handlers.steal || core->nothing_to_steal)
        return false;
    for (const struct scheduler *victim = &core->root; victim; victim = core_next_node(victim)) {
        const struct processor *processor = victim->node->processor;
        bool soon = (processor->asleep || processor->woken) && !core->running_frames[victim->node->frame].turn;
        if (core_ready_at(here, victim) > soon)
            return true;
    }
    return false;
}

/* ---- What other processors see to -------------------------------------------------------------------------------- */

/* The processor that is to ask the instance, in which nothing is RUNNING: see core_instance_for. */
static struct processor *server_of(struct processor *here, const struct scheduler *scheduler) {
    struct core *core = here->core;
    struct processor *one = scheduler->node->processor;
    for (uint32_t i = 0; i < core->processors_count && one->frame != NOBODY; i++) {
        const struct dispatcher_thread *turn = core->running_frames[one->frame].turn;
        if (!turn || !turn->scheduler->parent)
            break;
        one = core->processors[one->frame - 1];
    }
    return one;
}

void core_notice(struct processor *here, struct scheduler *scheduler) {
    struct core *core = here->core;
    struct processor *there = scheduler->node->processor;
    uint16_t frame = scheduler->node->frame;
    core->nothing_to_steal = false;
    const struct dispatcher_thread *turn = core->running_frames[frame].turn;
    /* In a frame where events are being raised, the turn is looked at afterwards. */
    if (turn && here->frame != frame && here->sees != frame && core_is_taken(here, turn)) {
        core_end_turn(here, frame); /* which comes here again */
        return;
    }
    if (core_ready_at(here, scheduler) <= 0)
        return;
    if (!turn) {
        struct processor *server = server_of(here, scheduler);
        if (server != here && server->asleep)
            core_wake(here, server);
        return;
    }
    struct processor *runner = there->frame == frame ? there : core_runner_of(here, frame); /* NULL: it waits for one */
    if (runner && runner != here && runner->timed && !runner->armed && core->host->arm)
        core_tell_other(here, runner, INTERRUPT); /* it knows of none that waits */
}
