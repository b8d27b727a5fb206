/* The handlers that relay.c calls: the C face of relay.framework, in its order. Generated code fills the table. */
#ifndef RELAY_POLICY_H
#define RELAY_POLICY_H

#include <stdbool.h>

#include "catapults/policy.h"

#define RELAY_ABI 1u

typedef const struct catapults_stop *relay_thread_event(void *self, struct catapults_thread *t);

struct relay_handlers {
    relay_thread_event *newthread;
    /* The thread to run, or NULL: nothing was dispatched, or a guard failed and *stop says which. */
    struct catapults_thread *(*schedule)(void *self, const struct catapults_stop **stop);
    relay_thread_event *switch_out, *block_wait, *event_raised, *exit;

    catapults_int (*threads_ready)(const void *self);
};

#endif
