/*
 * What pends for one thread alone: one signal of each number, of the real-time ones as many as were sent. Guarded by
 * the lock.
 */
#ifndef CATAPULTS_BENEATH_PENDING_H
#define CATAPULTS_BENEATH_PENDING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { SIGNALS = 64, FIRST_OF_LIBC = 32 /* these and the real-time ones queue */ };

struct pending_signal;

struct pending {
    uint64_t set; /* the numbers of those that pend */
    struct pending_signal *first, *last;
};

static inline uint64_t signal_bit(int signal) { return UINT64_C(1) << (signal - 1); }

/* 0; -EAGAIN: too many pend, as RLIMIT_SIGPENDING says, or there is no memory. */
long pending_add(struct pending *pending, const siginfo_t *info);

/* The first of the lowest number of these. False: there is none. */
bool pending_take(struct pending *pending, uint64_t of, siginfo_t *info);

/* The one in the list that a timer has sent; NULL: there is none. */
siginfo_t *pending_of_timer(const struct pending *pending, int signal, int timer);

/* Forgets these, which are the numbers of some. */
void pending_forget(struct pending *pending, uint64_t signals);

#endif
