/*
 * What a policy is told of a thread wherever that is to it: that a job of it begins, and that a variable was changed
 * which the policy imports of it. The thread stays RUNNING, READY or BLOCKED, or loses the processor.
 *
 * As of any event it is raised where what is RUNNING can be taken: a thread that runs on another processor in the frame
 * in which it does so, one that is READY where it may take the place of another (running_frames.c).
 */
#include "dispatcher/raise_loaded.h"
#include "dispatcher/state.h"

static void tell_of(struct dispatcher_thread *member, native_thread_event *handler, const char *event) {
    struct scheduler *scheduler = member->scheduler;
    if (!handler || member->state == THREAD_ENDED || member->homeless)
        return;
    struct processor *here = processor_here();
    uint16_t frame = dispatcher_see(member);
    bool elsewhere = frame != NOBODY;
    bool ready = dispatcher_is_runnable(member) && (!dispatcher.several || dispatcher_frame_of(member) == NOBODY);
    if (!elsewhere && ready)
        dispatcher_step_aside(here, member);
    tell(scheduler, true);
    const struct catapults_stop *stop = handler(scheduler->self, &member->policy);
    if (UNLIKELY(stop))
        dispatcher_contain(scheduler, event, stop, NULL, dispatcher_running());
    if (UNLIKELY(scheduler->idle))
        dispatcher_gained(scheduler, dispatcher_running());
    if (elsewhere)
        dispatcher_seen(member, frame);
    else if (ready)
        dispatcher_step_back(here);
    dispatcher_noticed(scheduler);
}

void dispatcher_tell_released(struct dispatcher_thread *thread) {
    tell_of(thread, thread->scheduler->handlers.release, "release");
}

void dispatcher_tell_changed(struct dispatcher_thread *member) {
    tell_of(member, member->scheduler->handlers.changed, "changed");
}
