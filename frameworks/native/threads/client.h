/*
 * Threads that an application's thread schedules: see catapults_schedule.
 */
#ifndef CATAPULTS_CLIENT_H
#define CATAPULTS_CLIENT_H

#include "process/scheduler_handle.h"

/* The scheduler that they are under. It has no policy: the port is told what would be its events. */
extern struct catapults_scheduler client_scheduler;

/* Makes a thread that is being created a client of the port. ENOMEM. */
int client_make(struct catapults_handle *thread, catapults_port_t *port);

#endif
