/*
 * Connections and who serves them: the acceptor offers them, handlers take them.
 *
 * While connections wait and no handler is free, handlers end their connections instead of keeping them (pool_crowded),
 * and those that rest between two requests are closed after a short time: so few handlers serve many clients in turn.
 */
#ifndef COW_POOL_H
#define COW_POOL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "catapults.h"

/* A connection, and who is at its other end. */
struct client {
    int socket;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
};

/* A handler's connection while no request is under way on it. */
struct rest {
    struct rest *next, *previous;
    int socket;
    int64_t until; /* when it is closed if others wait */
    bool listed;
};

struct pool {
    catapults_int connections;      /* open now: waiting, served, and being closed. Imported by the policy */
    catapults_int connections_most; /* imported by the policy */

    struct client *waiting; /* a ring with room for connections_most */
    size_t first, count;
    unsigned free_handlers; /* wait for a connection */
    struct rest *resting;
    bool stopping;

    catapults_mutex_t mutex;
    catapults_cond_t offered, room, crowd;
    catapults_t closer; /* closes those that rest while others wait */
};

/* Returns 0 or an error number. */
int pool_start(struct pool *pool, size_t connections_most);
/* No more connections are offered; handlers take those that wait; those that rest are closed. */
void pool_stop(struct pool *pool);
/* After pool_stop, when no handler is left. */
void pool_free(struct pool *pool);

/* ---- The acceptor's --------------------------------------------------------------------------------------------- */

/* Counts a new connection and puts it behind those that wait. There must be room. */
void pool_offer(struct pool *pool, const struct client *client);

/* Waits for room for another connection, until the instant at most, or until the pool is stopped. */
bool pool_wait_for_room(struct pool *pool, int64_t instant);

/* ---- The handlers' ---------------------------------------------------------------------------------------------- */

/* Waits for a connection. False: none will come any more. */
bool pool_take(struct pool *pool, struct client *client);

/* Closes a connection that was taken. */
void pool_close(struct pool *pool, int socket);

/* Whether connections wait that no handler is free for. */
bool pool_crowded(const struct pool *pool);

/* Before and after waiting for a request. `patience`: ns after which the connection is closed if others wait; pool_work
 * is false if it was. */
void pool_rest(struct pool *pool, struct rest *rest, int socket, int64_t patience);
bool pool_work(struct pool *pool, struct rest *rest);

#endif
