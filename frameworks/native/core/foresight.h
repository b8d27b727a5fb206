/*
 * What is fetched into the caches before it is needed. With many threads, a switch waits for the memory of the one that
 * goes on: for its page to be found, too, as each stack has pages of its own. Threads mostly go on in the order in
 * which they did the last time, whatever the policy. So each knows who ran FORESIGHT switches after it, and when it
 * goes on again that one is fetched: by the time that its turn comes it is there.
 *
 *      switches       a   b   c   d   e   f   …
 *      recent           [ a   b   c   d ]           the last FORESIGHT of them, as a ring
 *      a.follower                     e             set when e goes on, in the place of a
 *
 * A wrong guess costs a fetch. `follower` is never looked at, and may have ended; those in `recent` are written to, so
 * one that ends is taken out. With few threads, which are in the caches anyhow, and but for yields by the shortcut,
 * all this is left out.
 */
#ifndef CATAPULTS_CORE_FORESIGHT_H
#define CATAPULTS_CORE_FORESIGHT_H

#include "core/state.h"

enum { MANY = 32 }; /* threads that can run */

/* For dispatcher_find_shortcut, which is called anew from time to time. */
static inline bool foresight_is_worth_it(struct processor *here) {
    struct core *core = here->core;
    bool many = core->root.runnable >= MANY;
    if (many && core->shortcut != SHORTCUT_OF_MANY)
        for (int i = 0; i < FORESIGHT; i++)
            core->recent[i] = &core->nobody;
    return many;
}

/* `next` goes on. */
static inline __attribute__((always_inline)) void foresight_next(struct processor *here,
                                                                 struct dispatcher_thread *next) {
    struct core *core = here->core;
    /* There may be none, or nothing of it any more: that is a number, then. */
    __builtin_prefetch((const void *)((uintptr_t)next->follower + offsetof(struct dispatcher_thread, state)));
    uint32_t place = core->recent_first;
    core->recent[place]->follower = next;
    core->recent[place] = next;
    core->recent_first = (place + 1) % FORESIGHT;
}

/* The thread has ended. */
static inline __attribute__((always_inline)) void foresight_forget(struct processor *here,
                                                                   const struct dispatcher_thread *thread) {
    struct core *core = here->core;
    if (UNLIKELY(core->shortcut == SHORTCUT_OF_MANY))
        for (int i = 0; i < FORESIGHT; i++)
            if (core->recent[i] == thread)
                core->recent[i] = &core->nobody;
}

#endif
