/*
 * What a described policy (catapults/policy.h) adds to a trace: the names of its events, with the lines of its
 * handlers, and of its imported variables.
 */
#ifndef CATAPULTS_TRACE_POLICY_H
#define CATAPULTS_TRACE_POLICY_H

#include "catapults/policy.h"
#include "catapults/trace.h"

static inline uint32_t trace_line_of(const struct catapults_policy *policy, const char *event) {
    for (uint32_t i = 0; i < policy->places_count; i++) {
        const char *one = policy->places[i].event, *other = event;
        while (*one && *one == *other) {
            one++;
            other++;
        }
        if (*one == *other)
            return policy->places[i].line;
    }
    return 0;
}

/* Adds the names of a policy, which stand together: its events in this order, its variables, and those of its threads.
 * Returns where they begin; 0: there was no room, and its records do without. */
static inline uint16_t trace_add_policy(struct trace_file *file, const struct catapults_policy *policy,
                                        const char *const *events, uint32_t count) {
    uint32_t first = file->names_count;
    bool room = first < UINT16_MAX / 2;
    for (uint32_t i = 0; i < count && room; i++)
        room = trace_add_name(file, trace_line_of(policy, events[i]), events[i], policy->source);
    for (uint32_t i = 0; i < policy->imports_count && room; i++)
        room = trace_add_name(file, 0, policy->imports[i].name, "");
    for (uint32_t i = 0; i < policy->thread_imports_count && room; i++)
        room = trace_add_name(file, 0, policy->thread_imports[i].name, "");
    return room ? (uint16_t)first : 0;
}

/* The line of the statement that decided, right after the handler; 0: the policy does not say. */
static inline uint32_t trace_line_that_decided(const struct catapults_policy *policy) {
    return policy->moved_by ? *policy->moved_by : 0;
}

/* The last recorded value of variables. A variable that has lost its place to another is recorded anew. All zero at
 * first. */
struct trace_values {
    struct {
        uint32_t thread;
        uint16_t variable;
        uint64_t value;
    } known[1 << 10];
};

/* Whether a variable has another value than was last recorded. `value` is that value. */
static inline bool trace_value_changed(struct trace_values *values, uint32_t thread, uint16_t variable,
                                       const struct catapults_import *import, const char *base, uint64_t *value) {
    const void *place = *(const void *const *)(base + import->pointer);
    *value = import->type == CATAPULTS_IMPORT_BOOL ? *(const unsigned char *)place : *(const uint64_t *)place;
    uint32_t slot = (thread * 31 + variable) % (sizeof values->known / sizeof *values->known);
    if (values->known[slot].thread == thread && values->known[slot].variable == variable &&
        values->known[slot].value == *value)
        return false;
    values->known[slot].thread = thread;
    values->known[slot].variable = variable;
    values->known[slot].value = *value;
    return true;
}

#endif
