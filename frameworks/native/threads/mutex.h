/*
 * What the rest of the runtime knows of mutexes.
 *
 * The state word is what names the owner (handle.h), and in its lowest bit whether locking or unlocking is more than to
 * change the owner: somebody waits, the owner has locked it more than once, or the mutex is robust or has a ceiling. So
 * one comparison tells whether the short way may be taken: from 0 to the owner, from the owner to 0.
 */
#ifndef CATAPULTS_MUTEX_H
#define CATAPULTS_MUTEX_H

#include "threads/handle.h"

#define MUTEX_MORE ((uintptr_t)1)

/* Stands for an owner that has ended: its memory may be another thread's. */
extern struct catapults_handle mutex_nobody;

static inline struct catapults_handle *mutex_owner(const catapults_mutex_t *mutex) {
    struct catapults_handle *owner = (struct catapults_handle *)(mutex->state & DISPATCHER_NAME_ADDRESS);
    return owner && ((owner->word ^ mutex->state) & ~MUTEX_MORE) ? &mutex_nobody : owner;
}

/* Both between dispatcher_enter and dispatcher_leave. Unlocks a mutex that `self`, who runs, has, however often it has
 * locked it. Returns the depth for mutex_relock. */
uint32_t mutex_release(catapults_mutex_t *mutex, struct catapults_handle *self);
int mutex_relock(catapults_mutex_t *mutex, struct catapults_handle *self, uint32_t depth);

/* `self` ends: whoever comes next to its robust mutexes is told. May run other threads. Between dispatcher_enter and
 * dispatcher_leave. */
void mutex_abandon_all(struct catapults_handle *self);

#endif
