/*
 * Variables that the host keeps for the policies that import them, by their names.
 */
#ifndef CATAPULTS_IMPORTS_BPF_H
#define CATAPULTS_IMPORTS_BPF_H

#include "records.bpf.h"

/* What the kernel knows of a task. It is read before the lock. */
struct catapults_facts {
    int64_t nice;     /* -20 to 19 */
    int64_t weight;   /* what that is for the kernel: 100 at 0, 10,000 at most */
    int64_t process;  /* its number */
    int64_t consumed; /* time of the processor */
};

#define IS(import, name) (__builtin_strcmp(#import, name) == 0)
#define KNOWS(import, type)                                                                                            \
    || IS(import, "nice") || IS(import, "weight") || IS(import, "process") || IS(import, "consumed") ||                \
        IS(import, "priority") || IS(import, "tickets")
enum { CATAPULTS_KEEPS = 0 CATAPULTS_THREADIMPORTS(KNOWS) };
#undef KNOWS

static inline __attribute__((always_inline)) void catapults_learn(struct catapults_facts *facts,
                                                                  struct task_struct *p) {
    if (!CATAPULTS_KEEPS)
        return;
    facts->nice = p->static_prio - 120;
    facts->weight = p->scx.weight;
    facts->process = p->tgid;
    facts->consumed = (int64_t)p->se.sum_exec_runtime;
}

/* `priority` is higher for what is more urgent, and `tickets` are a share: both follow from the task's nice value. */
#define KEEP(import, type)                                                                                             \
    if (IS(import, "nice"))                                                                                            \
        catapults_keep_##type(&CATAPULTS_THREADIMPORT_##import(t), facts->nice);                                       \
    if (IS(import, "weight") || IS(import, "tickets"))                                                                 \
        catapults_keep_##type(&CATAPULTS_THREADIMPORT_##import(t), facts->weight);                                     \
    if (IS(import, "process"))                                                                                         \
        catapults_keep_##type(&CATAPULTS_THREADIMPORT_##import(t), facts->process);                                    \
    if (IS(import, "consumed"))                                                                                        \
        catapults_keep_##type(&CATAPULTS_THREADIMPORT_##import(t), facts->consumed);                                   \
    if (IS(import, "priority"))                                                                                        \
        catapults_keep_##type(&CATAPULTS_THREADIMPORT_##import(t), -facts->nice);

CATAPULTS_IN_PLACE void catapults_keep_int(catapults_int CATAPULTS_MEMORY *variable, int64_t value) {
    *variable = value;
}
CATAPULTS_IN_PLACE void catapults_keep_time(catapults_time CATAPULTS_MEMORY *variable, int64_t value) {
    *variable = value;
}
CATAPULTS_IN_PLACE void catapults_keep_bool(bool CATAPULTS_MEMORY *variable, int64_t value) { *variable = value != 0; }

/* Under the lock. */
static inline __attribute__((always_inline)) void catapults_keep(uint32_t number, const struct catapults_facts *facts) {
    struct catapults_thread CATAPULTS_MEMORY *t = catapults_thread(number);
    (void)t, (void)facts;
    CATAPULTS_THREADIMPORTS(KEEP)
}
#undef KEEP
#undef IS

#endif
