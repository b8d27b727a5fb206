/*
 * A guard fails while the application starts its second thread: the application is told in which line of the policy, on
 * whichever stack it was, and threads run no more.
 */
#include "simulated.h"
#include "thread.h"

static uint8_t memory[2][96];

void thread_policy_failed(uint16_t line) {
    print('g');
    for (uint16_t power = 10000; power; power /= 10)
        print('0' + line / power % 10);
    print('\n');
    stop();
    for (;;)
        ;
}

static void run(void *argument) {
    print(*(char *)argument);
    thread_create(memory[1], sizeof(memory[1]), run, argument);
    print('1');
#ifdef FAILS_LATE
    thread_yield();
#else
    thread_create(memory[0], sizeof(memory[0]), run, argument);
#endif
    print('!');
}

void main(void) {
    static char name = 'a';
    thread_init();
    thread_create(memory[0], sizeof(memory[0]), run, &name);
    thread_run();
    print('!');
    stop();
}
