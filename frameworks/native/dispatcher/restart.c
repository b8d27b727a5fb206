/*
 * In a child of fork there is one thread, the one that called it. The schedulers begin anew: what their policies knew
 * is of threads that are not there.
 */
#include "dispatcher/raise_loaded.h"
#include "dispatcher/state.h"

static void begin(struct scheduler *root);
const struct catapults_stop *dispatcher_restart(void) {
    struct processor *here = processor_here();
    struct dispatcher_thread *self = here->current;
    struct scheduler *root = &dispatcher.root, *next = root->next;
    uint32_t hold_depth = self->hold_depth;
    self->kept_on = self->kept_on ? here : NULL;
    *here = (struct processor){.error_number = here->error_number,
                               .exceptions = here->exceptions,
                               .current = self,
                               .turn = self,
                               .scheduler = root,
                               .patience_full = 1,
                               .kept = self->kept_on != NULL,
                               .polling = true}; /* nothing is RUNNING until the end */
    dispatcher.several = false;
    dispatcher.poller = NULL;
    dispatcher.changes = 0;
    dispatcher.postponed = NULL;
    dispatcher.blocked_donors = NULL;
    dispatcher.blocked_donors_last = NULL;
    dispatcher.donor_next = NULL;
    dispatcher.picky = false;
    dispatcher.picky_count = 0;
    dispatcher.picky_first = NULL;
    dispatcher.picky_last = NULL;
    dispatcher.processors_count = 0;
    dispatcher.timers = NULL;
    dispatcher.removed = NULL;
    dispatcher.oldest = dispatcher.newest = NULL;
    dispatcher.last = root;
    root->next = NULL;
    root->runnable = 0;
    root->idle = false;
    if (root->node)
        dispatcher_nodes_start(here, root->policy, root->shared);
    else
        begin(root);
    const struct catapults_stop *stop = NULL;
    while (next && !stop) {
        struct scheduler *scheduler = next;
        next = scheduler->next;
        if (scheduler->removed || !scheduler->parent) /* or an instance of the root's policy */
            continue;
        dispatcher_clear(scheduler->instance, scheduler->policy->instance_size);
        void *instance = scheduler->instance == scheduler->builtin ? NULL : scheduler->instance;
        stop = dispatcher_add(scheduler, scheduler->parent, scheduler->name, scheduler->policy, instance);
    }
    here->polling = false;
    if (!stop)
        stop = dispatcher_start_under(self->scheduler->shared ? root : self->scheduler, self);
    self->hold_depth = hold_depth;
    return stop;
}

static void begin(struct scheduler *root) {
    dispatcher_clear(root->instance, root->policy->instance_size);
    root->policy->start(root->instance);
    dispatcher_running_frames_start(root);
    dispatcher_clock_start(root);
    if (dispatcher.host->scheduler_started)
        dispatcher.host->scheduler_started(root);
    const struct catapults_stop *stop = root->handlers.init ? RAISE_INIT(root) : NULL;
    if (UNLIKELY(stop))
        dispatcher_contain(root, "init", stop, NULL, NULL);
}
