/*
 * The processor that the caller runs on, also for the layers above the dispatcher.
 */
#ifndef CATAPULTS_PROCESSOR_HERE_H
#define CATAPULTS_PROCESSOR_HERE_H

#include "contexts/here.h"
#include "core/processor.h"
#include "dispatcher/dispatcher.h"

/* The first one. */
extern struct processor dispatcher_processor __attribute__((visibility("hidden")));

/* The processor of the caller's kernel thread. An activation that carries one of several processors is told which
 * (dispatcher_carry_on); all others carry the first. After a switch it may be another one: see here(). */
static inline __attribute__((always_inline)) struct processor *processor_here(void) { return here()->processor; }

/* The table of names (core/thread_record.h). The layer that makes threads keeps it, and enters each thread before
 * others can know its name. Other processors may still look at the table before, which is kept. */
extern struct dispatcher_thread *const *dispatcher_named __attribute__((visibility("hidden")));

#endif
