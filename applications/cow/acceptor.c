#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "respond.h"
#include "server.h"

#define MILLISECOND 1000000
#define PATIENCE (1000LL * MILLISECOND) /* how long new clients wait for room before they are turned away */
#define FAREWELL (20LL * MILLISECOND)   /* how long one that is turned away has for sending its request */
#define MOST_AT_ONCE 128                /* are turned away before there is another look for room */

static void *accept_connections(void *argument);
static bool accept_one(struct acceptor *acceptor, struct client *client);
static void turn_away_waiting(struct acceptor *acceptor);
static void turn_away(int socket);
static bool descriptors_are_out(int error);

int acceptor_start(struct acceptor *acceptor, struct server *server) {
    *acceptor = (struct acceptor){.imported.accepting = true, .server = server};
    acceptor->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (acceptor->reserve < 0)
        return errno;
    struct catapults_attributes attributes = {.name = "acceptor", .object = &acceptor->imported};
    return catapults_create(&acceptor->thread, &attributes, accept_connections, acceptor);
}

void acceptor_stop(struct acceptor *acceptor) {
    catapults_join(acceptor->thread, NULL);
    if (acceptor->reserve >= 0)
        close(acceptor->reserve);
}

/* Accepts only while there is room: clients wait in the listener's queue meanwhile. Those that wait too long are told.
 */
static void *accept_connections(void *argument) {
    struct acceptor *acceptor = argument;
    struct pool *pool = &acceptor->server->pool;
    while (!pool->stopping) {
        if (!pool_wait_for_room(pool, catapults_now() + PATIENCE)) {
            if (!pool->stopping)
                turn_away_waiting(acceptor);
            continue;
        }
        struct client client;
        if (accept_one(acceptor, &client)) {
            pool_offer(pool, &client);
            catapults_yield(); /* who goes next is the policy's business */
        }
    }
    return NULL;
}

static bool accept_one(struct acceptor *acceptor, struct client *client) {
    struct server *server = acceptor->server;
    socklen_t length = sizeof client->address;
    client->socket = catapults_accept(server->listener, &client->address.any, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client->socket >= 0)
        return true;
    int failure = errno;
    if (server->pool.stopping)
        return false;
    if (descriptors_are_out(failure)) {
        /* Others have them, for there is room in the pool. Whoever waits is told, after those that can be spared. */
        if (!files_forget(&server->files)) {
            catapults_sleep(PATIENCE / 10);
            turn_away_waiting(acceptor);
        }
    } else if (failure == EBADF || failure == EINVAL || failure == ENOTSOCK) {
        fprintf(stderr, "cow: cannot accept connections any more: %s\n", strerror(failure));
        catapults_sleep(PATIENCE);
    }
    /* Else the connection was gone before it was accepted. */
    return false;
}

/* The listener does not block. */
static void turn_away_waiting(struct acceptor *acceptor) {
    int listener = acceptor->server->listener;
    for (int i = 0; i < MOST_AT_ONCE; i++) {
        int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        bool reserve_used = false;
        if (socket < 0 && descriptors_are_out(errno) && acceptor->reserve >= 0) {
            close(acceptor->reserve);
            acceptor->reserve = -1;
            reserve_used = true;
            socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        }
        bool accepted = socket >= 0;
        if (accepted)
            turn_away(socket);
        if (reserve_used || acceptor->reserve < 0)
            acceptor->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (!accepted)
            return;
    }
}

/* Had it not been read, its request would make the kernel destroy the answer with a reset. */
static void turn_away(int socket) {
    char request[4096];
    int64_t end = catapults_now() + FAREWELL;
    if (catapults_poll_until(socket, POLLIN, end) > 0)
        while (recv(socket, request, sizeof request, MSG_DONTWAIT) > 0) {
        }
    send(socket, respond_no_room, strlen(respond_no_room), MSG_DONTWAIT | MSG_NOSIGNAL);
    catapults_close(socket);
}

static bool descriptors_are_out(int error) {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}
