/*
 * Cooperative threads for Rabbit processors, in the role of the 2005 paper's cmthread.lib. tools/library makes the
 * library with the scheduler as a part of it. Only functions that are used are linked.
 *
 * Nothing is allocated: each thread lives in memory of the application, which holds its record and its stack:
 *
 *   memory │ struct thread │ … free … ◄── stack │ memory + size
 */
#ifndef CATAPULTS_THREAD_H
#define CATAPULTS_THREAD_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* Must be called before all else. */
void thread_init(void);

/* After thread_init: seeds what the policy draws (`random`) from here on. Without it the draws are always the same. */
void thread_seed(uint32_t seed);

/* Creates a thread that is ready to run `function(argument)`. `memory` has `size` bytes, at least 96. NULL: the policy
 * refuses it, and `thread_refusal` says why. */
struct thread *thread_create(void *memory, uint16_t size, void (*function)(void *), void *argument);

/*
 * Why the policy refused the last thread; NULL: it has refused none. `line` is of its `fail`. If the reason has values,
 * this is the first member of a struct catapults_told (catapults/told.h), which has them.
 */
extern const struct catapults_stop *thread_refusal;

/* Runs threads until none is left that could run. */
void thread_run(void);

/* The running thread. */
struct thread *thread_self(void);

/* Lets others run. */
void thread_yield(void);

/* Lets this thread run, if it is ready. Returns whether it was; if not, nothing happens. */
bool thread_yield_to(struct thread *thread);

/* Ends the running thread, as its function does when it returns. Its memory is then the application's again. */
void thread_exit(void);

/* The running thread waits until another one signals it. */
void thread_wait(void);

/* Ends a thread's wait; nothing happens to one that does not wait. */
void thread_signal(struct thread *thread);

/* A suspended thread does not run until it is resumed. One that waits is suspended when its wait ends. */
void thread_suspend(struct thread *thread);
void thread_resume(struct thread *thread);

/*
 * Called when a guard of the policy fails, with the line in its source. Must not return. The library's own stops the
 * processor; an application can define its own.
 */
void thread_policy_failed(uint16_t line);

#endif
