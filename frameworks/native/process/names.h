/*
 * The names of threads (core/thread_record.h). A place in the table belongs to a stack, and so to all threads whose
 * records are there one after the other.
 */
#ifndef CATAPULTS_PROCESS_NAMES_H
#define CATAPULTS_PROCESS_NAMES_H

#include "process/handle.h"

extern struct dispatcher_thread **names_table;

/* Stands for a thread that has ended, and whose memory may be another one's: for instance as the owner of a mutex. It
 * has the first place in the table. */
extern struct catapults_handle names_nobody;

/* The first name of a new place; 0: no memory, or there are no more places. */
uintptr_t names_new_place(void);

/* Gives a new thread its name. False: there is none. */
static inline __attribute__((always_inline)) bool names_give(struct catapults_handle *thread) {
    uintptr_t name = thread->stack->name + NAME_NEXT;
    if (__builtin_expect(name < NAME_NEXT, 0)) { /* its stack has no place, or has used up the names of its place */
        name = names_new_place();
        if (!name)
            return false;
    }
    thread->stack->name = thread->word = thread->dispatched.name = name;
    names_table[name_place(name)] = &thread->dispatched;
    return true;
}
_Static_assert(STACK_UNNAMED + NAME_NEXT < NAME_NEXT, "a stack that nobody has had");

#endif
