/*
 * A recording of which thread runs when, in a file.
 */
#ifndef CATAPULTS_PROCESS_TRACE_FILE_H
#define CATAPULTS_PROCESS_TRACE_FILE_H

#include "process/member.h"

/* Begins it. Returns 0 or an error number, having reported. */
int trace_open(const char *file, const char *policy);
void trace_name(struct dispatcher_thread *thread);

#endif
