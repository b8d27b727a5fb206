#include "../library.h"

catapults_int catapults_count(const struct catapults_thread *first) {
    catapults_int count = 0;
    for (; first; first = first->next) /* at most n turns */
        count++;
    return count;
}
