/* Semaphores: hand over and back, and a wait with an end. */
#include <errno.h>
#include <semaphore.h>
#include <time.h>

#include "check.h"

static sem_t there, back, never;

static void *hand_over(void *number) {
    for (int i = 0; i < 5000; i++) {
        CHECK(sem_wait(number ? &there : &back) == 0);
        CHECK(sem_post(number ? &back : &there) == 0);
    }
    return NULL;
}

static void *wait_in_vain(void *unused) {
    (void)unused;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec -= 1;
    CHECK(sem_timedwait(&never, &end) == -1 && errno == ETIMEDOUT);
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += 5000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    CHECK(sem_clockwait(&never, CLOCK_MONOTONIC, &end) == -1 && errno == ETIMEDOUT);
    return NULL;
}

int main(void) {
    CHECK(sem_init(&there, 0, 0) == 0 && sem_init(&back, 0, 1) == 0 && sem_init(&never, 0, 0) == 0);
    in_threads(2, hand_over);
    in_threads(3, wait_in_vain);
}
