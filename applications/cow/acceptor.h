/* The thread that accepts connections. */
#ifndef COW_ACCEPTOR_H
#define COW_ACCEPTOR_H

#include "catapults.h"
#include "response.h"

struct server;

struct acceptor {
    struct imported imported;
    struct server *server;
    int reserve; /* a descriptor that is given up so that a client can be told that there is no other */
    catapults_t thread;
};

/* Returns 0 or an error number. */
int acceptor_start(struct acceptor *acceptor, struct server *server);
/* After its listener was closed and its pool stopped. */
void acceptor_stop(struct acceptor *acceptor);

#endif
