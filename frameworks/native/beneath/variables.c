#include "beneath/variables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contexts/memory.h"
#include "contexts/system.h"
#include "contexts/text.h"
#include "process/imports.h"
#include "process/report.h"
#include "process/runtime.h"

/* A variable of the program that is no catapults_int: policies read the copy. */
struct copied {
    catapults_int value;
    const void *original; /* NULL: its object is not loaded */
    uint8_t size;
    bool is_signed;
};

static uint32_t described; /* of each thread */
static struct copied *copies;
static uint32_t copies_count;

/* ---- Of the program ---------------------------------------------------------------------------------------------- */

static catapults_int read_as(const struct copied *copy) {
    const void *place = copy->original;
    switch (copy->size) {
    case 1:
        return copy->is_signed ? *(const int8_t *)place : *(const uint8_t *)place;
    case 2:
        return copy->is_signed ? *(const int16_t *)place : *(const uint16_t *)place;
    case 4:
        return copy->is_signed ? *(const int32_t *)place : (catapults_int) * (const uint32_t *)place;
    default:
        return *(const catapults_int *)place;
    }
}

void variables_refresh(void) {
    for (uint32_t i = 0; i < copies_count; i++)
        if (copies[i].original)
            copies[i].value = read_as(&copies[i]);
}

void variables_place(const struct sites_table *table, uint32_t object, uintptr_t base) {
    uint32_t copy = 0;
    for (uint32_t i = 0; i < table->head->variables; i++) {
        const struct sites_variable *variable = &table->variables[i];
        if (variable->object == SITES_OF_THREADS)
            continue;
        if (variable->object == object)
            copies[copy].original = (const void *)(base + variable->address);
        copy++;
    }
    variables_refresh();
}

/* ---- Of threads -------------------------------------------------------------------------------------------------- */

bool variables_begin(struct beneath_thread *thread) {
    size_t size = sizeof(struct variables) + described * sizeof(catapults_int);
    if (!thread->variables && !(thread->variables = memory_take(size)))
        return false;
    memset(thread->variables, 0, size);
    thread->member.object = thread->variables;
    return true;
}

void variables_exchange(const struct beneath_thread *thread) {
    here()->beneath.variables = thread->variables->described;
}

void variables_wait(struct beneath_thread *thread, enum dispatcher_reason reason) {
    static const uint8_t kinds[] = {[BLOCK_IO_READ] = WAITS_FOR_DESCRIPTOR,   [BLOCK_IO_WRITE] = WAITS_FOR_DESCRIPTOR,
                                    [BLOCK_IO_ACCEPT] = WAITS_FOR_DESCRIPTOR, [BLOCK_IO_CONNECT] = WAITS_FOR_DESCRIPTOR,
                                    [BLOCK_IO_FILE] = WAITS_FOR_DISK,         [BLOCK_LOCK] = WAITS_FOR_LOCK,
                                    [BLOCK_CONDITION] = WAITS_FOR_CONDITION,  [BLOCK_JOIN] = WAITS_FOR_THREAD,
                                    [BLOCK_SLEEP] = WAITS_FOR_INSTANT,        [BLOCK_KERNEL] = WAITS_FOR_KERNEL,
                                    [BLOCK_SIGNAL] = WAITS_FOR_SIGNAL};
    thread->variables->waits_for = kinds[reason];
}

void variables_waited(struct beneath_thread *thread) { thread->variables->waits_for = WAITS_FOR_NOTHING; }

/* ---- Start ------------------------------------------------------------------------------------------------------- */

const char *variables_expect(const struct sites_table *table) {
    for (uint32_t i = 0; i < table->head->variables; i++) {
        if (table->variables[i].name >= table->head->bytes)
            return "the list of its variables is damaged";
        if (table->variables[i].object == SITES_OF_THREADS)
            described++;
        else
            copies_count++;
    }
    copies = copies_count > 0 ? memory_take(copies_count * sizeof *copies) : NULL;
    return copies_count > 0 && !copies ? "there is no memory for its variables" : NULL;
}

/* ENOENT: no policy imports it. What else is wrong has been reported. */
static void register_or_end(int error) {
    if (error != 0 && error != ENOENT)
        system_exit_group(EXIT_FAILURE);
}

/* No import is missing: the description is the program's, and a policy takes of it what it needs. */
void variables_register(const struct sites_table *table) {
    bool strict = runtime.strict_imports;
    runtime.strict_imports = false;
    register_or_end(catapults_threadvar_register_at("waits_for", offsetof(struct variables, waits_for)));
    uint32_t copy = 0;
    for (uint32_t i = 0; i < table->head->variables; i++) {
        const struct sites_variable *variable = &table->variables[i];
        const char *name = table->bytes + variable->name;
        if (variable->object == SITES_OF_THREADS) {
            size_t place = offsetof(struct variables, described) + variable->address * sizeof(catapults_int);
            register_or_end(catapults_threadvar_register_at(name, place));
        } else {
            copies[copy].size = variable->size;
            copies[copy].is_signed = variable->is_signed;
            register_or_end(catapults_schedvar_register(name, &copies[copy++].value));
        }
    }
    runtime.strict_imports = strict;
}

static bool is_described(const struct sites_table *table, const char *name, bool per_thread) {
    for (uint32_t i = 0; i < table->head->variables; i++)
        if ((table->variables[i].object == SITES_OF_THREADS) == per_thread &&
            text_equal(table->bytes + table->variables[i].name, name))
            return true;
    return false;
}

static bool is_kept(const char *name, bool per_thread) {
    static const char *const kept[] = {"priority", "nice", "owns", "waiters", "waits_for"};
    for (unsigned i = 0; per_thread && i < sizeof kept / sizeof *kept; i++)
        if (text_equal(kept[i], name))
            return true;
    return text_equal(name, "consumed");
}

static void check(const struct sites_table *table, const struct catapults_policy *policy, bool per_thread) {
    const struct catapults_import *imports = per_thread ? policy->thread_imports : policy->imports;
    uint32_t count = per_thread ? policy->thread_imports_count : policy->imports_count;
    for (uint32_t i = 0; i < count; i++)
        if (!is_kept(imports[i].name, per_thread) && !is_described(table, imports[i].name, per_thread))
            runtime_report("warning: the program's description has no %s`%s`, which the policy %s imports: it keeps "
                           "its default",
                           per_thread ? "variable of threads " : "variable ", imports[i].name, policy->name);
}

void variables_check(const struct sites_table *table) {
    if (table->head->variables == 0)
        return;
    for (const struct scheduler *one = dispatcher_root(); one; one = dispatcher_next_scheduler(one)) {
        check(table, scheduler_handle(one)->policy, false);
        check(table, scheduler_handle(one)->policy, true);
    }
}
