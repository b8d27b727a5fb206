/*
 * What generated code and its host share: the thread as a policy sees it, the description of a policy, and how a
 * handler says that it stopped. Nothing here or below calls libc, allocates, or touches a vector register, except
 * floats.h.
 */
#ifndef CATAPULTS_POLICY_H
#define CATAPULTS_POLICY_H

#include <stddef.h>
#include <stdint.h>

#include "catapults/host_memory.h"

/* The version of this file. A host refuses a policy that was built against another one. */
#define CATAPULTS_CONTRACT 12u
#define CATAPULTS_MAGIC 0x7370636d /* "mcps" in memory */

/*
 * A thread as a policy sees it. The host embeds one in its own record of the thread, as the last member; the policy's
 * attributes follow it in memory, so the host reserves `catapults_policy.thread_size` bytes from its start.
 *
 *   host's record │ struct catapults_thread │ attributes, pointers to imported variables, their defaults
 *                 ▲                         └── laid out by generated code: struct NAME_thread
 *                 └── what handlers are given
 *
 * The links belong to the container that holds the thread. Only handlers and the containers beneath them write here.
 * The host makes sure that only one handler of a scheduler runs at a time.
 */
struct catapults_thread {
    /* The one behind it: in a list; in a sorted container, among those of equal key. */
    struct catapults_thread CATAPULTS_MEMORY *next;
    struct catapults_thread CATAPULTS_MEMORY *previous; /* the one before it */
    uint16_t container; /* the number of the container that holds it; 0 while in none ("in hand") */
    uint8_t color;      /* in a sorted container: of its node in the tree */
    uint32_t number;    /* the host's number for it, unique while it lives; for messages and traces */
    /* In a sorted container: links of the tree; while on the way to a node: that node. */
    struct catapults_thread CATAPULTS_MEMORY *parent;
    struct catapults_thread CATAPULTS_MEMORY *left;
    struct catapults_thread CATAPULTS_MEMORY *right;
    struct catapults_thread CATAPULTS_MEMORY *walk; /* the next that the current foreach visits */
};

/* Why a handler ended early. Constant data of the policy; line 0 stands for the framework's own default handler. */
struct catapults_stop {
    enum {
        CATAPULTS_STOP_GUARD, /* a guard did not hold: the policy is out; the statement did nothing */
        CATAPULTS_STOP_FAIL   /* `fail`: the request is refused and nothing has changed */
    } why;
    uint32_t line;    /* in the policy's source, from 1 */
    const char *text; /* guard: "`ready` is empty in `ready => current`"; fail: the reason */
};

/* The policy language's `int` of imported variables on a 64-bit host. */
typedef int64_t catapults_int;

/* `time`: nanoseconds on every host. An instant is counted from a start that the host chooses, and never goes back. */
typedef int64_t catapults_time;

/* The type of an imported variable. */
enum catapults_import_type {
    CATAPULTS_IMPORT_INT,
    CATAPULTS_IMPORT_BOOL,
    CATAPULTS_IMPORT_TIME,
    CATAPULTS_IMPORT_FLOAT
};

/* A variable that the policy imports. */
struct catapults_import {
    const char *name;
    enum catapults_import_type type;
    /*
     * Both are offsets in bytes from the start of the policy's instance (global) or of the thread (per thread). The
     * host sets `pointer` to the application's variable; `fallback` is the variable that holds the default until then.
     * Generated code points one at the other before it raises or stores anything.
     */
    uint32_t pointer, fallback;
};

/* Where a handler begins. */
struct catapults_place {
    const char *event; /* or query, as the framework description names it: "block.io.read" */
    uint32_t line;     /* in the policy's `source`, from 1 */
};

/* What the host tells of a node: a line `node NAME : TYPE;` of the framework description. */
struct catapults_property {
    const char *name;
    int type; /* CATAPULTS_IMPORT_INT and so on */
    /*
     * Assigns it, from a variable of its type. A node that is sorted by it is filed anew, behind its equals. The host
     * may call this between any two handlers, and calls it before `arrival`, so that the value is known there.
     */
    void (*set)(void *shared, struct catapults_thread *node, const void *value);
};

/* The state class of a container (Bossa 2005, §3): what its threads can do, for the host. */
enum catapults_class { CATAPULTS_IN_HAND, CATAPULTS_RUNNING, CATAPULTS_READY, CATAPULTS_BLOCKED, CATAPULTS_TERMINATED };

/* What the policy keeps of each thread: an attribute, or one element of an array of them (`level[2]`), but no timer and
 * no import. A host that replaces the policy can hand on the values. */
struct catapults_attribute {
    const char *name;
    enum catapults_import_type type;
    uint32_t offset; /* in bytes, from the start of the thread */
};

/* The event of a timer of the policy. */
struct catapults_timeout {
    const char *name; /* "timeout.slice" */
    /* Disarms the thread's timer first; the handler may arm it anew. */
    const struct catapults_stop *(*raise)(void *instance, struct catapults_thread *t);
};

/* A part of an instance. */
struct catapults_part {
    uint32_t offset, size; /* in bytes, from the start of the instance */
};

/*
 * Hosts that record want to know which statement moved a thread. So an object has each policy twice: as
 * `catapults_policy`, and as `catapults_policy_traced`, translated from the same text with CATAPULTS_TRACED. Only
 * handlers of the second say it, so hosts that do not record pay nothing. (The same holds for `catapults_hierarchy`.)
 */
#ifdef CATAPULTS_TRACED
static uint32_t catapults_moved_by __attribute__((unused));
#define CATAPULTS_MOVED(line) (catapults_moved_by = (line))
#define CATAPULTS_MOVED_BY &catapults_moved_by
#define CATAPULTS_EXPORTED(name) name##_traced
#else
#define CATAPULTS_MOVED(line) ((void)0)
#define CATAPULTS_MOVED_BY NULL
#define CATAPULTS_EXPORTED(name) name
#endif

