/*
 * The containers against a naive model: an array of the threads in the order in which they leave. Random operations;
 * after each the whole container is compared and, if sorted, its tree is checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "catapults/list.h"
#include "catapults/slot.h"
#include "catapults/sorted.h"
#include "catapults/values.h"

enum { THREADS = 200, STEPS = 40000, NUMBER = 7 };

struct item {
    struct catapults_thread base;
    catapults_int key, minor;
};

/* The highest key leaves first; of these the lowest minor one. */
static int order(const struct catapults_thread *a, const struct catapults_thread *b) {
    const struct item *x = (const struct item *)a, *y = (const struct item *)b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    if (x->minor != y->minor)
        return x->minor < y->minor ? -1 : 1;
    return 0;
}

/* ---- The model ----------------------------------------------------------------------------------------------------
 */

struct model {
    struct catapults_thread *threads[THREADS];
    size_t count;
};

static void model_insert(struct model *model, size_t place, struct catapults_thread *t) {
    assert_true(model->count < THREADS);
    memmove(&model->threads[place + 1], &model->threads[place], (model->count - place) * sizeof(model->threads[0]));
    model->threads[place] = t;
    model->count++;
}

static void model_remove(struct model *model, const struct catapults_thread *t) {
    size_t place = 0;
    while (model->threads[place] != t)
        place++;
    model->count--;
    memmove(&model->threads[place], &model->threads[place + 1], (model->count - place) * sizeof(model->threads[0]));
}

static void model_sort_in(struct model *model, struct catapults_thread *t, enum catapults_ties ties) {
    size_t place = 0;
    while (place < model->count) {
        int side = order(model->threads[place], t);
        if (side > 0 || (side == 0 && ties == CATAPULTS_LIFO))
            break;
        place++;
    }
    model_insert(model, place, t);
}

/* ---- Comparison ---------------------------------------------------------------------------------------------------
 */

static void check_list(const struct catapults_list *list, const struct model *model) {
    assert_int_equal(list->count, model->count);
    const struct catapults_thread *t = list->first, *previous = NULL;
    for (size_t i = 0; i < model->count; i++, previous = t, t = t->next) {
        assert_ptr_equal(t, model->threads[i]);
        assert_int_equal(t->container, NUMBER);
        if (previous)
            assert_ptr_equal(t->previous, previous);
    }
    assert_null(t);
    if (previous)
        assert_ptr_equal(list->last, previous);
}

/* The number of black nodes on every path from `node` down. */
static int check_tree(const struct catapults_thread *node, const struct catapults_thread *parent) {
    if (!node)
        return 1;
    assert_ptr_equal(node->parent, parent);
    assert_true(node->color == CATAPULTS_RED || node->color == CATAPULTS_BLACK);
    if (node->color == CATAPULTS_RED)
        assert_true(parent && parent->color == CATAPULTS_BLACK);
    if (node->left)
        assert_true(order(node->left, node) < 0);
    if (node->right)
        assert_true(order(node, node->right) < 0);
    int left = check_tree(node->left, node), right = check_tree(node->right, node);
    assert_int_equal(left, right);
    return left + (node->color == CATAPULTS_BLACK);
}

static void check_sorted(const struct catapults_sorted *sorted, const struct model *model, enum catapults_ties ties) {
    assert_int_equal(sorted->count, model->count);
    check_tree(sorted->root, NULL);
    const struct catapults_thread *t = catapults_sorted_first(sorted, ties);
    for (size_t i = 0; i < model->count; i++, t = catapults_sorted_next(sorted, t, ties)) {
        assert_ptr_equal(t, model->threads[i]);
        assert_int_equal(t->container, NUMBER);
        assert_ptr_equal(t->next->previous, t);
    }
    assert_null(t);
    t = catapults_sorted_walk(sorted, ties);
    for (size_t i = 0; i < model->count; i++, t = t->walk)
        assert_ptr_equal(t, model->threads[i]);
    assert_null(t);
}

/* ---- The random operations ----------------------------------------------------------------------------------------
 */

static struct item items[THREADS];

static void start(unsigned seed) {
    srand(seed);
    memset(items, 0xa5, sizeof(items)); /* containers rely on nothing that was there before */
    for (size_t i = 0; i < THREADS; i++)
        items[i].base.container = 0;
}

