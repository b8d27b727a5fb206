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
#include <sys/syscall.h>
#include <unistd.h>

struct surplus {
    struct surplus *next; /* the one that came before */
    siginfo_t info;
};

/* Called by a handler. Makes the system calls itself, because tools put off what libc's functions do there. False:
 * there is no memory, and the kernel keeps it for the calling kernel thread. */
static inline bool surplus_keep(struct surplus *_Atomic *list, siginfo_t *info) {
    struct surplus *one = (struct surplus *)syscall(SYS_mmap, NULL, sizeof *one, PROT_READ | PROT_WRITE,
                                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    if (one != MAP_FAILED) {
        one->info = *info;
        one->next = atomic_load(list);
        for (struct surplus *first = one->next; !atomic_compare_exchange_weak(list, &first, one);)
            one->next = first;
        return true;
    }
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), info->si_signo, info) != 0) {
        static const char lost[] = "catapults: a signal is lost: there is no memory for it, nor room in the kernel\n";
        if (write(STDERR_FILENO, lost, sizeof lost - 1) < 0)
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
    syscall(SYS_munmap, last,
            sizeof *last); /* a page that the kernel does not take back stays: nothing is lost by it */
    return true;
}

#endif
