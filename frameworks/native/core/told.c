/*
 * What a policy is told of a thread, whatever the thread does: that a job of it begins (`release`), and that a variable
 * which the policy imports was changed (`changed`). The thread stays RUNNING, READY or BLOCKED, or loses the processor.
 *
 * The event is raised in the frame in which the policy can act on it. If the thread runs on another processor, that is
 * that processor's frame. If it is READY, it is where the thread may take the place of another (running_frames.c).
 */
#include "core/clock.h"
#include "core/containment.h"
#include "core/frames.h"
#include "core/nodes.h"
#include "core/running_frames.h"
#include "core/told.h"
#include "core/tree.h"

static void tell_of(struct processor *here, struct dispatcher_thread *member, native_thread_event *handler,
                    const char *event) {
    struct scheduler *scheduler = member->scheduler;
    if (!handler || member->state == THREAD_ENDED || member->homeless)
        return;
    uint16_t frame = core_see(here, member);
    bool elsewhere = frame != NOBODY;
    bool ready = core_is_runnable(member) && (!here->core->several || core_frame_of(here, member) == NOBODY);
    if (!elsewhere && ready)
        core_step_aside(here, member);
    tell(here, scheduler, true);
    const struct catapults_stop *stop = handler(scheduler->self, &member->policy);
    if (UNLIKELY(stop))
        core_contain(here, scheduler, event, stop, NULL, core_running(here));
    if (UNLIKELY(scheduler->idle))
        core_gained(here, scheduler, core_running(here));
    if (elsewhere)
        core_seen(here, member, frame);
    else if (ready)
        core_step_back(here);
    core_noticed(here, scheduler);
}

void core_tell_released(struct processor *here, struct dispatcher_thread *thread) {
    tell_of(here, thread, thread->scheduler->handlers.release, "release");
}

void core_tell_changed(struct processor *here, struct dispatcher_thread *member) {
    tell_of(here, member, member->scheduler->handlers.changed, "changed");
}
