/*
 * Masks, what pends, and which thread gets it.
 */
#include "process/signals.h"

#include <errno.h>
#include <sys/mman.h>

#include "contexts/system.h"
#include "core/scheduler.h"
#include "preemption/preemption.h"
#include "process/face.h"
#include "process/kernel_threads.h"
#include "process/report.h"
#include "process/runtime.h"

enum { NODES_MOST = 32768, CHUNK = 64 << 10 }; /* beyond NODES_MOST senders, and the kernel, are to keep them */

struct signals signals;

static void append(struct signal_queue *queue, struct signal_node *node);
static struct signal_node *new_node(void);
static bool has_node(void);
static void free_queue(struct signal_queue *queue);
static struct signal_waiter *waiter_for(const struct member *thread, int number);
static void give(struct signal_waiter *waiter, const siginfo_t *info);
static struct member *target_of(int number);
static void make_due(struct member *thread);
static void make_due_among_several(struct member *thread, bool was_due);
static void interpose(struct member *thread);
static void resumed(void);

static struct signal_node *spare_nodes;
static unsigned nodes_in_use;
static bool none_left; /* what has arrived waits for a node */

/* ---- Sets -------------------------------------------------------------------------------------------------------- */

uint64_t signals_reserved(void) {
    return signal_bit(SIGKILL) | signal_bit(SIGSTOP) | signal_bit(SIGURG) | signal_bit(SIGVTALRM) |
           signal_bit(SIGNAL_LAST - 2) | SIGNALS_OF_LIBC;
}

uint64_t signals_of(const sigset_t *set) { return signal_word(set) & ~signals_reserved(); }

void signals_to(sigset_t *set, uint64_t word) {
    *set = (sigset_t){0};
    signal_set_word(set, word);
}

/* ---- What pends -------------------------------------------------------------------------------------------------- */

int signals_post(struct member *thread, const siginfo_t *info) {
    int number = info->si_signo;
    uint64_t bit = signal_bit(number);
    struct signal_waiter *waiter = waiter_for(thread, number);
    if (waiter) {
        give(waiter, info);
        return 0;
    }
    struct member *target = thread ? (signals_mask(thread) & bit ? NULL : thread) : target_of(number);
    if (target && signals_ignores(number))
        return 0;
    uint64_t *pending = thread ? &thread->signals.pending : &signals.pending;
    if (!(*pending & bit) || number >= SIGNAL_REAL_TIME) {
        struct signal_node *node = thread && nodes_in_use >= NODES_MOST ? NULL : new_node();
        if (!node)
            return EAGAIN;
        node->info = *info;
        append(thread ? &thread->signals.queue : &signals.queue, node);
        *pending |= bit;
    }
    if (target)
        make_due(target);
    return 0;
}

/* Not by malloc: the sender may have interrupted that. */
static bool has_node(void) {
    if (!spare_nodes) {
        struct signal_node *chunk =
            system_mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; !system_failed(chunk) && i < CHUNK / sizeof *chunk; i++) {
            chunk[i].next = spare_nodes;
            spare_nodes = &chunk[i];
        }
    }
    return spare_nodes;
}

static struct signal_node *new_node(void) {
    struct signal_node *node = has_node() ? spare_nodes : NULL;
    if (node) {
        spare_nodes = node->next;
        nodes_in_use++;
    }
    return node;
}

static void free_node(struct signal_node *node) {
    node->next = spare_nodes;
    spare_nodes = node;
    nodes_in_use--;
    if (__builtin_expect(none_left, 0)) {
        none_left = false;
        signals_arrived();
    }
}

static void append(struct signal_queue *queue, struct signal_node *node) {
    node->next = NULL;
    if (queue->first)
        queue->last->next = node;
    else
        queue->first = node;
    queue->last = node;
}

static void free_queue(struct signal_queue *queue) {
    struct signal_node *node;
    while ((node = queue->first)) {
        queue->first = node->next;
        free_node(node);
    }
}

/* Takes the first of that number; there is one. It still pends if there is another. */
static void take_from(struct signal_queue *queue, uint64_t *pending, int number, siginfo_t *info) {
    struct signal_node *node = queue->first, *previous = NULL, *other;
    while (node->info.si_signo != number) {
        previous = node;
        node = node->next;
    }
    *(previous ? &previous->next : &queue->first) = node->next;
    if (queue->last == node)
        queue->last = previous;
    for (other = node->next; other && other->info.si_signo != number; other = other->next)
        ;
    if (!other)
        *pending &= ~signal_bit(number);
    *info = node->info;
    free_node(node);
}

