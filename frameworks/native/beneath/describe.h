/*
 * What a thread waits for, in words: for reports of deadlocks, and for those who look on.
 */
#ifndef CATAPULTS_BENEATH_DESCRIBE_H
#define CATAPULTS_BENEATH_DESCRIBE_H

#include "process/member.h"

/* The next text overwrites it. */
const char *describe_wait(const struct member *thread);

#endif
