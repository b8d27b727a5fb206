/*
 * What others need of message ports: to be told when there is something to receive.
 */
#ifndef CATAPULTS_PORT_H
#define CATAPULTS_PORT_H

#include "threads/handle.h"

/* A wait for one of several things, of which a port is one. The waiter's, until port_unwatch. */
struct port_selector {
    struct port_selector *next, *previous;
    /* A receiver would not have to wait now: a message has come, or the port is closed. May wake threads with
     * dispatcher_unblock_only. */
    void (*ready)(struct port_selector *selector);
};

/* Whether a receiver would not have to wait. */
static inline bool port_is_ready(const catapults_port_t *port) { return port->first || port->closed; }

/* The first sends a message of the runtime's own, which is in no port, on behalf of no thread. The second takes out one
 * that is in a port. Neither waits, and no other thread runs before dispatcher_unblocked. */
void port_post(catapults_port_t *port, struct catapults_message *message);
void port_withdraw(struct catapults_message *message);

/* In a child of fork, where the thread no longer exists: its message, to which it awaits the reply, must not be
 * received. If it was received, the reply goes to nobody. */
void port_forget(struct catapults_handle *thread);

void port_watch(catapults_port_t *port, struct port_selector *selector);
void port_unwatch(catapults_port_t *port, struct port_selector *selector);

#endif
