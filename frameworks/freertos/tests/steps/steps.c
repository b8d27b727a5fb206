/* The events that a script can raise; the rest of the program is the same on every host. */
#include "catapults/steps.h"

static bool raise_event(const char *name, struct catapults_thread *t) {
#ifdef CATAPULTS_HANDLER_init
    if (strcmp(name, "init") == 0) {
        stopped(CATAPULTS_RAISE_ALONE(init));
        return true;
    }
#endif
    EVENT("newthread", newthread)
    EVENT("switch_out", switch_out)
    EVENT("block.sleep", block_sleep)
    EVENT("block.queue.send", block_queue_send)
    EVENT("block.queue.receive", block_queue_receive)
    EVENT("block.semaphore", block_semaphore)
    EVENT("block.lock", block_lock)
    EVENT("block.notification", block_notification)
    EVENT("block.event_group", block_event_group)
    EVENT("block.stream", block_stream)
    EVENT("event_raised", event_raised)
    EVENT("suspend_thread", suspend_thread)
    EVENT("resume_thread", resume_thread)
    EVENT("exit", exit)
    EVENT("cancel", cancel)
#ifdef CATAPULTS_HANDLER_set_next_thread
    EVENT("set_next_thread", set_next_thread)
#endif
#ifdef CATAPULTS_HANDLER_release
    EVENT("release", release)
#endif
#ifdef CATAPULTS_HANDLER_changed
    EVENT("changed", changed)
#endif
    return false;
}
