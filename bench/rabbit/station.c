/*
 * The weather monitoring station (CATAPULTS 2005, §3 and §7.2): threads for fast and slow sensors, one for the display,
 * and two that calculate; sensors and display are small loops. It ends after CALCULATIONS of these.
 *
 * What the sensors have to say comes with the progress of the calculations: a fast sample with every 3rd, a slow one
 * with every 6th, something to show with every 12th. A thread that has nothing to do yields. So whoever schedules, the
 * same is read and shown; at the end the counts are printed, to be compared.
 */
#include CATAPULTS_COMPILED_IN
#include "thread.h"

#include <stddef.h>

#ifndef CALCULATIONS
#define CALCULATIONS 10000
#endif

enum { UNKNOWN, FAST, SLOW, DISPLAY, CALCULATOR };
enum { MEMORY = 160 };

static uint8_t memory[THREADS][MEMORY];
static uint8_t fast_samples, slow_samples, to_show;
static uint16_t calculations, fast_read, slow_read, shown;
static volatile uint8_t port;

/* The simulator's: what is written here controls it. */
static volatile __at(0x7fff) uint8_t console;

static void print(char character) {
    console = 'p';
    console = character;
}

static void print_number(uint16_t number) {
    uint16_t power = 10000;
    while (power) {
        print('0' + number / power % 10);
        power /= 10;
    }
    print(' ');
}

static void work(uint8_t loops) {
    while (loops--)
        port = loops;
}

static void fast_sensor(void *argument) {
    (void)argument;
    for (;;) {
        if (fast_samples) {
            fast_samples--;
            fast_read++;
            work(20);
        }
        thread_yield();
    }
}

static void slow_sensor(void *argument) {
    (void)argument;
    for (;;) {
        if (slow_samples) {
            slow_samples--;
            slow_read++;
            work(20);
        }
        thread_yield();
    }
}

static void display(void *argument) {
    (void)argument;
    for (;;) {
        if (to_show) {
            to_show--;
            shown++;
            work(30);
        }
        thread_yield();
    }
}

static void finish(void) {
    print_number(calculations);
    print_number(fast_read + fast_samples);
    print_number(slow_read + slow_samples);
    print_number(shown + to_show);
    print_number(fast_samples);
    print_number(slow_samples);
    print_number(to_show);
    print('\n');
    console = 's';
}

static void calculator(void *argument) {
    static uint8_t to_fast = 3, to_slow = 6, to_display = 12;
    (void)argument;
    for (;;) {
        work(50);
        if (--to_fast == 0) {
            to_fast = 3;
            fast_samples++;
        }
        if (--to_slow == 0) {
            to_slow = 6;
            slow_samples++;
        }
        if (--to_display == 0) {
            to_display = 12;
            to_show++;
        }
        if (++calculations == CALCULATIONS)
            finish();
        thread_yield();
    }
}

static void start(uint8_t number, void (*function)(void *), uint8_t class) {
    struct thread *thread = thread_create(memory[number], MEMORY, function, NULL);
#ifdef CATAPULTS_THREADIMPORT_threadclass
    CATAPULTS_THREADIMPORT_threadclass(thread) = class;
#else
    (void)thread, (void)class;
#endif
}

void main(void) {
    thread_init();
#ifdef CATAPULTS_IMPORT_temperature
    CATAPULTS_IMPORT_temperature = 120;
#endif
    start(0, display, DISPLAY);
    start(1, calculator, CALCULATOR);
    start(2, calculator, CALCULATOR);
    for (uint8_t i = 3; i < THREADS; i++)
        if (i & 1)
            start(i, fast_sensor, FAST);
        else
            start(i, slow_sensor, SLOW);
    thread_run();
}
