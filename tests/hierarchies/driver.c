/*
 * A hierarchy in the native dispatcher, and threads that do what a script says: whoever runs takes the next step.
 *
 *   driver HIERARCHY events|steps
 *
 * Reads the script from standard input, and prints what has happened to every thread and scheduler, or who has asked
 * for each step: then nothing is recorded, so that the dispatcher takes the short ways that it takes without a
 * recording. tests/tests/tree.rs says what steps there are.
 *
 * The dispatcher attends to the world outside at every decision, and the clock stands still but for the script. Words
 * stand for locks: a thread that waits by one lends its turns to whom it names.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catapults/hierarchy.h"
#include "contexts/stack.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/processor_here.h"
#include "core/scheduler.h"
#include "dispatcher/trace.h"

enum { SCHEDULERS = 256, WORDS = 16, NAMES = 1 << 16, RECORDS = 1 << 18 };

static const struct catapults_hierarchy *hierarchy;
static struct scheduler *schedulers[SCHEDULERS];
static uintptr_t words[WORDS]; /* each names a thread that others may wait for */
static unsigned long room;     /* for what any of the policies keeps of a thread */
static int64_t clock_now;
static int error_number;
static struct dispatcher_exceptions exceptions;

static _Noreturn void fatal(const char *what, const char *which) {
    fprintf(stderr, "driver: %s: %s\n", what, which);
    exit(2);
}

static void *allocate(size_t size) {
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!memory)
        fatal("no memory", "");
    return memset(memory, 0, size);
}

/* ---- What has happened ---------------------------------------------------------------------------------------------
 */

static void print(void) {
    static const char *const kinds[] = {
        [TRACE_NEW] = "new",
        [TRACE_DISPATCHED] = "dispatched",
        [TRACE_LENT] = "dispatched",
        [TRACE_SWITCHED_OUT] = "switched_out",
        [TRACE_PREEMPTED] = "switched_out",
        [TRACE_BLOCKED] = "blocked",
        [TRACE_RAISED] = "raised",
        [TRACE_EXITED] = "exited",
        [TRACE_SUSPENDED] = "suspended",
        [TRACE_RESUMED] = "resumed",
        [TRACE_IDLE] = "idle",
    };
    if (!dispatcher_trace)
        return;
    if (dispatcher_trace->written > RECORDS)
        fatal("too many records", "");
    for (uint64_t i = 0; i < dispatcher_trace->written; i++) {
        const struct trace_record *record = &trace_records(dispatcher_trace)[i];
        if (record->kind == TRACE_IDLE)
            puts("idle");
        else if (record->kind != TRACE_NAMED && record->kind != TRACE_POLICY_OUT && record->kind != TRACE_VALUE)
            printf("%s %" PRIu32 "\n", kinds[record->kind], record->thread);
    }
}

static _Noreturn void finish(void) {
    print();
    fflush(stdout);
    _Exit(0);
}

static void contained(const struct dispatcher_failure *failure) {
    print();
    printf("out %s: %s\n", failure->event, failure->stop ? failure->stop->text : failure->text);
    fflush(stdout);
    _Exit(0);
}

/* ---- The host ------------------------------------------------------------------------------------------------------
 */

static int64_t now(void) { return clock_now; }

static void recorded(struct dispatcher_thread *thread) { (void)thread; }

static void put(const struct catapults_import *import, char *start, const void *value) {
    if (import->type == CATAPULTS_IMPORT_BOOL)
        *(bool *)(start + import->fallback) = *(const int64_t *)value;
    else
        memcpy(start + import->fallback, value, 8);
}

static void assign(const struct catapults_hierarchy_node *node, bool at_parent, const struct catapults_import *imports,
                   uint32_t count, char *start) {
    for (uint32_t i = 0; i < node->parameters_count; i++) {
        const struct catapults_hierarchy_parameter *parameter = &node->parameters[i];
        for (uint32_t j = 0; parameter->at_parent == at_parent && j < count; j++) {
            /* A policy that has come later may import others. */
            if (strcmp(imports[j].name, parameter->name) == 0 && imports[j].type == parameter->type)
                put(&imports[j], start, &parameter->value);
        }
    }
}

