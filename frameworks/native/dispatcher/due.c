/*
 * What the core says is to be done (enum due) is done here, and nowhere else: before a thread goes on, as the
 * dispatcher is left, and before a processor sleeps.
 */
#include "dispatcher/instance.h"

struct dispatcher_thread *dispatcher_attend(struct processor *here, struct dispatcher_thread *next) {
    uint8_t undecided;
    while ((undecided = here->due & UNDECIDED)) {
        here->due &= (uint8_t)~UNDECIDED;
        if (undecided & WAIT_OUTSIDE)
            dispatcher_wait_outside(here);
        else
            dispatcher_look_outside(here);
        next = dispatcher_decide_after_all(here);
    }
    dispatcher_do_due(here);
    return next;
}

static void tell_others(void) {
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        struct processor *one = dispatcher.processors[i];
        uint8_t told = one->told;
        one->told = 0;
        if (told & WAKE)
            dispatcher.host->wake(one);
        if (told & KICK)
            dispatcher.driver->kick();
        if ((told & INTERRUPT) && dispatcher.host->interrupt)
            dispatcher.host->interrupt(one);
    }
}

void dispatcher_do_due(struct processor *here) {
    uint8_t due = here->due;
    here->due &= (uint8_t)~(ARM | TELL_OTHERS);
    if ((due & ARM) && here->armed)
        dispatcher.host->arm(here->armed);
    if (due & TELL_OTHERS)
        tell_others();
}
