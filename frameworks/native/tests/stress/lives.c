/*
 * Threads that are created, joined in every way, detached, suspended, cancelled with cleanup handlers, and that have
 * keys.
 */
#include "stress/stress.h"

static catapults_key_t key;
static _Atomic long values_set, values_destroyed, cleanups_pushed, cleanups_run, detached, detached_ended;

static void destroy_value(void *value) {
    values_destroyed++;
    free(value);
}

static void begin(struct worker *self) {
    (void)self;
    require(catapults_key_create(&key, destroy_value) == 0);
}

/* Its destructor is called once, if there was memory for it. */
static void set_value(struct worker *self) {
    long *value = malloc(sizeof *value);
    if (!value)
        return;
    *value = self->number;
    if (catapults_setspecific(key, value) == 0)
        values_set++;
    else
        free(value);
}

static bool live_on(void *argument) {
    struct worker self = {.random = (uintptr_t)argument, .number = (int)((uintptr_t)argument % 1000)};
    steps_go_on();
    if (any(&self, 3) == 0)
        set_value(&self);
    for (int i = any(&self, 4); i > 0; i--)
        pause_somehow(&self);
    steps_end();
    ends();
    return any(&self, 2);
}

static void *live(void *argument) {
    if (live_on(argument))
        catapults_exit(argument);
    return argument;
}

static void *random_argument(struct worker *self) { return (void *)(uintptr_t)(next_random(&self->random) >> 8 | 1); }

static void live_and_join(struct worker *self) {
    catapults_t threads[4] = {0};
    void *arguments[4], *result;
    int count = 1 + any(self, 4);
    for (int i = 0; i < count; i++)
        threads[i] = spawn(self, NULL, live, arguments[i] = random_argument(self));
    if (threads[0] && any(self, 4) == 0)
        catapults_yield_to(threads[0]);
    for (int i = 0; i < count; i++) {
        if (!threads[i])
            continue;
        int error, way = any(self, 5);
        if (way == 0)
            while ((error = catapults_tryjoin(threads[i], &result)) == EBUSY)
                catapults_sleep(10 * US); /* a policy may have who yields go before all others */
        else if (way == 1)
            while ((error = catapults_join_until(
                        threads[i], &result, catapults_now() + (1 + any(self, 5)) * 100 * program.unit)) == ETIMEDOUT)
                ;
        else if (way == 2)
            error = catapults_join_donating(threads[i], &result);
        else
            error = catapults_join(threads[i], &result);
        require(error == 0 && result == arguments[i]);
    }
}

static void *live_alone(void *argument) {
    live_on(argument);
    detached_ended++;
    return NULL;
}

static void live_and_detach(struct worker *self) {
    struct catapults_attributes attributes = {.detached = any(self, 2), .name = "detached"};
    catapults_t thread = spawn(self, &attributes, live_alone, random_argument(self));
    if (!thread)
        return;
    detached++;
    if (!attributes.detached)
        require(catapults_detach(thread) == 0);
}

/* ---- Cancelling -------------------------------------------------------------------------------------------------- */

struct victim {
    catapults_mutex_t mutex;
    catapults_cond_t never;
    catapults_port_t port;
    uint64_t random;
    _Atomic bool begun;
};

static void clean_up(void *mutex) {
    cleanups_run++;
    if (mutex)
        require(catapults_mutex_unlock(mutex) == 0);
}

static void *suffer(void *victim_) {
    struct victim *victim = victim_;
    struct worker self = {.random = victim->random};
    steps_go_on();
    if (any(&self, 2))
        set_value(&self);
    victim->begun = true;
    cleanups_pushed++;
    catapults_cleanup_push(clean_up, NULL);
    for (;;) {
        struct catapults_message *message;
        switch (any(&self, 4)) {
        case 0:
            require(catapults_mutex_lock(&victim->mutex) == 0);
            cleanups_pushed++;
            catapults_cleanup_push(clean_up, &victim->mutex);
            catapults_cond_wait_until(&victim->never, &victim->mutex, catapults_now() + any(&self, 2) * MS);
            catapults_cleanup_pop(1);
            break;
        case 1:
            catapults_sleep(any(&self, 100) * program.unit);
            break;
        case 2:
            catapults_port_receive_until(&victim->port, &message, catapults_now() + any(&self, 100) * program.unit);
            break;
        default: {
            struct catapults_source source = catapults_source_port(&victim->port);
            catapults_select(&source, 1, catapults_now() + any(&self, 100) * program.unit);
        }
        }
    }
    catapults_cleanup_pop(1);
    return NULL;
}

static void cancel(struct worker *self) {
    struct victim victim = {.random = self->random};
    catapults_mutex_init(&victim.mutex, NULL);
    catapults_cond_init(&victim.never);
    catapults_port_init(&victim.port, "victim", 0);
    catapults_t thread = spawn(self, NULL, suffer, &victim);
    if (!thread)
        return;
    for (int i = any(self, 4); i > 0; i--)
        pause_somehow(self);
    bool suspended = any(self, 3) == 0 && catapults_suspend(thread) == 0;
    require(catapults_cancel(thread) == 0);
    if (suspended)
        catapults_resume(thread);
    void *result;
    join(thread, &result);
    require(result == CATAPULTS_CANCELED);
    program.ended++; /* it could not say so */
    require(catapults_mutex_destroy(&victim.mutex) == 0 && catapults_cond_destroy(&victim.never) == 0);
    require(catapults_port_destroy(&victim.port) == 0);
}

/* ---- Suspending -------------------------------------------------------------------------------------------------- */

static void *turn(void *stop) {
    steps_go_on();
    for (int i = 0; !*(_Atomic bool *)stop; i++)
        i % 4 ? catapults_yield() : catapults_sleep(10 * US);
    steps_end();
    ends();
    return NULL;
}

static void suspend(struct worker *self) {
    _Atomic bool stop = false;
    catapults_t thread = spawn(self, NULL, turn, &stop);
    if (!thread)
        return;
    for (int i = any(self, 5); i > 0; i--) {
        int error = catapults_suspend(thread);
        require(error == 0);
        pause_somehow(self);
        require(catapults_resume(thread) == 0);
        pause_somehow(self);
    }
    stop = true;
    join(thread, NULL);
}

static void act(struct worker *self) {
    switch (any(self, 6)) {
    case 0:
        cancel(self);
        break;
    case 1:
        suspend(self);
        break;
    case 2:
        live_and_detach(self);
        break;
    default:
        live_and_join(self);
    }
}

static void end(struct worker *self) {
    (void)self;
    while (detached_ended < detached)
        catapults_sleep(100 * US);
    require(values_destroyed == values_set && cleanups_run == cleanups_pushed);
    require(catapults_key_delete(key) == 0);
}

const struct scene lives_scene = {"lives", begin, act, end};
