/*
 * thread_local variables of the program, one set for each thread (catapults_options.own_thread_locals).
 */
#ifndef CATAPULTS_PROCESS_THREAD_LOCALS_H
#define CATAPULTS_PROCESS_THREAD_LOCALS_H

#include "dispatcher/dispatcher.h"
#include "process/runtime.h"

/* Before records of threads are laid out: whether each thread has its own, and how much of a record they take. Reports
 * what cannot be; 0 or EINVAL. */
int thread_locals_prepare(const struct catapults_options *options, struct dispatcher_host *host);

/* A new thread begins with the values that the program begins with. */
void thread_locals_begin(struct member *thread);

#endif
