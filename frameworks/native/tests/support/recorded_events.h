/*
 * The events that a policy of a test writes down.
 */
#ifndef RECORDED_EVENTS_H
#define RECORDED_EVENTS_H

#include <stdio.h>
#include <string.h>

#include "support/child.h"

static char events[8192];

static inline void record_event(const char *line) { strncat(events, line, sizeof events - strlen(events) - 1); }

/* Since the last call. */
#define require_events(expected)                                                                                       \
    do {                                                                                                               \
        if (strcmp(events, expected) != 0) {                                                                           \
            fprintf(stderr, "%s:%d: events: %s\n", __FILE__, __LINE__, events);                                        \
            _exit(CHILD_REQUIRE_FAILED);                                                                               \
        }                                                                                                              \
        events[0] = '\0';                                                                                              \
    } while (0)

#endif
