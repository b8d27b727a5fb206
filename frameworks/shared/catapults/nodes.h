/*
 * A thread that leaves for a node: `t => n;`
 */
#ifndef CATAPULTS_NODES_H
#define CATAPULTS_NODES_H

#include "catapults/list.h"

/* Behind those that were sent before it. The thread is in hand and stays so: the list is the host's. */
static inline void catapults_send(struct catapults_list CATAPULTS_MEMORY *sent,
                                  struct catapults_thread CATAPULTS_MEMORY *t,
                                  struct catapults_thread CATAPULTS_MEMORY *node) {
    catapults_list_append(sent, t, 0);
    t->parent = node;
}

#endif
