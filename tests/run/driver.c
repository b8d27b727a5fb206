/*
 * A host that does what a script says: loads a policy by the contract, reads steps from standard input, answers each
 * with a line. tests/src/replay.rs says what steps and answers look like, but that a time is a number of nanoseconds
 * here and a float has as many digits as can be needed; tests/src/compiled.rs makes answers of these.
 *
 * TABLE is a file made from the framework description: EVENT(name, member, parameters, dispatches, node, global) and
 * QUERY(name, member, parameters, type) for each of its events and queries. HANDLERS is the tag of the table of
 * handlers.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include HEADER
#include "catapults/nodes.h"
#include "catapults/timers.h"

struct entry {
    const char *name;
    size_t member;
    int parameters;
    bool dispatches;
    bool node;   /* its parameter is a node */
    bool global; /* of what all instances share */
    enum { answers_nothing, answers_int, answers_bool, answers_time, answers_float } answers;
};

#define EVENT(name, member, parameters, dispatches, node, global)                                                      \
    {name, offsetof(struct HANDLERS, member), parameters, dispatches, node, global, answers_nothing},
#define QUERY(name, member, parameters, type)
static const struct entry events[] = {
#include TABLE
};
#undef EVENT
#undef QUERY
#define EVENT(name, member, parameters, dispatches, node, global)
#define QUERY(name, member, parameters, type)                                                                          \
    {name, offsetof(struct HANDLERS, member), parameters, false, false, false, answers_##type},
static const struct entry queries[] = {
#include TABLE
};

typedef const struct catapults_stop *event_0(void *self);
typedef const struct catapults_stop *event_1(void *self, struct catapults_thread *t);
typedef struct catapults_thread *event_dispatch(void *self, const struct catapults_stop **stop);
typedef catapults_int int_0(const void *self);
typedef catapults_int int_1(const void *self, const struct catapults_thread *t);
typedef bool bool_0(const void *self);
typedef bool bool_1(const void *self, const struct catapults_thread *t);
typedef catapults_time time_0(const void *self);
typedef catapults_time time_1(const void *self, const struct catapults_thread *t);
typedef double float_0(const void *self);
typedef double float_1(const void *self, const struct catapults_thread *t);

enum { THREADS = 4096, NODES = 16 };

static const struct catapults_policy *policy;
static void *instance;
static struct catapults_thread *threads[THREADS];
static bool out;
static catapults_time clock_now;

/* Of a policy with nodes. `instance` is that of the node that has been entered. */
static void *shared;
static struct catapults_thread *nodes[NODES];
static void *instances[NODES];
static unsigned homes[THREADS]; /* the node that a thread is on, and 1; 0: none */
static unsigned here;           /* the same of the node that has been entered */

/* What the application has registered: for each import a cell, in the order of the policy's table. Those of a thread
 * are there before it, and outlive it. */
struct cell {
    bool registered;
    union {
        catapults_int number;
        bool truth;
        catapults_time time;
        double real;
    };
};
static struct cell *cells, *thread_cells[THREADS];

static _Noreturn void fatal(const char *what, const char *which) {
    fprintf(stderr, "driver: %s: %s\n", what, which);
    exit(2);
}

/* Memory full of rubbish, aligned as a host must. */
static void *dirty(size_t size) {
    void *memory = aligned_alloc(16, (size + 15) / 16 * 16);
    if (!memory)
        fatal("no memory", "");
    memset(memory, 0xa5, size);
    return memory;
}

static void forget(unsigned number) {
    free(threads[number]);
    threads[number] = NULL;
    homes[number] = 0;
}

static void forget_all(void) {
    for (unsigned number = 0; number < THREADS; number++) {
        forget(number);
        free(thread_cells[number]);
        thread_cells[number] = NULL;
    }
    for (unsigned node = 0; node < NODES; node++) {
        free(nodes[node]);
        free(instances[node]);
        nodes[node] = NULL;
        instances[node] = NULL;
    }
    if (policy->shared_size)
        free(shared);
    else
        free(instance);
    instance = NULL;
    here = 0;
    free(cells);
}

/* Where the policy has what is there once. */
static void *once(void) { return policy->shared_size ? shared : instance; }

static void restart(void) {
    forget_all();
    if (policy->shared_size)
        shared = dirty(policy->shared_size);
    else
        instance = dirty(policy->instance_size);
    cells = calloc(policy->imports_count + 1, sizeof(*cells));
    out = false;
    clock_now = 0;
    if (policy->shared_size)
        policy->share(shared);
    else
        policy->start(instance);
}

static unsigned node_number(const char *word) {
    unsigned long number = strtoul(word, NULL, 10);
    if (number >= NODES)
        fatal("node number too high", word);
    return (unsigned)number;
}

/* The node of that number, which is new if there is none. */
static struct catapults_thread *node_of(const char *word) {
    unsigned number = node_number(word);
    if (!nodes[number]) {
        nodes[number] = dirty(policy->node_size);
        nodes[number]->number = number;
        policy->adopt_node(shared, nodes[number]);
    }
    return nodes[number];
}

/* What follows is of the instance of that node. */
static void enter(const char *word) {
    unsigned number = node_number(word);
    if (!nodes[number])
        fatal("no such node", word);
    if (!instances[number]) {
        instances[number] = dirty(policy->instance_size);
        memcpy(instances[number], &shared, sizeof(shared));
        policy->start(instances[number]);
    }
    instance = instances[number];
    here = number + 1;
    puts("");
}

/* A node has departed: whoever was there is the host's. */
static void evacuate(unsigned number) {
    if (policy->timers && instances[number]) {
        struct catapults_timers *timers = (struct catapults_timers *)((char *)instances[number] + policy->timers);
        while (timers->first)
            catapults_timers_set(timers, timers->first, 0);
    }
    for (unsigned thread = 0; thread < THREADS; thread++)
        if (homes[thread] == number + 1) {
            threads[thread]->container = 0;
            homes[thread] = 0;
        }
    if (here == number + 1) {
        instance = NULL;
        here = 0;
    }
    free(instances[number]);
    free(nodes[number]);
    instances[number] = NULL;
    nodes[number] = NULL;
}

/* Takes those that were sent, and says of them, behind `before`; whether there were any. */
static bool say_sent(const char *before) {
    if (!policy->shared_size)
        return false;
    struct catapults_list *sent = (struct catapults_list *)((char *)shared + policy->sent);
    bool any = sent->first != NULL;
    while (sent->first) {
        struct catapults_thread *t = catapults_list_pop(sent);
        homes[t->number] = 0;
        printf("%s%" PRIu32 " to node %" PRIu32, before, t->number, t->parent->number);
        before = ", ";
    }
    if (any)
        puts("");
    return any;
}

static unsigned number_of(const char *word) {
    unsigned long number = strtoul(word, NULL, 10);
    if (number >= THREADS)
        fatal("thread number too high", word);
    return (unsigned)number;
}

static struct catapults_thread *thread_of(const char *word) {
    struct catapults_thread *t = threads[number_of(word)];
    if (!t)
        fatal("no such thread", word);
    return t;
}

static const struct entry *find(const struct entry *table, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    fatal("no such event or query", name);
}

static void *handler(const struct entry *entry) {
    void *function;
    memcpy(&function, (const char *)policy->handlers + entry->member, sizeof(function));
    return function;
}

/* Says what a stop says; whether there was one. */
static bool stopped(const struct catapults_stop *stop) {
    if (!stop)
        return false;
    out = stop->why == CATAPULTS_STOP_GUARD;
    if (out)
        printf("guard %" PRIu32 " %s\n", stop->line, stop->text);
    else
        printf("fail %s\n", stop->text);
    return true;
}

static void link_variable(void *object, const struct catapults_import *import, struct cell *cell) {
    void *variable = &cell->number;
    cell->registered = true;
    memcpy((char *)object + import->pointer, &variable, sizeof(variable));
}

static void create(unsigned number) {
    struct catapults_thread *t = dirty(policy->thread_size);
    threads[number] = t;
    t->number = number;
    policy->adopt(instance, t);
    for (uint32_t i = 0; thread_cells[number] && i < policy->thread_imports_count; i++)
        if (thread_cells[number][i].registered)
            link_variable(t, &policy->thread_imports[i], &thread_cells[number][i]);
}

static void raise_event(const struct entry *entry, const char *word) {
    void *function = handler(entry);
    if (!function)
        fatal("the policy has no handler for", entry->name);
    void *self = entry->global ? shared : instance;
    if (entry->node) {
        struct catapults_thread *node = node_of(word);
        unsigned number = node->number;
        if (!stopped(((event_1 *)function)(self, node)) && !say_sent(""))
            puts("");
        if (node->container == 0)
            evacuate(number);
    } else if (entry->dispatches) {
        const struct catapults_stop *stop = NULL;
        struct catapults_thread *t = ((event_dispatch *)function)(instance, &stop);
        if (stopped(stop))
            return;
        if (t)
            printf("%" PRIu32 "\n", t->number);
        else
            puts("");
    } else if (entry->parameters == 0) {
        if (!stopped(((event_0 *)function)(self)) && !say_sent(""))
            puts("");
    } else {
        unsigned number = number_of(word);
        if (!threads[number])
            create(number);
        bool sent = false;
        bool stop = stopped(((event_1 *)function)(self, threads[number]));
        if (!stop && !(sent = say_sent("")))
            puts("");
        if (threads[number]->container != 0)
            homes[number] = here;
        else if (!sent && !out) /* destroyed, or refused */
            forget(number);
    }
}

/* Raises the event of a timer, which says nothing of itself. */
static void time_out(const struct catapults_timeout *timeout, struct catapults_thread *t, const char *what) {
    unsigned number = t->number;
    if (!stopped(timeout->raise(instance, t)))
        puts(what);
    if (t->container == 0)
        forget(number);
}

/* The timer that expires next does, if its instant has come. */
static void expire(void) {
    struct catapults_timer *first = NULL;
    if (policy->timers)
        first = ((struct catapults_timers *)((char *)instance + policy->timers))->first;
    if (!first || first->instant > clock_now) {
        puts("nothing");
        return;
    }
    const struct catapults_timeout *timeout = &policy->timeouts[first->timeout];
    char what[128];
    snprintf(what, sizeof(what), "%s %" PRIu32, timeout->name, first->thread->number);
    time_out(timeout, first->thread, what);
}

static const struct catapults_timeout *timeout_of(const char *name) {
    for (uint32_t i = 0; i < policy->timeouts_count; i++)
        if (strcmp(policy->timeouts[i].name, name) == 0)
            return &policy->timeouts[i];
    return NULL;
}

/* What a query of that type answers. */
#define ANSWER(type) (one ? ((type##_1 *)function)(instance, thread_of(word)) : ((type##_0 *)function)(instance))

static void ask(const struct entry *entry, const char *word) {
    void *function = handler(entry);
    bool one = entry->parameters == 1;
    switch (entry->answers) {
    case answers_nothing:
        break;
    case answers_int:
        printf("%" PRIdMAX "\n", (intmax_t)ANSWER(int));
        break;
    case answers_bool:
        puts(ANSWER(bool) ? "true" : "false");
        break;
    case answers_time:
        printf("%" PRIdMAX "\n", (intmax_t)ANSWER(time));
        break;
    case answers_float:
        printf("%.17g\n", ANSWER(float));
        break;
    }
}

/* `25ms` */
static catapults_time time_of(const char *word) {
    static const struct unit {
        const char *name;
        catapults_time length;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
    char *unit;
    catapults_time count = strtoll(word, &unit, 10);
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strcmp(units[i].name, unit) == 0)
            return count * units[i].length;
    fatal("no time", word);
}

/* What time it is from here on. */
static void tell(const char *word) {
    clock_now = time_of(word);
    if (policy->now)
        memcpy((char *)once() + policy->now, &clock_now, sizeof(clock_now));
    puts("");
}

/* Registers the variable of that name, if it is not yet, and assigns it. */
static void assign(void *object, const struct catapults_import *imports, uint32_t count, struct cell *cell,
                   const char *name, const char *value) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(imports[i].name, name) != 0)
            continue;
        link_variable(object, &imports[i], &cell[i]);
        switch (imports[i].type) {
        case CATAPULTS_IMPORT_INT:
            cell[i].number = (catapults_int)strtoll(value, NULL, 10);
            break;
        case CATAPULTS_IMPORT_BOOL:
            cell[i].truth = strcmp(value, "true") == 0;
            break;
        case CATAPULTS_IMPORT_TIME:
            cell[i].time = time_of(value);
            break;
        case CATAPULTS_IMPORT_FLOAT:
            cell[i].real = strtod(value, NULL);
            break;
        }
        puts("");
        return;
    }
    fatal("the policy does not import", name);
}

