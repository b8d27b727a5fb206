/*
 * Mutexes of all kinds, locked in any order, with conditions; read-write locks. What a lock protects is there twice,
 * and must agree.
 */
#include "stress/stress.h"

enum { MUTEXES = 5, BOOKS = 2 };

static struct {
    catapults_mutex_t mutex;
    catapults_cond_t changed;
    struct worker *owner;
    int depth;
    volatile long one, other;
} boxes[MUTEXES];

static struct {
    catapults_rwlock_t lock;
    volatile long pages, copies;
} books[BOOKS];

static _Atomic long writes[MUTEXES], pages[BOOKS];

static void begin(struct worker *self) {
    for (int i = 0; i < MUTEXES; i++) {
        struct catapults_mutex_attributes attributes = {
            .type = i == 1 ? CATAPULTS_MUTEX_RECURSIVE : CATAPULTS_MUTEX_ERRORCHECK,
            .protocol = any(self, 3) ? CATAPULTS_PROTOCOL_INHERIT : CATAPULTS_PROTOCOL_NONE,
            .robust = any(self, 3) == 0,
        };
        require(catapults_mutex_init(&boxes[i].mutex, &attributes) == 0);
        require(catapults_cond_init(&boxes[i].changed) == 0);
    }
}

static int lock_somehow(struct worker *self, catapults_mutex_t *mutex) {
    switch (any(self, 4)) {
    case 0:
        return catapults_mutex_trylock(mutex);
    case 1:
        return catapults_mutex_lock_until(mutex, catapults_now() + any(self, 100) * program.unit);
    default:
        return catapults_mutex_lock(mutex);
    }
}

static void lock_box(struct worker *self, int nested) {
    int i = any(self, MUTEXES);
    int error = lock_somehow(self, &boxes[i].mutex);
    if (error) {
        require(error == EBUSY || error == ETIMEDOUT || error == EDEADLK);
        return;
    }
    require(boxes[i].owner == NULL || (boxes[i].owner == self && i == 1));
    boxes[i].owner = self;
    boxes[i].depth++;
    bool inside = self->inside;
    self->inside = true;
    require(boxes[i].depth > 1 || boxes[i].one == boxes[i].other);
    boxes[i].one++;
    writes[i]++;
    if (any(self, 2))
        pause_somehow(self);
    if (nested < 3 && any(self, 2))
        lock_box(self, nested + 1);
    boxes[i].other++;
    /* A wait gives the mutex away: not while it is locked twice, nor with another one. */
    if (nested == 0 && boxes[i].depth == 1 && any(self, 3) == 0) {
        boxes[i].owner = NULL;
        boxes[i].depth = 0;
        error = catapults_cond_wait_until(&boxes[i].changed, &boxes[i].mutex,
                                          catapults_now() + any(self, 200) * program.unit);
        if ((errno = error) != ETIMEDOUT) /* for the report */
            require(error == 0);
        require(boxes[i].owner == NULL && boxes[i].one == boxes[i].other);
        boxes[i].owner = self;
        boxes[i].depth = 1;
    }
    if (any(self, 2))
        any(self, 2) ? catapults_cond_signal(&boxes[i].changed) : catapults_cond_broadcast(&boxes[i].changed);
    require(boxes[i].owner == self);
    if (--boxes[i].depth == 0)
        boxes[i].owner = NULL;
    require(catapults_mutex_unlock(&boxes[i].mutex) == 0);
    self->inside = inside;
}

static void use_book(struct worker *self) {
    int i = any(self, BOOKS);
    bool writes_it = any(self, 3) == 0;
    int64_t instant = catapults_now() + any(self, 100) * program.unit;
    int error, way = any(self, 3);
    if (writes_it)
        error = way == 0   ? catapults_rwlock_trywrlock(&books[i].lock)
                : way == 1 ? catapults_rwlock_wrlock_until(&books[i].lock, instant)
                           : catapults_rwlock_wrlock(&books[i].lock);
    else
        error = way == 0   ? catapults_rwlock_tryrdlock(&books[i].lock)
                : way == 1 ? catapults_rwlock_rdlock_until(&books[i].lock, instant)
                           : catapults_rwlock_rdlock(&books[i].lock);
    if (error) {
        require(error == EBUSY || error == ETIMEDOUT);
        return;
    }
    require(books[i].pages == books[i].copies);
    if (writes_it) {
        books[i].pages++;
        pages[i]++;
    }
    self->inside = true;
    pause_somehow(self);
    self->inside = false;
    if (writes_it)
        books[i].copies++;
    require(books[i].pages == books[i].copies);
    require(catapults_rwlock_unlock(&books[i].lock) == 0);
}

static void act(struct worker *self) { any(self, 4) ? lock_box(self, 0) : use_book(self); }

static void end(struct worker *self) {
    (void)self;
    for (int i = 0; i < MUTEXES; i++) {
        require(boxes[i].one == boxes[i].other && boxes[i].one == writes[i]);
        require(catapults_cond_destroy(&boxes[i].changed) == 0);
        require(catapults_mutex_destroy(&boxes[i].mutex) == 0);
    }
    for (int i = 0; i < BOOKS; i++) {
        require(books[i].pages == pages[i]);
        require(catapults_rwlock_destroy(&books[i].lock) == 0);
    }
}

const struct scene locks_scene = {"locks", begin, act, end};
