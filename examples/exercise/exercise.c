/* Three pieces of homework, each a thread with a deadline. */
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"

static const int64_t HOUR = 3600 * INT64_C(1000000000);

struct homework {
    const char *name;
    int64_t hours; /* until it is due: so far apart that no machine is slow enough to change the order */
};

static struct homework homework[] = {{"essay", 9}, {"exam", 1}, {"drawing", 5}};

static void *do_it(void *argument) {
    struct homework *mine = argument;
    for (int part = 0; part < 3; part++)
        catapults_yield();
    printf(" %s", mine->name);
    return NULL;
}

int main(void) {
    if (catapults_init(NULL) != 0)
        return EXIT_FAILURE;
    enum { HOMEWORK = sizeof homework / sizeof homework[0] };
    catapults_t threads[HOMEWORK];
    printf("done:");
    for (int i = 0; i < HOMEWORK; i++) {
        struct catapults_value deadline = catapults_value_time("deadline", homework[i].hours * HOUR);
        struct catapults_attributes attributes = {
            .name = homework[i].name, .period = 24 * HOUR, .values = &deadline, .values_count = 1};
        if (catapults_create(&threads[i], &attributes, do_it, &homework[i]) != 0)
            return EXIT_FAILURE;
    }
    for (int i = 0; i < HOMEWORK; i++)
        catapults_join(threads[i], NULL);
    printf("\n");
    return EXIT_SUCCESS;
}
