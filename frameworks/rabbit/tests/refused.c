/*
 * The policy refuses the second thread, and the application finds the line and the values of the reason.
 */
#include "catapults/told.h"

#include "simulated.h"
#include "thread.h"

static uint8_t memory[2][96];

void thread_policy_failed(uint16_t line) {
    (void)line;
    print('!');
    stop();
    for (;;)
        ;
}

static void number(int16_t value) {
    print(' ');
    for (int16_t power = 10000; power; power /= 10)
        print('0' + value / power % 10);
}

static void run(void *argument) { print(*(char *)argument); }

void main(void) {
    static char name = 'a';
    thread_init();
    if (thread_refusal)
        print('!');
    thread_create(memory[0], sizeof(memory[0]), run, &name);
    if (thread_create(memory[1], sizeof(memory[1]), run, &name))
        print('!');
    const struct catapults_told *told = (const struct catapults_told *)thread_refusal;
    number(told->stop.line);
    for (uint8_t i = 0; i < told->count; i++)
        number(told->values[i]);
    print(' ');
    thread_run();
    print('\n');
    stop();
}
