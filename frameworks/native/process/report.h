/*
 * What is told about the process on standard error.
 */
#ifndef CATAPULTS_PROCESS_REPORT_H
#define CATAPULTS_PROCESS_REPORT_H

#include "process/member.h"

/* Writes "catapults: ..." and a newline to standard error. It is called on the stacks of threads, which may be small:
 * its buffer is elsewhere. See text_format for what `format` can have. */
__attribute__((format(printf, 1, 2))) void runtime_report(const char *format, ...);
/* Writes just that. */
void report_text(const char *text, size_t length);

/* For the dispatcher. */
void report_contained(const struct dispatcher_failure *failure);
void report_deadlock(void);
void report_inconsistent(const char *what);

/* The caller is about to wait for `thread`, which waits for the caller, directly or through others. */
void report_cycle(const struct member *thread);

#endif
