/*
 * Fetches threads into the caches before they are needed. With many threads, a switch waits for the memory of the
 * thread that goes on, and for its page to be found, because each stack has pages of its own. Threads mostly go on in
 * the same order as the last time, whatever the policy. So each thread knows which one ran FORESIGHT switches after it.
 * When it goes on again, that one is fetched, and has come by the time of its turn.
 *
 *      switches       a   b   c   d   e   f   …
 *      recent           [ a   b   c   d ]           the last FORESIGHT of them, as a ring
 *      a.follower                     e             set when e goes on, in the place of a
 *
 * A wrong guess costs a fetch. `follower` is never looked at, and may have ended. Those in `recent` are written to, so
 * one that ends is taken out. All this is left out with few threads, which are in the caches anyhow, and for all but
 * yields by the shortcut.
 */
#ifndef CATAPULTS_CORE_FORESIGHT_H
#define CATAPULTS_CORE_FORESIGHT_H

#include "core/state.h"

enum { MANY = 32 }; /* threads that can run */

/* For dispatcher_find_shortcut, which is called again from time to time. */
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
    /* There may be none, or it is gone: then this is a mere number. */
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
