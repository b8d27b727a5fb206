#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "handler.h"
#include "request.h"
#include "respond.h"
#include "response.h"

#define MILLISECOND 1000000
#define REST (100LL * MILLISECOND)       /* between requests, if others wait */
#define FIRST_REST (500LL * MILLISECOND) /* before the first one */
#define FAREWELL (500LL * MILLISECOND)   /* in which a client may take notice of the end */

/* Bounded memory: all that a connection needs is here, and belongs to its handler. */
struct handler {
    struct imported imported;
    struct server *server;
    catapults_t thread;
    int socket; /* -1: none */
    char client[INET6_ADDRSTRLEN];
    struct rest rest;
    struct request request;
    struct response response;
    char buffer[]; /* the request's */
};

static void *handle_connections(void *argument);
static void handle_connection(struct handler *handler);
static bool wait_for_request(struct handler *handler, bool first);
static void read_header(struct handler *handler);
static bool read_body(struct handler *handler);
static void receive_until(struct handler *handler, enum request_state state, int64_t instant);
static bool answer(struct handler *handler);
static void say_farewell(struct handler *handler);
static void name_client(struct handler *handler, const struct client *client);

int handler_start(struct handler **started, struct server *server, unsigned number) {
    size_t buffer = server->options->max_header + REQUEST_BODY_SPACE;
    struct handler *handler = calloc(1, sizeof *handler + buffer);
    if (handler == NULL)
        return ENOMEM;
    handler->server = server;
    handler->socket = -1;
    char name[32];
    snprintf(name, sizeof name, "handler %u", number);
    struct catapults_attributes attributes = {.name = name, .object = &handler->imported};
    int failed = catapults_create(&handler->thread, &attributes, handle_connections, handler);
    if (failed != 0) {
        free(handler);
        return failed;
    }
    *started = handler;
    return 0;
}

void handler_join(struct handler *handler) { catapults_join(handler->thread, NULL); }

void handler_free(struct handler *handler) { free(handler); }

void handler_cut(struct handler *handler) {
    if (handler->socket >= 0)
        shutdown(handler->socket, SHUT_RDWR);
}

static void *handle_connections(void *argument) {
    struct handler *handler = argument;
    struct pool *pool = &handler->server->pool;
    struct client client;
    while (pool_take(pool, &client)) {
        handler->socket = client.socket;
        name_client(handler, &client);
        handle_connection(handler);
        handler->socket = -1;
        pool_close(pool, client.socket);
    }
    return NULL;
}

static void handle_connection(struct handler *handler) {
    struct request *request = &handler->request;
    const struct options *options = handler->server->options;
    request_start(request, handler->buffer, options->max_header, options->max_body);
    for (bool first = true;; first = false) {
        if (request->state == REQUEST_EMPTY && !wait_for_request(handler, first))
            return;
        read_header(handler);
        if (!read_body(handler) || !answer(handler))
            return;
        if (handler->response.close)
            break;
        request_next(request);
    }
    /* What the client has sent and nobody has read would destroy the answer on its way. */
    if (request->state != REQUEST_COMPLETE || request_more(request))
        say_farewell(handler);
}

/* Returns whether there is one. */
static bool wait_for_request(struct handler *handler, bool first) {
    struct pool *pool = &handler->server->pool;
    const struct options *options = handler->server->options;
    int64_t patience = pool->stopping ? 0 : first ? options->request_timeout : options->idle_timeout;
    if (!pool->stopping)
        pool_rest(pool, &handler->rest, handler->socket, first ? FIRST_REST : REST);
    size_t size;
    char *space = request_space(&handler->request, &size);
    ssize_t received = catapults_recv_until(handler->socket, space, size, 0, catapults_now() + patience);
    /* A request that came in the moment when its connection was to be closed is answered all the same. */
    if (!pool_work(pool, &handler->rest) && received == 0)
        received = catapults_recv_until(handler->socket, space, size, 0, 0);
    if (received <= 0)
        return false;
    request_received(&handler->request, (size_t)received);
    return true;
}

static void read_header(struct handler *handler) {
    if (handler->request.state == REQUEST_HEADER)
        receive_until(handler, REQUEST_HEADER, catapults_now() + handler->server->options->request_timeout);
}

/* False: the client is gone. */
static bool read_body(struct handler *handler) {
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct request *request = &handler->request;
    if (request->state != REQUEST_BODY)
        return true;
    int64_t end = catapults_now() + handler->server->options->request_timeout;
    if (request->wants_continue) {
        if (!respond_method_allowed(request))
            return true; /* the answer is known already, and ends the connection */
        if (catapults_send_until(handler->socket, go_on, sizeof go_on - 1, 0, end) != (ssize_t)sizeof go_on - 1)
            return false;
    }
    receive_until(handler, REQUEST_BODY, end);
    return true;
}

/* Receives as long as the request is in that state. At the instant it is refused, and at the end of the stream too. */
static void receive_until(struct handler *handler, enum request_state state, int64_t instant) {
    struct request *request = &handler->request;
    while (request->state == state) {
        size_t size;
        char *space = request_space(request, &size);
        ssize_t received = catapults_recv_until(handler->socket, space, size, 0, instant);
        if (received > 0)
            request_received(request, (size_t)received);
        else
            request_refuse(request, received < 0 && errno == ETIMEDOUT ? 408 : 400);
    }
}

/* Returns whether the response went out whole. */
static bool answer(struct handler *handler) {
    struct server *server = handler->server;
    const struct pace pace = {.chunk = server->options->chunk, .send_timeout = server->options->send_timeout};
    struct response *response = &handler->response;
    respond(server, &handler->request, response);
    int64_t body;
    bool whole = response_send(response, handler->socket, &pace, &handler->imported, &body);
    log_answer(&server->log, &server->dates, handler->client, handler->request.line, response->status, body);
    response_release(response);
    return whole;
}

/* Reads and discards for a while, so that the client can read the answer (RFC 9112, 9.6). */
static void say_farewell(struct handler *handler) {
    shutdown(handler->socket, SHUT_WR);
    int64_t end = catapults_now() + (pool_crowded(&handler->server->pool) ? REST : FAREWELL);
    while (!handler->server->pool.stopping &&
           catapults_recv_until(handler->socket, handler->buffer, REQUEST_BODY_SPACE, 0, end) > 0) {
    }
}

static void name_client(struct handler *handler, const struct client *client) {
    if (handler->server->log.name == NULL)
        return;
    const void *address = client->address.any.sa_family == AF_INET6 ? (const void *)&client->address.v6.sin6_addr
                                                                    : (const void *)&client->address.v4.sin_addr;
    if (inet_ntop(client->address.any.sa_family, address, handler->client, sizeof handler->client) == NULL)
        snprintf(handler->client, sizeof handler->client, "-");
}
