/*
 * Another process changes the CPU affinity of this one, as `taskset --pid` does: that of its first kernel thread. A
 * cpuset and a CPU that is unplugged change the same mask.
 */
#ifndef CATAPULTS_CPUS_H
#define CATAPULTS_CPUS_H

#include <errno.h>
#include <sched.h>

#include "support/child.h"

static inline void cpus_allow(const cpu_set_t *set) {
    pid_t pid = fork();
    require(pid >= 0);
    if (pid == 0)
        _exit(sched_setaffinity(getppid(), sizeof *set, set) == 0 ? 0 : 1);
    int status;
    while (waitpid(pid, &status, 0) != pid)
        require(errno == EINTR);
    require(status == 0);
}

/* All that there are, at least two; and the first of them. */
static inline void cpus_find(cpu_set_t *all, cpu_set_t *one) {
    require(sched_getaffinity(getpid(), sizeof *all, all) == 0 && CPU_COUNT(all) >= 2);
    int first = 0;
    while (!CPU_ISSET(first, all))
        first++;
    CPU_ZERO(one);
    CPU_SET(first, one);
}

#endif
