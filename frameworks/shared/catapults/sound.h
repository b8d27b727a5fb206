/*
 * Whether the tables of a shared object can be trusted: a byte of the file may have changed since it was built. All
 * that a host reads of them must lie in the object, every text must have an end, every part of an instance or of a
 * thread must be within it, and what is called must be code. Whether that is the compiler's code cannot be checked.
 * Needs libc.
 */
#ifndef CATAPULTS_SOUND_H
#define CATAPULTS_SOUND_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "catapults/list.h"
#include "catapults/policy.h"
#include "catapults/random.h"
#include "catapults/timers.h"

/* The object that contains an address: its mapped parts; `code`: can be executed. */
struct catapults_object {
    uintptr_t address;
    unsigned count;
    struct {
        uintptr_t start, end;
        bool code;
    } parts[16];
};

static inline int catapults_object_note(struct dl_phdr_info *info, size_t size, void *object_) {
    (void)size;
    struct catapults_object *object = (struct catapults_object *)object_;
    bool found = false;
    object->count = 0;
    for (unsigned i = 0; i < info->dlpi_phnum && object->count < 16; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_R))
            continue;
        uintptr_t start = info->dlpi_addr + part->p_vaddr;
        object->parts[object->count].start = start;
        object->parts[object->count].end = start + part->p_memsz;
        object->parts[object->count++].code = part->p_flags & PF_X;
        found = found || (object->address >= start && object->address - start < part->p_memsz);
    }
    return found;
}

/* False: no object contains the address. */
static inline bool catapults_object_find(struct catapults_object *object, const void *address) {
    object->address = (uintptr_t)address;
    return dl_iterate_phdr(catapults_object_note, object) != 0;
}

/* How many bytes there are from the address on; 0: it is not in the object, or not aligned. */
static inline uint64_t catapults_object_room(const struct catapults_object *object, const void *address,
                                             unsigned alignment) {
    uintptr_t at = (uintptr_t)address;
    for (unsigned i = 0; i < object->count; i++)
        if (at >= object->parts[i].start && at < object->parts[i].end && at % alignment == 0)
            return object->parts[i].end - at;
    return 0;
}

/* Whether a table of pointers, and of numbers no wider, is there. */
static inline bool catapults_has_table(const struct catapults_object *object, const void *table, uint64_t count,
                                       size_t size) {
    return count == 0 || catapults_object_room(object, table, sizeof(void *)) >= count * size;
}

static inline bool catapults_has_text(const struct catapults_object *object, const char *text) {
    uint64_t room = catapults_object_room(object, text, 1);
    while (room > 0 && *text)
        room--, text++;
    return room > 0;
}

static inline bool catapults_has_code(const struct catapults_object *object, uintptr_t function) {
    for (unsigned i = 0; i < object->count; i++)
        if (object->parts[i].code && function >= object->parts[i].start && function < object->parts[i].end)
            return true;
    return false;
}

/* A null pointer is no handler. */
static inline bool catapults_has_handlers(const struct catapults_object *object, const void *table, size_t size) {
    if (!catapults_has_table(object, table, 1, size))
        return false;
    const uintptr_t *handlers = (const uintptr_t *)table;
    for (size_t i = 0; i < size / sizeof *handlers; i++)
        if (handlers[i] && !catapults_has_code(object, handlers[i]))
            return false;
    return true;
}

/* Instances are cleared, and stacks hold the records of threads: a wrong size of gigabytes would be noticed too
 * late. */
enum { CATAPULTS_MOST_INSTANCE = 1 << 28, CATAPULTS_MOST_THREAD = 1 << 24 };

static inline bool catapults_is_within(uint32_t offset, uint64_t size, unsigned alignment, uint32_t from,
                                       uint32_t whole) {
    return offset >= from && offset % alignment == 0 && offset + size <= whole;
}

static inline bool catapults_is_variable(int type, uint32_t offset, uint32_t from, uint32_t whole) {
    unsigned size = type == CATAPULTS_IMPORT_BOOL ? 1 : 8;
    return type >= CATAPULTS_IMPORT_INT && type <= CATAPULTS_IMPORT_FLOAT &&
           catapults_is_within(offset, size, size, from, whole);
}

static inline bool catapults_are_imports(const struct catapults_object *object, const struct catapults_import *imports,
                                         uint32_t count, uint32_t from, uint32_t whole) {
    if (!catapults_has_table(object, imports, count, sizeof *imports))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!catapults_has_text(object, imports[i].name) ||
            !catapults_is_variable((int)imports[i].type, imports[i].fallback, from, whole) ||
            !catapults_is_within(imports[i].pointer, sizeof(void *), sizeof(void *), from, whole))
            return false;
    return true;
}

static inline bool catapults_are_attributes(const struct catapults_object *object,
                                            const struct catapults_policy *policy) {
    if (!catapults_has_table(object, policy->attributes, policy->attributes_count, sizeof *policy->attributes))
        return false;
    for (uint32_t i = 0; i < policy->attributes_count; i++) {
        const struct catapults_attribute *one = &policy->attributes[i];
        if (!catapults_has_text(object, one->name) ||
            !catapults_is_variable((int)one->type, one->offset, sizeof(struct catapults_thread), policy->thread_size))
            return false;
    }
    return true;
}