static void scheduler_adopted(struct dispatcher_thread *record) {
    struct scheduler *scheduler = scheduler_of(record);
    const struct catapults_policy *above = scheduler->parent->policy;
    assign(scheduler->host, true, above->thread_imports, above->thread_imports_count, (char *)&record->policy);
}

static void scheduler_started(struct scheduler *scheduler) {
    const struct catapults_hierarchy_node *node = scheduler->host ? scheduler->host : &hierarchy->nodes[0];
    assign(node, false, scheduler->policy->imports, scheduler->policy->imports_count, scheduler->instance);
}

/* What the next thread has for the variables that its policy imports: `with period 20000000`. */
static struct {
    char name[32];
    int64_t value;
} given[16];
static int given_count;

static void adopted(struct dispatcher_thread *thread) {
    const struct catapults_policy *policy = thread->scheduler->policy;
    for (uint32_t i = 0; i < policy->thread_imports_count; i++)
        for (int j = 0; j < given_count; j++)
            if (strcmp(policy->thread_imports[i].name, given[j].name) == 0)
                put(&policy->thread_imports[i], (char *)&thread->policy, &given[j].value);
    given_count = 0;
}

static const struct dispatcher_host host = {.now = now,
                                            .error_number = &error_number,
                                            .exceptions = &exceptions,
                                            .adopted = adopted,
                                            .scheduler_adopted = scheduler_adopted,
                                            .scheduler_started = scheduler_started,
                                            .recorded = recorded,
                                            .contained = contained,
                                            .deadlocked = finish,
                                            .finished = finish};

/* ---- The script ----------------------------------------------------------------------------------------------------
 */

static const char *const reasons[] = {
    [BLOCK_IO_READ] = "block.io.read", [BLOCK_LOCK] = "block.lock", [BLOCK_SLEEP] = "block.sleep"};

struct step {
    char word[32], name[32];
    int64_t number, other;
};

/* `taker`: the number of who runs; 0: nobody. */
static struct step next_step(uint32_t taker) {
    static char line[128];
    struct step step = {.number = 0};
    if (!dispatcher_trace)
        printf("%" PRIu32 "\n", taker);
    if (!fgets(line, sizeof(line), stdin))
        finish();
    if (sscanf(line, "changed %" SCNd64 " %31s %" SCNd64, &step.number, step.name, &step.other) == 3)
        strcpy(step.word, "changed");
    else if (sscanf(line, "with %31s %" SCNd64, step.name, &step.number) == 2)
        strcpy(step.word, "with");
    else if (sscanf(line, "%31s %" SCNd64 " %" SCNd64, step.word, &step.number, &step.other) < 1)
        fatal("no step", line);
    return step;
}

static bool is(const struct step *step, const char *word) { return strcmp(step->word, word) == 0; }

/* The thread of that number; NULL: there is none. The dispatcher's own list: a host is not told of a thread whose
 * policy imports nothing before the thread runs, and others can name it by then. */
static struct dispatcher_thread *numbered(int64_t number) {
    struct dispatcher_thread *thread = dispatcher_first_thread();
    while (thread && thread->policy.number != number)
        thread = dispatcher_next_thread(thread);
    return thread;
}

/* Steps that anybody can take. False: it is another. */
static bool from_outside(const struct step *step) {
    struct dispatcher_thread *thread = numbered(step->number);
    if (is(step, "with")) {
        strcpy(given[given_count].name, step->name);
        given[given_count++].value = step->number;
    } else if (is(step, "at"))
        clock_now = step->number;
    else if (!is(step, "unblock"))
        return false;
    else if (thread && core_is_blocked(thread))
        dispatcher_unblock(thread);
    return true;
}

static void live(void *argument);

/* A record that has room for what any policy keeps. */
static struct dispatcher_thread *new_record(void) {
    struct dispatcher_thread *thread = allocate(offsetof(struct dispatcher_thread, policy) + room);
    thread->room = (uint32_t)room;
    return thread;
}

