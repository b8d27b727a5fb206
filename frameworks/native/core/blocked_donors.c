/*
 * Donation on several processors: donors that are BLOCKED, because the end of their chain runs on another turn, or
 * cannot run. They wait in lists, by the word that names the thread they wait for. All donors that wait by one word
 * lend to one thread, however often the word is written. So one look at the word tells of all of them.
 *
 *     hash of the word ──► first of a word ──donor_other──► first of another ──► …
 *                          │ donor_next                     │
 *                          others that wait by it             …          `donor_previous` of the first: the last
 *
 * Every thread behind a blocked donor in its chain is marked (`relays`). The lists are looked through after a marked
 * thread stops running, can run again, writes a word, or waits no longer: at the next decision, or when the runtime is
 * left. They are not looked through while idle processors will take everything that is READY. Donors that are woken
 * then would be woken in vain, each time a lock changes hands (the avalanche of 1996, §3.4).
 */
#include "core/blocked_donors.h"
#include "core/check.h"
#include "core/donation.h"
#include "core/outside.h"

void core_blocked_donors_start(struct core *core) {
    core->donors_lists_used = 0;
    for (int i = 0; i < DONORS_LISTS; i++)
        core->donors_lists[i] = NULL;
}

static struct dispatcher_thread **list_of(struct core *core, const uintptr_t *word) {
    uint64_t number = (uintptr_t)word >> 3;
    return &core->donors_lists[(number ^ number >> 6 ^ number >> 12) % DONORS_LISTS];
}

static uint64_t bit_of(const struct core *core, struct dispatcher_thread *const *list) {
    return (uint64_t)1 << (list - core->donors_lists);
}

/* The link to the first that waits by the word, or where that would be. */
static struct dispatcher_thread **first_of(struct core *core, const uintptr_t *word) {
    struct dispatcher_thread **link = list_of(core, word);
    while (*link && (*link)->waits_for != word)
        link = &(*link)->donor_other;
    return link;
}

static void mark_behind(struct processor *here, const struct dispatcher_thread *thread) {
    struct dispatcher_thread *behind = (struct dispatcher_thread *)thread;
    while ((behind = core_lends_to(here, behind)))
        behind->relays = true;
}

void core_enlist(struct processor *here, struct dispatcher_thread *thread) {
    struct core *core = here->core;
    mark_behind(here, thread);
    struct dispatcher_thread **link = first_of(core, thread->waits_for), *first = *link;
    thread->donor_blocked_for = thread;
    thread->donor_next = NULL;
    thread->donor_other = NULL;
    if (first) {
        thread->donor_previous = first->donor_previous;
        thread->donor_previous->donor_next = thread;
        first->donor_previous = thread;
        return;
    }
    thread->donor_previous = thread;
    *link = thread;
    core->donors_lists_used |= bit_of(core, list_of(core, thread->waits_for));
}

void core_strike_off(struct processor *here, struct dispatcher_thread *thread) {
    struct core *core = here->core;
    struct dispatcher_thread **link = first_of(core, thread->waits_for), *first = *link, *next = thread->donor_next;
    struct dispatcher_thread *other = thread->donor_other;
    thread->donor_blocked_for = NULL;
    thread->donor_other = NULL;
    if (thread != first) {
        thread->donor_previous->donor_next = next;
        *(next ? &next->donor_previous : &first->donor_previous) = thread->donor_previous;
        thread->waits_since = 0;
        return;
    }
    if (next) {
        next->donor_previous = thread->donor_previous;
        next->donor_other = other;
        *link = next;
        thread->waits_since = 0;
        return;
    }
    thread->waits_since = 0;
    *link = other;
    struct dispatcher_thread **list = list_of(core, thread->waits_for);
    if (!*list)
        core->donors_lists_used &= ~bit_of(core, list);
}

/* All that wait by the word. */
static void rouse_all(struct processor *here, const uintptr_t *word, const struct dispatcher_thread *runs) {
    struct dispatcher_thread *first;
    while ((first = *first_of(here->core, word)))
        core_rouse_one(here, first, runs);
}

void core_settle(struct processor *here, const struct dispatcher_thread *runs) {
    struct core *core = here->core;
    core->chains_changed = false;
    for (uint64_t left = core->donors_lists_used; left; left &= left - 1) {
        struct dispatcher_thread *const *list = &core->donors_lists[__builtin_ctzll(left)], *first = *list;
        while (first) {
            if (core_lends_to(here, first) && !core_can_lend(here, first)) {
                mark_behind(here, first);
                first = first->donor_other;
            } else {
                rouse_all(here, first->waits_for, runs);
                first = *list; /* a thread that schedules is told of its clients, and may have left the list */
            }
        }
    }
}

void core_look_at_turns(struct processor *here) {
    struct core *core = here->core;
    core->turns_changed = false;
    for (uint32_t i = 0; i < core->processors_count; i++) {
        struct processor *there = core->processors[i];
        const struct running_frame *frame = &core->running_frames[there->frame];
        if (there == here || there->anew || !frame->turn || frame->runs == frame->turn)
            continue;
        bool runs = frame->runs->state == THREAD_RUNNABLE || frame->runs->state == THREAD_MARKED;
        if (runs && core_end_of(here, frame->turn) == frame->runs)
            continue;
        there->anew = true;
        core_tell_other(here, there, INTERRUPT);
    }
}

#ifdef CATAPULTS_CHECKED
uint32_t core_check_blocked_donors(struct processor *here) {
    struct core *core = here->core;
    uint32_t count = 0;
    for (int i = 0; i < DONORS_LISTS; i++) {
        if (!core->donors_lists[i] != !(core->donors_lists_used >> i & 1))
            __builtin_trap();
        for (struct dispatcher_thread *first = core->donors_lists[i]; first; first = first->donor_other) {
            if (list_of(core, first->waits_for) != &core->donors_lists[i])
                __builtin_trap();
            for (struct dispatcher_thread *thread = first; thread; thread = thread->donor_next, count++)
                if (thread->waits_for != first->waits_for || !thread->donor_blocked_for)
                    __builtin_trap();
        }
    }
    return count;
}
#endif
