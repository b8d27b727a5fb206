/*
 * A test is a life of Pth: begun with a policy, ended with a look at what the policy was told and what it decided.
 */
#ifndef PTH_TESTS_SESSION_H
#define PTH_TESTS_SESSION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "catapults_pth.h"

static char session_trace[] = "/tmp/catapults-pth-XXXXXX";

/* NULL: Pth's own scheduler. */
static inline void session_begin(const char *policy) {
    static int descriptor = -1;
    if (descriptor < 0)
        descriptor = mkstemp(session_trace);
    assert_true(descriptor >= 0);
    if (policy) {
        char path[4096];
        snprintf(path, sizeof path, POLICIES "/%s", policy);
        setenv("PTH_SCHED", path, 1);
    } else {
        unsetenv("PTH_SCHED");
    }
    setenv("PTH_SCHED_TRACE", session_trace, 1);
    assert_true(pth_init());
}

/* The steps are separated by "; " in `expected`. */
static inline void session_end(const char *expected) {
    assert_true(pth_kill());
    static char text[1 << 16];
    FILE *file = fopen(session_trace, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    char steps[2 << 16], *end = steps;
    for (size_t i = 0; i + 1 < length; i++) {
        *end++ = text[i] == '\n' ? ';' : text[i];
        if (text[i] == '\n')
            *end++ = ' ';
    }
    *end = '\0';
    assert_string_equal(steps, expected);
}

/* Runs in a child, whose status and standard error are the result. */
static inline int session_child(void (*run)(void), char *said, size_t size) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        run();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while ((got = read(ends[0], said + length, size - 1 - length)) > 0)
        length += (size_t)got;
    said[length] = '\0';
    /* AddressSanitizer has something to say of swapcontext. */
    char *end = strstr(said, "WARNING: ASan doesn't fully support") ? strchr(said, '\n') : NULL;
    if (end)
        memmove(said, end + 1, strlen(end));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
