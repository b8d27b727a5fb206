/*
 * Policies that are replaced, and that break; schedulers that come and go with threads under them.
 */
#include "stress/stress.h"

static const char *const policies[] = {NULL,
                                       POLICIES "/ticks.so",
                                       POLICIES "/urgency.so",
                                       POLICIES "/eager.so",
                                       POLICIES "/bytes.so",
                                       POLICIES "/counts.so",
                                       POLICIES "/turns.so",
                                       POLICIES "/large.so",
                                       POLICIES "/jobs.so"};
enum { POLICIES_COUNT = sizeof policies / sizeof *policies };

static catapults_int connections, most;
static _Atomic int names;

/* What is stepped is so slow that short waits are over before they begin: who repeats one never gives way to those that
 * a policy has behind it. */
static const char *any_policy(struct worker *self) { return policies[any(self, program.stepped ? 2 : POLICIES_COUNT)]; }

static void begin(struct worker *self) {
    (void)self;
    catapults_schedvar_register("connections", &connections);
    catapults_schedvar_register("most", &most);
    catapults_threadvar_register("priority", struct worker, priority);
    catapults_threadvar_register("bytesleft", struct worker, bytesleft);
}

static void replace(struct worker *self, catapults_scheduler_t scheduler) {
    int error = catapults_policy_replace(scheduler, any_policy(self));
    require(error == 0 || error == EAGAIN || error == ENOSPC || error == ENOMEM || error == EINVAL);
}

static void *live_there(void *argument) {
    struct worker self = {.random = (uintptr_t)argument};
    steps_go_on();
    for (int i = any(&self, 5); i > 0; i--)
        pause_somehow(&self);
    steps_end();
    ends();
    return argument;
}

static void use_scheduler(struct worker *self) {
    char name[32];
    snprintf(name, sizeof name, "scheduler-%d", ++names);
    struct catapults_scheduler_attributes attributes = {.name = name, .policy = any_policy(self)};
    catapults_scheduler_t scheduler, home = catapults_scheduler_self();
    int error = catapults_scheduler_add(&scheduler, &attributes);
    require(error == 0 || error == EAGAIN || error == ENOMEM || error == EINVAL);
    if (error)
        return;
    require(catapults_scheduler_find(name) == scheduler);
    catapults_t threads[4];
    int count = any(self, 5);
    for (int i = 0; i < count; i++) {
        struct catapults_attributes under = {.scheduler = scheduler, .object = self};
        threads[i] = spawn(self, &under, live_there, (void *)(uintptr_t)(self->random | 1));
    }
    if (any(self, 2)) {
        error = catapults_scheduler_attach(scheduler);
        require(error == 0 || error == EAGAIN || error == ENOSPC || error == ENOMEM);
        pause_somehow(self);
    }
    if (any(self, 2))
        replace(self, scheduler);
    for (int i = 0; i < count; i++)
        if (threads[i])
            join(threads[i], NULL);
    faults_hold();
    while (catapults_scheduler_self() != home)
        require((error = catapults_scheduler_attach(home)) == 0 || error == EAGAIN || error == ENOSPC);
    faults_release();
    while ((error = catapults_scheduler_remove(scheduler)) == EBUSY)
        catapults_sleep(10 * US); /* its last thread is on its way */
    require(error == 0);
}

static void act(struct worker *self) {
    self->priority = any(self, 10);
    self->bytesleft = any(self, 100);
    switch (any(self, 8)) {
    case 0:
    case 1:
        use_scheduler(self);
        break;
    case 2:
        replace(self, NULL);
        break;
    case 3:
        connections = any(self, 3) ? 0 : 13; /* a policy of these breaks its guard then */
        break;
    case 4: {
        struct catapults_value value = catapults_value_int("priority", any(self, 10));
        int error = catapults_set_values(catapults_self(), &value, 1);
        require(error == 0 || error == EINVAL || error == ENOMEM);
        break;
    }
    case 5:
        catapults_account();
        require(catapults_consumed(catapults_self()) >= 0);
        break;
    default:
        pause_somehow(self);
    }
}

static void end(struct worker *self) {
    (void)self;
    connections = 0;
}

const struct scene policies_scene = {"policies", begin, act, end};
