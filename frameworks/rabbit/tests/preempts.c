/*
 * Under fixed priorities, whoever becomes ready and is more urgent runs at once: while thread_signal, thread_resume and
 * thread_create of the other thread go on. preempts.sh has the letters in their order.
 */
#include CATAPULTS_COMPILED_IN
#include "simulated.h"
#include "thread.h"

static uint8_t memory[3][160];
static struct thread *urgent;

static void first(void *argument) {
    (void)argument;
    print('h');
    thread_wait();
    print('H');
    thread_suspend(thread_self());
    print('R');
    thread_wait();
    print('r');
}

static void third(void *argument) {
    (void)argument;
    print('n');
}

static void second(void *argument) {
    (void)argument;
    print('l');
    print('(');
    thread_signal(urgent);
    print(')');
    print('[');
    thread_resume(urgent);
    print(']');
    thread_suspend(urgent);
    thread_signal(urgent); /* it takes the processor, and cannot run */
    print('=');
    print('{');
    thread_resume(urgent);
    print('}');
    thread_yield(); /* its priority is below all others from now on */
    print('<');
    thread_create(memory[2], sizeof memory[2], third, NULL);
    print('>');
}

static void set_priority(struct thread *thread, catapults_int priority) {
    CATAPULTS_THREADIMPORT_priority((struct catapults_thread *)thread) = priority;
}

void main(void) {
    thread_init();
    urgent = thread_create(memory[0], sizeof memory[0], first, NULL);
    struct thread *other = thread_create(memory[1], sizeof memory[1], second, NULL);
    set_priority(urgent, 9);
    set_priority(other, -1);
    thread_run();
    print('.');
    print('\n');
    stop();
}
