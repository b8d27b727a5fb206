/*
 * Semaphores, barriers, what is done once, timers.
 */
#include "stress/stress.h"

static catapults_sem_t semaphore;
static _Atomic long posts, waits;
static catapults_once_t once = CATAPULTS_ONCE_INIT;
static _Atomic int done_once;

static void do_once(void) {
    done_once++;
    catapults_yield();
}

static void begin(struct worker *self) {
    int value = any(self, 3);
    posts = value;
    require(catapults_sem_init(&semaphore, (uint32_t)value) == 0);
}

static void use_semaphore(struct worker *self) {
    if (any(self, 2)) {
        posts++;
        require(catapults_sem_post(&semaphore) == 0);
        return;
    }
    int error = any(self, 2) ? catapults_sem_trywait(&semaphore)
                             : catapults_sem_wait_until(&semaphore, catapults_now() + any(self, 100) * program.unit);
    require(error == 0 || error == EAGAIN || error == ETIMEDOUT);
    if (!error)
        waits++;
}

struct meeting {
    catapults_barrier_t barrier;
    _Atomic int arrived, serial;
    int rounds, count;
};

static void *meet(void *meeting_) {
    struct meeting *meeting = meeting_;
    steps_go_on();
    for (int i = 1; i <= meeting->rounds; i++) {
        meeting->arrived++;
        int result = catapults_barrier_wait(&meeting->barrier);
        require(result == 0 || result == CATAPULTS_BARRIER_SERIAL_THREAD);
        meeting->serial += result == CATAPULTS_BARRIER_SERIAL_THREAD;
        require(meeting->arrived >= i * meeting->count);
    }
    steps_end();
    ends();
    return NULL;
}

static void hold_meeting(struct worker *self) {
    struct meeting meeting = {.rounds = 1 + any(self, 4), .count = 1 + any(self, 4)};
    catapults_t threads[5];
    require(catapults_barrier_init(&meeting.barrier, (uint32_t)meeting.count) == 0);
    faults_hold(); /* who is missing is waited for */
    for (int i = 0; i < meeting.count; i++)
        while ((threads[i] = spawn(self, NULL, meet, &meeting)) == NULL)
            catapults_sleep(10 * US);
    faults_release();
    for (int i = 0; i < meeting.count; i++)
        join(threads[i], NULL);
    require(meeting.arrived == meeting.rounds * meeting.count && meeting.serial == meeting.rounds);
    require(catapults_barrier_destroy(&meeting.barrier) == 0);
}

static void sleep_a_little(struct worker *self) {
    int64_t instant = catapults_now() + any(self, 300) * program.unit;
    any(self, 2) ? catapults_sleep_until(instant) : catapults_sleep(instant - catapults_now());
    require(catapults_now() >= instant);
}

static void act(struct worker *self) {
    switch (any(self, 5)) {
    case 0:
        hold_meeting(self);
        break;
    case 1:
        require(catapults_once(&once, do_once) == 0 && done_once == 1);
        break;
    case 2:
        sleep_a_little(self);
        break;
    default:
        use_semaphore(self);
    }
}

static void end(struct worker *self) {
    (void)self;
    int value;
    require(catapults_sem_getvalue(&semaphore, &value) == 0 && value == posts - waits);
    require(catapults_sem_destroy(&semaphore) == 0);
}

const struct scene meetings_scene = {"meetings", begin, act, end};
