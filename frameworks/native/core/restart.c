/*
 * A child of fork has one thread, the one that called it. The schedulers begin anew: what their policies knew is of
 * threads that no longer exist.
 */
#include "core/clock.h"
#include "core/containment.h"
#include "core/in_force.h"
#include "core/nodes.h"
#include "core/raise.h"
#include "core/restart.h"
#include "core/running_frames.h"
#include "core/schedulers.h"

static void begin(struct processor *here, struct scheduler *root);

const struct catapults_stop *core_restart(struct processor *here) {
    struct core *core = here->core;
    struct dispatcher_thread *self = here->current;
    struct scheduler *root = &core->root, *next = root->next;
    self->kept_on = self->kept_on ? here : NULL;
    *here = (struct processor){.core = core,
                               .error_number = here->error_number,
                               .exceptions = here->exceptions,
                               .current = self,
                               .turn = self,
                               .scheduler = root,
                               .patience_full = 1,
                               .kept = self->kept_on != NULL,
                               .polling = true}; /* nothing is RUNNING until the end */
    core->several = false;
    core->poller = NULL;
    core->changes = 0;
    core->postponed = NULL;
    core->blocked_donors = NULL;
    core->blocked_donors_last = NULL;
    core->donor_next = NULL;
    core->picky = false;
    core->picky_count = 0;
    core->picky_first = NULL;
    core->picky_last = NULL;
    core->processors_count = 0;
    core->timers = NULL;
    core->removed = NULL;
    core->oldest = core->newest = NULL;
    core->last = root;
    root->next = NULL;
    root->runnable = 0;
    root->idle = false;
    if (root->node)
        core_nodes_start(here, here, root->policy, root->shared);
    else
        begin(here, root);
    const struct catapults_stop *stop = NULL;
    while (next && !stop) {
        struct scheduler *scheduler = next;
        next = scheduler->next;
        if (scheduler->removed || !scheduler->parent) /* or an instance of the root's policy */
            continue;
        core_clear(scheduler->instance, scheduler->policy->instance_size);
        void *instance = scheduler->instance == scheduler->builtin ? NULL : scheduler->instance;
        stop = core_add(here, scheduler, scheduler->parent, scheduler->name, scheduler->policy, instance);
    }
    here->polling = false;
    return stop;
}

static void begin(struct processor *here, struct scheduler *root) {
    struct core *core = here->core;
    core_clear(root->instance, root->policy->instance_size);
    root->policy->start(root->instance);
    core->added = 0;
    core_seed(core, root, root->instance);
    core_running_frames_start(here, root);
    core_clock_start(here, root);
    if (core->host->scheduler_started)
        core->host->scheduler_started(root);
    const struct catapults_stop *stop = root->handlers.init ? RAISE_INIT(root) : NULL;
    if (UNLIKELY(stop))
        core_contain(here, root, "init", stop, NULL, NULL);
}
