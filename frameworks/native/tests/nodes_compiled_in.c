/*
 * A policy with nodes that is compiled into the dispatcher: its handlers are called as those of one that is loaded.
 */
#include <stdatomic.h>

#include "catapults.h"
#include "support/child.h"

static atomic_int there;

/* None of them lets another run. */
static void *meet(void *argument) {
    int expected = (int)(intptr_t)argument;
    atomic_fetch_add(&there, 1);
    while (atomic_load(&there) < expected)
        ;
    for (int i = 0; i < 100; i++)
        catapults_yield();
    return argument;
}

static void meet_on(int processors) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors}) == 0);
    catapults_t threads[8];
    for (int i = 1; i < processors; i++)
        require(catapults_create(&threads[i], NULL, meet, (void *)(intptr_t)processors) == 0);
    meet((void *)(intptr_t)processors);
    for (int i = 1; i < processors; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(strcmp(catapults_policy_name(), "places") == 0);
}

static void on_one(void) { meet_on(1); }

static void on_three(void) {
    meet_on(3);
    require(catapults_set_processors(1) == 0 && catapults_set_processors(4) == 0);
    atomic_store(&there, 0);
    catapults_t threads[3];
    for (int i = 0; i < 3; i++)
        require(catapults_create(&threads[i], NULL, meet, (void *)4) == 0);
    meet((void *)4);
    for (int i = 0; i < 3; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {child_test(on_one), child_test(on_three)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
