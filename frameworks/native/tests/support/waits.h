/*
 * Threads that wait in calls, and what ends these waits: for tests of what signals do to them.
 */
#ifndef WAITS_H
#define WAITS_H

#include "catapults.h"
#include "support/child.h"

/* Counts a call that has returned, and gives its result as that of its thread. The program defines it. */
static inline void *finished(int result);

static catapults_sem_t semaphore;
static catapults_mutex_t mutex;
static catapults_cond_t condition;
static catapults_port_t port;

static inline void *sleep_long(void *argument) {
    (void)argument;
    return finished(catapults_sleep((int64_t)10 * 1000000000));
}

static inline void *wait_for_semaphore(void *argument) {
    (void)argument;
    return finished(catapults_sem_wait(&semaphore));
}
static inline void post(void) { require(catapults_sem_post(&semaphore) == 0); }

static inline void *receive(void *argument) {
    (void)argument;
    struct catapults_message *message;
    return finished(catapults_port_receive(&port, &message));
}
static inline void send_message(void) {
    static struct catapults_message message;
    require(catapults_port_send(&port, &message) == 0);
}

static inline void *lock_mutex(void *argument) {
    (void)argument;
    int result = catapults_mutex_lock(&mutex);
    catapults_mutex_unlock(&mutex);
    return finished(result);
}
static inline void unlock_mutex(void) { require(catapults_mutex_unlock(&mutex) == 0); }

static inline void *wait_for_condition(void *argument) {
    (void)argument;
    require(catapults_mutex_lock(&mutex) == 0);
    int result = catapults_cond_wait(&condition, &mutex);
    catapults_mutex_unlock(&mutex);
    return finished(result);
}

#endif
