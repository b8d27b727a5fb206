/*
 * A policy with nodes: each processor has an instance of its own, and asks that one only (Bossa 2005; CPU inheritance
 * scheduling 1996, §4.3.1).
 *
 *     what is shared ──► node 0 │ node 1 │ node 2 │ …        arrival, departure, dispatch
 *                        root   │        │        │          one struct scheduler each, in the list of all schedulers
 *                        steal ─┴► migrate                   newthread, migrate, steal and all else
 *
 * Events of a thread are raised in the instance that it is in, whichever processor raises them. What is RUNNING there
 * stays in its container, so nothing is exchanged: a frame only says whose turn it is. If the event takes the processor
 * from it, the turn is over wherever it runs; if there is something to be run now, the processor of the node is woken.
 *
 * A thread whose processor has departed is in no instance. It is placed at once if it can run, and else when what it
 * waits for has happened: it is "homeless" until then.
 *
 * In a hierarchy this is the root. Schedulers under it are threads to it, each as many as it can use processors
 * (scheduler_records.c): each of these records is in one of the instances, which is its `scheduler`, and is placed and
 * stolen as threads are. `parent` is the first instance, for all of them.
 */
#include "catapults/list.h"
#include "dispatcher/raise_loaded.h"
#include "dispatcher/state.h"

static uint32_t rounded(uint32_t size) { return (size + 15) & ~(uint32_t)15; }

