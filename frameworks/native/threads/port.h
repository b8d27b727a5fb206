/*
 * What others need of message ports: to be told when there is something to receive.
 */
#ifndef CATAPULTS_PORT_H
#define CATAPULTS_PORT_H

#include "process/handle.h"

/* Somebody who waits for one of several things, of which a port is one. Theirs, until port_unwatch. */
struct port_selector {
    struct port_selector *next, *previous;
    /* A receiver would not have to wait now: a message has come, or the port is closed. Wakes whom it likes with
     * dispatcher_unblock_only. */
    void (*ready)(struct port_selector *selector);
};

/* Whether a receiver would not have to wait. */
static inline bool port_is_ready(const catapults_port_t *port) { return port->first || port->closed; }

/* Sends a message of the runtime's own, which is in no port, by nobody's hand; takes out one that is. Neither waits,
 * nor does another thread run before dispatcher_unblocked. */
void port_post(catapults_port_t *port, struct catapults_message *message);
void port_withdraw(struct catapults_message *message);

/* In a child of fork, where the thread is not any more: its message, of which it waits for the reply, is not to be
 * received; who has received it replies to nobody. */
void port_forget(struct catapults_handle *thread);

void port_watch(catapults_port_t *port, struct port_selector *selector);
void port_unwatch(catapults_port_t *port, struct port_selector *selector);

#endif
