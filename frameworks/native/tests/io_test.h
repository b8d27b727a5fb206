/* What the tests of I/O share: each group runs with each driver, on this kernel and on one that is made to seem older.
 */
#ifndef IO_TEST_H
#define IO_TEST_H

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <netinet/in.h>

#include <cmocka.h>

#include "catapults.h"
#include "support/refuse.h"

#define MILLISECONDS INT64_C(1000000)

/* For threads other than the first, from which cmocka's assertions cannot return. */
#define require(condition)                                                                                             \
    ((condition)                                                                                                       \
         ? (void)0                                                                                                     \
         : (fprintf(stderr, "%s:%d: %s: errno %s\n", __FILE__, __LINE__, #condition, strerror(errno)), abort()))

#define run_with_both_drivers(tests) run_group_with_both_drivers(#tests, tests, sizeof(tests) / sizeof *(tests))

/* Transfers without waiting are not to be had for each kind of file, and instants of epoll are in milliseconds. */
static inline void seem_older(void) {
    refuse(SYS_preadv2, EOPNOTSUPP);
    refuse(SYS_pwritev2, EOPNOTSUPP);
    refuse(SYS_epoll_pwait2, ENOSYS);
}

/* Each run is a process of its own. */
static inline int run_group_with_both_drivers(const char *name, const struct CMUnitTest *tests, size_t count) {
    static const char *const drivers[] = {"io_uring", "epoll"};
    int failed = 0;
    for (size_t i = 0; i < 4; i++) {
        char title[64];
        bool older = i >= 2;
        snprintf(title, sizeof title, "%s with %s%s", name, drivers[i % 2], older ? ", older kernel" : "");
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            if (older)
                seem_older();
            struct catapults_options options = {.io = drivers[i % 2]};
            if (catapults_init(&options) != 0)
                exit(1);
            exit(_cmocka_run_group_tests(title, tests, count, NULL, NULL) != 0);
        }
        int status;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "%s: failed\n", title);
            failed = 1;
        }
    }
    return failed;
}

static inline catapults_t spawn(void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, NULL, start, argument) == 0);
    return thread;
}

static inline int64_t after(int64_t nanoseconds) { return catapults_now() + nanoseconds; }

/* Until data have arrived, of which the runtime is told nothing: holds the processor. */
static inline void await_arrival(int descriptor) {
    struct pollfd one = {.fd = descriptor, .events = POLLIN};
    require(poll(&one, 1, 10000) == 1);
}

/* A listening TCP socket on a free port of 127.0.0.1. */
static inline int listen_tcp(struct sockaddr_in *address) {
    socklen_t length = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(listener >= 0 && bind(listener, (struct sockaddr *)address, length) == 0 && listen(listener, 1024) == 0 &&
            getsockname(listener, (struct sockaddr *)address, &length) == 0);
    return listener;
}

/* Both ends of a TCP connection; blocking descriptors. */
static inline void connect_tcp(int ends[2]) {
    struct sockaddr_in address;
    int listener = listen_tcp(&address);
    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(catapults_connect_until(ends[0], (struct sockaddr *)&address, sizeof address, after(5000 * MILLISECONDS)) ==
            0);
    ends[1] = catapults_accept(listener, NULL, NULL, SOCK_CLOEXEC);
    require(ends[1] >= 0 && catapults_close(listener) == 0);
}

#endif
