#include "library.h"

const struct catapults_stop *thread_refusal;

/* Where a thread starts. */
static void begin(void) {
    struct thread *thread = (struct thread *)thread_running;
    thread->function(thread->argument);
    thread_exit();
}

struct thread *thread_create(void *memory, uint16_t size, void (*function)(void *), void *argument) {
    struct thread *thread = memory;
    void **top = (void **)((uint8_t *)memory + size);
    top[-1] = (void *)begin;
    thread->function = function;
    thread->argument = argument;
    thread->flags = 0;
    CATAPULTS_ADOPT(&thread->policy);
    POLICY(thread)->context = top - 2;
#ifdef CATAPULTS_NEVER_STOPS_newthread
    CATAPULTS_HANDLER_newthread(POLICY(thread));
#else
    const struct catapults_stop *stop = CATAPULTS_HANDLER_newthread(POLICY(thread));
    if (stop) {
        if (stop->why == CATAPULTS_STOP_GUARD)
            thread_policy_failed(stop->line);
        thread_refusal = stop;
        return NULL;
    }
#endif
    thread_runnable++;
#ifdef CATAPULTS_PREEMPTS_newthread
    thread_give_way();
#endif
    return thread;
}
