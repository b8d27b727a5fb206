/*
 * Everything that the policy is told and all that it decides, as a script (tests/run), so that the interpreter can be
 * asked whether it would have decided the same.
 */
#ifndef TRACE_H
#define TRACE_H

/* What was added since the last call, at most 1023 characters. Called by tasks. */
const char *trace_since(void);

/* Prints it, and ends the program. */
_Noreturn void trace_end(void);

#endif
