/*
 * Random programs (../stress.c): what their parts share. Each part is a scene: what threads do with one subject of
 * catapults.h, and what must be so in the end.
 */
#ifndef CATAPULTS_STRESS_H
#define CATAPULTS_STRESS_H

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catapults.h"
#include "stress/faults.h"
#include "stress/require.h"

/* In memory that all programs have in common. */
struct totals {
    _Atomic long programs, operations, threads, preemptions, faults[FAULTS];
};
extern struct totals *totals;

/* Of the program at hand. */
struct program {
    uint64_t seed;
    bool activations, stepped;
    int64_t unit; /* of short times, nanoseconds: an operation takes longer when it is stepped */
    int every;    /* stepped: an instruction of the application that loses the processor */
    _Atomic int created, ended;
};
extern struct program program;

/* A thread that does something at random. */
struct worker {
    uint64_t random;
    catapults_int priority, bytesleft; /* for policies */
    int number;
    bool inside; /* it has a lock: only what ends soon, and waits for no other one */
};

enum { US = 1000, MS = 1000000, WORKERS_MOST = 12 };

static inline int any(struct worker *self, int below) {
    return (int)((next_random(&self->random) >> 20) % (unsigned)below);
}

/* A thread with a copy of its creator's randomness; NULL: there was no memory, or the policy refused it. It calls
 * `ends` last. */
catapults_t spawn(struct worker *self, struct catapults_attributes *attributes, void *(*start)(void *), void *argument);
void ends(void);
void join(catapults_t thread, void **result);
/* What takes no lock: yields, sleeps, computes. */
void pause_somehow(struct worker *self);

struct scene {
    const char *name;
    void (*begin)(struct worker *self); /* on the first thread */
    void (*act)(struct worker *self);
    void (*end)(struct worker *self); /* all others have ended */
};
extern const struct scene locks_scene, meetings_scene, lives_scene, ports_scene, descriptors_scene, policies_scene,
    kernel_scene, jobs_scene;

/* ---- steps.c ----------------------------------------------------------------------------------------------------- */

/* Every so many instructions of the application its thread loses the processor. */
void steps_begin(int every);
/* For the caller, until it is left by it: whoever is switched to has to say so again. */
void steps_go_on(void);
void steps_end(void);

#endif