static inline bool catapults_are_timeouts(const struct catapults_object *object,
                                          const struct catapults_policy *policy) {
    if (!catapults_has_table(object, policy->timeouts, policy->timeouts_count, sizeof *policy->timeouts))
        return false;
    for (uint32_t i = 0; i < policy->timeouts_count; i++)
        if (!catapults_has_text(object, policy->timeouts[i].name) ||
            !catapults_has_code(object, (uintptr_t)policy->timeouts[i].raise))
            return false;
    return policy->timers == 0 ||
           catapults_is_within(policy->timers, sizeof(struct catapults_timers), 8, 0, policy->instance_size);
}

static inline bool catapults_are_places(const struct catapults_object *object, const struct catapults_policy *policy) {
    if (!catapults_has_table(object, policy->places, policy->places_count, sizeof *policy->places))
        return false;
    for (uint32_t i = 0; i < policy->places_count; i++)
        if (!catapults_has_text(object, policy->places[i].event))
            return false;
    return true;
}

static inline bool catapults_are_parts(const struct catapults_object *object, const struct catapults_policy *policy) {
    uint64_t sum = 0;
    if (policy->running_count &&
        catapults_object_room(object, policy->running, 4) < policy->running_count * sizeof *policy->running)
        return false;
    for (uint32_t i = 0; i < policy->running_count; i++) {
        sum += policy->running[i].size;
        if (!catapults_is_within(policy->running[i].offset, policy->running[i].size, 1, 0, policy->instance_size))
            return false;
    }
    return sum <= policy->instance_size;
}

static inline bool catapults_are_nodes(const struct catapults_object *object, const struct catapults_policy *policy) {
    if (policy->shared_size == 0)
        return true;
    if (policy->instance_size < sizeof(void *) || policy->node_size < sizeof(struct catapults_thread) ||
        policy->node_size > CATAPULTS_MOST_THREAD || policy->shared_size > CATAPULTS_MOST_INSTANCE ||
        !catapults_is_within(policy->sent, sizeof(struct catapults_list), 8, 0, policy->shared_size) ||
        !catapults_has_code(object, (uintptr_t)policy->share) ||
        !catapults_has_code(object, (uintptr_t)policy->adopt_node) ||
        !catapults_has_table(object, policy->properties, policy->properties_count, sizeof *policy->properties))
        return false;
    for (uint32_t i = 0; i < policy->properties_count; i++)
        if (!catapults_has_text(object, policy->properties[i].name) ||
            !catapults_has_code(object, (uintptr_t)policy->properties[i].set))
            return false;
    return true;
}

/* What of a policy cannot be trusted; NULL: nothing. Its magic and the version of the contract were checked before.
 * `handlers`: bytes of the framework's table of handlers. */
static inline const char *catapults_damaged(const struct catapults_object *object,
                                            const struct catapults_policy *policy, size_t handlers) {
    uint32_t once = policy->shared_size ? policy->shared_size : policy->instance_size;
    if (policy->instance_size > CATAPULTS_MOST_INSTANCE)
        return "the size of an instance";
    if (policy->thread_size < sizeof(struct catapults_thread) || policy->thread_size > CATAPULTS_MOST_THREAD)
        return "the size of a thread";
    if (!catapults_has_text(object, policy->name) || !catapults_has_text(object, policy->source))
        return "its name";
    if (catapults_object_room(object, policy->classes, 1) == 0 || policy->classes[0] != CATAPULTS_IN_HAND)
        return "the classes of its containers";
    if (!catapults_has_handlers(object, policy->handlers, handlers) ||
        !catapults_has_code(object, (uintptr_t)policy->start) ||
        !catapults_has_code(object, (uintptr_t)policy->adopt) ||
        (policy->yield && !catapults_has_code(object, (uintptr_t)policy->yield)) ||
        (policy->ready_order && !catapults_has_code(object, (uintptr_t)policy->ready_order)))
        return "its handlers";
    if (!catapults_are_imports(object, policy->imports, policy->imports_count, 0, once) ||
        !catapults_are_imports(object, policy->thread_imports, policy->thread_imports_count,
                               sizeof(struct catapults_thread), policy->thread_size))
        return "the variables that it imports";
    if (!catapults_are_attributes(object, policy))
        return "the attributes of threads";
    if (policy->now && !catapults_is_within(policy->now, sizeof(catapults_time), 8, 0, once))
        return "where it reads the clock";
    if (policy->random && !catapults_is_within(policy->random, sizeof(struct catapults_random), 4, 0, once))
        return "what it draws from";
    if (!catapults_are_timeouts(object, policy))
        return "its timers";
    if (!catapults_are_places(object, policy))
        return "where its handlers are";
    if (!catapults_are_parts(object, policy))
        return "the containers of what runs";
    if (policy->moved_by && catapults_object_room(object, policy->moved_by, 4) < 4)
        return "how it says what it decides";
    if (!catapults_are_nodes(object, policy))
        return "what it says of nodes";
    return NULL;
}

#endif
