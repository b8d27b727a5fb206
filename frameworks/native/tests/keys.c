/*
 * Keys: each thread's own values, and what becomes of them at its end.
 */
#include <errno.h>

#include "support/program.h"

static catapults_key_t key;
static char order[64];
static bool no_memory;

void *__real_realloc(void *before, size_t size);
void *__wrap_realloc(void *before, size_t size) { return no_memory ? NULL : __real_realloc(before, size); }

static void note(void *name) { strcat(order, name); }

static void begin(void (*destructor)(void *)) {
    require(catapults_init(NULL) == 0 && catapults_key_create(&key, destructor) == 0);
}

static void *keep_its_own(void *value) {
    require(catapults_getspecific(key) == NULL);
    require(catapults_setspecific(key, value) == 0);
    catapults_yield();
    require(catapults_getspecific(key) == value);
    return NULL;
}

static void each_thread_has_its_own(void) {
    begin(note);
    require(catapults_setspecific(key, "main") == 0);
    catapults_t a = spawn(keep_its_own, "a"), b = spawn(keep_its_own, "b");
    join(a);
    join(b);
    require(strcmp(catapults_getspecific(key), "main") == 0 && strcmp(order, "ab") == 0);
    require(catapults_setspecific(key, NULL) == 0 && catapults_getspecific(key) == NULL);
}

static void *set_all(void *keys) {
    for (int i = 0; i < CATAPULTS_KEYS_MAX; i++)
        require(catapults_setspecific(((catapults_key_t *)keys)[i], &order[i % 64]) == 0);
    for (int i = 0; i < CATAPULTS_KEYS_MAX; i++)
        require(catapults_getspecific(((catapults_key_t *)keys)[i]) == &order[i % 64]);
    return NULL;
}

static void as_many_as_promised(void) {
    require(catapults_init(NULL) == 0);
    static catapults_key_t keys[CATAPULTS_KEYS_MAX + 1];
    for (int i = 0; i < CATAPULTS_KEYS_MAX; i++)
        require(catapults_key_create(&keys[i], NULL) == 0);
    require(catapults_key_create(&keys[CATAPULTS_KEYS_MAX], NULL) == EAGAIN);
    join(spawn(set_all, keys));
    require(catapults_getspecific(CATAPULTS_KEYS_MAX) == NULL);
    require(catapults_setspecific(CATAPULTS_KEYS_MAX, order) == EINVAL);
    require(catapults_key_delete(CATAPULTS_KEYS_MAX) == EINVAL);
}

static void *end_with_values(void *keys_) {
    catapults_key_t *keys = keys_;
    require(catapults_setspecific(keys[0], "0") == 0 && catapults_setspecific(keys[1], "1") == 0);
    require(catapults_key_delete(keys[1]) == 0);
    return NULL;
}

static void a_deleted_key_takes_its_values_along(void) {
    require(catapults_init(NULL) == 0);
    catapults_key_t keys[2], anew;
    require(catapults_key_create(&keys[0], note) == 0 && catapults_key_create(&keys[1], note) == 0);
    require(catapults_setspecific(keys[1], "1") == 0);
    join(spawn(end_with_values, keys));
    require(strcmp(order, "0") == 0);
    require(catapults_getspecific(keys[1]) == NULL && catapults_setspecific(keys[1], order) == EINVAL);
    require(catapults_key_delete(keys[1]) == EINVAL);
    require(catapults_key_create(&anew, NULL) == 0 && anew == keys[1] && catapults_getspecific(anew) == NULL);
}

static void set_again(void *value) {
    strcat(order, "x");
    require(catapults_getspecific(key) == NULL);
    require(catapults_setspecific(key, value) == 0);
}

static void *end_with_one(void *argument) {
    require(catapults_setspecific(key, "value") == 0);
    if (argument)
        catapults_exit(NULL);
    return NULL;
}

static void destructors_that_set_values(void) {
    begin(set_again);
    join(spawn(end_with_one, NULL));
    require(strcmp(order, "xxxx") == 0);
    join(spawn(end_with_one, "leave"));
    require(strcmp(order, "xxxxxxxx") == 0);
}

static void set_a_far_one(void *far) {
    strcat(order, "n");
    require(catapults_setspecific(*(catapults_key_t *)far, "f") == 0);
}

static void *end_with_a_table_that_moves(void *far) {
    require(catapults_setspecific(key, far) == 0);
    return NULL;
}

static void a_destructor_may_make_the_table_move(void) {
    begin(set_a_far_one);
    catapults_key_t far;
    for (int i = 0; i < 100; i++)
        require(catapults_key_create(&far, note) == 0);
    join(spawn(end_with_a_table_that_moves, &far));
    require(strcmp(order, "nf") == 0);
}

static void without_memory(void) {
    begin(note);
    no_memory = true;
    require(catapults_setspecific(key, NULL) == 0);
    require(catapults_setspecific(key, "x") == ENOMEM && catapults_getspecific(key) == NULL);
    no_memory = false;
    require(catapults_setspecific(key, "x") == 0);
    catapults_key_t far;
    for (int i = 0; i < 100; i++)
        require(catapults_key_create(&far, note) == 0);
    no_memory = true;
    require(catapults_setspecific(far, "y") == ENOMEM);
    require(strcmp(catapults_getspecific(key), "x") == 0 && catapults_setspecific(key, "z") == 0);
    no_memory = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(each_thread_has_its_own),
        child_test(as_many_as_promised),
        child_test(a_deleted_key_takes_its_values_along),
        child_test(destructors_that_set_values),
        child_test(a_destructor_may_make_the_table_move),
        child_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
