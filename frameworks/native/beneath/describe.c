#include "beneath/describe.h"

#include <inttypes.h>

#include "beneath/thread.h"
#include "contexts/text.h"

const char *describe_wait(const struct member *member) {
    static const char *const waits[] = {"to read",
                                        "to write",
                                        "for a connection to accept",
                                        "to connect",
                                        "for a file",
                                        "for a lock",
                                        "for a condition",
                                        "for the end of a thread",
                                        "for an instant",
                                        "in the kernel",
                                        "for its threads",
                                        "for a message",
                                        "for a signal"};
    static char text[96];
    const struct dispatcher_thread *t = &member->dispatched;
    const struct beneath_thread *thread = thread_of((struct dispatcher_thread *)t);
    const struct member *other = member_waited_for(member);
    unsigned long count = thread->descriptors.count;
    if (other)
        text_format(text, sizeof text, "%s of thread %" PRIu32 " (%s)", waits[t->reason],
                    other->dispatched.policy.number, other->name);
    else if (count > 0)
        text_format(text, sizeof text, "%s: %s %d%s", waits[t->reason], count > 1 ? "descriptors" : "descriptor",
                    thread->descriptors.first[0].fd, count > 1 ? " and others" : "");
    else
        return waits[t->reason];
    return text;
}
