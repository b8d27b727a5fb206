/*
 * The last lines of the kernel's tasks.c, which includes this file: the policy decides which task runs. A project that
 * has such a file of its own includes this one there, by another name.
 *
 * The kernel keeps its lists of tasks as it always does. Only when it switches, the policy's choice replaces its own.
 * So
 * - a thread is READY or RUNNING for the policy exactly if its task is in one of the kernel's ready lists;
 * - the current task is RUNNING, or none is: the idle task or the timer task runs, or the policy has taken the
 *   processor away and the switch is to come;
 * - whenever the policy is out, the kernel's choice stands.
 *
 * All hooks run where the kernel protects its lists: with interrupts masked, or with the scheduler suspended, when
 * interrupts leave the lists alone.
 */
#ifndef CATAPULTS_FREERTOS_TASKS_C_ADDITIONS_H
#define CATAPULTS_FREERTOS_TASKS_C_ADDITIONS_H

#if tskKERNEL_VERSION_MAJOR != 11
#error "Catapults: made for version 11 of the kernel"
#endif

#include "catapults/raise.h"
#include "catapults/random.h"

/* What the kernel's hooks keep of a thread. */
#define CATAPULTS_MEMBER 0x1           /* a thread of the policy, unlike the idle task and the timer task */
#define CATAPULTS_SUSPENDED 0x2        /* the policy was told suspend_thread of it last */
#define CATAPULTS_STREAM 0x4           /* if it waits, then for a stream or message buffer */
#define CATAPULTS_JOB 0x8              /* it waits for its next job */
#define CATAPULTS_REFUSED 0x10         /* no thread: the policy does not want it, and it is on its way out */
#define CATAPULTS_CREATES_REFUSED 0x20 /* the task that it creates just now is refused */

#define CATAPULTS_THREAD_OF(task) ((struct catapults_thread *)&(task)->xTLSBlock.policy)
#define CATAPULTS_TASK_OF(thread) ((TCB_t *)(void *)((char *)(thread) - offsetof(TCB_t, xTLSBlock.policy)))

/* The policy's own data. */
#define CATAPULTS_DEFINE_INSTANCE
#include CATAPULTS_COMPILED_IN

static struct {
    bool started;      /* the policy is set up */
    bool kernel_tasks; /* tasks that are created now are the kernel's own */
    bool out;          /* a guard has failed */
    uint32_t last;     /* number of the youngest thread */
#ifdef CATAPULTS_CAN_REFUSE
    TCB_t *current_before;                /* before the scheduler starts: the current task before the new one, */
    bool refused_before_start;            /* and whether the new one is refused */
    List_t refused;                       /* tasks on their way out, so that the kernel cannot choose them */
    const struct catapults_stop *refusal; /* the last; NULL: none yet */
#endif
} catapults;

/* For tests: everything that the policy is told, and all that it decides. */
#ifndef CATAPULTS_TRACE_STEP
#define CATAPULTS_TRACE_EXPIRE(now, timer) ((void)0)
#define CATAPULTS_TRACE_STEP(event, thread) ((void)0)
#define CATAPULTS_TRACE_DONE() ((void)0)
#define CATAPULTS_TRACE_STOPPED(stop) ((void)0)
#define CATAPULTS_TRACE_CHOSEN(thread) ((void)0)
#endif

#ifndef configCATAPULTS_POLICY_FAILED
#define configCATAPULTS_POLICY_FAILED(line, text) ((void)(line), (void)(text))
#endif

#if defined(CATAPULTS_NOW) || defined(CATAPULTS_TIMERS) || defined(CATAPULTS_THREADIMPORT_release) ||                  \
    (configCATAPULTS_TRACE_RECORDS > 0 && !defined(configCATAPULTS_TRACE_CLOCK))
static catapults_time catapults_now(void) {
#if configTICK_TYPE_WIDTH_IN_BITS == TICK_TYPE_WIDTH_64_BITS
    const uint64_t ticks = xTickCount;
#elif configTICK_TYPE_WIDTH_IN_BITS == TICK_TYPE_WIDTH_32_BITS
    const uint64_t ticks = (uint64_t)xNumOfOverflows << 32 | xTickCount;
#else
    const uint64_t ticks = (uint64_t)xNumOfOverflows << 16 | xTickCount;
#endif
    return (catapults_time)(ticks * (1000000000u / configTICK_RATE_HZ));
}
#endif

#include "freertos_recording.h"

