/* Which driver is chosen, and what is said when the one asked for cannot be had. */
#include "io_test.h"

#include <fcntl.h>
#include <signal.h>

#include "io/io.h"

/* What a child process has to report. */
struct outcome {
    int error; /* of catapults_init */
    char driver[16];
    bool works; /* a thread waited for data and got them */
    bool sigpipe_ignored;
    char said[500]; /* on standard error */
};

static void *send_one(void *argument) {
    require(catapults_write((int)(intptr_t)argument, "x", 1) == 1);
    return NULL;
}

static bool echo_works(void) {
    int ends[2];
    char byte;
    connect_tcp(ends);
    spawn(send_one, (void *)(intptr_t)ends[1]);
    return catapults_recv_until(ends[0], &byte, 1, 0, after(5000 * MILLISECONDS)) == 1;
}

/* Starts the runtime in a process of its own. `refused`: what io_uring fails with there, or 0. */
static struct outcome start(const char *option, const char *variable, int refused, void (*sigpipe)(int)) {
    int report[2], messages[2], status;
    struct outcome outcome = {0};
    assert_int_equal(pipe(report), 0);
    assert_int_equal(pipe(messages), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(messages[1], STDERR_FILENO);
        close(messages[0]);
        close(messages[1]);
        if (variable != NULL)
            setenv("CATAPULTS_IO", variable, 1);
        else
            unsetenv("CATAPULTS_IO");
        signal(SIGPIPE, sigpipe);
        if (refused != 0)
            refuse(SYS_io_uring_setup, refused);
        struct catapults_options options = {.io = option};
        outcome.error = catapults_init(&options);
        if (outcome.error == 0) {
            strcpy(outcome.driver, io_driver->name);
            outcome.works = echo_works();
        }
        outcome.sigpipe_ignored = signal(SIGPIPE, SIG_DFL) == SIG_IGN;
        require(write(report[1], &outcome, sizeof outcome) == sizeof outcome);
        _exit(0);
    }
    close(report[1]);
    close(messages[1]);
    assert_int_equal(read(report[0], &outcome, sizeof outcome), sizeof outcome);
    ssize_t size = read(messages[0], outcome.said, sizeof outcome.said - 1);
    assert_true(size >= 0);
    outcome.said[size] = '\0';
    close(report[0]);
    close(messages[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return outcome;
}

static void assert_started(struct outcome outcome, const char *driver) {
    assert_string_equal(outcome.said, "");
    assert_int_equal(outcome.error, 0);
    assert_string_equal(outcome.driver, driver);
    assert_true(outcome.works);
}

static void assert_refused(struct outcome outcome, int error, const char *first, const char *second,
                           const char *third) {
    assert_int_equal(outcome.error, error);
    assert_non_null(strstr(outcome.said, "catapults: "));
    assert_non_null(strstr(outcome.said, first));
    assert_non_null(strstr(outcome.said, second));
    assert_non_null(strstr(outcome.said, third));
}

static void io_uring_is_the_default(void **state) {
    (void)state;
    assert_started(start(NULL, NULL, 0, SIG_DFL), "io_uring");
    assert_started(start(NULL, "", 0, SIG_DFL), "io_uring");
}

static void where_it_is_refused_it_is_epoll(void **state) {
    (void)state;
    assert_started(start(NULL, NULL, ENOSYS, SIG_DFL), "epoll");
    assert_started(start(NULL, NULL, EPERM, SIG_DFL), "epoll");
    assert_started(start(NULL, NULL, ENOMEM, SIG_DFL), "epoll");
    assert_started(start(NULL, NULL, EINVAL, SIG_DFL), "epoll");
}

static void the_option_comes_before_the_variable(void **state) {
    (void)state;
    assert_started(start(NULL, "epoll", 0, SIG_DFL), "epoll");
    assert_started(start("epoll", "io_uring", 0, SIG_DFL), "epoll");
    assert_started(start("io_uring", "epoll", 0, SIG_DFL), "io_uring");
}

static void what_is_asked_for_and_refused_is_an_error(void **state) {
    (void)state;
    assert_refused(start(NULL, "io_uring", EPERM, SIG_DFL), EPERM, "CATAPULTS_IO", "not permitted", "epoll");
    assert_refused(start("io_uring", NULL, ENOSYS, SIG_DFL), ENOSYS, "option", "not implemented", "epoll");
}

static void an_unknown_name_is_an_error(void **state) {
    (void)state;
    assert_refused(start(NULL, "kqueue", 0, SIG_DFL), EINVAL, "CATAPULTS_IO is \"kqueue\"", "\"io_uring\"",
                   "\"epoll\"");
    assert_refused(start("uring", NULL, 0, SIG_DFL), EINVAL, "option `io` is \"uring\"", "\"io_uring\"", "\"epoll\"");
}

static void on_signal(int number) { (void)number; }

static void the_applications_choice_for_sigpipe_stays(void **state) {
    (void)state;
    assert_true(start(NULL, NULL, 0, SIG_DFL).sigpipe_ignored);
    assert_true(start(NULL, NULL, 0, SIG_IGN).sigpipe_ignored);
    assert_false(start(NULL, NULL, 0, on_signal).sigpipe_ignored);
}

int main(void) {
    const struct CMUnitTest choice[] = {
        cmocka_unit_test(io_uring_is_the_default),
        cmocka_unit_test(where_it_is_refused_it_is_epoll),
        cmocka_unit_test(the_option_comes_before_the_variable),
        cmocka_unit_test(what_is_asked_for_and_refused_is_an_error),
        cmocka_unit_test(an_unknown_name_is_an_error),
        cmocka_unit_test(the_applications_choice_for_sigpipe_stays),
    };
    return cmocka_run_group_tests(choice, NULL, NULL);
}
