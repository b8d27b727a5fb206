/*
 * Records which thread ran when, and why, as catapults/trace.h says. Costs one branch while it is off.
 *
 * A record names the event whose handler decided it, from the table of names, which has the line of each policy's
 * handler; and the line of the statement, if the policy says which it was (catapults_policy.moved_by).
 */
#ifndef CATAPULTS_TRACE_H
#define CATAPULTS_TRACE_H

#include "catapults/trace.h"
#include "core/thread_record.h"

/* Where events are recorded; NULL: nowhere. */
extern struct trace_file *dispatcher_trace;

/* Sets it, before or after the start. */
void dispatcher_trace_to(struct trace_file *file);

/* Called once the file is set, before any policy is in force. What is recorded: a hierarchy or (NULL) a policy, if not
 * the built-in one (NULL). */
void dispatcher_trace_begin(const char *hierarchy, const char *source, const struct catapults_policy *policy,
                            uint64_t seed);

/* From here on the names of a scheduler's events and variables are known. Recording is on. */
void dispatcher_trace_names(struct scheduler *scheduler);

/* Appends a record. `thread` NULL: it concerns none. Recording is on. */
struct trace_record *dispatcher_record(enum trace_kind kind, const struct dispatcher_thread *thread, uint8_t detail);

/* This processor goes on with `next`, or with nobody. */
void dispatcher_record_dispatch(const struct dispatcher_thread *next);

/* The thread's name. */
void dispatcher_record_name(const struct dispatcher_thread *thread, const char *name);

#endif
