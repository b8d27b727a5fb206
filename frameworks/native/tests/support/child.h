/*
 * Tests whose subject ends the process, or which need a runtime of their own: each in a child.
 */
#ifndef CATAPULTS_CHILD_H
#define CATAPULTS_CHILD_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { CHILD_REQUIRE_FAILED = 99 };

/* Seconds after which a child is taken to hang, for `alarm`. The machine may have other things to do, or be emulated.
 */
enum { HANGS = 600 };

/* What a child must find; cmocka's assertions are for the parent. */
#define require(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            _exit(CHILD_REQUIRE_FAILED);                                                                               \
        }                                                                                                              \
    } while (0)

struct child {
    int status;        /* as of waitpid */
    char report[8192]; /* what it wrote to standard error */
};

/* Runs `body` in a child, which exits with 0 if it returns. */
static inline struct child run_child(void (*body)(void)) {
    struct child child = {0};
    int ends[2];
    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL); /* cmocka has handlers of its own */
        signal(SIGILL, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        signal(SIGFPE, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        body();
        _exit(EXIT_SUCCESS);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t more;
    while ((more = read(ends[0], child.report + length, sizeof child.report - 1 - length)) > 0)
        length += (size_t)more;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &child.status, 0), pid);
    return child;
}

/* A child that must succeed. */
static inline void check_child(void (*body)(void)) {
    struct child child = run_child(body);
    if (child.status != 0)
        fail_msg("child: status %x, report: %s", child.status, child.report);
}

/* A test that is such a child: child_test(body). */
#define child_test(body) {#body, check_body, NULL, NULL, (void *)(body)}

static inline void check_body(void **state) { check_child((void (*)(void))*state); }

static inline void assert_reported(const struct child *child, const char *text) {
    if (!strstr(child->report, text))
        fail_msg("no \"%s\" in: %s", text, child->report);
}

static inline void assert_exit(const struct child *child, int status) {
    if (!WIFEXITED(child->status) || WEXITSTATUS(child->status) != status)
        fail_msg("child: status %x, not an exit with %d; report: %s", child->status, status, child->report);
}

#endif
