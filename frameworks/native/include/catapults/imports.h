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

/* Links a variable of the application with the one of that name in the `imports` of the policy; it must outlive the
 * runtime. Changes on either side are seen on the other. ENOENT if the policy has none: see strict_imports. */
int catapults_schedvar_register(const char *name, catapults_int *variable);
int catapults_schedvar_register_bool(const char *name, bool *variable);
int catapults_schedvar_register_time(const char *name, catapults_time *nanoseconds);
int catapults_schedvar_register_float(const char *name, double *variable);

/* Links a member of each thread's object with the one of that name in the `threadimports`. For threads with an object
 * now and later; without one the default holds. Use the macros, which check the member's type. */
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

#ifdef __cplusplus
}
#endif
#endif
