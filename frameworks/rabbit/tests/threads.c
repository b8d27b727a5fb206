/*
 * Everything that the library does, once. What runs prints a letter; threads.expected has them in the order of first
 * come, first served.
 */
#include "simulated.h"
#include "thread.h"

enum { MEMORY = 128 };
static uint8_t memory[4][MEMORY];
static struct thread *a, *b, *c;

static void first(void *argument) {
    uint8_t local = *(uint8_t *)argument;
    print('a');
    thread_yield();
    print(local); /* its stack is its own */
    print('W');
    thread_wait(); /* until b says so */
    print('a');
    thread_exit();
    print('!');
}

static void second(void *argument) {
    (void)argument;
    print('b');
    thread_yield();
    print('b');
    thread_yield(); /* c suspends itself here */
    print('S');
    thread_signal(a);
    thread_signal(a); /* nothing: it waits no more */
    thread_suspend(a);
    thread_suspend(a); /* nothing, either */
    thread_yield();    /* only b could run */
    print('R');
    thread_resume(a);
    thread_resume(a);
    thread_resume(c);
    print(thread_yield_to(c) ? 'y' : 'n'); /* c is next, although a came first */
    print(thread_yield_to(c) ? 'y' : 'n'); /* it has ended */
    print(thread_self() == b ? 'b' : '!');
}

static void third(void *argument) {
    (void)argument;
    print('c');
    thread_yield();
    print('Z');
    thread_suspend(thread_self());
    print('c');
}

/* Suspended while it waits: not to run when it is signalled, but when it is resumed too. */
static void waiter(void *argument) {
    (void)argument;
    print('w');
    thread_wait();
    print('w');
}

static void signaller(void *argument) {
    (void)argument;
    thread_suspend(a);
    thread_signal(a);
    thread_yield();
    print('s');
    thread_resume(a);
}

void main(void) {
    static uint8_t letter = '1';
    thread_init();
    a = thread_create(memory[0], MEMORY, first, &letter);
    b = thread_create(memory[1], MEMORY, second, &letter);
    c = thread_create(memory[2], MEMORY, third, &letter);
    thread_run();
    print(' ');
    /* The memory of threads that ended is used again. */
    a = thread_create(memory[0], MEMORY, waiter, &letter);
    b = thread_create(memory[1], MEMORY, signaller, &letter);
    thread_run();
    print('.');
    print('\n');
    stop();
}
