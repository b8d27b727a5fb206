#include "beneath/scheduling.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

#include "beneath/thread.h"
#include "process/imports.h"

enum { PRIORITY_MOST = 99, NICE_LEAST = -20, NICE_MOST = 19 };

void scheduling_values(const struct scheduling *scheduling, struct catapults_value values[SCHEDULING_VALUES]) {
    values[0] = catapults_value_int("priority", scheduling->priority);
    values[1] = catapults_value_int("nice", scheduling->nice);
}

/* 0: the caller. NULL: it is no thread of this process. */
static struct beneath_thread *named(long number) { return number == 0 ? thread_self() : thread_numbered((int)number); }

/* Its policy reads it from now on, and is told. May run other threads. */
static void change(struct beneath_thread *thread, struct scheduling scheduling) {
    struct catapults_value values[SCHEDULING_VALUES];
    thread->scheduling = scheduling;
    scheduling_values(&scheduling, values);
    if (!imports_set_values(&thread->member, values, SCHEDULING_VALUES))
        return;
    dispatcher_tell_changed(&thread->member.dispatched);
    dispatcher_unblocked();
}

static long set(const struct call *call) {
    struct beneath_thread *thread = named(call->first);
    bool parameter_only = call->number == SYS_sched_setparam;
    const struct sched_param *parameter = (const struct sched_param *)(parameter_only ? call->second : call->third);
    if (!thread)
        return call_kernel(call);
    struct scheduling scheduling = thread->scheduling;
    if (!parameter_only)
        scheduling.policy = (int)call->second & ~SCHED_RESET_ON_FORK;
    if (!parameter)
        return -EINVAL;
    scheduling.priority = parameter->sched_priority;
    switch (scheduling.policy) {
    case SCHED_FIFO:
    case SCHED_RR:
        if (scheduling.priority < 1 || scheduling.priority > PRIORITY_MOST)
            return -EINVAL;
        break;
    case SCHED_OTHER:
    case SCHED_BATCH:
    case SCHED_IDLE:
        if (scheduling.priority != 0)
            return -EINVAL;
        break;
    default:
        return -EINVAL;
    }
    change(thread, scheduling);
    return 0;
}

long scheduling_set(const struct call *call) {
    dispatcher_enter();
    long result = set(call);
    dispatcher_leave();
    return result;
}

long scheduling_get(const struct call *call) {
    dispatcher_enter();
    const struct beneath_thread *thread = named(call->first);
    struct scheduling found = thread ? thread->scheduling : (struct scheduling){0};
    dispatcher_leave();
    if (!thread)
        return call_kernel(call);
    if (call->number == SYS_sched_getscheduler)
        return found.policy;
    if (!call->second)
        return -EINVAL;
    ((struct sched_param *)call->second)->sched_priority = found.priority;
    return 0;
}

/* Of the process, the kernel knows it, too. */
long scheduling_set_nice(const struct call *call) {
    long nice = call->third;
    dispatcher_enter();
    struct beneath_thread *thread = call->first == PRIO_PROCESS ? named(call->second) : NULL;
    if (thread) {
        struct scheduling scheduling = thread->scheduling;
        scheduling.nice = (int)(nice < NICE_LEAST ? NICE_LEAST : nice > NICE_MOST ? NICE_MOST : nice);
        change(thread, scheduling);
    }
    dispatcher_leave();
    return thread ? 0 : call_kernel(call);
}

long scheduling_get_nice(const struct call *call) {
    dispatcher_enter();
    const struct beneath_thread *thread = call->first == PRIO_PROCESS ? named(call->second) : NULL;
    long nice = thread ? thread->scheduling.nice : 0;
    dispatcher_leave();
    return thread ? KERNELS_ZERO - nice : call_kernel(call);
}