/* The host says what holds of a node. */
static void set_property(const char *word, const char *name, const char *value) {
    struct catapults_thread *node = node_of(word);
    for (uint32_t i = 0; i < policy->properties_count; i++) {
        const struct catapults_property *property = &policy->properties[i];
        if (strcmp(property->name, name) != 0)
            continue;
        struct cell cell;
        switch (property->type) {
        case CATAPULTS_IMPORT_INT:
            cell.number = (catapults_int)strtoll(value, NULL, 10);
            break;
        case CATAPULTS_IMPORT_BOOL:
            cell.truth = strcmp(value, "true") == 0;
            break;
        case CATAPULTS_IMPORT_TIME:
            cell.time = time_of(value);
            break;
        default:
            cell.real = strtod(value, NULL);
            break;
        }
        property->set(shared, node, &cell.number);
        puts("");
        return;
    }
    fatal("nodes have no property", name);
}

static void assign_of_thread(const char *word, const char *name, const char *value) {
    unsigned number = number_of(word);
    struct cell **cell = &thread_cells[number];
    if (!*cell)
        *cell = calloc(policy->thread_imports_count + 1, sizeof(**cell));
    if (!threads[number])
        create(number);
    assign(threads[number], policy->thread_imports, policy->thread_imports_count, *cell, name, value);
}

