/*
 * Links against a naive model: whom each link of each thread names. Random assignments and ends of threads; after each
 * every link, and every list of the links to a thread, is compared. Threads that end are freed: the sanitizers see a
 * link that still leads to one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "catapults/links.h"

enum { THREADS = 12, LINKS = 2, STEPS = 40000, NOBODY = -1 };

struct item {
    struct catapults_thread base;
    struct catapults_link links[LINKS];
    struct catapults_link *linked;
};

static struct item *items[THREADS];
static int model[THREADS][LINKS]; /* whom each names */

static void begin(int i) {
    items[i] = calloc(1, sizeof *items[i]);
    assert_non_null(items[i]);
    for (int link = 0; link < LINKS; link++)
        model[i][link] = NOBODY;
}

static void set(int i, int link, int to) {
    struct item *other = to == NOBODY ? NULL : items[to];
    catapults_link_set(&items[i]->links[link], other ? &other->base : NULL, other ? &other->linked : NULL);
    model[i][link] = to;
}

/* As generated code does it. */
static void end(int i) {
    for (int link = 0; link < LINKS; link++)
        set(i, link, NOBODY);
    catapults_links_end(&items[i]->linked);
    for (int other = 0; other < THREADS; other++)
        for (int link = 0; link < LINKS; link++)
            if (model[other][link] == i)
                model[other][link] = NOBODY;
    free(items[i]);
}

static void compare(void) {
    for (int i = 0; i < THREADS; i++) {
        int named = 0, listed = 0;
        for (int other = 0; other < THREADS; other++)
            for (int link = 0; link < LINKS; link++) {
                int to = model[other][link];
                assert_ptr_equal(items[other]->links[link].to, to == NOBODY ? NULL : &items[to]->base);
                named += to == i;
            }
        struct catapults_link **from = &items[i]->linked;
        for (const struct catapults_link *link = items[i]->linked; link; link = link->next) {
            assert_ptr_equal(link->to, &items[i]->base);
            assert_ptr_equal(link->from, from);
            from = (struct catapults_link **)&link->next;
            listed++;
        }
        assert_int_equal(listed, named);
    }
}

static void links_name_whom_they_were_given(void **state) {
    (void)state;
    srand(1);
    for (int i = 0; i < THREADS; i++)
        begin(i);
    for (int step = 0; step < STEPS; step++) {
        int i = rand() % THREADS;
        if (rand() % 8 == 0) {
            end(i);
            begin(i);
        } else {
            set(i, rand() % LINKS, rand() % 4 == 0 ? NOBODY : rand() % THREADS);
        }
        compare();
    }
    for (int i = 0; i < THREADS; i++) {
        end(i);
        begin(i); /* for who is compared */
        compare();
    }
    for (int i = 0; i < THREADS; i++)
        free(items[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(links_name_whom_they_were_given)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
