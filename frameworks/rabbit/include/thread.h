/*
 * Cooperative threads for Rabbit processors, in the role of the 2005 paper's cmthread.lib. The scheduler is a part of
 * the library, which tools/library makes with it; only functions that are used are linked.
 *
 * Nothing is allocated: each thread lives in memory of the application's, which holds its record and its stack:
 *
 *   memory │ struct thread │ … free … ◄── stack │ memory + size
 */
#ifndef CATAPULTS_THREAD_H
#define CATAPULTS_THREAD_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* Before all else. */
void thread_init(void);

/* After thread_init: what the policy draws (`random`) from here on. Without this it is always the same. */
void thread_seed(uint32_t seed);

/* A new thread, ready to run `function(argument)`; NULL: the policy refuses it. `size` of memory, at least 96 bytes. */
struct thread *thread_create(void *memory, uint16_t size, void (*function)(void *), void *argument);

/* Runs threads until none is left that could run. */
void thread_run(void);

/* The one that runs. */
struct thread *thread_self(void);

/* Lets others run. */
void thread_yield(void);

/* Lets this one run, if it is ready. Whether it was; if not, nothing happens. */
bool thread_yield_to(struct thread *thread);

/* Ends the thread that runs; also done when its function returns. Its memory is then the application's again. */
void thread_exit(void);

/* The thread that runs waits until another signals it. */
void thread_wait(void);

/* Ends a thread's wait; nothing happens to one that does not wait. */
void thread_signal(struct thread *thread);

/* A suspended thread does not run until it is resumed. One that waits is suspended when its wait ends. */
void thread_suspend(struct thread *thread);
void thread_resume(struct thread *thread);

/*
 * Called when a guard of the policy fails, with the line in its source. Never returns. The library's own stops the
 * processor; an application can have one of that name.
 */
void thread_policy_failed(uint16_t line);

#endif