/* Of a node: scheduler │ instance │ record, whose properties and attributes follow. */
unsigned long dispatcher_node_size(const struct catapults_policy *policy) {
    if (!policy->shared_size)
        return 0;
    return sizeof(struct scheduler) + rounded(policy->instance_size) +
           rounded((uint32_t)offsetof(struct node, policy) + policy->node_size);
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

/* A handler of what is shared; any of the instances tells it what time it is. */
static const struct catapults_stop *raise(native_thread_event *handler, struct catapults_thread *t) {
    struct scheduler *root = &dispatcher.root;
    tell(root, true);
    return handler(root->self == root ? root : root->shared, t);
}

static void set_property(struct node *node, const char *name, int64_t value) {
    const struct catapults_policy *policy = dispatcher.root.policy;
    for (uint32_t i = 0; i < policy->properties_count; i++) {
        const struct catapults_property *property = &policy->properties[i];
        const char *a = property->name, *b = name;
        while (*a && *a == *b)
            a++, b++;
        if (*a == *b && property->type == CATAPULTS_IMPORT_INT)
            property->set(dispatcher.root.shared, &node->policy, &value);
    }
}

/* The policy is told how much is to be done where, before it decides about that. */
static void tell_loads(void) {
    for (struct scheduler *scheduler = &dispatcher.root; scheduler; scheduler = dispatcher_next_node(scheduler)) {
        if (scheduler->node->load == scheduler->runnable)
            continue;
        scheduler->node->load = scheduler->runnable;
        set_property(scheduler->node, "load", scheduler->runnable);
    }
}

/* `memory`: that of the node, as above, of which node 0 does not use the first part. */
static void begin(struct scheduler *scheduler, struct processor *processor, char *memory,
                  const struct catapults_policy *policy, void *shared) {
    char *instance = memory + sizeof(struct scheduler);
    struct node *node = (struct node *)(instance + rounded(policy->instance_size));
    dispatcher_clear(instance, dispatcher_node_size(policy) - sizeof(struct scheduler));
    *(void **)instance = shared;
    node->scheduler = scheduler;
    node->processor = processor;
    node->frame = (uint16_t)(processor->number + 1);
    dispatcher_in_use(node->frame);
    scheduler->shared = shared;
    dispatcher_put_in_force(scheduler, policy, instance);
    policy->start(instance);
    dispatcher_running_frames_start(scheduler);
    dispatcher_clock_start(scheduler);
    processor->scheduler = scheduler;
    scheduler->node = node;
    dispatcher_find_shortcut();
}

/* Returns what the policy stopped at, and then `event`: which. */
static const struct catapults_stop *arrive(struct scheduler *scheduler, const char **event) {
    struct node *node = scheduler->node;
    node->policy.number = node->processor->number;
    scheduler->policy->adopt_node(scheduler->shared, &node->policy);
    set_property(node, "number", node->policy.number);
    set_property(node, "load", 0);
    tell_loads();
    *event = "arrival";
    const struct catapults_stop *stop = raise(dispatcher.root.handlers.arrival, &node->policy);
    if (!stop && scheduler->handlers.init) {
        *event = "init";
        stop = RAISE_INIT(scheduler);
    }
    return stop;
}

static const struct catapults_stop *start(struct processor *first, const struct catapults_policy *policy, char *memory,
                                          const char **event) {
    struct scheduler *root = &dispatcher.root;
    dispatcher_clear(memory, rounded(policy->shared_size));
    policy->share(memory);
    dispatcher.homeless = 0;
    dispatcher.nothing_to_steal = false;
    if (!dispatcher.picky_last)
        dispatcher.picky_last = &dispatcher.picky_first;
    begin(root, first, memory + rounded(policy->shared_size), policy, memory);
    if (dispatcher.host->scheduler_started)
        dispatcher.host->scheduler_started(root);
    return arrive(root, event);
}

void dispatcher_nodes_start(struct processor *first, const struct catapults_policy *policy, char *memory) {
    const char *event;
    const struct catapults_stop *stop = start(first, policy, memory, &event);
    if (UNLIKELY(stop))
        dispatcher_contain(&dispatcher.root, event, stop, NULL, dispatcher_running());
}

static const struct catapults_stop *come(struct processor *processor, void *memory, const char **event) {
    struct scheduler *scheduler = memory, *root = &dispatcher.root;
    *scheduler = (struct scheduler){.name = root->name, .host = root->host};
    begin(scheduler, processor, memory, root->policy, root->shared);
    dispatcher.last->next = scheduler;
    dispatcher.last = scheduler;
    return arrive(scheduler, event);
}

/* ---- Records of schedulers under it ------------------------------------------------------------------------------ */

/* That have not ended. */
static struct dispatcher_thread *first_record_from(struct scheduler *child, struct dispatcher_thread *record) {
    for (;;) {
        for (; record; record = record->newer)
            if (record->state != THREAD_ENDED)
                return record;
        do
            child = child->next;
        while (child && child->parent != &dispatcher.root);
        if (!child)
            return NULL;
        record = &child->record;
    }
}

static struct dispatcher_thread *first_record(void) { return first_record_from(&dispatcher.root, NULL); }

static struct dispatcher_thread *next_record(struct dispatcher_thread *record) {
    return first_record_from(scheduler_of(record), record->newer);
}

/* It rests, until it is needed (scheduler_records.c). */
static void leave_home(struct dispatcher_thread *record) {
    record->policy.container = 0;
    record->state = THREAD_SUSPENDED;
    record->homeless = true;
    dispatcher.homeless++;
}

void dispatcher_node_arrives(struct processor *processor, void *memory) {
    const char *event;
    const struct catapults_stop *stop = come(processor, memory, &event);
    if (UNLIKELY(stop))
        dispatcher_contain(processor->scheduler, event, stop, NULL, dispatcher_running());
}

const struct catapults_stop *dispatcher_nodes_begin(const struct catapults_policy *policy, char *memory,
                                                    void *const *nodes) {
    struct processor *first = dispatcher.several ? dispatcher.processors[0] : processor_here();
    const char *event;
    const struct catapults_stop *stop = start(first, policy, memory, &event);
    for (uint32_t i = 1; i < dispatcher.processors_count && !stop; i++) {
        struct processor *processor = dispatcher.processors[i];
        if (processor->parked)
            processor->scheduler = nodes[i]; /* it comes later */
        else
            stop = come(processor, nodes[i], &event);
    }
    return stop;
}

static struct dispatcher_thread *runs_here(void) { return processor_here()->over ? NULL : dispatcher_running(); }

/* Its turn is over first if that is of a scheduler below: the instance hears of that. */
void dispatcher_node_departs(struct processor *processor) {
    struct scheduler *scheduler = processor->scheduler, *previous = &dispatcher.root;
    struct node *node = scheduler->node;
    const struct dispatcher_thread *turn = dispatcher.running_frames[node->frame].turn;
    if (turn && turn->scheduler->parent)
        dispatcher_end_turn(node->frame);
    if (UNLIKELY(!scheduler->node))
        return; /* the policy had to go for what it was told */
    tell_loads();
    tell(scheduler, true); /* what has passed until now is still charged */
    const struct catapults_stop *stop = raise(dispatcher.root.handlers.departure, &node->policy);
    if (UNLIKELY(stop)) {
        dispatcher_contain(scheduler, "departure", stop, NULL, runs_here());
        return;
    }
    struct catapults_timers *timers = scheduler->timeouts;
    while (timers && timers->first)
        catapults_timers_set(timers, timers->first, 0);
    scheduler->timeouts = NULL;
    while (previous->next != scheduler)
        previous = previous->next;
    previous->next = scheduler->next;
    if (dispatcher.last == scheduler)
        dispatcher.last = previous;
    for (struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer) {
        if (thread->scheduler != scheduler || thread->homeless)
            continue;
        thread->policy.container = 0;
        thread->homeless = true;
        dispatcher.homeless++;
    }
    for (struct dispatcher_thread *record = first_record(); record; record = next_record(record))
        if (record->scheduler == scheduler && !record->homeless)
            leave_home(record);
    scheduler->runnable = 0;
    scheduler->node = NULL;
    if (dispatcher.running_frames[node->frame].turn)
        dispatcher_end_turn(node->frame);
}

static void forget_node(struct scheduler *instance) {
    instance->node = NULL;
    instance->shared = NULL;
    instance->timeouts = NULL;
    instance->timed = false;
}

static void move_in_with_root(struct dispatcher_thread *member) {
    member->scheduler = &dispatcher.root;
    member->homeless = false;
    dispatcher.root.runnable += dispatcher_is_runnable(member);
}

void dispatcher_nodes_end(void) {
    struct scheduler *root = &dispatcher.root, *last = root;
    for (struct scheduler *scheduler = root->next; scheduler; scheduler = scheduler->next) {
        if (!scheduler->node) {
            last->next = scheduler;
            last = scheduler;
            continue;
        }
        forget_node(scheduler);
        scheduler->policy = &dispatcher_builtin; /* nobody is in a container of the old one */
    }
    forget_node(root);
    last->next = NULL;
    dispatcher.last = last;
    root->runnable = 0;
    dispatcher.homeless = 0;
    for (struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer)
        if (!thread->scheduler->parent && !thread->scheduler->lent_only) /* else it is under no policy */
            move_in_with_root(thread);
    for (struct dispatcher_thread *record = first_record(); record; record = next_record(record))
        move_in_with_root(record);
    processor_here()->scheduler = root;
    for (uint32_t i = 0; i < dispatcher.processors_count; i++)
        dispatcher.processors[i]->scheduler = dispatcher.processors[i]->serves = root;
    if (dispatcher.several)
        dispatcher_give_out_frames();
}

/* ---- Where ------------------------------------------------------------------------------------------------------- */

static struct scheduler *node_of(struct catapults_thread *t) {
    return ((struct node *)((char *)t - offsetof(struct node, policy)))->scheduler;
}

static struct catapults_list *sent(void) {
    return (struct catapults_list *)((char *)dispatcher.root.shared + dispatcher.root.policy->sent);
}

/* Where the least is to be done, of the processors that the thread is bound to if one of them is there, or of all. */
static struct scheduler *least(uint64_t bound) {
    struct scheduler *one = NULL;
    for (struct scheduler *scheduler = &dispatcher.root; scheduler; scheduler = dispatcher_next_node(scheduler)) {
        uint32_t number = scheduler->node->policy.number;
        bool fits = !bound || (number < 64 && (bound >> number & 1));
        if (fits && (!one || scheduler->runnable < one->runnable))
            one = scheduler;
    }
    return one ? one : least(0);
}

/* Whether the instance's processor may run it: what waits there for another would keep it from running others. */
static bool can_have(const struct scheduler *scheduler, const struct dispatcher_thread *thread) {
    return dispatcher_may_run_on(thread, scheduler->node->processor);
}

/* The thread is in hand, and nowhere. `usual`: where it is to be if the policy does not say; NULL: anywhere. Or what
 * the policy stopped at. */
static struct scheduler *ask_where(struct dispatcher_thread *thread, struct scheduler *usual,
                                   const struct catapults_stop **stop) {
    native_thread_event *dispatch = dispatcher.root.handlers.dispatch;
    *stop = NULL;
    if (UNLIKELY(thread->bound != 0)) {
        dispatcher.picky = true;
        return least(thread->bound);
    }
    const struct processor *kept_on = dispatcher.several ? thread->kept_on : NULL;
    if (UNLIKELY(kept_on != NULL) && kept_on->scheduler->node)
        return kept_on->scheduler;
    if (!dispatch)
        return usual ? usual : least(0);
    tell_loads();
    *stop = raise(dispatch, &thread->policy);
    return *stop ? NULL : node_of(catapults_list_pop(sent())->parent);
}

static struct scheduler *where(struct dispatcher_thread *thread, struct scheduler *usual,
                               const struct dispatcher_thread *runs) {
    const struct catapults_stop *stop;
    struct scheduler *there = ask_where(thread, usual, &stop);
    if (UNLIKELY(stop))
        dispatcher_contain(&dispatcher.root, "dispatch", stop, NULL, runs);
    return there;
}

/* Where what is RUNNING is so; NULL: nothing is. */
static struct scheduler *instance_of(const struct dispatcher_thread *runs) {
    const struct dispatcher_thread *member = runs, *next;
    while (member && (next = dispatcher_above(member)))
        member = next;
    return member && member->scheduler->node ? member->scheduler : NULL;
}

static void enter(struct dispatcher_thread *thread, struct scheduler *scheduler) {
    thread->scheduler = scheduler;
    scheduler->runnable++;
    dispatcher_became_ready(thread);
}

static void leave(struct dispatcher_thread *thread) { thread->scheduler->runnable--; }

struct scheduler *dispatcher_place(struct dispatcher_thread *thread, struct scheduler *scheduler,
                                   const struct dispatcher_thread *runs) {
    leave(thread); /* it is none of the load yet */
    struct scheduler *creators = instance_of(runs), *usual = creators ? creators : scheduler;
    struct scheduler *to = where(thread, thread->is_scheduler ? NULL : usual, runs);
    if (to)
        enter(thread, to);
    return to;
}

/* Who runs stays where it runs: its processor could not run it for another, and would keep that one from its own. */
const struct catapults_stop *dispatcher_place_first(struct dispatcher_thread *thread) {
    const struct catapults_stop *stop = NULL;
    struct processor *on = dispatcher.several ? dispatcher_stands_on(thread) : NULL;
    bool stays = on && on->scheduler->node && can_have(on->scheduler, thread);
    struct scheduler *to = stays ? on->scheduler : ask_where(thread, NULL, &stop);
    if (!stop) {
        enter(thread, to);
        stop = RAISE(to, newthread, &thread->policy);
    }
    if (!stop && !dispatcher_is_runnable(thread)) {
        leave(thread);
        stop = RAISE(to, suspend_thread, &thread->policy);
    }
    return stop;
}

static void migrate(struct dispatcher_thread *thread, struct scheduler *to, const struct dispatcher_thread *runs) {
    enter(thread, to);
    const struct catapults_stop *stop = RAISE(to, migrate, &thread->policy);
    if (UNLIKELY(stop))
        dispatcher_contain(to, "migrate", stop, NULL, runs);
    dispatcher_noticed(to);
}

void dispatcher_place_anew(struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    thread->homeless = false;
    dispatcher.homeless--;
    thread->set_aside = false;
    struct scheduler *to = where(thread, NULL, runs);
    if (to)
        migrate(thread, to, runs);
}

void dispatcher_place_homeless(void) {
    if (!dispatcher.homeless)
        return;
    for (struct dispatcher_thread *thread = dispatcher.oldest; thread; thread = thread->newer)
        if (thread->homeless && dispatcher_is_runnable(thread))
            dispatcher_place_anew(thread, runs_here());
}

/* ---- Stealing ---------------------------------------------------------------------------------------------------- */

/* The one with the highest load after `before`; equals in the order in which they came. NULL: no more. */
static struct scheduler *next_by_load(const struct scheduler *before) {
    struct scheduler *most = NULL;
    bool passed = !before;
    for (struct scheduler *scheduler = &dispatcher.root; scheduler; scheduler = dispatcher_next_node(scheduler)) {
        bool behind =
            !before || scheduler->runnable < before->runnable || (scheduler->runnable == before->runnable && passed);
        passed = passed || scheduler == before;
        if (behind && (!most || scheduler->runnable > most->runnable))
            most = scheduler;
    }
    return most;
}

/* What can be READY in some instance, and not be had by every processor, is in one list. Who is so no longer is taken
 * out when it is met there: a thread that blocks and wakes stays in it. */
void dispatcher_list_picky(struct dispatcher_thread *thread) {
    if (!thread->scheduler->node || (!thread->bound && !thread->kept_on) || thread->listed_link)
        return;
    thread->listed_next = NULL;
    thread->listed_link = dispatcher.picky_last;
    *dispatcher.picky_last = thread;
    dispatcher.picky_last = &thread->listed_next;
    dispatcher.picky_count++;
}

void dispatcher_unlist_picky(struct dispatcher_thread *thread) {
    if (!thread->listed_link)
        return;
    *thread->listed_link = thread->listed_next;
    *(thread->listed_next ? &thread->listed_next->listed_link : &dispatcher.picky_last) = thread->listed_link;
    thread->listed_link = NULL;
    dispatcher.picky_count--;
}

/* How many of these are looked at. If there are more, the policy is asked in any case. */
enum { MOST_LOOKED_AT = 256 };

/* Whether there is something that the thief can have. */
static bool has_for(const struct scheduler *thief, const struct scheduler *victim) {
    const struct dispatcher_thread *turn = dispatcher.running_frames[victim->node->frame].turn;
    int64_t others = dispatcher_ready_at(victim), looks = MOST_LOOKED_AT;
    if (others > dispatcher.picky_count)
        return true;
    for (struct dispatcher_thread *thread = dispatcher.picky_first, *next; thread && looks > 0;
         thread = next, looks--) {
        next = thread->listed_next;
        if (!dispatcher_is_runnable(thread) || thread->homeless || (!thread->bound && !thread->kept_on)) {
            dispatcher_unlist_picky(thread);
        } else if (thread->scheduler == victim && thread != turn) {
            if (can_have(thief, thread))
                return true;
            others--;
        }
    }
    return others > 0;
}

/* What the policy has given: goes to the thief, or back. */
static bool take(struct scheduler *thief, struct scheduler *victim) {
    bool taken = false;
    struct catapults_list list = *sent();
    catapults_list_init(sent());
    while (list.first && thief->node) {
        struct dispatcher_thread *thread = dispatcher_thread_of(catapults_list_pop(&list));
        bool goes = can_have(thief, thread);
        leave(thread);
        migrate(thread, goes ? thief : victim, NULL);
        taken = taken || goes;
    }
    return taken;
}

/* How often a policy is asked that gives what cannot be had. */
enum { MOST_ASKED = 64 };

bool dispatcher_steal(struct scheduler *thief) {
    struct scheduler *root = &dispatcher.root, *victim = NULL;
    if (!root->handlers.steal || dispatcher.nothing_to_steal)
        return false;
    tell_loads();
    while ((victim = next_by_load(victim))) {
        if (victim == thief || dispatcher_ready_at(victim) == 0 ||
            (UNLIKELY(dispatcher.picky) && !has_for(thief, victim)))
            continue;
        for (int64_t asked = 0; asked < dispatcher_ready_at(victim) && asked < MOST_ASKED; asked++) {
            tell(victim, true);
            const struct catapults_stop *stop = victim->handlers.steal(victim->self, &thief->node->policy);
            if (UNLIKELY(stop)) {
                dispatcher_contain(victim, "steal", stop, NULL, NULL);
                return false;
            }
            if (!sent()->first)
                break;
            bool taken = take(thief, victim);
            if (taken || !thief->node)
                return thief->node != NULL;
        }
    }
    dispatcher.nothing_to_steal = true;
    dispatcher.found_nothing_at = dispatcher.host->now();
    return false;
}

bool dispatcher_is_something_to_steal(void) {
    if (!dispatcher.root.handlers.steal || dispatcher.nothing_to_steal)
        return false;
    for (const struct scheduler *victim = &dispatcher.root; victim; victim = dispatcher_next_node(victim)) {
        const struct processor *processor = victim->node->processor;
        bool soon = (processor->asleep || processor->woken) && !dispatcher.running_frames[victim->node->frame].turn;
        if (dispatcher_ready_at(victim) > soon)
            return true;
    }
    return false;
}

/* ---- What other processors see to -------------------------------------------------------------------------------- */

/* Who is to ask the instance, in which nothing is RUNNING: see dispatcher_instance_for. */
static struct processor *server_of(const struct scheduler *scheduler) {
    struct processor *one = scheduler->node->processor;
    for (uint32_t i = 0; i < dispatcher.processors_count && one->frame != NOBODY; i++) {
        const struct dispatcher_thread *turn = dispatcher.running_frames[one->frame].turn;
        if (!turn || !turn->scheduler->parent)
            break;
        one = dispatcher.processors[one->frame - 1];
    }
    return one;
}

void dispatcher_notice(struct scheduler *scheduler) {
    struct processor *here = processor_here(), *there = scheduler->node->processor;
    uint16_t frame = scheduler->node->frame;
    dispatcher.nothing_to_steal = false;
    const struct dispatcher_thread *turn = dispatcher.running_frames[frame].turn;
    /* In a frame where it raises events whoever does that looks at the turn afterwards. */
    if (turn && here->frame != frame && here->sees != frame && dispatcher_is_taken(turn)) {
        dispatcher_end_turn(frame); /* which comes here again */
        return;
    }
    if (dispatcher_ready_at(scheduler) <= 0)
        return;
    if (!turn) {
        struct processor *server = server_of(scheduler);
        if (server != here && server->asleep)
            dispatcher_wake(server);
        return;
    }
    struct processor *runner = there->frame == frame ? there : dispatcher_runner_of(frame); /* NULL: it waits for one */
    if (runner && runner != here && runner->timed && !runner->armed && dispatcher.host->arm)
        dispatcher.host->interrupt(runner); /* it knows of nobody who waits */
}
