/* The server: what its threads share. All of them run on one virtual processor, so they take turns. */
#ifndef COW_SERVER_H
#define COW_SERVER_H

#include "acceptor.h"
#include "catapults.h"
#include "date.h"
#include "files.h"
#include "log.h"
#include "mime.h"
#include "options.h"
#include "pool.h"

struct handler;

struct server {
    const struct options *options;
    int root;     /* the directory that is served */
    int listener; /* the socket */
    char url[96]; /* where it listens */
    struct mime mime;
    struct files files;
    struct dates dates;
    struct access_log log;
    struct pool pool;
    struct acceptor acceptor;
    struct handler **handlers;
    unsigned handlers_count;
};

/* Opens what the server needs, so that mistakes are found before it starts. Says what is wrong on standard error. */
bool server_open(struct server *server, const struct options *options);

/* After catapults_init: links the policy's variables and starts the threads. Says what is wrong on standard error. */
bool server_start(struct server *server);

/* No more connections are accepted; responses under way are finished, and their connections closed. */
void server_finish(struct server *server);

/* Ends what has not finished by itself. */
void server_cut(struct server *server);

/* After server_finish: waits for the handlers, writes the log, and gives back everything. */
void server_stop(struct server *server);

#endif