static void catapults_stopped(const struct catapults_stop *stop) {
    if (stop == NULL) {
        CATAPULTS_TRACE_DONE();
        return;
    }
    CATAPULTS_TRACE_STOPPED(stop);
    if (stop->why == CATAPULTS_STOP_FAIL)
        return;
    catapults.out = true;
    CATAPULTS_RECORD_OUT(stop->line);
    configCATAPULTS_POLICY_FAILED(stop->line, stop->text);
}

static void catapults_set_now(void) {
#ifdef CATAPULTS_NOW
    CATAPULTS_NOW = catapults_now();
#endif
}

/* Raises an event; `name` is what traces call it. */
#define CATAPULTS_TELL(event, name, thread)                                                                            \
    do {                                                                                                               \
        catapults_set_now();                                                                                           \
        CATAPULTS_TRACE_STEP(name, thread);                                                                            \
        catapults_stopped(CATAPULTS_RAISE(event, thread));                                                             \
        CATAPULTS_RECORD(event, thread);                                                                               \
    } while (0)

static bool catapults_is_thread(const TCB_t *task) {
    return (task->xTLSBlock.policy.base.state & CATAPULTS_MEMBER) != 0;
}

/* After an event: if no thread is RUNNING, the policy is asked as soon as the kernel can switch. */
static void catapults_settle(void) {
    if (xSchedulerRunning != pdFALSE && !CATAPULTS_IS_RUNNING(CATAPULTS_THREAD_OF(pxCurrentTCB)) &&
        (catapults_is_thread(pxCurrentTCB) || pxCurrentTCB == xIdleTaskHandles[0]))
        xYieldPendings[0] = pdTRUE;
}

/* The seed of what the policy draws, always the same unless the application has one. */
#ifndef configCATAPULTS_SEED
#define configCATAPULTS_SEED CATAPULTS_RANDOM_SEED
#endif

static void catapults_start(void) {
    const uint32_t seed = configCATAPULTS_SEED;
    CATAPULTS_START();
#ifdef CATAPULTS_RANDOM
    catapults_random_seed(&CATAPULTS_RANDOM, seed);
#endif
    CATAPULTS_RECORD_START(seed);
#ifdef CATAPULTS_CAN_REFUSE
    vListInitialise(&catapults.refused);
#endif
}

/* The job begins that was released so many ticks ago; below 0: that will be, because something ended its delay. */
static void catapults_begin_job(struct catapults_thread *t, int64_t ticks) {
#ifdef CATAPULTS_THREADIMPORT_release
    CATAPULTS_THREADIMPORT_release(t) = catapults_now() - ticks * (1000000000u / configTICK_RATE_HZ);
#endif
#ifdef CATAPULTS_HANDLER_release
    CATAPULTS_TELL(release, "release", t);
#endif
    (void)t, (void)ticks;
}

/* ---- Hooks ------------------------------------------------------------------------------------------------------- */

void catapults_hook_kernel_tasks(bool are_created) { catapults.kernel_tasks = are_created; }

void catapults_hook_created(TCB_t *task) {
    struct catapults_thread *t = CATAPULTS_THREAD_OF(task);
    if (!catapults.started) {
        catapults.started = true;
        catapults_start();
#ifdef CATAPULTS_HANDLER_init
        catapults_set_now();
        CATAPULTS_TRACE_STEP("init", NULL);
        catapults_stopped(CATAPULTS_RAISE_ALONE(init));
#endif
    }
    if (catapults.out || catapults.kernel_tasks)
        return;
    CATAPULTS_ADOPT(&task->xTLSBlock.policy);
    t->state = CATAPULTS_MEMBER;
    t->number = ++catapults.last;
#ifdef CATAPULTS_THREADIMPORT_priority
    CATAPULTS_THREADIMPORT_priority(t) = (catapults_int)task->uxPriority;
#endif
#ifdef configCATAPULTS_TASK_CREATED
    configCATAPULTS_TASK_CREATED(task);
#endif
    catapults_set_now();
    CATAPULTS_TRACE_STEP("newthread", t);
    const struct catapults_stop *stop = CATAPULTS_RAISE(newthread, t);
    catapults_stopped(stop);
#ifdef CATAPULTS_CAN_REFUSE
    if (stop != NULL && stop->why == CATAPULTS_STOP_FAIL) {
        catapults.refusal = stop;
        t->state = CATAPULTS_REFUSED;
        task->uxPriority = tskIDLE_PRIORITY; /* so the kernel does not switch for it */
        if (xSchedulerRunning == pdFALSE) {
            pxCurrentTCB = catapults.current_before;
            catapults.refused_before_start = true;
        } else {
            t->walk = CATAPULTS_THREAD_OF(pxCurrentTCB);
            t->walk->state |= CATAPULTS_CREATES_REFUSED;
        }
        CATAPULTS_RECORD_REFUSED(t, stop->line);
        return;
    }
#endif
    CATAPULTS_RECORD(newthread, t);
    catapults_settle();
}

