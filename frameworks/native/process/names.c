#include "process/names.h"

#include <string.h>

#include "contexts/memory.h"

enum { FEW = 256 };

struct member names_nobody = {.word = NAME_NEXT | NAME_IN_TABLE,
                              .dispatched = {.name = NAME_NEXT | NAME_IN_TABLE, .state = THREAD_ENDED}};

static struct dispatcher_thread *few[FEW] = {&names_nobody.dispatched};

struct dispatcher_thread **names_table = few;
static size_t count = 1, room = FEW;

uintptr_t names_new_place(void) {
    if (count == room) {
        struct dispatcher_thread **more = room < NAME_PLACES ? memory_take(2 * room * sizeof *more) : NULL;
        if (!more)
            return 0;
        memcpy(more, names_table, room * sizeof *more);
        names_table = more; /* other processors may still look at the old one: it stays */
        room *= 2;
    }
    __atomic_store_n(&dispatcher_named, names_table, __ATOMIC_RELEASE);
    return NAME_NEXT | (uintptr_t)count++ << NAME_SHIFT | NAME_IN_TABLE;
}
