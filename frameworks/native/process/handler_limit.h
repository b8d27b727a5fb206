/*
 * Handlers that run for too long.
 */
#ifndef CATAPULTS_PROCESS_HANDLER_LIMIT_H
#define CATAPULTS_PROCESS_HANDLER_LIMIT_H

#include "process/member.h"

/* Watches handlers that may run for ever, on all processors. Once is enough. */
void watch_start(void);

#endif
