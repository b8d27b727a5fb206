/*
 * Threads that a policy never dispatches. Every so often, all READY threads are marked. A dispatch takes the mark away.
 * So a thread that still has its mark at the next look has waited all the time. The mark is a state of its own, so a
 * dispatch of a thread without a mark costs nothing. A thread that waits because others keep the processor is not the
 * policy's fault: the next look comes only after there were enough decisions for every thread.
 */
#include "core/containment.h"
#include "core/frames.h"
#include "core/starvation.h"

static void contain(struct processor *here, const struct dispatcher_thread *thread);
static void begin_anew(struct scheduler *scheduler);

/* On another processor, or about to be, even on a loan. */
static bool runs(struct processor *here, const struct dispatcher_thread *thread) {
    return here->core->several && (thread->runs_in != NOBODY || core_frame_of(here, thread) != NOBODY);
}

/* The instance of the root's policy where it, or a scheduler above it, is READY first; NULL: there is one for all. */
static struct node *node_of(struct processor *here, const struct dispatcher_thread *thread) {
    struct scheduler *scheduler = thread->scheduler;
    if (LIKELY(!here->core->root.node) || !scheduler->parent)
        return scheduler->node;
    while (scheduler->parent->parent)
        scheduler = scheduler->parent;
    for (const struct dispatcher_thread *record = &scheduler->record; record; record = record->newer)
        if (record->state == SCHEDULER_RUNNABLE && taken_from(record))
            return record->scheduler->node;
    return NULL;
}

/* There have been enough decisions where it is. */
static bool was_left_out(struct processor *here, const struct dispatcher_thread *thread) {
    const struct node *node = node_of(here, thread);
    return !node || !here->core->several || node->decisions >= node->enough;
}

void core_look_for_starving(struct processor *here, int64_t now) {
    struct core *core = here->core;
    if (now - core->marked < core->host->starvation_limit || core->decisions < core->enough)
        return;
    struct dispatcher_thread *thread;
    for (thread = core->oldest; thread; thread = thread->newer)
        if (thread->state == THREAD_MARKED && !runs(here, thread) && was_left_out(here, thread))
            contain(here, thread);
    for (struct scheduler *scheduler = &core->root; scheduler; scheduler = scheduler->next)
        begin_anew(scheduler);
    uint64_t marked = 0;
    for (thread = core->oldest; thread; thread = thread->newer) {
        if ((thread->state != THREAD_RUNNABLE && thread->state != THREAD_MARKED) || runs(here, thread) ||
            thread->scheduler->lent_only)
            continue;
        thread->state = THREAD_MARKED;
        marked++;
        struct node *node = node_of(here, thread);
        if (node)
            node->enough += 2;
    }
    core->marked = now;
    core->decisions = 0;
    core->enough = 2 * marked;
}

static void begin_anew(struct scheduler *scheduler) {
    scheduler->served = false;
    if (scheduler->node)
        scheduler->node->decisions = scheduler->node->enough = 0;
}

/* The policy of its scheduler is out, or that of the highest one above it that let a scheduler wait as long. */
static void contain(struct processor *here, const struct dispatcher_thread *thread) {
    struct core *core = here->core;
    struct scheduler *scheduler = thread->scheduler;
    for (struct scheduler *above = scheduler; above->parent; above = above->parent)
        if (!above->served && !above->idle)
            scheduler = above->parent;
    if (scheduler->policy == &dispatcher_builtin)
        return; /* it has taken over since the mark, or its threads keep the processor */
    core->starved = thread;
    core_contain(here, scheduler, "schedule", NULL, NULL, NULL);
    core->starved = NULL;
}