/* A policy, which a shared object exports as `catapults_policy`. Constant data. */
struct catapults_policy {
    uint32_t magic;         /* CATAPULTS_MAGIC */
    uint32_t contract;      /* CATAPULTS_CONTRACT */
    uint32_t framework_abi; /* `abi` of the framework description */
    uint32_t instance_size; /* bytes of the scheduler's own data, aligned to 16 */
    uint32_t thread_size;   /* bytes of a thread, struct catapults_thread included, aligned to 16 */
    uint32_t imports_count, thread_imports_count, attributes_count;
    uint32_t unbounded;     /* 1: it has loops or verbatim text, so a handler may run for ever; 0: each handler ends */
    const char *framework;  /* "native" */
    const char *name;       /* the scheduler's name */
    const char *source;     /* its .sched file, as named when it was translated */
    const uint8_t *classes; /* enum catapults_class of each container, by its number; [0]: in hand */
    const struct catapults_import *imports, *thread_imports;
    const struct catapults_attribute *attributes;
    /* Offset in the instance, in bytes, of the catapults_time that is `now` to the policy. The host writes the instant
     * there before it calls a handler. 0: the policy does not ask. */
    uint32_t now;
    /* Offset in the instance, in bytes, of the struct catapults_random (catapults/random.h); 0: the policy does not
     * draw. `start` seeds it with CATAPULTS_RANDOM_SEED; a host that wants other draws seeds it anew after that. */
    uint32_t random;
    /* Offset in the instance, in bytes, of the struct catapults_timers (catapults/timers.h); 0: the policy has no
     * timers. When the instant of its `first` has come, the host raises timeouts[first->timeout] for its thread. */
    uint32_t timers;
    uint32_t timeouts_count;
    const struct catapults_timeout *timeouts;
    /* Where the policy's own handlers are, for messages; without those that it leaves to the framework. */
    uint32_t places_count;
    const struct catapults_place *places;
    /*
     * The containers of class RUNNING. On a host with several processors and one instance for all of them, each
     * processor has these for its own. Before a processor raises an event, the host puts there what was there when that
     * processor raised its last one, and at first what `start` has left there. So a thread that is RUNNING on one
     * processor is in no container while another raises events, and what is known of policies on one processor holds.
     */
    uint32_t running_count;
    const struct catapults_part *running;
    /*
     * Which of two threads the policy would dispatch first, if both were READY: less than 0, the first; more than 0,
     * the second; 0, whichever came first. By this such a host raises the event of a thread that becomes READY on the
     * processor whose RUNNING thread comes last. So the threads that run on all processors are those that come first.
     * NULL: it cannot be told, because the policy has several containers for READY threads, or one that is not sorted,
     * or nodes.
     */
    int (*ready_order)(const struct catapults_thread *a, const struct catapults_thread *b);
    /* The line of the statement by which a handler last moved a thread; 0: one of the framework's own. NULL: the policy
     * does not say; see CATAPULTS_MOVED. */
    const uint32_t *moved_by;
    void (*start)(void *instance);                                  /* sets up containers, variables, defaults */
    void (*adopt)(void *instance, struct catapults_thread *thread); /* the same for a new thread; it is then in hand */
    const void *handlers; /* the framework's table of handlers, e.g. struct native_handlers */
    /*
     * Raises `switch_out` of a thread and then at once `schedule`, for a host that does nothing in between: one call
     * takes half the time of two. The result is that of `schedule`, or the thread itself if switch_out stops. *stop is
     * NULL before; if one of the two stops, it is why. NULL: the policy has nodes, or the framework has no such events:
     * switch_out(t), which does not dispatch, and schedule, which does.
     */
    struct catapults_thread *(*yield)(void *instance, struct catapults_thread *t, const struct catapults_stop **stop);
    /*
     * A policy with nodes has an instance for each node, and data that the instances share. For that the host reserves
     * `shared_size` bytes, aligned to 16, and calls `share` once. Without nodes all of these are 0.
     *
     * An instance begins with a pointer to what is shared, which the host writes before it calls `start`. `imports`,
     * `now` and `random` are in what is shared, not in instances. `adopt` can be given NULL for the instance.
     *
     * Containers hold nodes as they hold threads. The host embeds a struct catapults_thread as the last member of its
     * record of the node, reserves `node_size` bytes from its start, numbers it, and calls `adopt_node` before
     * `arrival`. Nodes have numbers of their own.
     *
     * `self` is what is shared for handlers of events that are `global` in the framework description, and the instance
     * of a node for all others. No two handlers that are given what is shared, or read or assign it, run at the same
     * time: on a host with one memory, no two handlers of any instance.
     *
     * When a handler returns without a stop, the threads that it has sent to nodes are in hand and in the list at
     * `sent`, in the order in which they were sent; `parent` of each is the node. The host empties the list before the
     * next handler, and raises the event of each thread in the instance of its node. Attributes of the threads stay as
     * they are; their timers are not armed. After a stop that is a guard the list may hold threads, too.
     *
     * When a node departs, the threads in its instance are the host's again. The host takes them (sets `container` to 0
     * and disarms their timers, catapults/timers.h), and calls no handler of the instance any more.
     */
    uint32_t shared_size, node_size;
    uint32_t sent; /* offset in what is shared, in bytes, of a struct catapults_list (catapults/list.h) */
    uint32_t properties_count;
    const struct catapults_property *properties;
    void (*share)(void *shared); /* sets up what is shared */
    void (*adopt_node)(void *shared, struct catapults_thread *node);
};

#endif
