/*
 * Makes upcalls: what they tell, and on which stack.
 */
#include "activations/activation.h"
#include "activations/upcall.h"

static _Atomic uint32_t given; /* how often stacks were given: a futex for those who wait for one */
static struct {
    _Atomic uint32_t full; /* 0: free, 1: being written, 2: a stack */
    stack_t stack;
} stacks[SA_STACKS_MOST];
static _Atomic unsigned last; /* where one was last taken or given */

bool upcall_give(const stack_t *stack) {
    unsigned at = atomic_load(&last);
    for (unsigned i = 0; i < SA_STACKS_MOST; i++, at--) {
        uint32_t free = 0;
        unsigned slot = at % SA_STACKS_MOST;
        if (!atomic_compare_exchange_strong(&stacks[slot].full, &free, 1))
            continue;
        stacks[slot].stack = *stack;
        atomic_store(&stacks[slot].full, 2);
        atomic_store(&last, slot);
        atomic_fetch_add(&given, 1);
        return true;
    }
    return false;
}

void upcall_given(void) { futex_wake(&given, INT32_MAX); }

/* The pages of the stack that was given last are in the caches. */
static stack_t take_stack(void) {
    for (;;) {
        uint32_t before = atomic_load(&given);
        unsigned at = atomic_load(&last);
        for (unsigned i = 0; i < SA_STACKS_MOST; i++, at++) {
            uint32_t full = 2;
            unsigned slot = at % SA_STACKS_MOST;
            if (!atomic_compare_exchange_strong(&stacks[slot].full, &full, 1))
                continue;
            stack_t stack = stacks[slot].stack;
            atomic_store(&stacks[slot].full, 0);
            atomic_store(&last, slot);
            return stack;
        }
        futex_wait(&given, before, -1);
    }
}

/* AddressSanitizer is told of the stack in programs that have it. */
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size) __attribute__((weak));
void __sanitizer_finish_switch_fiber(void *save, const void **bottom, size_t *size) __attribute__((weak));

struct upcall {
    int type, events, interrupted;
    void *argument;
};

static void add(struct lwp *self, int at, const struct lwp *lwp) {
    self->events[at] = lwp->sa;
    self->sas[at] = &self->events[at];
}

/* Takes at most SA_EVENTS_MOST of the list, the oldest first. */
static int take_list(struct lwp *self, struct lwp *_Atomic *list) {
    struct lwp *first = atomic_exchange(list, NULL), *oldest = NULL;
    while (first) {
        struct lwp *next = first->next;
        first->next = oldest;
        oldest = first;
        first = next;
    }
    int count = 0;
    for (struct lwp *lwp = oldest, *next; lwp; lwp = next) {
        next = lwp->next;
        if (count < SA_EVENTS_MOST)
            add(self, ++count, lwp);
        else
            interrupt_push(list, lwp);
        if (lwp_state(lwp) == LWP_TAKEN) /* it stood for an idle processor that left */
            lwp_put_back(&sa_processors[lwp->sa.sa_cpu], lwp);
    }
    return count;
}

/* Takes what is in the lists. `about`: the activation interrupted for it, or NULL. */
static bool news(struct lwp *self, struct lwp *about, struct upcall *upcall) {
    *upcall = (struct upcall){.type = SA_UPCALL_PREEMPTED};
    if ((upcall->events = take_list(self, &activations.removed)) == 0) {
        upcall->type = SA_UPCALL_UNBLOCKED;
        if ((upcall->events = take_list(self, &activations.returned)) == 0) {
            upcall->type = SA_UPCALL_SIGNAL;
            upcall->argument = &self->info;
            if (!signals_next(&self->info))
                return false;
        }
    }
    if (about) {
        upcall->interrupted = 1;
        add(self, upcall->events + 1, about);
    }
    return true;
}

/* On a stack of the library, within a hold: an interrupted upcall would be one more thread to consider. */
static void enter(void *argument) {
    struct upcall *upcall = argument;
    struct lwp *self = sa_here();
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
    atomic_load (&activations.upcall)(upcall->type, self->sas, upcall->events, upcall->interrupted, upcall->argument);
    __builtin_trap(); /* upcalls do not return */
}

