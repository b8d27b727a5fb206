/*
 * PTH_SCHED_TRACE=file: everything that the policy is told and all that it decides, as a script (tests/run): the
 * interpreter can be asked whether it would have decided the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/shim.h"

static FILE *file;
static catapults_time last_now;
static union value *recorded; /* imports of the instance, as the trace knows them */

bool tracing(void) { return file; }

static union value read_variable(void *object, const struct catapults_import *import) {
    union value value = {0};
    void *variable = import_variable(object, import);
    switch (import->type) {
    case CATAPULTS_IMPORT_INT:
    case CATAPULTS_IMPORT_TIME:
        memcpy(&value.integer, variable, sizeof value.integer);
        break;
    case CATAPULTS_IMPORT_BOOL:
        value.truth = *(const bool *)variable;
        break;
    case CATAPULTS_IMPORT_FLOAT:
        memcpy(&value.real, variable, sizeof value.real);
        break;
    }
    return value;
}

static void print_value(int type, union value value) {
    switch (type) {
    case CATAPULTS_IMPORT_INT:
        fprintf(file, "%" PRId64 "\n", (int64_t)value.integer);
        break;
    case CATAPULTS_IMPORT_TIME:
        fprintf(file, "%" PRId64 "ns\n", (int64_t)value.integer);
        break;
    case CATAPULTS_IMPORT_BOOL:
        fprintf(file, "%s\n", value.truth ? "true" : "false");
        break;
    case CATAPULTS_IMPORT_FLOAT:
        fprintf(file, "%.17e\n", value.real);
        break;
    }
}

/* What the imports are; if it is not what the trace knows, `write` says so there. */
static void look(void *object, const struct catapults_import *imports, uint32_t count, union value *known,
                 const struct record *record, bool write) {
    for (uint32_t i = 0; i < count; i++) {
        union value value = read_variable(object, &imports[i]);
        if (memcmp(&known[i], &value, sizeof value) == 0)
            continue;
        known[i] = value;
        if (!write)
            continue;
        if (record)
            fprintf(file, "set_thread_import %" PRIu32 " %s ", record->policy.number, imports[i].name);
        else
            fprintf(file, "set_import %s ", imports[i].name);
        print_value((int)imports[i].type, value);
    }
}

static void look_at_thread(struct record *record, bool write) {
    const struct catapults_policy *policy = shim.policy;
    if (!record->recorded) {
        /* What a new thread has until the application says otherwise: the default, which lies there. */
        record->recorded = calloc(policy->thread_imports_count + 1, sizeof *record->recorded);
        if (!record->recorded)
            abort();
        for (uint32_t i = 0; i < policy->thread_imports_count; i++) {
            struct catapults_import import = policy->thread_imports[i];
            void *variable = (char *)&record->policy + import.fallback;
            import.pointer = 0; /* of an object that is nothing but the pointer */
            record->recorded[i] = read_variable(&variable, &import);
        }
    }
    look(&record->policy, policy->thread_imports, policy->thread_imports_count, record->recorded, record, write);
}

static void look_at_all(bool write) {
    look(shim.instance, shim.policy->imports, shim.policy->imports_count, recorded, NULL, write);
    for (struct record *record = record_oldest(); record; record = record->newer)
        if (record->place != IS_DEAD)
            look_at_thread(record, write);
}

void trace_start(void) {
    const char *name = environment("PTH_SCHED_TRACE");
    trace_stop();
    if (!name || !*name)
        return;
    file = fopen(name, "we");
    recorded = calloc(shim.policy->imports_count + 1, sizeof *recorded);
    if (!file || !recorded) {
        report("PTH_SCHED_TRACE: cannot write %s", name);
        exit(EXIT_FAILURE);
    }
    setvbuf(file, NULL, _IOLBF, 1 << 16);
    last_now = 0;
    for (uint32_t i = 0; i < shim.policy->imports_count; i++) {
        struct catapults_import import = shim.policy->imports[i];
        void *variable = (char *)shim.instance + import.fallback;
        import.pointer = 0;
        recorded[i] = read_variable(&variable, &import);
    }
}

void trace_stop(void) {
    if (file && fclose(file) != 0)
        report("the trace of PTH_SCHED_TRACE is not complete: %s", strerror(errno));
    trace_forget();
}

void trace_forget(void) {
    file = NULL;
    free(recorded);
    recorded = NULL;
}

void trace_step(const char *event, const struct record *record, catapults_time now) {
    if (shim.policy->now && now != last_now) {
        fprintf(file, "at %" PRId64 "ns\n", (int64_t)now);
        last_now = now;
    }
    look_at_all(true);
    if (record)
        fprintf(file, "%s %" PRIu32, event, record->policy.number);
    else
        fputs(event, file);
}

void trace_done(void) {
    fputc('\n', file);
    look_at_all(false);
}

void trace_answer(const char *text) { fprintf(file, " -> %s\n", text); }

void trace_chosen(const struct record *record) {
    if (record)
        fprintf(file, " -> %" PRIu32, record->policy.number);
    trace_done();
}

void trace_stopped(const struct catapults_stop *stop) {
    if (stop->why == CATAPULTS_STOP_FAIL)
        fprintf(file, " -> fail %s", stop->text);
    else
        fprintf(file, " -> guard %" PRIu32 " %s", stop->line, stop->text);
    trace_done();
}
