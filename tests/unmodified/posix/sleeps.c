/* Sleeps. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clause.h"

static atomic_int begun, handled;

static void handle(int signal) { handled += signal == SIGUSR1; }

static void *sleep_long(void *absolute) {
    struct timespec left = {0}, at = from_now(CLOCK_MONOTONIC, 1000, 0);
    begun = 1;
    int error = absolute ? clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL)
                         : clock_nanosleep(CLOCK_REALTIME, 0, &(struct timespec){.tv_sec = 1000}, &left);
    begun = 2;
    CHECK(error == EINTR && (absolute || (left.tv_sec > 900 && left.tv_sec < 1000)));
    return NULL;
}

static void sleeps(void) {
    const struct timespec past = {.tv_sec = 1}, wrong = {.tv_nsec = 1000000000};
    clause("clock_nanosleep",
           "returns at once for an instant that has passed; EINVAL for no time, or the caller's own clock");
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL) == 0);
    CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL) == 0);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL) == EINVAL);
    CHECK(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &past, NULL) == EINVAL);
    CHECK(nanosleep(&wrong, NULL) == -1 && errno == EINVAL);
    const struct timespec soon = from_now(CLOCK_REALTIME, 0, 10000000);
    CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &soon, NULL) == 0);
    CHECK(seconds_at(CLOCK_REALTIME) >= (double)soon.tv_sec + (double)soon.tv_nsec / 1e9);
    clause("clock_nanosleep", "EINTR after a handler, with what is left of the time");
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART; /* which does not matter here */
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int absolute = 0; absolute < 2; absolute++) {
        begun = 0;
        pthread_t one = thread(sleep_long, absolute ? &action : NULL);
        await(&begun, 1);
        while (begun == 1) {
            CHECK(pthread_kill(one, SIGUSR1) == 0);
            pause_shortly();
        }
        CHECK(result_of(one) == NULL);
    }
}

int main(void) { sleeps(); }
