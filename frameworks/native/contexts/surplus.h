/*
 * Signals for which a handler of the kernel's finds no room. They cannot be sent back to the process: the kernel takes
 * a signal that says who sent it (si_code >= 0) from the first kernel thread only, and from others only if they send it
 * to themselves. So each is kept on a page of its own. That is rare: a handler that finds no room blocks its signals
 * until there is room.
 */
#ifndef CATAPULTS_SURPLUS_H
#define CATAPULTS_SURPLUS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "contexts/system.h"

struct surplus {
    struct surplus *next; /* the one that came before */
    siginfo_t info;
};

/* Called by a handler, which tools must not put off. False: there is no memory, and the kernel keeps it for the calling
 * kernel thread. */
static inline bool surplus_keep(struct surplus *_Atomic *list, siginfo_t *info) {
    struct surplus *one = (struct surplus *)system_call_6(SYS_mmap, 0, sizeof *one, PROT_READ | PROT_WRITE,
                                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!system_failed(one)) {
        one->info = *info;
        one->next = atomic_load(list);
        for (struct surplus *first = one->next; !atomic_compare_exchange_weak(list, &first, one);)
            one->next = first;
        return true;
    }
    if (system_call(SYS_rt_tgsigqueueinfo, system_getpid(), system_gettid(), info->si_signo, (long)info) != 0) {
        static const char lost[] = "catapults: a signal is lost: there is no memory for it, nor room in the kernel\n";
        if (system_call(SYS_write, 2, (long)lost, sizeof lost - 1, 0) < 0)
            return false; /* nobody can be told */
    }
    return false;
}

/* Takes the one that came first. While another is being taken there seems to be none. */
static inline bool surplus_take(struct surplus *_Atomic *list, siginfo_t *info) {
    struct surplus *first = atomic_load(list) ? atomic_exchange(list, NULL) : NULL;
    if (!first)
        return false;
    struct surplus *last = first, *after = NULL;
    for (; last->next; last = last->next)
        after = last;
    if (after)
        after->next = NULL;
    for (struct surplus *rest = after ? first : NULL, *none = NULL;
         rest && !atomic_compare_exchange_strong(list, &none, rest); none = NULL) {
        struct surplus *newer = atomic_exchange(list, NULL), *end = newer;
        while (end && end->next)
            end = end->next;
        if (end)
            end->next = rest;
        rest = newer ? newer : rest;
    }
    *info = last->info;
    /* A page that the kernel does not take back stays: nothing is lost by it. */
    system_call(SYS_munmap, (long)last, sizeof *last, 0, 0);
    return true;
}

#endif
