/*
 * Stands in for io where there is none: a driver that waits for nothing but time.
 */
#include <time.h>

#include "io/io.h"

enum { SECOND = 1000000000 };

static void poll_clock(int64_t instant) {
    if (instant <= 0)
        return;
    struct timespec until = {.tv_sec = instant / SECOND, .tv_nsec = instant % SECOND};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static bool busy(void) { return false; }

int catapults_io_start(const char *choice, const char *without_ring, bool several) {
    static const struct dispatcher_driver driver = {.poll = poll_clock, .busy = busy};
    (void)choice, (void)without_ring, (void)several;
    dispatcher_set_driver(&driver);
    return 0;
}

__attribute__((noipa)) int *io_error_number(void) { return __errno_location(); }

int io_restart(void) { return 0; }

void io_forget_selection(struct catapults_handle *thread) { (void)thread; }

void catapults_io_stop(void) {}
