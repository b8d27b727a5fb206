/*
 * NPTL keeps a list of a thread's robust mutexes in the thread's own memory, for the kernel. The memory may be damaged:
 * the list is followed for so many steps and no more.
 */
#include "beneath/robust.h"

#include <linux/futex.h>

#include "beneath/futex.h"

enum { STEPS = ROBUST_LIST_LIMIT };

long robust_set(const struct call *call) {
    if ((size_t)call->second != sizeof(struct robust_list_head))
        return -EINVAL;
    thread_self()->robust = (struct robust_list_head *)call->first;
    return 0;
}

static void abandon(const struct beneath_thread *self, uint32_t *word, bool inherits) {
    if (inherits && (__atomic_load_n(word, __ATOMIC_SEQ_CST) & FUTEX_TID_MASK) == (uint32_t)self->number) {
        futex_pass_on(word, FUTEX_OWNER_DIED);
        return;
    }
    uint32_t value = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    do
        if ((value & FUTEX_TID_MASK) != (uint32_t)self->number)
            return;
    while (!__atomic_compare_exchange_n(word, &value, (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    struct beneath_thread *next = value & FUTEX_WAITERS ? futex_take(word) : NULL;
    if (next)
        dispatcher_unblock(&next->member.dispatched);
}

/* Its lowest bit is set for a mutex with priority inheritance. */
static bool inherits(const struct robust_list *pointer) { return (uintptr_t)pointer & 1; }
static struct robust_list *entry(const struct robust_list *pointer) {
    return (struct robust_list *)((uintptr_t)pointer & ~(uintptr_t)1);
}

void robust_end(struct beneath_thread *self) {
    const struct robust_list_head *head = self->robust;
    if (!head)
        return;
    const struct robust_list *pending = head->list_op_pending, *pointer = head->list.next;
    for (int step = 0; entry(pointer) != &head->list && step < STEPS; step++) {
        const struct robust_list *one = entry(pointer), *next = one->next; /* before others can have the mutex */
        if (one != entry(pending))
            abandon(self, (uint32_t *)((char *)one + head->futex_offset), inherits(pointer));
        pointer = next;
    }
    if (entry(pending))
        abandon(self, (uint32_t *)((char *)entry(pending) + head->futex_offset), inherits(pending));
}