static void create(uint32_t under) {
    struct stack *stack = stack_take(64 << 10);
    struct dispatcher_thread *thread = new_record(); /* clear */
    uintptr_t top = (uintptr_t)stack & ~(uintptr_t)15;
    dispatcher_create(schedulers[under], thread, stack, (void *)top, live, NULL);
}

static void *new_instance(const struct catapults_policy *policy) { return allocate(policy->instance_size); }

/* What the parent refused the scheduler with; or NULL. */
static const struct catapults_stop *add(uint32_t index) {
    const struct catapults_hierarchy_node *node = &hierarchy->nodes[index];
    struct scheduler *scheduler = allocate(offsetof(struct scheduler, record.policy) + room);
    scheduler->record.room = (uint32_t)room;
    scheduler->host = (void *)node;
    schedulers[index] = scheduler;
    const struct catapults_stop *stop =
        dispatcher_add(scheduler, schedulers[node->parent], node->name, node->policy, new_instance(node->policy));
    if (stop)
        schedulers[index] = NULL;
    return stop;
}

static void replace(struct scheduler *scheduler, const struct catapults_policy *policy) {
    unsigned long size;
    if (!dispatcher_has_room(scheduler, policy, &size))
        fatal("no room", policy->name);
    dispatcher_replace(scheduler, policy, new_instance(policy), NULL, allocate(size));
    dispatcher_unblocked();
}

/* ---- Waiting for whom a word names ---------------------------------------------------------------------------------
 */

static void lock(uintptr_t *word) {
    if (!*word)
        *word = (uintptr_t)dispatcher_self();
    else if (dispatcher_cycle(word) == CYCLE_NONE)
        dispatcher_wait_for(word, true, BLOCK_LOCK, DISPATCHER_FOREVER);
}

static void unlock(uintptr_t *word, struct dispatcher_thread *heir) {
    if (*word != (uintptr_t)dispatcher_self())
        return;
    *word = (uintptr_t)heir;
    if (heir && core_is_blocked(heir))
        dispatcher_unblock_only(heir);
    dispatcher_unblocked();
}

static void redirect(struct dispatcher_thread *thread, const uintptr_t *word) {
    if (thread && thread->waits_for && *word)
        dispatcher_redirected(thread, word);
    dispatcher_unblocked();
}

static void block(const char *event) {
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
        if (reasons[i] && strcmp(reasons[i], event) == 0) {
            dispatcher_block((enum dispatcher_reason)i, DISPATCHER_FOREVER);
            return;
        }
    fatal("no step", event);
}

/* Steps that concern schedulers. False: it is another. */
static bool of_schedulers(const struct step *step) {
    struct scheduler *removed;
    while ((removed = dispatcher_take_removed()))
        for (uint32_t i = 0; i < hierarchy->nodes_count; i++)
            if (schedulers[i] == removed)
                schedulers[i] = NULL;
    if (is(step, "add")) {
        add((uint32_t)step->number);
        dispatcher_unblocked();
    } else if (is(step, "remove")) {
        dispatcher_remove(schedulers[step->number]);
        dispatcher_unblocked();
    } else if (is(step, "replace")) {
        replace(schedulers[step->number], hierarchy->nodes[step->other].policy);
    } else if (is(step, "attach")) {
        dispatcher_attach(schedulers[step->number], allocate(room));
    } else {
        return false;
    }
    return true;
}

/* The variable of the thread; NULL: its policy imports none. */
static const struct catapults_import *import_of(const struct dispatcher_thread *thread, const char *name) {
    const struct catapults_policy *policy = thread->scheduler->policy;
    for (uint32_t i = 0; i < policy->thread_imports_count; i++)
        if (strcmp(policy->thread_imports[i].name, name) == 0)
            return &policy->thread_imports[i];
    return NULL;
}

static bool holds(const struct catapults_import *import, const char *start, int64_t value) {
    return import->type == CATAPULTS_IMPORT_BOOL ? *(const bool *)(start + import->fallback) == (value != 0)
                                                 : memcmp(start + import->fallback, &value, 8) == 0;
}

