/*
 * The dispatcher: raises events, runs what the policy dispatched. It has no policy of its own but the built-in FIFO that
 * takes over when one has to go. It calls no libc function, allocates nothing, and touches no vector register.
 *
 * One virtual processor: everything here is called on it, by the running thread or by the driver's `poll`.
 */
#ifndef CATAPULTS_DISPATCHER_H
#define CATAPULTS_DISPATCHER_H

#include "native_policy.h"

/* Why a thread blocks: one for each block.* event of native.framework, in its order. */
enum dispatcher_reason {
    BLOCK_IO_READ, BLOCK_IO_WRITE, BLOCK_IO_ACCEPT, BLOCK_IO_CONNECT, BLOCK_IO_FILE,
    BLOCK_LOCK, BLOCK_CONDITION, BLOCK_JOIN, BLOCK_SLEEP
};

/* The dispatcher's record of a thread; the policy's part is its last member. */
struct dispatcher_thread;

/* Looks after operations that are under way outside: descriptors, files. Set once, before any thread blocks on one. */
struct dispatcher_driver {
    /* Calls dispatcher_unblock for each thread whose operation has finished. Sleeps until there is one or the instant is
     * reached; returns at once if the instant is 0 or past. */
    void (*poll)(int64_t instant);
    /* Whether any operation is under way; if not, and no timer is set, nothing can ever unblock a thread. */
    bool (*busy)(void);
};
void dispatcher_set_driver(const struct dispatcher_driver *driver);

struct dispatcher_thread *dispatcher_self(void);

/* Blocks the running thread until dispatcher_unblock. Returns 0, or ETIMEDOUT if the instant came first (the caller then sees
 * to it that nobody unblocks it later). CATAPULTS_FOREVER: no timer. */
int dispatcher_block(enum dispatcher_reason reason, int64_t instant);

/* What the thread waits for has happened: raises event_raised. Once for each dispatcher_block; never for a running thread. */
void dispatcher_unblock(struct dispatcher_thread *thread);

void dispatcher_yield(void);

#endif
