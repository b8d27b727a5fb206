/*
 * What a thread waits for.
 */
#ifndef CATAPULTS_DESCRIBE_WAIT_H
#define CATAPULTS_DESCRIBE_WAIT_H

#include "process/member.h"

/* As struct face says (process/face.h). */
const char *describe_wait(const struct member *thread);

#endif