#ifdef CATAPULTS_CAN_REFUSE
/* Before the scheduler starts, the kernel makes a new task the current one before it tells of it. */
void catapults_hook_creates(void) {
    if (xSchedulerRunning == pdFALSE)
        catapults.current_before = pxCurrentTCB;
}

/*
 * A task has been put into its ready list. One that is refused leaves it in the same critical section, so nobody can
 * find it there, until vTaskDelete takes it away.
 */
void catapults_hook_filed(TCB_t *task) {
    if ((task->xTLSBlock.policy.base.state & CATAPULTS_REFUSED) == 0)
        return;
    (void)uxListRemove(&task->xStateListItem);
    taskRESET_READY_PRIORITY(task->uxPriority);
    vListInsertEnd(&catapults.refused, &task->xStateListItem);
}

/*
 * Whether the task that has just been created is refused. One that is not may have run since, and may be deleted, so
 * the answer is with the one that creates: the current task, if there is one.
 */
bool catapults_hook_is_refused(void) {
    bool refused = catapults.refused_before_start;
    catapults.refused_before_start = false;
    if (xSchedulerRunning == pdFALSE)
        return refused;
    struct catapults_thread *self = CATAPULTS_THREAD_OF(pxCurrentTCB);
    refused = (self->state & CATAPULTS_CREATES_REFUSED) != 0;
    if (refused) {
        taskENTER_CRITICAL();
        self->state &= (uint8_t)~CATAPULTS_CREATES_REFUSED;
        taskEXIT_CRITICAL();
    }
    return refused;
}
#endif

/* Also when a ready task moves to another list because its priority has changed. */
void catapults_hook_ready(TCB_t *task) {
    struct catapults_thread *t = CATAPULTS_THREAD_OF(task);
    if (catapults.out || !catapults_is_thread(task) || !CATAPULTS_IS_BLOCKED(t))
        return;
    if (t->state & CATAPULTS_JOB) {
        t->state &= (uint8_t)~CATAPULTS_JOB;
        /* The tick that it was to wait for. It is now, or was, if the task was suspended; or it will be, if its delay
         * was aborted, or suspending and resuming it ended that. The nearer one is meant. */
        const TickType_t release = (TickType_t)listGET_LIST_ITEM_VALUE(&task->xStateListItem);
        const TickType_t since = xTickCount - release, until = release - xTickCount;
        catapults_begin_job(t, since <= until ? (int64_t)since : -(int64_t)until);
        if (catapults.out)
            return;
    }
    if (t->state & CATAPULTS_SUSPENDED) {
        t->state &= (uint8_t)~CATAPULTS_SUSPENDED;
        CATAPULTS_TELL(resume_thread, "resume_thread", t);
    } else {
        CATAPULTS_TELL(event_raised, "event_raised", t);
    }
    catapults_settle();
}

static void catapults_suspend(struct catapults_thread *t) {
    t->state |= CATAPULTS_SUSPENDED;
    CATAPULTS_TELL(suspend_thread, "suspend_thread", t);
}

/* The current task. The switch follows, whatever the policy does. */
void catapults_hook_blocks(enum catapults_wait what) {
    struct catapults_thread *t = CATAPULTS_THREAD_OF(pxCurrentTCB);
    if (catapults.out || !catapults_is_thread(pxCurrentTCB))
        return;
    if (!CATAPULTS_IS_RUNNING(t)) {
        catapults_suspend(t); /* the policy has just preempted it */
        return;
    }
    switch (what) {
    case CATAPULTS_WAIT_SLEEP:
        CATAPULTS_TELL(block_sleep, "block.sleep", t);
        break;
    case CATAPULTS_WAIT_QUEUE_SEND:
        CATAPULTS_TELL(block_queue_send, "block.queue.send", t);
        break;
    case CATAPULTS_WAIT_QUEUE_RECEIVE:
        CATAPULTS_TELL(block_queue_receive, "block.queue.receive", t);
        break;
    case CATAPULTS_WAIT_SEMAPHORE:
        CATAPULTS_TELL(block_semaphore, "block.semaphore", t);
        break;
    case CATAPULTS_WAIT_LOCK:
        CATAPULTS_TELL(block_lock, "block.lock", t);
        break;
    case CATAPULTS_WAIT_NOTIFICATION:
        if (t->state & CATAPULTS_STREAM)
            CATAPULTS_TELL(block_stream, "block.stream", t);
        else
            CATAPULTS_TELL(block_notification, "block.notification", t);
        break;
    case CATAPULTS_WAIT_EVENT_GROUP:
        CATAPULTS_TELL(block_event_group, "block.event_group", t);
        break;
    }
}

