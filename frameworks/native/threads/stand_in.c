/*
 * Threads under several policies (1996, §4.5): a stand-in is a thread that does nothing but lend its turns.
 */
#include "threads/stand_in.h"

#include <errno.h>
#include <stdlib.h>

#include "threads/waiters.h"

struct stand_in {
    uintptr_t primary;               /* the thread that it stands in for; 0: that has ended */
    struct catapults_handle *thread; /* which waits for it; NULL: not yet */
    struct stand_in *next;           /* of the same primary */
};

static void *stand_in(void *stand_in_) {
    struct stand_in *standing = stand_in_;
    dispatcher_enter();
    struct catapults_handle *self = handle_self();
    standing->thread = self;
    self->member.signals.mask = ~UINT64_C(0);
    while (standing->primary)
        waiters_sleep_for(self, &standing->primary, true, BLOCK_JOIN, DISPATCHER_FOREVER);
    dispatcher_leave();
    free(standing);
    return NULL;
}

int catapults_stand_in(catapults_t thread, const struct catapults_attributes *attributes) {
    struct stand_in *standing = malloc(sizeof *standing);
    if (!standing)
        return EAGAIN;
    dispatcher_enter();
    bool ended = thread->ended;
    *standing = (struct stand_in){.primary = (uintptr_t)&thread->member, .next = thread->stand_ins};
    if (!ended)
        thread->stand_ins = standing;
    dispatcher_leave();
    if (ended) {
        free(standing);
        return ESRCH;
    }
    struct catapults_attributes theirs = attributes ? *attributes : (struct catapults_attributes){0};
    theirs.detached = true;
    theirs.scheduled_by = NULL;
    int error = catapults_create(NULL, &theirs, stand_in, standing);
    if (error == 0)
        return 0;
    dispatcher_enter();
    if (standing->primary) { /* else that has ended meanwhile */
        struct stand_in **link = &thread->stand_ins;
        while (*link != standing)
            link = &(*link)->next;
        *link = standing->next;
    }
    dispatcher_leave();
    free(standing);
    return error;
}

void stand_ins_end(struct catapults_handle *primary) {
    for (struct stand_in *standing = primary->stand_ins, *next; standing; standing = next) {
        next = standing->next; /* the stand-in frees it */
        standing->primary = 0;
        if (standing->thread && waiters_may_wake(standing->thread))
            dispatcher_unblock_only(&standing->thread->member.dispatched);
    }
    primary->stand_ins = NULL;
}

void stand_ins_forget(struct catapults_handle *primary) {
    struct stand_in *standing;
    while ((standing = primary->stand_ins)) {
        primary->stand_ins = standing->next;
        free(standing);
    }
}
