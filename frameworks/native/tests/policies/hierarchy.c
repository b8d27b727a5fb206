/* A hierarchy of three instances of bytes.c: to the root, `high` has more bytes left than `low`, where threads go. */
#define catapults_policy bytes_policy
#include "bytes.c"
#include "catapults/hierarchy.h"

static const struct catapults_hierarchy_parameter high[] = {
    {.name = "bytesleft", .type = CATAPULTS_IMPORT_INT, .value.integer = 100, .at_parent = true},
    {.name = "connections", .type = CATAPULTS_IMPORT_INT, .value.integer = 5},
};

static const struct catapults_hierarchy_parameter low[] = {
    {.name = "bytesleft", .type = CATAPULTS_IMPORT_INT, .value.integer = 1, .at_parent = true},
    {.name = "urgent", .type = CATAPULTS_IMPORT_BOOL, .value.integer = 0, .at_parent = true},
};

static const struct catapults_hierarchy_node nodes[] = {
    {.name = "top", .policy = &bytes_policy},
    {.name = "high", .policy = &bytes_policy, .parameters_count = 2, .parameters = high},
    {.name = "low", .policy = &bytes_policy, .parameters_count = 2, .parameters = low},
};

#ifndef NODES_COUNT
#define NODES_COUNT 3
#endif
#ifndef HIERARCHY_CONTRACT
#define HIERARCHY_CONTRACT CATAPULTS_CONTRACT
#endif

__attribute__((visibility("default"))) const struct catapults_hierarchy catapults_hierarchy = {
    .magic = CATAPULTS_HIERARCHY_MAGIC,
    .contract = HIERARCHY_CONTRACT,
    .framework = FRAMEWORK,
    .name = "two_classes",
    .source = "two_classes.hierarchy",
    .nodes_count = NODES_COUNT,
    .default_node = 2,
    .nodes = nodes,
};
