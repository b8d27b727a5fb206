/*
 * Stands in for Pth's queues of threads (pth_pqueue.c) and for the end of a thread's control block. The queues stay
 * Pth's; where a thread comes from and where it goes says which event it is.
 *
 *   spawn ──► NEW ──► READY ◄──► runs ──► WAITING        to READY: event_raised
 *              ▲ │      ▲ │       │         ▲ │
 *              │ ▼      │ ▼       ▼         │ ▼
 *             SUSPENDED ...      DEAD     SUSPENDED      (a thread that waits is not READY to the policy: no event)
 *
 * NEW and READY are READY to the policy. While there is one, all ready threads have one priority in Pth's queue: it is
 * no order then, and a thread comes and goes in constant time.
 */
#include <stdlib.h>

#include "shim/shim.h"

static struct event block_event(pth_t thread) {
    pth_event_t first = thread->events;
    unsigned long type = first ? library.event_typeof(first) : 0;
    if (type & PTH_EVENT_TID) /* first: what it waits for is a number in the bits of the others */
        return EVENT("block.join", block_join);
    if (type & PTH_EVENT_FD)
        return type & PTH_UNTIL_FD_WRITEABLE ? EVENT("block.io.write", block_io_write)
                                             : EVENT("block.io.read", block_io_read);
    if (type & PTH_EVENT_SELECT)
        return EVENT("block.io.select", block_io_select);
    if (type & PTH_EVENT_SIGS)
        return EVENT("block.signal", block_signal);
    if (type & PTH_EVENT_TIME)
        return EVENT("block.sleep", block_sleep);
    if (type & PTH_EVENT_MSG)
        return EVENT("block.message", block_message);
    if (type & PTH_EVENT_MUTEX)
        return EVENT("block.lock", block_lock);
    if (type & PTH_EVENT_COND)
        return EVENT("block.condition", block_condition);
    return EVENT("block.function", block_function);
}

/* The running thread stops, with this event. It runs to the policy too: preemption takes effect at once (calls.c). */
static void stop_running(struct event event, struct record *record) {
    if (policy_class(record) == CATAPULTS_RUNNING)
        policy_raise(event, record);
    else
        policy_contain(event.name, NULL, "it took the processor from a thread while none could be taken");
    shim.running = NULL;
}

static void now_ready(struct record *record, enum place from) {
    if (from == WAITS)
        policy_raise(EVENT("event_raised", event_raised), record);
    else if (from == IS_SUSPENDED)
        policy_raise(EVENT("resume_thread", resume_thread), record);
    else if (from == RUNS && policy_class(record) == CATAPULTS_READY) {
        shim.running = NULL; /* the policy took the processor from it */
        if (recording())
            recording_preempted(record);
    } else if (from == RUNS)
        stop_running(EVENT("switch_out", switch_out), record);
}

/* Tells the policy that a thread goes into a queue of Pth. */
static void moved(struct record *record, struct pth_queue *to) {
    enum place from = record->place;
    if (to == library.new || to == library.ready) {
        record->place = to == library.new ? IS_NEW : IS_READY;
        now_ready(record, from);
    } else if (to == library.waiting) {
        record->place = WAITS;
        if (from == RUNS)
            stop_running(block_event(record->thread), record);
    } else if (to == library.suspended) {
        record->place = IS_SUSPENDED;
        if (from == IS_NEW || from == IS_READY)
            policy_raise(EVENT("suspend_thread", suspend_thread), record);
    } else if (to == library.dead) {
        record->place = IS_DEAD;
        if (from == RUNS)
            stop_running(EVENT("exit", exit), record);
    }
}

/* Tells the policy of a thread that is about to go into the first queue: false if it is not to be. */
static bool spawned(pth_t thread) {
    if (!library_fits(thread)) {
        report("this is not the GNU Pth 2.0.7 that libcatapults_pth was built for: PTH_SCHED cannot be used with it");
        exit(EXIT_FAILURE);
    }
    struct record *record = record_add(thread);
    if (!record)
        return false;
    record->place = IS_NEW;
    if (policy_admit(record))
        return true;
    record->place = NOWHERE;
    return false;
}

/* Behind all others. */
static void append(struct pth_queue *queue, pth_t t) {
    if (!queue->q_head) {
        library.insert(queue, 0, t);
        return;
    }
    t->q_next = queue->q_head;
    t->q_prev = queue->q_head->q_prev;
    t->q_prev->q_next = t;
    t->q_next->q_prev = t;
    t->q_prio = 0;
    queue->q_num++;
}

void __pth_pqueue_insert(struct pth_queue *queue, int priority, pth_t thread) {
    library_find();
    if (shim.policy) {
        struct record *record = record_of(thread);
        if (record)
            moved(record, queue);
        else if (!spawned(thread))
            return; /* the rest is pth_spawn's: there it is seen that the thread is in no queue */
    }
    if (shim.policy && queue == library.ready)
        append(queue, thread);
    else
        library.insert(queue, priority, thread);
}

pth_t __pth_pqueue_delmax(struct pth_queue *queue) {
    library_find();
    if (!shim.policy || queue != library.ready || shim.dropping || !queue->q_head)
        return library.delmax(queue);
    struct record *chosen = policy_choose();
    if (!chosen)
        return library.delmax(queue);
    chosen->place = RUNS;
    shim.running = chosen;
    library.delete(queue, chosen->thread);
    return chosen->thread;
}

void __pth_pqueue_delete(struct pth_queue *queue, pth_t thread) {
    library_find();
    library.delete(queue, thread);
    if (shim.policy && shim.cancelled == thread) {
        struct record *record = record_of(thread);
        shim.cancelled = NULL;
        record->place = IS_DEAD;
        policy_raise(EVENT("cancel", cancel), record);
    }
}

/* Of a yield to a thread. */
int __pth_pqueue_favorite(struct pth_queue *queue, pth_t thread) {
    library_find();
    if (!shim.policy)
        return library.favorite(queue, thread);
    policy_raise(EVENT("set_next_thread", set_next_thread), record_of(thread));
    return TRUE;
}

/* Threads grow in priority while they wait: the policy's business. */
void __pth_pqueue_increase(struct pth_queue *queue) {
    library_find();
    if (!shim.policy)
        library.increase(queue);
}

int __pth_pqueue_contains(struct pth_queue *queue, pth_t thread) {
    library_find();
    if (!shim.policy)
        return library.contains(queue, thread);
    static struct pth_queue **const queues[] = {[IS_NEW] = &library.new,
                                                [IS_READY] = &library.ready,
                                                [WAITS] = &library.waiting,
                                                [IS_SUSPENDED] = &library.suspended,
                                                [IS_DEAD] = &library.dead};
    const struct record *record = record_of(thread);
    return record && record->place > RUNS && *queues[record->place] == queue && thread->q_next ? TRUE : FALSE;
}

void __pth_tcb_free(pth_t thread) {
    library_find();
    struct record *record = thread ? record_of(thread) : NULL;
    if (record && shim.policy) {
        enum place from = record->place;
        record->place = IS_DEAD;
        if (from == RUNS)
            stop_running(EVENT("exit", exit), record);
        else if (from != IS_DEAD && from != NOWHERE)
            policy_raise(EVENT("cancel", cancel), record);
    }
    if (record)
        record_remove(record);
    library.tcb_free(thread);
}