/* The current task: xTaskDelayUntil. So does the timer task wait, which is no thread. */
void catapults_hook_ends_job(void) {
    catapults_hook_blocks(CATAPULTS_WAIT_SLEEP);
    if (catapults_is_thread(pxCurrentTCB))
        CATAPULTS_THREAD_OF(pxCurrentTCB)->state |= CATAPULTS_JOB;
}

/* The current task: when xTaskDelayUntil was called, the tick had come already. */
void catapults_hook_is_late(unsigned long long release) {
    taskENTER_CRITICAL();
    if (!catapults.out && catapults_is_thread(pxCurrentTCB)) {
        catapults_begin_job(CATAPULTS_THREAD_OF(pxCurrentTCB), (int64_t)(TickType_t)(xTickCount - (TickType_t)release));
        catapults_settle();
    }
    taskEXIT_CRITICAL();
}

/* The current task. */
void catapults_hook_waits_for_stream(bool waits) {
    struct catapults_thread *t = CATAPULTS_THREAD_OF(pxCurrentTCB);
    if (waits)
        t->state |= CATAPULTS_STREAM;
    else
        t->state &= (uint8_t)~CATAPULTS_STREAM;
}

/* It is still in the list that it will leave. */
void catapults_hook_suspended(TCB_t *task) {
    struct catapults_thread *t = CATAPULTS_THREAD_OF(task);
    if (catapults.out || !catapults_is_thread(task) || CATAPULTS_IS_BLOCKED(t))
        return;
    catapults_suspend(t);
    if (task != pxCurrentTCB) /* the current task gives up the processor itself */
        catapults_settle();
}

#ifdef CATAPULTS_CAN_REFUSE
/*
 * Somebody deletes a task in the midst of xTaskCreate, whose end would have deleted the one that is refused, and which
 * the walk of that names. The idle task does so instead, as for one that has deleted itself.
 */
static void catapults_leave_to_idle(const struct catapults_thread *creator) {
    ListItem_t *item = listGET_HEAD_ENTRY(&catapults.refused);
    while (CATAPULTS_THREAD_OF((TCB_t *)listGET_LIST_ITEM_OWNER(item))->walk != creator)
        item = listGET_NEXT(item);
    (void)uxListRemove(item);
    vListInsertEnd(&xTasksWaitingTermination, item);
    ++uxDeletedTasksWaitingCleanUp;
}
#endif

void catapults_hook_deleted(TCB_t *task) {
    struct catapults_thread *t = CATAPULTS_THREAD_OF(task);
#ifdef CATAPULTS_CAN_REFUSE
    if (t->state & CATAPULTS_CREATES_REFUSED)
        catapults_leave_to_idle(t);
#endif
    if (catapults.out || !catapults_is_thread(task))
        return;
    t->state = 0;
    if (CATAPULTS_IS_RUNNING(t))
        CATAPULTS_TELL(exit, "exit", t);
    else
        CATAPULTS_TELL(cancel, "cancel", t);
    catapults_settle();
}

/* The priority that the kernel goes by. */
void catapults_hook_priority(TCB_t *task, unsigned long priority) {
    struct catapults_thread *t = CATAPULTS_THREAD_OF(task);
    (void)priority;
    if (catapults.out || !catapults_is_thread(task))
        return;
#ifdef CATAPULTS_THREADIMPORT_priority
    if (CATAPULTS_THREADIMPORT_priority(t) == (catapults_int)priority)
        return;
    CATAPULTS_THREADIMPORT_priority(t) = (catapults_int)priority;
#endif
#ifdef CATAPULTS_HANDLER_changed
    CATAPULTS_TELL(changed, "changed", t);
    catapults_settle();
#endif
    (void)t;
}

/* The one that the application wants. While a mutex gives the task a higher one, it keeps that. */
void catapults_hook_priority_set(TCB_t *task, unsigned long priority) {
#if configUSE_MUTEXES == 1
    if (task->uxBasePriority != task->uxPriority && priority <= task->uxPriority)
        return;
#endif
    if (priority != task->uxPriority)
        catapults_hook_priority(task, priority);
}

