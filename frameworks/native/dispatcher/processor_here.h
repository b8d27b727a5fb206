/*
 * The processor that the caller runs on, for those above the dispatcher, too.
 */
#ifndef CATAPULTS_PROCESSOR_HERE_H
#define CATAPULTS_PROCESSOR_HERE_H

#include "contexts/here.h"
#include "core/processor.h"
#include "dispatcher/dispatcher.h"

/* The first one. */
extern struct processor dispatcher_processor __attribute__((visibility("hidden")));

/* The one that the caller runs on: that of the kernel thread. Activations that carry one of several are told which
 * (dispatcher_carry_on); all others carry the first. After a switch it may be another one: see here(). */
static inline __attribute__((always_inline)) struct processor *processor_here(void) { return here()->processor; }

/* What names threads (core/thread_record.h). Whoever makes threads keeps it, and puts each thread there before others
 * can know its name. Of several processors some may look at the one before, which is kept. */
extern struct dispatcher_thread *const *dispatcher_named __attribute__((visibility("hidden")));

#endif
