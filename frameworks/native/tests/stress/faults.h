/*
 * Faults of random programs: memory that there is not, calls that are interrupted or would block. The Makefile has the
 * linker send such calls of the runtime to faults.c.
 */
#ifndef CATAPULTS_STRESS_FAULTS_H
#define CATAPULTS_STRESS_FAULTS_H

#include <stdint.h>

enum fault { FAULT_MEMORY, FAULT_AGAIN, FAULT_INTERRUPTED, FAULT_CLOSED, FAULT_SPARE, FAULTS };

/* How many came of each kind. Whoever runs several programs puts them where all of these see them. */
extern _Atomic long *faults_counted;

/* Faults come from now on, of kinds and as often as the seed says; by a signal that is not restarted (SIGWINCH), too.
 */
void faults_begin(uint64_t seed);
/* None comes between these, which nest: for what may not fail. */
void faults_hold(void);
void faults_release(void);
void count_fault(enum fault fault);

#endif