void catapults_hook_switched_out(void) {
    struct catapults_thread *t = CATAPULTS_THREAD_OF(pxCurrentTCB);
    if (catapults.out || !catapults_is_thread(pxCurrentTCB))
        return;
    if (!CATAPULTS_IS_RUNNING(t)) {
        if (CATAPULTS_IS_READY(t))
            CATAPULTS_RECORD_ALONE(TRACE_PREEMPTED, t);
        return;
    }
    /* Whatever takes a task off this list raises an event of its own. */
    configASSERT(listIS_CONTAINED_WITHIN(&pxReadyTasksLists[pxCurrentTCB->uxPriority], &pxCurrentTCB->xStateListItem));
    CATAPULTS_TELL(switch_out, "switch_out", t);
}

static struct catapults_thread *catapults_schedule(void) {
    const struct catapults_stop *stop = NULL;
    struct catapults_thread *t;
    catapults_set_now();
    CATAPULTS_TRACE_STEP("schedule", NULL);
#ifdef CATAPULTS_NEVER_STOPS_schedule
    t = CATAPULTS_HANDLER_schedule();
#else
    t = CATAPULTS_HANDLER_schedule(&stop);
#endif
    if (stop != NULL) {
        catapults_stopped(stop);
        return t;
    }
    CATAPULTS_TRACE_CHOSEN(t);
    if (t)
        CATAPULTS_RECORD(schedule, t);
    else
        CATAPULTS_RECORD_ALONE(TRACE_IDLE, NULL);
    return t;
}

#ifdef CATAPULTS_TIMERS
/* Else a policy that arms its timers for the past would have them expire for ever. */
#define CATAPULTS_MOST_EXPIRED 64
#endif

/* At the end of each tick that is counted. */
void catapults_hook_tick(void) {
#ifdef CATAPULTS_TIMERS
    if (catapults.out || !catapults.started || uxSchedulerSuspended != 0)
        return;
    const catapults_time now = catapults_now();
    for (int i = 0; i < CATAPULTS_MOST_EXPIRED && !catapults.out; i++) {
        const struct catapults_timer *first = CATAPULTS_TIMERS.first;
        if (!first || first->instant > now)
            break;
        catapults_set_now();
        CATAPULTS_TRACE_EXPIRE(now, first);
        catapults_stopped(CATAPULTS_EXPIRE(first->timeout, first->thread));
        catapults_settle();
    }
#endif
}

/* The current task is the kernel's choice. */
void catapults_hook_switched_in(void) {
    struct catapults_thread *t;
    if (catapults.out || xSchedulerRunning == pdFALSE)
        return;
    if (!catapults_is_thread(pxCurrentTCB)) {
        /* A timer's callback comes before all threads. The idle task is chosen if no thread is ready, or if it is its
         * turn among tasks of its own priority. */
        if (pxCurrentTCB != xIdleTaskHandles[0])
            return;
        if (listCURRENT_LIST_LENGTH(&pxReadyTasksLists[tskIDLE_PRIORITY]) <= 1) {
            CATAPULTS_RECORD_ALONE(TRACE_IDLE, NULL);
            return;
        }
    }
    t = catapults_schedule();
    if (!catapults.out)
        pxCurrentTCB = t ? CATAPULTS_TASK_OF(t) : xIdleTaskHandles[0];
}

/* ---- For the application ----------------------------------------------------------------------------------------- */

struct catapults_thread *catapults_thread(TaskHandle_t task) { return CATAPULTS_THREAD_OF(prvGetTCBFromHandle(task)); }

const struct catapults_stop *catapults_refusal(void) {
#ifdef CATAPULTS_CAN_REFUSE
    return catapults.refusal;
#else
    return NULL;
#endif
}

const struct catapults_told *catapults_refusal_values(void) {
#ifdef CATAPULTS_TOLD
    return catapults.refusal == &CATAPULTS_TOLD.stop ? &CATAPULTS_TOLD : NULL;
#else
    return NULL;
#endif
}

bool catapults_yield_to(TaskHandle_t task) {
    bool done = false;
    (void)task;
#ifdef CATAPULTS_HANDLER_set_next_thread
    struct catapults_thread *t = CATAPULTS_THREAD_OF(task);
    taskENTER_CRITICAL();
    if (!catapults.out && uxSchedulerSuspended == 0 && catapults_is_thread(task) &&
        CATAPULTS_IS_RUNNING(CATAPULTS_THREAD_OF(pxCurrentTCB)) && CATAPULTS_IS_READY(t)) {
        CATAPULTS_TELL(set_next_thread, "set_next_thread", t);
        portYIELD_WITHIN_API();
        done = true;
    }
    taskEXIT_CRITICAL();
#endif
    return done;
}

#endif
