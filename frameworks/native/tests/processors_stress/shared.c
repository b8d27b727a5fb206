/*
 * What threads of random programs share: mutexes, one of which is a leaf, a condition, a semaphore, a read-write lock,
 * and ports with two servers.
 */
#include "processors_stress/processors_stress.h"

enum { MUTEXES = 3 };
static struct {
    catapults_mutex_t mutex;
    long counted;
    struct worker *owner;
} locks[MUTEXES];
static atomic_long locked[MUTEXES];

catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static int tokens;
static catapults_sem_t semaphore = CATAPULTS_SEM_INITIALIZER(3);
static atomic_int inside_semaphore, readers, writers;
static catapults_rwlock_t rwlock = CATAPULTS_RWLOCK_INITIALIZER;
static catapults_port_t port = CATAPULTS_PORT_INITIALIZER, passed_on = CATAPULTS_PORT_INITIALIZER;
static catapults_mutex_t leaf = CATAPULTS_MUTEX_INITIALIZER; /* nothing is waited for by who has it */
static long leaves;
static atomic_long leaves_taken;

void use_mutex(struct worker *self) {
    int which = any(self, MUTEXES);
    catapults_mutex_t *mutex = &locks[which].mutex;
    int way = any(self, 4), error = 0;
    if (way == 0)
        error = catapults_mutex_trylock(mutex);
    else if (way == 1)
        error = catapults_mutex_lock_until(mutex, catapults_now() + any(self, 300) * US);
    else
        require(catapults_mutex_lock(mutex) == 0);
    require(error == 0 || error == EBUSY || error == ETIMEDOUT);
    if (error)
        return;
    require(!locks[which].owner);
    locks[which].owner = self;
    if (any(self, 2))
        catapults_yield();
    else
        compute(self);
    require(locks[which].owner == self);
    locks[which].owner = NULL;
    locks[which].counted++;
    atomic_fetch_add(&locked[which], 1);
    require(catapults_mutex_unlock(mutex) == 0);
}

static void use_leaf(struct worker *self) {
    require(catapults_mutex_lock(&leaf) == 0);
    leaves++;
    atomic_fetch_add(&leaves_taken, 1);
    if (any(self, 2))
        catapults_yield();
    else
        compute(self);
    require(catapults_mutex_unlock(&leaf) == 0);
}

void call(struct worker *self) {
    struct catapults_message message = {.kind = self->number};
    int error = any(self, 4) ? catapults_port_call(&port, &message)
                             : catapults_port_call_until(&port, &message, catapults_now() + any(self, 200) * US);
    require(error == 0 ? message.kind == self->number + 1 : error == ETIMEDOUT);
}

/* Mutexes in their order, with a server at the end, which may want the leaf. */
void use_chain(struct worker *self) {
    int first = any(self, MUTEXES), last = first + any(self, MUTEXES - first);
    for (int i = first; i <= last; i++) {
        require(catapults_mutex_lock(&locks[i].mutex) == 0);
        require(!locks[i].owner);
        locks[i].owner = self;
        if (any(self, 3) == 0)
            catapults_yield();
    }
    if (any(self, 2))
        call(self);
    else
        use_leaf(self);
    for (int i = last; i >= first; i--) {
        require(locks[i].owner == self);
        locks[i].owner = NULL;
        locks[i].counted++;
        atomic_fetch_add(&locked[i], 1);
        require(catapults_mutex_unlock(&locks[i].mutex) == 0);
    }
}

/* Whoever takes a token brings one, sooner or later: nobody waits for ever. */
void use_condition(struct worker *self) {
    require(catapults_mutex_lock(&gate) == 0);
    if (any(self, 2)) {
        tokens++;
        require((any(self, 3) ? catapults_cond_signal : catapults_cond_broadcast)(&cond) == 0);
    } else {
        int64_t until = catapults_now() + any(self, 400) * US;
        int error = 0;
        while (!tokens && !error)
            error = catapults_cond_wait_until(&cond, &gate, until);
        require(error == 0 || error == ETIMEDOUT);
        tokens -= tokens > 0;
    }
    require(catapults_mutex_unlock(&gate) == 0);
}

void use_semaphore(struct worker *self) {
    int error = any(self, 2) ? catapults_sem_wait(&semaphore)
                             : catapults_sem_wait_until(&semaphore, catapults_now() + any(self, 200) * US);
    require(error == 0 || error == ETIMEDOUT);
    if (error)
        return;
    require(atomic_fetch_add(&inside_semaphore, 1) < 3);
    catapults_yield();
    atomic_fetch_sub(&inside_semaphore, 1);
    require(catapults_sem_post(&semaphore) == 0);
}

void use_rwlock(struct worker *self) {
    if (any(self, 3)) {
        require(catapults_rwlock_rdlock(&rwlock) == 0);
        atomic_fetch_add(&readers, 1);
        require(atomic_load(&writers) == 0);
        catapults_yield();
        atomic_fetch_sub(&readers, 1);
    } else {
        require(catapults_rwlock_wrlock(&rwlock) == 0);
        require(atomic_fetch_add(&writers, 1) == 0 && atomic_load(&readers) == 0);
        catapults_yield();
        atomic_fetch_sub(&writers, 1);
    }
    require(catapults_rwlock_unlock(&rwlock) == 0);
}

/* Some requests are another server's. */
static void *serve(void *argument) {
    struct worker own = {.random = 12345};
    struct catapults_message *message;
    while (catapults_port_receive(&port, &message) == 0) {
        if (any(&own, 3) == 0) {
            require(catapults_port_send(&passed_on, message) == 0);
            continue;
        }
        if (any(&own, 3) == 0)
            use_leaf(&own);
        message->kind++;
        require(catapults_port_reply(message) == 0);
    }
    catapults_port_close(&passed_on);
    return argument;
}

static void *serve_further(void *argument) {
    struct worker own = {.random = 54321};
    struct catapults_message *message;
    while (catapults_port_receive(&passed_on, &message) == 0) {
        if (any(&own, 2))
            use_leaf(&own);
        message->kind++;
        require(catapults_port_reply(message) == 0);
    }
    return argument;
}

static catapults_t server, further;

void begin_shared(struct worker *self) {
    for (int i = 0; i < MUTEXES; i++) {
        struct catapults_mutex_attributes attributes = {.type = (enum catapults_mutex_type)i,
                                                        .protocol = (enum catapults_mutex_protocol)any(self, 2)};
        require(catapults_mutex_init(&locks[i].mutex, &attributes) == 0);
    }
    require(catapults_create(&server, NULL, serve, NULL) == 0);
    require(catapults_create(&further, NULL, serve_further, NULL) == 0);
}

void end_shared(void) {
    catapults_port_close(&port);
    require(catapults_join(server, NULL) == 0);
    require(catapults_join(further, NULL) == 0);
    require(leaf.state == 0 && leaves == atomic_load(&leaves_taken));
    for (int i = 0; i < MUTEXES; i++)
        require(locks[i].mutex.state == 0 && locks[i].counted == atomic_load(&locked[i]));
}