bool signals_take(struct member *thread, uint64_t set, siginfo_t *info) {
    uint64_t found = (thread->signals.pending | signals.pending) & set;
    if (!found)
        return false;
    int number = __builtin_ctzll(found) + 1;
    if (thread->signals.pending & signal_bit(number))
        take_from(&thread->signals.queue, &thread->signals.pending, number, info);
    else
        take_from(&signals.queue, &signals.pending, number, info);
    return true;
}

/* ---- Who gets it ------------------------------------------------------------------------------------------------- */

static struct signal_waiter *waiter_for(const struct member *thread, int number) {
    struct signal_waiter *waiter = signals.waiters;
    while (waiter && (!(waiter->set & signal_bit(number)) || (thread && waiter->thread != thread)))
        waiter = waiter->next;
    return waiter;
}

static void give(struct signal_waiter *waiter, const siginfo_t *info) {
    struct signal_waiter **link = &signals.waiters;
    while (*link != waiter)
        link = &(*link)->next;
    *link = waiter->next;
    waiter->info = *info;
    waiter->given = true;
    if (core_is_blocked(&waiter->thread->dispatched))
        dispatcher_unblock_only(&waiter->thread->dispatched);
}

/* The thread that runs there, if it takes such a signal; or NULL. */
static struct member *taker_on(const struct processor *processor, uint64_t bit) {
    struct dispatcher_thread *t = processor->current;
    bool runs = t != &processor->idle && t->state != THREAD_ENDED && t->state != THREAD_SUSPENDED;
    return runs && !(signals_mask(member_of(t)) & bit) ? member_of(t) : NULL;
}

/* The thread that gets a signal for the process; NULL: all block it. */
static struct member *target_of(int number) {
    uint64_t bit = signal_bit(number);
    struct member *running = taker_on(processor_here(), bit), *suspended = NULL;
    for (uint32_t i = 0; !running && dispatcher_guard.several && i < dispatcher_processors(); i++)
        running = taker_on(dispatcher_processor_at(i), bit);
    if (running)
        return running;
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t)) {
        struct member *thread = member_of(t);
        if (signals_mask(thread) & bit)
            continue;
        if (t->state != THREAD_SUSPENDED)
            return thread;
        if (!suspended)
            suspended = thread;
    }
    return suspended;
}

/* Something pends for the thread or for the process that it does not block: it is to look. */
static void make_due(struct member *thread) {
    struct signal_state *state = &thread->signals;
    struct dispatcher_thread *t = &thread->dispatched;
    bool was_due = state->due;
    __atomic_store_n(&state->due, true, __ATOMIC_SEQ_CST); /* before `place`: activations.c looks the other way round */
    switch ((enum signal_place)__atomic_load_n(&state->place, __ATOMIC_SEQ_CST)) {
    case SIGNAL_PLACE_NEW:
    case SIGNAL_PLACE_UPCALL:
        break; /* it looks when it begins, or goes on */
    case SIGNAL_PLACE_WAIT:
        if (core_is_blocked(t)) { /* else it looks when it goes on */
            state->interrupted = true;
            dispatcher_unblock_only(t);
        }
        break;
    case SIGNAL_PLACE_ELSEWHERE:
        if (dispatcher_guard.several) {
            make_due_among_several(thread, was_due);
        } else if (t == processor_here()->current) {
            signals_postpone_for(thread);
        } else {
            interpose(thread);
        }
        break;
    }
}

void signals_postpone_for(struct member *thread) {
    struct member *late = signals.late;
    signals.late = thread;
    if (late && late != thread && late->signals.due)
        make_due(late);
    dispatcher_signalled();
}

static void interpose(struct member *thread) {
    if (thread->signals.interposed)
        return;
    thread->signals.interposed = true;
    context_interpose(&thread->dispatched.context, resumed);
}

/* If it runs, it is interrupted, and again by the timer there as long as it is due. On the caller's processor it looks
 * when the call ends, unless it is about to lose the processor. */
static void make_due_among_several(struct member *thread, bool was_due) {
    const struct processor *here = processor_here(), *runner = processors_runner_of(&thread->dispatched);
    if (!runner)
        interpose(thread);
    else if (here->attends || (runner != here && !was_due))
        processors_interrupt(runner);
}

/* For one that was due while it ran, and has not looked since. */
void signals_about_to_run(struct dispatcher_thread *t) {
    struct member *thread = member_of(t);
    if (signals_due(thread) && thread->signals.place == SIGNAL_PLACE_ELSEWHERE && t != processor_here()->current)
        interpose(thread);
}

