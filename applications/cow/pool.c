#include <errno.h>
#include <stdlib.h>

#include "pool.h"

static void *close_resting(void *argument);
static void unlist(struct pool *pool, struct rest *rest);

int pool_start(struct pool *pool, size_t connections_most) {
    *pool = (struct pool){
        .connections_most = (catapults_int)connections_most,
        .waiting = calloc(connections_most, sizeof(struct client)),
        .mutex = CATAPULTS_MUTEX_INITIALIZER,
        .offered = CATAPULTS_COND_INITIALIZER,
        .room = CATAPULTS_COND_INITIALIZER,
        .crowd = CATAPULTS_COND_INITIALIZER,
    };
    if (pool->waiting == NULL)
        return ENOMEM;
    struct catapults_attributes attributes = {.name = "closer"};
    return catapults_create(&pool->closer, &attributes, close_resting, pool);
}

void pool_stop(struct pool *pool) {
    catapults_mutex_lock(&pool->mutex);
    pool->stopping = true;
    catapults_cond_broadcast(&pool->offered);
    catapults_cond_broadcast(&pool->room);
    catapults_cond_broadcast(&pool->crowd);
    catapults_mutex_unlock(&pool->mutex);
    while (pool->resting != NULL) {
        shutdown(pool->resting->socket, SHUT_RD);
        unlist(pool, pool->resting);
    }
    catapults_join(pool->closer, NULL);
}

void pool_free(struct pool *pool) {
    free(pool->waiting);
    pool->waiting = NULL;
}

void pool_offer(struct pool *pool, const struct client *client) {
    catapults_mutex_lock(&pool->mutex);
    size_t room = (size_t)pool->connections_most;
    pool->waiting[(pool->first + pool->count) % room] = *client;
    pool->count++;
    pool->connections++;
    if (pool->free_handlers > 0)
        catapults_cond_signal(&pool->offered);
    if (pool_crowded(pool) && pool->resting != NULL)
        catapults_cond_signal(&pool->crowd);
    catapults_mutex_unlock(&pool->mutex);
}

bool pool_wait_for_room(struct pool *pool, int64_t instant) {
    catapults_mutex_lock(&pool->mutex);
    bool expired = false;
    while (pool->connections >= pool->connections_most && !pool->stopping && !expired)
        expired = catapults_cond_wait_until(&pool->room, &pool->mutex, instant) == ETIMEDOUT;
    bool room = pool->connections < pool->connections_most;
    catapults_mutex_unlock(&pool->mutex);
    return room;
}

bool pool_take(struct pool *pool, struct client *client) {
    catapults_mutex_lock(&pool->mutex);
    while (pool->count == 0 && !pool->stopping) {
        pool->free_handlers++;
        catapults_cond_wait(&pool->offered, &pool->mutex);
        pool->free_handlers--;
    }
    bool taken = pool->count > 0;
    if (taken) {
        *client = pool->waiting[pool->first];
        pool->first = (pool->first + 1) % (size_t)pool->connections_most;
        pool->count--;
    }
    catapults_mutex_unlock(&pool->mutex);
    return taken;
}

void pool_close(struct pool *pool, int socket) {
    catapults_close(socket);
    catapults_mutex_lock(&pool->mutex);
    pool->connections--;
    catapults_cond_signal(&pool->room);
    catapults_mutex_unlock(&pool->mutex);
}

bool pool_crowded(const struct pool *pool) { return pool->count > pool->free_handlers; }

void pool_rest(struct pool *pool, struct rest *rest, int socket, int64_t patience) {
    *rest = (struct rest){.next = pool->resting, .socket = socket, .until = catapults_now() + patience, .listed = true};
    if (rest->next != NULL)
        rest->next->previous = rest;
    pool->resting = rest;
    if (pool_crowded(pool))
        catapults_cond_signal(&pool->crowd);
}

bool pool_work(struct pool *pool, struct rest *rest) {
    bool listed = rest->listed;
    if (listed)
        unlist(pool, rest);
    return listed;
}

/* Its client has been told nothing yet, and may ask again on another connection (RFC 9112, 9.3.1). What it has sent
 * already is still read and answered. */
static void *close_resting(void *argument) {
    struct pool *pool = argument;
    catapults_mutex_lock(&pool->mutex);
    while (!pool->stopping) {
        size_t wanted = pool_crowded(pool) ? pool->count - pool->free_handlers : 0;
        int64_t now = catapults_now(), soonest = CATAPULTS_FOREVER;
        for (struct rest *rest = pool->resting, *next; rest != NULL && wanted > 0; rest = next) {
            next = rest->next;
            if (rest->until <= now) {
                shutdown(rest->socket, SHUT_RD);
                unlist(pool, rest);
                wanted--;
            } else if (rest->until < soonest) {
                soonest = rest->until;
            }
        }
        /* As many as are wanted are closed; who takes the connections looks again if need be. */
        if (wanted == 0)
            soonest = CATAPULTS_FOREVER;
        catapults_cond_wait_until(&pool->crowd, &pool->mutex, soonest);
    }
    catapults_mutex_unlock(&pool->mutex);
    return NULL;
}

static void unlist(struct pool *pool, struct rest *rest) {
    *(rest->previous != NULL ? &rest->previous->next : &pool->resting) = rest->next;
    if (rest->next != NULL)
        rest->next->previous = rest->previous;
    rest->next = rest->previous = NULL;
    rest->listed = false;
}
