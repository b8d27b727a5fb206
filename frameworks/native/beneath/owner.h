/*
 * Who has a lock of NPTL's, as far as its word and what lies beside it tell. A thread that waits for it lends its turns
 * to that thread.
 */
#ifndef CATAPULTS_BENEATH_OWNER_H
#define CATAPULTS_BENEATH_OWNER_H

#include "beneath/thread.h"

/* A lock for which threads wait. */
struct owned;

/* The caller is about to wait while the word has this value. NULL: it is no lock, nobody is known to have it, or that
 * thread waits for the caller. May run other threads. All of these within dispatcher_enter. */
struct owned *owner_of(const uint32_t *word, uint32_t value);

/* The word that names it, for thread_lend. */
const uintptr_t *owner_name(const struct owned *lock);

/* The caller, which has waited, waits no longer. May run other threads. */
void owner_forget(struct owned *lock);

/* The caller has freed the lock, and `thread`, which was waiting for the word, takes it next: unblocks it. False: it
 * was not for a lock that others have. May run other threads. */
bool owner_passes(const uint32_t *word, struct beneath_thread *thread);

/* What the policy reads of it: `owns`, `waiters`. */
enum { OWNER_VALUES = 2 };
void owner_values(const struct beneath_thread *thread, struct catapults_value values[OWNER_VALUES]);
bool owner_keeps(const char *name);

/* In a child of fork. */
void owner_restart(void);

#endif
