/* Chooses the driver. */
#include <errno.h>
#include <signal.h>

#include "contexts/libc.h"
#include "contexts/system.h"
#include "contexts/text.h"
#include "io/io.h"
#include "process/report.h"

const struct io_driver *io_driver;
static bool ignored_sigpipe;

static int start(const struct io_driver *driver, bool several);
static void ignore_sigpipe(void);

int catapults_io_start(const char *choice, const char *without_ring, bool several) {
    const char *origin = "the option `io`";
    if (choice == NULL) {
        choice = libc_environment("CATAPULTS_IO");
        origin = "CATAPULTS_IO";
    }
    int error;
    if (choice == NULL || *choice == '\0') {
        /* A kernel without io_uring, a container or a setting that refuses it: all are the same to us. */
        error = without_ring ? ENOTSUP : start(&io_uring_driver, several);
        if (error != 0)
            error = start(&io_epoll_driver, several);
        if (error != 0)
            runtime_report("cannot wait for descriptors: %s", text_of_error(error));
    } else if (text_equal(choice, io_uring_driver.name) && without_ring) {
        /* A ring belongs to the kernel thread that made it: that one may be blocked, or another one may run. */
        runtime_report("%s asks for io_uring, which does not go with %s; \"epoll\" does", origin, without_ring);
        error = EINVAL;
    } else if (text_equal(choice, io_uring_driver.name)) {
        error = start(&io_uring_driver, several);
        if (error != 0)
            runtime_report("%s asks for io_uring, which cannot be used here: %s; \"epoll\" works on every kernel",
                           origin, text_of_error(error));
    } else if (text_equal(choice, io_epoll_driver.name)) {
        error = start(&io_epoll_driver, several);
        if (error != 0)
            runtime_report("%s asks for epoll, which cannot be used here: %s", origin, text_of_error(error));
    } else {
        runtime_report("%s is \"%s\": it must be \"io_uring\" or \"epoll\"", origin, choice);
        error = EINVAL;
    }
    if (error == 0)
        ignore_sigpipe();
    return error;
}

void catapults_io_stop(void) {
    if (io_driver == NULL)
        return;
    io_driver->stop();
    io_driver = NULL;
    struct sigaction action;
    if (ignored_sigpipe && system_sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
        system_signal(SIGPIPE, SIG_DFL); /* cannot fail, here or below: the signal exists */
    ignored_sigpipe = false;
}

int io_restart(void) {
    io_driver->stop(); /* the parent's driver is untouched */
    io_forget_waits();
    int error = start(io_driver, false);
    if (error != 0 && io_driver != &io_epoll_driver)
        error = start(&io_epoll_driver, false);
    return error;
}

static int start(const struct io_driver *driver, bool several) {
    int error = driver->start(several);
    if (error == 0) {
        io_driver = driver;
        dispatcher_set_driver(&driver->dispatcher);
    }
    return error;
}

/* Sends say MSG_NOSIGNAL, but write and sendfile cannot, and one thread's peer must not end the whole program. A
 * disposition chosen by the application stays. */
static void ignore_sigpipe(void) {
    struct sigaction action;
    if (system_sigaction(SIGPIPE, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
        action.sa_handler == SIG_DFL) {
        system_signal(SIGPIPE, SIG_IGN); /* see above */
        ignored_sigpipe = true;
    }
}
