/*
 * Catapults: variables of the application that the policy imports (2005, §5.2). Part of catapults.h.
 */
#ifndef CATAPULTS_IMPORTS_H
#define CATAPULTS_IMPORTS_H

#include "catapults/policy.h" /* catapults_int, catapults_time */
#include "catapults/threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Links a variable of the application with the variable of that name in the policy's `imports`. It must outlive the
 * runtime. Each side sees the changes of the other. ENOENT: the policy has none, see strict_imports. EINVAL: the policy
 * imports it as another type. EEXIST: the runtime itself keeps it (`consumed`, `ceiling`, `release`). Standard error
 * gives the reason. */
int catapults_schedvar_register(const char *name, catapults_int *variable);
int catapults_schedvar_register_bool(const char *name, bool *variable);
int catapults_schedvar_register_time(const char *name, catapults_time *nanoseconds);
int catapults_schedvar_register_float(const char *name, double *variable);

/* Links a member of each thread's object with the variable of that name in the `threadimports`, for threads with an
 * object now and later. A thread without one has the default. Use the macros, which check the member's type. */
#define catapults_threadvar_register(name, type, member)                                                               \
    catapults_threadvar_register_at(name,                                                                              \
                                    offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (catapults_int *)0))
#define catapults_threadvar_register_bool(name, type, member)                                                          \
    catapults_threadvar_register_bool_at(name, offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (bool *)0))
#define catapults_threadvar_register_time(name, type, member)                                                          \
    catapults_threadvar_register_time_at(name, offsetof(type, member) +                                                \
                                                   0 * sizeof(&((type *)0)->member == (catapults_time *)0))
#define catapults_threadvar_register_float(name, type, member)                                                         \
    catapults_threadvar_register_float_at(name,                                                                        \
                                          offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (double *)0))
int catapults_threadvar_register_at(const char *name, size_t offset);
int catapults_threadvar_register_bool_at(const char *name, size_t offset);
int catapults_threadvar_register_time_at(const char *name, size_t offset);
int catapults_threadvar_register_float_at(const char *name, size_t offset);
void catapults_set_object(catapults_t thread, void *object); /* NULL: none, the defaults hold */

/* ---- Values without a variable ----------------------------------------------------------------------------------- */

/*
 * What a thread has instead of the default of a per-thread import, as long as no member of an object is linked with it:
 *
 *     struct catapults_value values[] = {catapults_value_int("priority", 3), catapults_value_time("period", 20000000)};
 *     struct catapults_attributes attributes = {.values = values, .values_count = 2};
 *
 * The thread has them from its first event on. catapults_create and catapults_set_values copy them. EINVAL: the policy
 * imports one as another type, or the runtime itself keeps the variable; standard error says which. A value that the
 * policy does not import has no effect, or ends the program: see strict_imports.
 */
enum catapults_value_type { CATAPULTS_VALUE_INT, CATAPULTS_VALUE_BOOL, CATAPULTS_VALUE_TIME, CATAPULTS_VALUE_FLOAT };
struct catapults_value {
    const char *name;
    enum catapults_value_type type;
    union {
        catapults_int integer;
        bool boolean;
        catapults_time nanoseconds;
        double real;
    } is;
};

static inline struct catapults_value catapults_value_int(const char *name, catapults_int integer) {
    struct catapults_value value = {name, CATAPULTS_VALUE_INT, {0}};
    value.is.integer = integer;
    return value;
}

static inline struct catapults_value catapults_value_bool(const char *name, bool boolean) {
    struct catapults_value value = {name, CATAPULTS_VALUE_BOOL, {0}};
    value.is.boolean = boolean;
    return value;
}

static inline struct catapults_value catapults_value_time(const char *name, catapults_time nanoseconds) {
    struct catapults_value value = {name, CATAPULTS_VALUE_TIME, {0}};
    value.is.nanoseconds = nanoseconds;
    return value;
}

static inline struct catapults_value catapults_value_float(const char *name, double real) {
    struct catapults_value value = {name, CATAPULTS_VALUE_FLOAT, {0}};
    value.is.real = real;
    return value;
}

/* The same for an existing thread. If a value changes, the policy is told by its event `changed`, once for all of them,
 * and may preempt the caller. A policy without such a handler reads them at its next event. ESRCH: the thread has
 * ended. */
int catapults_set_values(catapults_t thread, const struct catapults_value *values, size_t count);

/* Raises the same event because the application has changed a variable of the thread: the runtime does not see changes
 * to members of the thread's object. catapults_set_object and registering a member raise it by themselves. Nothing
 * happens if the policy has no handler for it. ESRCH: the thread has ended. */
int catapults_changed(catapults_t thread);

#ifdef __cplusplus
}
#endif
#endif
