/*
 * The names of threads (core/thread_record.h). A place in the table belongs to memory in which records lie one after
 * the other, and which keeps the last name.
 */
#ifndef CATAPULTS_PROCESS_NAMES_H
#define CATAPULTS_PROCESS_NAMES_H

#include "process/member.h"

extern struct dispatcher_thread **names_table;

/* Stands for a thread that has ended, and whose memory may be another one's: for instance as the owner of a mutex. It
 * has the first place in the table. */
extern struct member names_nobody;

/* The first name of a new place; 0: no memory, or there are no more places. */
uintptr_t names_new_place(void);

/* Gives a new thread its name, the next after *last, which its memory keeps for the thread after it. False: there is
 * none. */
static inline __attribute__((always_inline)) bool names_give(struct member *thread, uint64_t *last) {
    uintptr_t name = *last + NAME_NEXT;
    if (__builtin_expect(name < NAME_NEXT, 0)) { /* there is no place, or the names of the place are used up */
        name = names_new_place();
        if (!name)
            return false;
    }
    *last = thread->word = thread->dispatched.name = name;
    names_table[name_place(name)] = &thread->dispatched;
    return true;
}
_Static_assert(STACK_UNNAMED + NAME_NEXT < NAME_NEXT, "a stack that nobody has had");

#endif