static struct catapults_thread *any(void) { return &items[rand() % THREADS].base; }

static void try_list(bool stack, unsigned seed) {
    struct catapults_list list;
    struct model model = {.count = 0};
    start(seed);
    catapults_list_init(&list);
    for (int step = 0; step < STEPS; step++) {
        /* The container fills and drains in turns, so that both ends of its size are met. */
        bool filling = step / 1000 % 2 == 0;
        struct catapults_thread *t = any();
        if (t->container == 0) {
            if (!filling && rand() % 4 != 0)
                continue;
            if (stack)
                catapults_list_push(&list, t, NUMBER);
            else
                catapults_list_append(&list, t, NUMBER);
            model_insert(&model, stack ? 0 : model.count, t);
        } else {
            if (rand() % 2 == 0) {
                catapults_list_remove(&list, t);
            } else {
                t = catapults_list_pop(&list);
                assert_ptr_equal(t, model.threads[0]);
            }
            model_remove(&model, t);
            t->container = 0;
        }
        check_list(&list, &model);
    }
}

/* `keys` distinct values of the first key. */
static void try_sorted(enum catapults_ties ties, int keys, unsigned seed) {
    struct catapults_sorted sorted;
    struct model model = {.count = 0};
    start(seed);
    catapults_sorted_init(&sorted);
    for (int step = 0; step < STEPS / 4; step++) {
        bool filling = step / 1000 % 2 == 0;
        struct catapults_thread *t = any();
        struct item *item = (struct item *)t;
        if (t->container == 0) {
            if (!filling && rand() % 4 != 0)
                continue;
            item->key = rand() % keys;
            item->minor = rand() % 2;
            catapults_sorted_insert(&sorted, t, NUMBER, order);
            model_sort_in(&model, t, ties);
        } else if (rand() % 4 == 0) {
            item->key = rand() % keys;
            catapults_sorted_refile(&sorted, t, NUMBER, order);
            model_remove(&model, t);
            model_sort_in(&model, t, ties);
        } else {
            if (rand() % 2 == 0) {
                catapults_sorted_remove(&sorted, t);
            } else {
                t = catapults_sorted_pop(&sorted, ties);
                assert_ptr_equal(t, model.threads[0]);
            }
            model_remove(&model, t);
            t->container = 0;
        }
        check_sorted(&sorted, &model, ties);
    }
}

static void queue(void **state) {
    (void)state;
    try_list(false, 1);
}

static void stack(void **state) {
    (void)state;
    try_list(true, 2);
}

static void pqueue(void **state) {
    (void)state;
    for (int keys = 1; keys <= 10000; keys *= 10)
        try_sorted(CATAPULTS_FIFO, keys, 3);
}

static void pstack(void **state) {
    (void)state;
    for (int keys = 1; keys <= 10000; keys *= 10)
        try_sorted(CATAPULTS_LIFO, keys, 4);
}

static void slot(void **state) {
    (void)state;
    struct catapults_thread *slot = NULL;
    start(5);
    assert_int_equal(catapults_slot_count(slot), 0);
    catapults_slot_put(&slot, &items[0].base, NUMBER);
    assert_int_equal(catapults_slot_count(slot), 1);
    assert_int_equal(items[0].base.container, NUMBER);
    assert_ptr_equal(catapults_slot_take(&slot), &items[0].base);
    assert_null(slot);
}

static void division(void **state) {
    (void)state;
    assert_int_equal(catapults_divide(7, -2), -3);
    assert_int_equal(catapults_remainder(-7, 2), -1);
    assert_int_equal(catapults_divide(7, 0), 0);
    assert_int_equal(catapults_remainder(7, 0), 0);
    assert_true(catapults_divide(INT64_MIN, -1) == INT64_MIN);
    assert_int_equal(catapults_remainder(INT64_MIN, -1), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue),  cmocka_unit_test(stack), cmocka_unit_test(pqueue),
        cmocka_unit_test(pstack), cmocka_unit_test(slot),  cmocka_unit_test(division),
    };
    return cmocka_run_group_tests_name("containers", tests, NULL, NULL);
}