/* The caller has the processor. */
_Noreturn static void make(struct lwp *self, struct sa_processor *processor, const struct upcall *upcall) {
    self->sa.sa_cpu = processor->number;
    self->sa.sa_context = NULL;
    add(self, 0, self);
    stack_t stack = take_stack();
    char *top = (char *)stack.ss_sp + stack.ss_size - sizeof(struct upcall);
    top -= (uintptr_t)top % 64;
    *(struct upcall *)top = *upcall;
    atomic_store(&self->hold_depth, 1);
    lwp_change(self, atomic_load(&self->word), LWP_RUNNING);
    watch_unpark(processor);
    if (UNLIKELY(atomic_load(&self->pinned)))
        lwp_unpin(self);
    signal_mask(signals_open(activations.mask));
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(NULL, stack.ss_sp, stack.ss_size);
    sa_on_stack(top, enter, top);
}

/* The caller's processor is to go. `about`: what it ran, or NULL. */
static void leave(struct lwp *self, struct sa_processor *processor, struct lwp *about) {
    lwp_let_go(self);
    atomic_store(&processor->active, false);
    atomic_store(&processor->wanted, 0);
    atomic_store(&processor->carrier, NULL);
    if (about) {
        interrupt_push(&activations.removed, about);
    } else {
        struct lwp *idle = lwp_take(processor); /* a record that tells of it */
        if (idle) {
            idle->sa.sa_cpu = processor->number;
            idle->sa.sa_context = NULL;
            interrupt_push(&activations.removed, idle);
        }
    }
    interrupt_notify(&sa_processors[0]);
}

void upcall_make(struct lwp *self) {
    struct sa_processor *processor = self->processor;
    struct lwp *about = self->about;
    struct upcall upcall = {0};
    switch (self->call) {
    case CALL_BLOCKED:
        if (!watch_take_over(self, processor, about, self->about_word))
            return;
        upcall = (struct upcall){.type = SA_UPCALL_BLOCKED, .events = 1};
        self->sas[1] = &self->events[1];
        break;
    case CALL_NEWPROC:
        atomic_store(&processor->carrier, self);
        upcall = (struct upcall){.type = SA_UPCALL_NEWPROC, .events = about ? 1 : 0};
        if (about)
            add(self, 1, about);
        break;
    case CALL_USER:
        atomic_store(&processor->carrier, self);
        interrupt_answer(about, processor);
        upcall = (struct upcall){.type = SA_UPCALL_USER, .events = 1};
        add(self, 1, about);
        break;
    case CALL_SIGNAL:
        atomic_store(&processor->carrier, self);
        self->info = about->info;
        upcall = (struct upcall){.type = SA_UPCALL_SIGNAL, .events = 1, .argument = &self->info};
        add(self, 1, about);
        break;
    case CALL_NEWS:
        atomic_store(&processor->carrier, self);
        if (atomic_load(&processor->wanted) & WANTED_LEAVES) {
            leave(self, processor, about);
            return;
        }
        if (!news(self, about, &upcall)) {
            lwp_resume(about, processor);
            return;
        }
        break;
    }
    make(self, processor, &upcall);
}

void upcall_idle(struct lwp *self) {
    struct sa_processor *processor = self->processor;
    struct upcall upcall;
    for (;;) {
        if (atomic_load(&processor->wanted) & WANTED_LEAVES) {
            leave(self, processor, NULL);
            return;
        }
        if (interrupt_asked(self)) {
            interrupt_answer(self, processor);
            self->sa.sa_context = NULL;
            add(self, 1, self);
            make(self, processor, &(struct upcall){.type = SA_UPCALL_USER, .events = 1});
        }
        if (news(self, NULL, &upcall))
            make(self, processor, &upcall);
        uint32_t word = (atomic_load(&self->word) & ~(uint32_t)LWP_STATE) | LWP_IDLE;
        atomic_store(&self->word, word);
        if ((interrupt_news(processor) || atomic_load(&self->user)) && lwp_change(self, word, LWP_RUNNING))
            continue;
        while (atomic_load(&self->word) == word)
            futex_wait(&self->word, word, -1);
    }
}
