/*
 * Turns that wait for a processor wait in frames, of which there are only so many: for the one that is first at each
 * processor, and TURNS_WAITING more. When these are in use, a thread that is dispatched and has to wait behind others
 * is put off: BLOCKED to its policy (suspend_thread), which is asked for another, until there is room. So no processor
 * is idle for want of frames, however many threads are bound to another one that somebody keeps.
 *
 *     put_off ──► thread ──turn_next──► thread ──► …          in the order in which they were dispatched
 *
 * Wherever one of them may go on, turns wait. So there is room only when one of those waits no longer (`fewer_wait`):
 * at the next decision, or when the runtime is left.
 */
#include "dispatcher/state.h"

void dispatcher_put_off(struct dispatcher_thread *thread) {
    thread->turn_next = NULL;
    if (dispatcher.put_off)
        dispatcher.put_off_last->turn_next = thread;
    else
        dispatcher.put_off = thread;
    dispatcher.put_off_last = thread;
    dispatcher_set_aside(thread);
    thread->state = THREAD_PUT_OFF;
    if (UNLIKELY(thread->scheduler->parent != NULL))
        dispatcher_give_up(thread);
}

static void let_in(struct dispatcher_thread *thread, const struct dispatcher_thread *runs) {
    if (UNLIKELY(thread->to_be_suspended)) { /* which it is to its policy */
        thread->to_be_suspended = thread->set_aside = false;
        thread->state = THREAD_SUSPENDED;
        return;
    }
    thread->state = THREAD_RUNNABLE;
    dispatcher_raise_event(thread, runs);
    dispatcher_changed(thread);
}

void dispatcher_let_in(const struct dispatcher_thread *runs) {
    dispatcher.fewer_wait = false;
    int64_t room = (int64_t)TURNS_WAITING - dispatcher.waiting;
    struct dispatcher_thread **place = &dispatcher.put_off, *thread;
    while ((thread = *place)) {
        if (room <= 0 && !dispatcher_is_expected(thread)) {
            dispatcher.put_off_last = thread;
            place = &thread->turn_next;
            continue;
        }
        *place = thread->turn_next;
        room--;
        let_in(thread, runs);
    }
}

bool dispatcher_is_expected(const struct dispatcher_thread *thread) {
    const struct processor *there = dispatcher_stands_on(thread);
    if (there)
        return !there->turns_first; /* else it is left there, before anything else can become of it, for one of those */
    for (uint32_t i = 0; i < dispatcher.processors_count; i++) {
        const struct processor *one = dispatcher.processors[i];
        if (!one->turns_first && dispatcher_may_run_on(thread, one))
            return true;
    }
    return false;
}