/* Between the switch to the thread and where it goes on. */
static void resumed(void) {
    struct member *self = member_self();
    context_enter(&self->dispatched.context);
    self->signals.interposed = false;
    if (signals_due(self))
        runtime.face->run_handlers(self);
    context_return(&member_self()->dispatched.context);
}

void signals_retarget(void) {
    for (uint64_t left = signals.pending; left; left &= left - 1) {
        struct member *target = target_of(__builtin_ctzll(left) + 1);
        if (target)
            make_due(target);
    }
}

/* ---- Taking up --------------------------------------------------------------------------------------------------- */

void signals_take_up(void) {
    signals_take_up_only();
    dispatcher_unblocked();
}

void signals_take_up_only(void) {
    __atomic_store_n(&signals.alerted, 0, __ATOMIC_RELAXED);
    (void)__atomic_exchange_n(&signals.arrived, false, __ATOMIC_SEQ_CST); /* before what has arrived is looked at */
    struct member *late = signals.late;
    signals.late = NULL;
    if (late && late->signals.due)
        make_due(late);
    siginfo_t info;
    for (;;) {
        none_left = !signals.by_upcall && (nodes_in_use >= NODES_MOST || !has_node());
        if (none_left || !preemption_arrival(&info))
            break;
        signals_post_arrived(&info);
    }
}

/* Nothing can keep it any more: it has come by an upcall, or was kept. */
void signals_post_arrived(const siginfo_t *info) {
    if (signals_post(NULL, info) != 0)
        runtime_report("signal %d is lost: there is no memory for what has arrived", info->si_signo);
}

void signals_attend(void) { signals_take_up(); }

void signals_undisturbed(void) {
    struct member *self = member_self();
    if (signals_due(self) && self->signals.place == SIGNAL_PLACE_ELSEWHERE)
        runtime.face->run_handlers(self);
}

void signals_end(struct member *self) {
    signals_set_due(self, false);
    if (signals.late == self)
        signals.late = NULL;
    signals_forget(self);
    if (signals.pending) {
        signals_retarget();
        dispatcher_unblocked(); /* one that was blocked may have taken the turn, and `exit` is of a RUNNING thread */
    }
}

void signals_forget(struct member *self) {
    self->signals.pending = 0;
    free_queue(&self->signals.queue);
}

void signals_restart(struct member *self) {
    preemption_arrivals_restart();
    free_queue(&self->signals.queue);
    free_queue(&signals.queue);
    self->signals.pending = signals.pending = 0;
    signals_set_due(self, false);
    signals.waiters = NULL;
    signals.late = NULL;
    signals.arrived = none_left = false;
    signals_leave_upcalls();
}

/* ---- What threads ask for ---------------------------------------------------------------------------------------- */

static const uint64_t faults = UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1) |
                               UINT64_C(1) << (SIGFPE - 1) | UINT64_C(1) << (SIGILL - 1) |
                               UINT64_C(1) << (SIGTRAP - 1) | UINT64_C(1) << (SIGSYS - 1);

int catapults_sigmask(int how, const sigset_t *set, sigset_t *before) {
    struct member *self = member_self();
    uint64_t mask = self->signals.mask, old = mask;
    if (set) {
        uint64_t given = signals_of(set);
        switch (how) {
        case SIG_BLOCK:
            mask |= given;
            break;
        case SIG_UNBLOCK:
            mask &= ~given;
            break;
        case SIG_SETMASK:
            mask = given;
            break;
        default:
            return EINVAL;
        }
    }
    if (before)
        signals_to(before, old);
    dispatcher_enter();
    /* What the kernel does by itself must not come past the mask. Faults concern only the thread. */
    for (uint64_t left = mask & ~signals.taken & ~faults; left; left &= left - 1)
        signals_own(__builtin_ctzll(left) + 1);
    signals_set_mask(self, mask);
    if (old & ~mask) {
        signals_take_up();
        if ((self->signals.pending | signals.pending) & ~mask)
            signals_set_due(self, true);
    }
    if (signals.pending & mask & ~old) {
        signals_retarget();
        dispatcher_unblocked();
    }
    dispatcher_leave();
    signals_check(self);
    return 0;
}

int catapults_sigpending(sigset_t *set) {
    dispatcher_enter();
    signals_take_up();
    struct member *self = member_self();
    signals_to(set, (self->signals.pending | signals.pending) & self->signals.mask);
    dispatcher_leave();
    signals_check(self);
    return 0;
}
