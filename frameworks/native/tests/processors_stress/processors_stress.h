/*
 * Random programs on several processors (../processors_stress.c): what their parts share.
 */
#ifndef CATAPULTS_PROCESSORS_STRESS_H
#define CATAPULTS_PROCESSORS_STRESS_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catapults.h"
#include "stress/faults.h"
#include "stress/require.h"

enum { US = 1000, MS = 1000000, WORKERS = 20 };

struct worker {
    /* For policies: whatever they import of this. */
    catapults_int priority, tickets, weight, nice, share, bytesleft;
    uint64_t random;
    int number;
    atomic_bool runs; /* it is in its own code */
    atomic_bool ended;
    catapults_t thread;
};

extern struct worker workers[WORKERS];
extern catapults_key_t key;
extern catapults_mutex_t gate;

static inline int any(struct worker *self, int below) {
    return (int)((next_random(&self->random) >> 20) % (unsigned)below);
}

/* `errno`: its address is that of the kernel thread, which changes under the code that asks. */
int error_here(void);
void set_error_here(int error);

/* Around all that may run others. */
static inline void leave_own_code(struct worker *self) { require(atomic_exchange(&self->runs, false)); }
static inline void come_back(struct worker *self) {
    require(!atomic_exchange(&self->runs, true)); /* else it runs twice */
    require(catapults_self() == self->thread && catapults_getspecific(key) == self);
}

static inline void compute(struct worker *self) {
    for (volatile int i = any(self, 30000); i > 0; i--)
        ;
}

/* For messages. */
const char *file_of(const char *path);
/* Once all are there. */
void begin_own_code(struct worker *self);
/* Anything. */
void do_something(struct worker *self);
/* What a thread does that is brief; it counts itself. */
void *come_and_go(void *argument);
extern atomic_int children; /* that do so */

/* ---- policies.c -------------------------------------------------------------------------------------------------- */

enum { POLICIES_MOST = 64 };
extern char *policies[POLICIES_MOST];
extern int policies_count; /* the first is the built-in one */
extern bool with_nodes[POLICIES_MOST];

void find_policies(void);
void register_variables(void);
void become_another(struct worker *self);

/* ---- schedulers.c ------------------------------------------------------------------------------------------------ */

extern int tree_count;  /* schedulers below the root */
extern int root_policy; /* its place in `policies` */

void grow_tree(struct worker *self);
/* NULL: the root, or where threads go that say nothing. */
catapults_scheduler_t any_scheduler(struct worker *self);
/* The caller goes to another. */
void change_scheduler(struct worker *self);
/* One comes, has threads, and goes. */
void use_scheduler(struct worker *self);
void replace_one(struct worker *self);
/* None has lost its policy. */
void check_tree(void);

/* ---- shared.c ---------------------------------------------------------------------------------------------------- */

extern catapults_cond_t cond;

void begin_shared(struct worker *self);
void use_mutex(struct worker *self);
void use_chain(struct worker *self);
void use_condition(struct worker *self);
void use_semaphore(struct worker *self);
void use_rwlock(struct worker *self);
void call(struct worker *self);
/* All counts agree. */
void end_shared(void);

/* ---- signals.c --------------------------------------------------------------------------------------------------- */

extern bool with_signals; /* there are any in this program */

void begin_signals(void);
void use_signals(struct worker *self);
/* None is lost. */
void end_signals(void);

/* ---- groups.c ---------------------------------------------------------------------------------------------------- */

void make_groups(struct worker *self);
void join_groups(void);
/* Of a group, or a worker. */
catapults_t any_thread(struct worker *self);

#endif