/* Steps by which the policy of a thread is told something. False: it is another. */
static bool is_told(const struct step *step, struct dispatcher_thread *thread) {
    bool changed = is(step, "changed");
    if (!changed && !is(step, "released"))
        return false;
    const struct catapults_import *import = thread ? import_of(thread, changed ? step->name : "release") : NULL;
    char *start = thread ? (char *)&thread->policy : NULL;
    bool is_new = import && !holds(import, start, step->other);
    if (is_new)
        put(import, start, &step->other);
    if (changed && is_new)
        dispatcher_tell_changed(thread);
    else if (thread && !changed)
        dispatcher_tell_released(thread);
    dispatcher_unblocked();
    return true;
}

static void take_steps(void) {
    for (;;) {
        struct step step = next_step(dispatcher_self()->policy.number);
        struct dispatcher_thread *thread = numbered(step.number);
        processor_here()->patience = 1;
        if (from_outside(&step) || of_schedulers(&step) || is_told(&step, thread))
            continue;
        if (is(&step, "create")) {
            create((uint32_t)step.number);
        } else if (is(&step, "also")) {
            if (thread && core_is_blocked(thread))
                dispatcher_unblock_only(thread);
        } else if (is(&step, "decide")) {
            dispatcher_unblocked();
        } else if (is(&step, "yield")) {
            dispatcher_yield();
        } else if (is(&step, "yield_to")) {
            if (thread)
                dispatcher_yield_to(thread);
        } else if (is(&step, "suspend")) {
            if (thread)
                dispatcher_suspend(thread);
        } else if (is(&step, "resume")) {
            if (thread)
                dispatcher_resume(thread);
        } else if (is(&step, "tick")) {
            dispatcher_interrupted(true);
        } else if (is(&step, "lock")) {
            lock(&words[step.number]);
        } else if (is(&step, "unlock")) {
            unlock(&words[step.number], numbered(step.other));
        } else if (is(&step, "redirect")) {
            redirect(thread, &words[step.other]);
        } else if (is(&step, "exit")) {
            dispatcher_own_turn();
            dispatcher_exit(NULL);
        } else {
            block(step.word);
        }
    }
}

static void live(void *argument) {
    (void)argument;
    dispatcher_begin();
    take_steps();
}

/* Nothing runs: the next step is taken by nobody. An instant of 0 is a glance in passing. */
static void poll(int64_t instant) {
    processor_here()->patience = 1;
    if (instant == 0)
        return;
    struct step step = next_step(0);
    from_outside(&step);
}

static bool busy(void) { return true; }

static const struct dispatcher_driver driver = {.poll = poll, .busy = busy};

int main(int count, char **arguments) {
    void *object = count == 3 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    hierarchy = object ? dlsym(object, "catapults_hierarchy") : NULL;
    if (!hierarchy || hierarchy->magic != CATAPULTS_HIERARCHY_MAGIC || hierarchy->contract != CATAPULTS_CONTRACT)
        fatal("no hierarchy", count == 3 ? arguments[1] : "no arguments");
    if (strcmp(arguments[2], "events") == 0) {
        dispatcher_trace_to(calloc(1, NAMES + RECORDS * sizeof(struct trace_record)));
        trace_lay_out(dispatcher_trace, NAMES, RECORDS);
    }
    dispatcher_set_driver(&driver);
    const struct catapults_hierarchy_node *nodes = hierarchy->nodes;
    for (uint32_t i = 0; i < hierarchy->nodes_count; i++) {
        unsigned long size = dispatcher_thread_size(nodes[i].policy) - offsetof(struct dispatcher_thread, policy);
        room = size > room ? size : room;
    }
    schedulers[0] = dispatcher_root();
    dispatcher_prepare(&host, nodes[0].policy, new_instance(nodes[0].policy));
    for (uint32_t i = 1; i < hierarchy->nodes_count; i++)
        if (add(i))
            fatal("refused", nodes[i].name);
    struct scheduler *first = schedulers[hierarchy->default_node];
    if (dispatcher_start_under(first, new_record()))
        fatal("refused", "the first thread");
    take_steps();
    return 0;
}
