/*
 * What the tests of donation share: tasks of a priority, which note when they run. The policy is `urgency`, where the
 * most urgent thread that is ready runs at once.
 */
#ifndef DONATION_TEST_H
#define DONATION_TEST_H

#include "catapults.h"
#include "support/child.h"

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static char order[256];

struct task {
    catapults_int priority;
    const char *name;
    void (*run)(const char *name);
};

static inline void note(const char *what) { strcat(order, what); }

static inline void require_order(const char *expected) {
    if (strcmp(order, expected) == 0)
        return;
    fprintf(stderr, "order: %s, not %s\n", order, expected);
    _exit(CHILD_REQUIRE_FAILED);
}

/* The caller is less urgent than all others. */
static inline void begin(const char *policy) {
    static struct task least;
    require(catapults_init(&(struct catapults_options){.policy = policy}) == 0);
    alarm(HANGS);
    catapults_threadvar_register("priority", struct task, priority);
    catapults_set_object(catapults_self(), &least);
}

static inline void *run_task(void *task_) {
    const struct task *task = task_;
    task->run(task->name);
    return NULL;
}

static inline catapults_t spawn(int priority, const char *name, void (*run)(const char *)) {
    struct task *task = malloc(sizeof *task);
    *task = (struct task){priority, name, run};
    catapults_t thread;
    struct catapults_attributes attributes = {.name = name, .object = task};
    require(catapults_create(&thread, &attributes, run_task, task) == 0);
    return thread;
}

static inline void set_protocol(catapults_mutex_t *mutex, enum catapults_mutex_protocol protocol) {
    require(catapults_mutex_init(mutex, &(struct catapults_mutex_attributes){.protocol = protocol}) == 0);
}

static inline void lock_and_note(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static inline void urgent(const char *name) {
    spawn(5, "medium ", note);
    lock_and_note(name);
}

#endif
