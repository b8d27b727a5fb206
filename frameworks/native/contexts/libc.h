/*
 * What must be libc's, because the application's code runs on it or looks for it there; and what only libc knows of how
 * the process was started.
 */
#ifndef CATAPULTS_LIBC_H
#define CATAPULTS_LIBC_H

#include <stddef.h>

/* Makes a kernel thread, which nobody joins, on which code of the application's may run. It begins with all signals
 * blocked. `room`: bytes of its stack beside what libc needs; 0: as much as is usual. Returns 0 or an error number. */
int libc_make_thread(void *(*start)(void *), void *argument, size_t room);

/* Where the calling kernel thread has errno. Compilers may keep no address: a caller may go on on another one. */
int *libc_error_number(void);

/* Where it has what C++ keeps of exceptions: see struct dispatcher_exceptions. NULL: the program has no C++. */
void *libc_exceptions(void);

/* An environment variable; NULL also in a set-user-id program. */
const char *libc_environment(const char *name);

#endif
