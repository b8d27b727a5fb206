/*
 * Stands in for io where there is none: a driver that waits for nothing but time.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "contexts/libc.h"
#include "io/io.h"

enum { SECOND = 1000000000 };

static int kicks = -1; /* an eventfd; there are several processors */

static void wait_until(int64_t instant) {
    int64_t left = instant - catapults_now();
    struct timespec time = {.tv_sec = left / SECOND, .tv_nsec = left % SECOND};
    struct pollfd kicked = {.fd = kicks, .events = POLLIN};
    uint64_t times;
    if (left > 0 && ppoll(&kicked, 1, instant == DISPATCHER_FOREVER ? NULL : &time, NULL) == 1)
        while (read(kicks, &times, sizeof times) == sizeof times)
            ;
}

static void poll_clock(int64_t instant) {
    if (instant <= 0)
        return;
    int error = *libc_error_number(); /* of the thread that waits, in whose name this is */
    if (dispatcher_guard.several)
        dispatcher_leave();
    wait_until(instant);
    if (dispatcher_guard.several)
        dispatcher_enter();
    *libc_error_number() = error;
}

static void kick(void) {
    uint64_t once = 1;
    if (write(kicks, &once, sizeof once) < 0)
        return;
}

static bool busy(void) { return false; }

int catapults_io_start(const char *choice, const char *without_ring, bool several) {
    static const struct dispatcher_driver driver = {.poll = poll_clock, .busy = busy, .kick = kick};
    kicks = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)choice, (void)without_ring, (void)several;
    dispatcher_set_driver(&driver);
    return 0;
}

int io_restart(void) {
    close(kicks);
    kicks = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return 0;
}

void io_forget_selection(const struct selection *selection) { (void)selection; }

void catapults_io_stop(void) {}
