/*
 * Where in its source a policy handles events: for messages. Needs no libc.
 */
#ifndef CATAPULTS_PLACE_H
#define CATAPULTS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "catapults/policy.h"

/* The policy's file without its folders. */
static inline const char *catapults_file_name(const struct catapults_policy *policy) {
    const char *name = policy->source;
    for (const char *at = name; *at; at++)
        if (*at == '/')
            name = at + 1;
    return name;
}

static inline bool catapults_is_event(const char *name, const char *event) {
    while (*name && *name == *event)
        name++, event++;
    return *name == *event;
}

/* "cow.sched:31"; "cow.sched" if the policy leaves the event to the framework. The words are in `text`, as far as there
 * is room. */
static inline const char *catapults_place_of(const struct catapults_policy *policy, const char *event, char *text,
                                             size_t size) {
    char digits[12];
    size_t first = sizeof digits - 1, length = 0;
    digits[first] = 0;
    for (uint32_t i = 0; i < policy->places_count; i++)
        if (catapults_is_event(policy->places[i].event, event)) {
            for (uint32_t line = policy->places[i].line; line || !digits[first]; line /= 10)
                digits[--first] = (char)('0' + line % 10);
            digits[--first] = ':';
            break;
        }
    const char *parts[] = {catapults_file_name(policy), &digits[first]};
    for (size_t i = 0; i < 2; i++)
        for (const char *at = parts[i]; *at && length + 1 < size; at++)
            text[length++] = *at;
    text[length] = 0;
    return text;
}

#endif
