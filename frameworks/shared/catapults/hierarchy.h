/*
 * A hierarchy of schedulers, which a shared object exports as `catapults_hierarchy`. `catapults build` makes it of a
 * NAME.hierarchy file (docs/hierarchies.md), for hosts that run several schedulers at once. To its parent a scheduler
 * is a thread.
 */
#ifndef CATAPULTS_HIERARCHY_H
#define CATAPULTS_HIERARCHY_H

#include <stdbool.h>
#include <stdint.h>

#include "catapults/policy.h"

#define CATAPULTS_HIERARCHY_MAGIC 0x7268636d /* "mchr" in memory */

/*
 * A value that the hierarchy gives to a variable that a policy imports. If the application registers the variable
 * later, the application's value counts.
 */
struct catapults_hierarchy_parameter {
    const char *name;
    enum catapults_import_type type; /* that of the import */
    union {
        int64_t integer; /* int, time in nanoseconds, bool as 0 or 1 */
        double real;     /* float */
    } value;
    bool at_parent; /* an import of threads (`threadimports`) of the parent's policy; else an `import` of the
                       scheduler's own */
};

/* One scheduler: an instance of a policy. */
struct catapults_hierarchy_node {
    const char *name; /* unique in the hierarchy */
    const struct catapults_policy *policy;
    uint32_t parent; /* its index: a parent stands before its children; the root, at 0, is its own */
    uint32_t parameters_count;
    const struct catapults_hierarchy_parameter *parameters; /* NULL if there are none */
};

/* A hierarchy. Constant data. */
struct catapults_hierarchy {
    uint32_t magic;        /* CATAPULTS_HIERARCHY_MAGIC */
    uint32_t contract;     /* CATAPULTS_CONTRACT */
    const char *framework; /* "native" */
    const char *name;
    const char *source;    /* its .hierarchy file, as named when it was translated */
    uint32_t nodes_count;  /* at least 1 */
    uint32_t default_node; /* where threads go if nothing else is said */
    const struct catapults_hierarchy_node *nodes;
};

#endif
