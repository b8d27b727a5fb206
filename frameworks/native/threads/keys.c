/*
 * Keys. A thread's values are in a table of its own, which is made when it first sets a value, and grows with the
 * greatest key that it sets. A value counts only while its generation is that of its key: so a key that is deleted
 * takes all its values with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process/runtime.h"
#include "threads/end.h"

struct key_values {
    uint32_t count;
    struct value {
        uint64_t generation;
        void *value;
    } values[];
};

/* Generations are odd while the key is in use, so 0 is that of no value. They do not repeat: that would take 2^63
 * creations of a key. */
static struct key {
    uint64_t generation;
    void (*destructor)(void *);
} keys[CATAPULTS_KEYS_MAX];

/* Other processors may create and delete keys meanwhile. */
static uint64_t generation(catapults_key_t key) { return __atomic_load_n(&keys[key].generation, __ATOMIC_ACQUIRE); }

/* Within dispatcher_enter. */
static void next_generation(catapults_key_t key) {
    __atomic_store_n(&keys[key].generation, keys[key].generation + 1, __ATOMIC_RELEASE);
}

static bool in_use(catapults_key_t key) { return key < CATAPULTS_KEYS_MAX && generation(key) % 2 == 1; }

int catapults_key_create(catapults_key_t *key, void (*destructor)(void *)) {
    runtime_enter();
    uint32_t free = 0;
    while (free < CATAPULTS_KEYS_MAX && in_use(free))
        free++;
    if (free < CATAPULTS_KEYS_MAX) {
        keys[free].destructor = destructor;
        next_generation(free);
        *key = free;
    }
    runtime_leave();
    return free < CATAPULTS_KEYS_MAX ? 0 : EAGAIN;
}

int catapults_key_delete(catapults_key_t key) {
    runtime_enter();
    bool existed = in_use(key);
    if (existed)
        next_generation(key);
    runtime_leave();
    return existed ? 0 : EINVAL;
}

void *catapults_getspecific(catapults_key_t key) {
    const struct key_values *table = handle_self()->values;
    if (!table || key >= table->count || table->values[key].generation != generation(key))
        return NULL;
    return table->values[key].value;
}

int catapults_setspecific(catapults_key_t key, const void *value) {
    struct catapults_handle *self = handle_self();
    struct key_values *table = self->values;
    if (!in_use(key))
        return EINVAL;
    if (!table || key >= table->count) {
        if (!value)
            return 0;
        uint32_t before = table ? table->count : 0, count = before ? before : 4;
        while (count <= key)
            count *= 2;
        table = realloc(table, sizeof *table + count * sizeof *table->values);
        if (!table)
            return ENOMEM;
        memset(table->values + before, 0, (count - before) * sizeof *table->values);
        table->count = count;
        self->values = table;
    }
    table->values[key] = (struct value){generation(key), (void *)value};
    return 0;
}

/* A destructor may set values, of its own key and of others, so that the table may move. */
void keys_destroy(struct catapults_handle *self) {
    bool any = true;
    for (int round = 0; any && round < CATAPULTS_DESTRUCTOR_ITERATIONS; round++) {
        any = false;
        for (uint32_t key = 0; key < self->values->count; key++) {
            struct value *value = &self->values->values[key];
            if (!value->value || value->generation != generation(key) || !keys[key].destructor)
                continue;
            void *last = value->value;
            value->value = NULL;
            any = true;
            keys[key].destructor(last);
        }
    }
    keys_forget(self);
}

void keys_forget(struct catapults_handle *thread) {
    free(thread->values);
    thread->values = NULL;
}
