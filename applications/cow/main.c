/*
 * CoW, the cooperative web server of CATAPULTS 2005, 7.1.
 *
 *     main ── starts the others, then waits for signals
 *     acceptor ── pool ── handlers: request → respond → response
 *                  │
 *                closer          access log
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "server.h"

/* Gives the responses under way their time. */
struct grace {
    struct server *server;
    int signals;
};

static int block_signals(void);
static void wait_for_end(struct server *server, int signals);
static void *cut_after_grace(void *argument);

int main(int count, char **arguments) {
    struct options options = options_read(count, arguments);
    static struct server server;
    int signals = block_signals();
    if (signals < 0) {
        fprintf(stderr, "cow: cannot receive signals: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    if (!server_open(&server, &options))
        return EXIT_FAILURE;
    if (catapults_init(&(struct catapults_options){.cooperative = true}) != 0) /* which has said why */
        return EXIT_FAILURE;
    if (!server_start(&server))
        return EXIT_FAILURE;
    printf("cow: serving %s at %s under the policy %s\n", options.root, server.url, catapults_policy_name());
    fflush(stdout);

    wait_for_end(&server, signals);
    server_finish(&server);
    struct grace grace = {.server = &server, .signals = signals};
    struct catapults_attributes attributes = {.name = "grace", .detached = true};
    catapults_t thread;
    if (catapults_create(&thread, &attributes, cut_after_grace, &grace) != 0)
        server_cut(&server);
    server_stop(&server);
    return EXIT_SUCCESS;
}

/* They are read from a descriptor. Returns it, or -1 with errno. */
static int block_signals(void) {
    signal(SIGPIPE, SIG_IGN); /* whoever writes to a client that is gone sees EPIPE */
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void wait_for_end(struct server *server, int signals) {
    for (;;) {
        struct signalfd_siginfo signal;
        catapults_poll_until(signals, POLLIN, CATAPULTS_FOREVER);
        if (read(signals, &signal, sizeof signal) != sizeof signal)
            continue;
        if (signal.ssi_signo != SIGHUP)
            return;
        log_reopen(&server->log);
    }
}

/* A second signal cuts it short. */
static void *cut_after_grace(void *argument) {
    struct grace *grace = argument;
    catapults_poll_until(grace->signals, POLLIN, catapults_now() + grace->server->options->grace);
    server_cut(grace->server);
    return NULL;
}
