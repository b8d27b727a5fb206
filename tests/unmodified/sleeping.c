/* Fifty threads sleep at the same time: long enough, and not one after the other. */
#include <time.h>

#include "check.h"

enum { MILLISECONDS = 200 };

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void *sleep_once(void *number) {
    long begin = now();
    struct timespec time = {.tv_nsec = MILLISECONDS * 1000000};
    if ((long)number % 2 == 0) {
        CHECK(nanosleep(&time, NULL) == 0);
    } else {
        clock_gettime(CLOCK_MONOTONIC, &time);
        time.tv_nsec += MILLISECONDS * 1000000;
        if (time.tv_nsec >= 1000000000) {
            time.tv_sec++;
            time.tv_nsec -= 1000000000;
        }
        CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == 0);
    }
    CHECK(now() - begin >= MILLISECONDS - 1);
    return NULL;
}

int main(void) {
    long begin = now();
    in_threads(50, sleep_once);
    CHECK(now() - begin < 50 * MILLISECONDS / 2);
}
