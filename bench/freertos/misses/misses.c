/*
 * The control workload of bench/native/misses.c on a Cortex-M3 under QEMU, where each instruction takes 256 ns, so that
 * runs repeat exactly: under the kernel's priorities, the shorter the period the higher, or, with POLICY, under the
 * policy that is compiled in, with one priority for all. With LIAR each tenth job of one task computes for longer than
 * its whole period.
 *
 * Prints a line for each task: `name jobs missed worst`, where `worst` is by how many microseconds the worst job was
 * after its deadline, or, if negative, before it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "FreeRTOS.h"
#include "task.h"

/*
 * Times of tasks are in hundredths of a tick, between two of which are 3906 instructions. Computing takes 95 % of the
 * processor, which the earliest deadline first keeps and rate-monotonic priorities do not: by response-time analysis
 * `slow` can be late.
 *
 * Budgets are what a task computes, a hundredth more for the interrupts of the tick, and a tick for each time at which
 * another task comes between, as far as 99 % allow. The policy's clock is the tick: whoever goes on in the middle of
 * one is charged for all of it. Periods are so long because a tick more is too much for short ones.
 */
enum { TICK = 100 };
static struct task {
    const char *name;
    uint32_t period; /* in ticks */
    uint32_t computes, budget;
    int jobs, done, missed;
    int64_t worst;
} tasks[] = {{.name = "fast", .period = 200, .computes = 5400, .budget = 5580},
             {.name = "liar", .period = 280, .computes = 7400, .budget = 7700},
             {.name = "middle", .period = 400, .computes = 10400, .budget = 10830},
             {.name = "slow", .period = 700, .computes = 10800, .budget = 11430}};
enum { TASKS = sizeof tasks / sizeof tasks[0], LIARS = 1, LIES_EACH = 10, LIE = 290 * TICK };

/* All periods begin at once every 2800 ticks. */
enum { END = 2800 * ROUNDS };

static struct task *created; /* whose task is made just now */
static int ended;

static void fail(const char *why, int number) {
    printf("%s: %d\n", why, number);
    exit(1);
}

#ifdef POLICY
static const catapults_time tick_in_nanoseconds = 1000000000 / configTICK_RATE_HZ;

void task_created(void *task) {
    CATAPULTS_THREADIMPORT_period(catapults_thread(task)) = created->period * tick_in_nanoseconds;
    CATAPULTS_THREADIMPORT_budget(catapults_thread(task)) = created->budget * tick_in_nanoseconds / TICK;
}

void policy_failed(unsigned line) { fail("the policy is out, of line", (int)line); }
#endif

/* Nanoseconds from the first tick. SysTick counts down to the next one. */
static int64_t now(void) {
    const volatile uint32_t *reload = (const volatile uint32_t *)0xe000e014,
                            *left = (const volatile uint32_t *)0xe000e018;
    for (;;) {
        TickType_t tick = xTaskGetTickCount();
        uint32_t to_next = *left;
        if (tick == xTaskGetTickCount())
            return ((int64_t)tick * (*reload + 1) + *reload - to_next) * (1000000000 / configCPU_CLOCK_HZ);
    }
}

/* Two instructions in each round, and a hundredth of a tick has 39. */
static void compute(uint32_t hundredths) {
    uint32_t count = hundredths * (1000000000 / configTICK_RATE_HZ / TICK) / 512;
    __asm volatile("1: subs %0, #1\n bne 1b" : "+l"(count) : : "cc");
}

static void report(void) {
    for (int i = 0; i < TASKS; i++)
        printf("%s %d %d %ld\n", tasks[i].name, tasks[i].jobs, tasks[i].missed, (long)(tasks[i].worst / 1000));
    exit(0);
}

/* All jobs whose deadlines come until the end are counted. Who is so late that they have all passed begins no more. */
static void run(void *argument) {
    struct task *task = argument;
    const int64_t tick = 1000000000 / configTICK_RATE_HZ;
    int64_t instant = 0;
    task->worst = INT64_MIN;
    for (TickType_t release = 0; task->done < task->jobs && instant < END * tick; task->done++) {
        uint32_t computes = task->computes;
#ifdef LIAR
        if (task == &tasks[LIARS] && task->done % LIES_EACH == LIES_EACH / 2)
            computes = LIE;
#endif
        compute(computes);
        instant = now();
        int64_t late = instant - (int64_t)(release + task->period) * tick;
        task->missed += late > 0;
        if (late > task->worst)
            task->worst = late;
        xTaskDelayUntil(&release, task->period);
    }
    task->missed += task->jobs - task->done;
    if (++ended == TASKS)
        report();
    vTaskDelete(NULL);
}

int main(void) {
    for (int i = 0; i < TASKS; i++) {
        UBaseType_t priority = 1;
#ifndef POLICY
        priority += (UBaseType_t)(TASKS - 1 - i); /* they are in order of their periods */
#endif
        created = &tasks[i];
        created->jobs = (int)(END / created->period);
        if (xTaskCreate(run, created->name, 1024, created, priority, NULL) != pdPASS)
            fail("no task", i);
    }
    vTaskStartScheduler();
    return 1;
}
