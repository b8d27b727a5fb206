/*
 * Calls to the core after which nobody else goes on: passed on, for this process's core and the caller's processor.
 */
#include "core/clock.h"
#include "core/decide.h"
#include "core/donation.h"
#include "core/nodes.h"
#include "core/replace.h"
#include "core/running_frames.h"
#include "core/scheduler_records.h"
#include "core/schedulers.h"
#include "core/told.h"
#include "dispatcher/instance.h"

void dispatcher_account(void) { core_account(processor_here()); }

const struct catapults_stop *dispatcher_add(struct scheduler *scheduler, struct scheduler *parent, const char *text,
                                            const struct catapults_policy *policy, void *instance) {
    return core_add(processor_here(), scheduler, parent, text, policy, instance);
}

bool dispatcher_counts_consumed(void) { return core_counts_consumed(&dispatcher); }

uint64_t dispatcher_decided(void) { return dispatcher.decided; }

void dispatcher_watch_consumed(bool watched) { core_watch_consumed(processor_here(), watched); }

int64_t dispatcher_consumed_by(const struct dispatcher_thread *member) {
    return core_consumed_by(processor_here(), member);
}

enum dispatcher_cycle dispatcher_cycle(const uintptr_t *to) { return core_cycle(processor_here(), to); }

void dispatcher_give_record(struct scheduler *scheduler, struct dispatcher_thread *record) {
    core_give_record(scheduler, record);
}

bool dispatcher_has_room(const struct scheduler *scheduler, const struct catapults_policy *policy,
                         unsigned long *parts) {
    return core_has_room(processor_here(), scheduler, policy, parts);
}

unsigned long dispatcher_instance_size(const struct catapults_policy *policy, bool several) {
    return core_instance_size(policy, several);
}

bool dispatcher_is_elsewhere(const struct dispatcher_thread *thread) {
    return core_is_elsewhere(processor_here(), thread);
}

struct dispatcher_thread *dispatcher_next_record(const struct dispatcher_thread *record) {
    return core_next_record(record);
}

struct scheduler *dispatcher_next_scheduler(const struct scheduler *scheduler) {
    return core_next_scheduler(scheduler);
}

unsigned long dispatcher_node_size(const struct catapults_policy *policy) { return core_node_size(policy); }

void dispatcher_redirected(struct dispatcher_thread *thread, const uintptr_t *to) {
    core_redirected(processor_here(), thread, to);
}

int dispatcher_remove(struct scheduler *scheduler) { return core_remove(processor_here(), scheduler); }

void dispatcher_renamed(struct dispatcher_thread *thread) { core_renamed(processor_here(), thread); }

const struct catapults_stop *dispatcher_replace(struct scheduler *scheduler, const struct catapults_policy *policy,
                                                void *instance, void *const *nodes, void *parts) {
    return core_replace(processor_here(), scheduler, policy, instance, nodes, parts);
}

struct scheduler *dispatcher_root(void) { return &dispatcher.root; }

unsigned long dispatcher_scheduler_size(const struct scheduler *parent) { return core_scheduler_size(parent); }

struct scheduler *dispatcher_take_removed(void) { return core_take_removed(processor_here()); }

void dispatcher_tell_changed(struct dispatcher_thread *member) { core_tell_changed(processor_here(), member); }

void dispatcher_tell_released(struct dispatcher_thread *thread) { core_tell_released(processor_here(), thread); }

unsigned long dispatcher_thread_size(const struct catapults_policy *policy) { return core_thread_size(policy); }

struct dispatcher_thread *dispatcher_waited_for(const struct dispatcher_thread *thread) {
    return core_waited_for(processor_here(), thread);
}
