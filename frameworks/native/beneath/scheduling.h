/*
 * The policies and priorities that POSIX and the kernel know. They mean what the policy in force makes of them: it
 * reads them as the per-thread imports `priority` and `nice`.
 */
#ifndef CATAPULTS_BENEATH_SCHEDULING_H
#define CATAPULTS_BENEATH_SCHEDULING_H

#include "beneath/call.h"
#include "catapults.h"

/* Of a thread. One that it makes begins with the same. */
struct scheduling {
    int policy, priority; /* of SCHED_FIFO and SCHED_RR, 1 to 99; of others 0 */
    int nice;             /* -20 to 19 */
};

enum { SCHEDULING_VALUES = 2, KERNELS_ZERO = 20 /* getpriority returns this less the nice value */ };

/* As the policy reads it. */
void scheduling_values(const struct scheduling *scheduling, struct catapults_value values[SCHEDULING_VALUES]);

/* The kernel's calls. No thread needs a privilege for them, because they concern this process alone. */
long scheduling_set(const struct call *call);
long scheduling_get(const struct call *call);
long scheduling_set_nice(const struct call *call);
long scheduling_get_nice(const struct call *call);

#endif