static void load(const char *file) {
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        fatal("cannot load", dlerror());
    policy = dlsym(object, "catapults_policy");
    if (!policy || policy->magic != CATAPULTS_MAGIC || policy->contract != CATAPULTS_CONTRACT)
        fatal("not a policy", file);
}

int main(int count, char **arguments) {
    if (count != 2)
        fatal("usage", "driver POLICY.so <steps");
    load(arguments[1]);
    restart();
    char line[512];
    while (fgets(line, sizeof(line), stdin)) {
        char *words[4] = {0}, *rest = line;
        for (int i = 0; i < 4; i++, rest = NULL)
            words[i] = strtok(rest, " \n");
        if (!words[0])
            continue;
        if (strcmp(words[0], "restart") == 0)
            restart();
        else if (out)
            fatal("the policy is out", words[0]);
        else if (strcmp(words[0], "at") == 0)
            tell(words[1]);
        else if (strcmp(words[0], "expire") == 0)
            expire();
        else if (strcmp(words[0], "node") == 0)
            enter(words[1]);
        else if (strcmp(words[0], "set_property") == 0)
            set_property(words[1], words[2], words[3]);
        else if (timeout_of(words[0]))
            time_out(timeout_of(words[0]), thread_of(words[1]), "");
        else if (strcmp(words[0], "ask") == 0)
            ask(find(queries, sizeof(queries) / sizeof(*queries), words[1]), words[2]);
        else if (strcmp(words[0], "set_import") == 0)
            assign(once(), policy->imports, policy->imports_count, cells, words[1], words[2]);
        else if (strcmp(words[0], "set_thread_import") == 0)
            assign_of_thread(words[1], words[2], words[3]);
        else
            raise_event(find(events, sizeof(events) / sizeof(*events), words[0]), words[1]);
    }
    forget_all();
    return 0;
}
