/*
 * What the rest of the runtime knows of mutexes.
 *
 * The state word names the owner (core/thread_record.h). Its lowest bit says whether locking or unlocking takes more
 * than a change of the owner: a thread waits, the owner has locked the mutex more than once, or it is robust or has a
 * ceiling. So one comparison tells whether the short way may be taken: from 0 to the owner, from the owner to 0.
 */
#ifndef CATAPULTS_MUTEX_H
#define CATAPULTS_MUTEX_H

#include "process/names.h"
#include "threads/handle.h"

#define MUTEX_MORE NAME_OWN

/* With several processors the short ways are taken without the lock of the dispatcher, by atomic instructions. While
 * MUTEX_MORE is set nobody takes them. */
static inline struct member *mutex_owner(const catapults_mutex_t *mutex) {
    uintptr_t word = __atomic_load_n(&mutex->state, __ATOMIC_ACQUIRE) & ~MUTEX_MORE;
    struct member *owner = word ? member_placed(word) : NULL;
    return owner && owner->word != word ? &names_nobody : owner;
}

/* Within dispatcher_enter, before a decision by the state: nobody else changes the state until it is set anew. */
static inline void mutex_claim(catapults_mutex_t *mutex) {
    if (__builtin_expect(dispatcher_guard.several, 0))
        __atomic_fetch_or(&mutex->state, MUTEX_MORE, __ATOMIC_ACQUIRE);
}

uint32_t mutex_release(catapults_mutex_t *mutex, struct catapults_handle *self);
int mutex_relock(catapults_mutex_t *mutex, struct catapults_handle *self, uint32_t depth);

/* Both between dispatcher_enter and dispatcher_leave. The first unlocks a mutex that the running `self` has, however
 * often it has locked it, and returns the depth for mutex_get_back. */
static inline uint32_t mutex_give_up(catapults_mutex_t *mutex, struct catapults_handle *self) {
    if (__builtin_expect(dispatcher_guard.several || mutex->state != self->member.word, 0))
        return mutex_release(mutex, self);
    mutex->state = 0;
    return 0;
}

static inline int mutex_get_back(catapults_mutex_t *mutex, struct catapults_handle *self, uint32_t depth) {
    if (__builtin_expect(dispatcher_guard.several || mutex->state != 0 || depth, 0))
        return mutex_relock(mutex, self, depth);
    mutex->state = self->member.word;
    return 0;
}

/* The thread is being suspended. May run other threads. Between dispatcher_enter and dispatcher_leave. */
void mutex_pass_on(struct catapults_handle *thread);

/* `self` ends: the next to lock one of its robust mutexes is told. May run other threads. Between dispatcher_enter and
 * dispatcher_leave. */
void mutex_abandon_all(struct catapults_handle *self);

#endif
