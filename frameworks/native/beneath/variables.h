/*
 * Variables that policies import, and that change without any event: what a thread waits for, and those of a
 * description of the program (cli/src/described.rs).
 */
#ifndef CATAPULTS_BENEATH_VARIABLES_H
#define CATAPULTS_BENEATH_VARIABLES_H

#include "beneath/sites.h"
#include "beneath/thread.h"

/* Of a thread. The description's have their numbers. */
struct variables {
    catapults_int waits_for; /* enum waits_for: until it runs again, what it has waited for */
    catapults_int described[];
};

/* The import `waits_for`: see docs/unmodified.md, which has the same numbers. */
enum waits_for {
    WAITS_FOR_NOTHING,
    WAITS_FOR_LOCK,
    WAITS_FOR_CONDITION,
    WAITS_FOR_THREAD,
    WAITS_FOR_DESCRIPTOR,
    WAITS_FOR_DISK,
    WAITS_FOR_INSTANT,
    WAITS_FOR_SIGNAL,
    WAITS_FOR_KERNEL
};

/* Before the runtime starts: NULL, or what is wrong. Afterwards, before sites_patch: ends the program if a policy
 * imports one of another type. */
const char *variables_expect(const struct sites_table *table);
void variables_register(const struct sites_table *table);

/* Says which imports of the policies have no value but their defaults, if there is a description. */
void variables_check(const struct sites_table *table);

/* A record, with zeros. False: no memory. It has them for good; the next thread that has the record begins anew. */
bool variables_begin(struct beneath_thread *thread);

/* The kernel thread runs the thread from now on. */
void variables_exchange(const struct beneath_thread *thread);

/* The caller is about to wait for this reason; and has waited. */
void variables_wait(struct beneath_thread *thread, enum dispatcher_reason reason);
void variables_waited(struct beneath_thread *thread);

/* Before policies decide: what policies cannot read where the program has it. */
void variables_refresh(void);

/* The variable of the object with this number, which is loaded at `base`. */
void variables_place(const struct sites_table *table, uint32_t object, uintptr_t base);

#endif
