/*
 * Policies in shared objects, without the dynamic linker: for kernel threads that libc does not know of, and programs
 * in which every thread may be in the middle of something of libc's.
 *
 * An object that `catapults build` makes needs little: its parts are mapped, and addresses in it are moved to where
 * that is. What refers to functions elsewhere, as verbatim text may, is refused, but for those that compilers call.
 */
#ifndef CATAPULTS_PROCESS_MAPPED_H
#define CATAPULTS_PROCESS_MAPPED_H

#include <stddef.h>

#include "native_policy.h"

struct mapped {
    const struct catapults_policy *policy;
    void *start; /* of all parts */
    size_t size;
};

/* The policy of the file, which can be used by this runtime. Else it returns why not: a constant, or `text`, where the
 * words then are. Takes no lock, and calls no function of libc that does. */
const char *mapped_policy(int descriptor, struct mapped *mapped, char *text, size_t size);

/* Nobody uses it. */
void mapped_give_up(struct mapped *mapped);

#endif
