/* A thread that answers the requests of one connection after the other. */
#ifndef COW_HANDLER_H
#define COW_HANDLER_H

#include "server.h"

/* Returns 0 or an error number. */
int handler_start(struct handler **handler, struct server *server, unsigned number);

/* Waits for its end; the pool must be stopped. */
void handler_join(struct handler *handler);
void handler_free(struct handler *handler);

/* Ends its connection, whatever its state. */
void handler_cut(struct handler *handler);

#endif
