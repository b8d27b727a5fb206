/*
 * The scheduler of the weather station (policies/weather.sched) as somebody writes it in C who knows this processor and
 * its compiler: what the generated one is measured against. In the place of a generated file, with what the station
 * needs of it.
 */
#include "rabbit_policy.h"

struct queue {
    struct catapults_thread *first, *last;
};

struct by_hand_thread {
    struct catapults_thread base;
    int threadclass;
};

struct by_hand {
    struct queue standard_sensors, slow_sensors, calculations;
    struct catapults_thread *new_threads, *display, *next;
    int until_display, until_sensor1, until_sensor2, temperature;
};

#ifdef CATAPULTS_DEFINE_INSTANCE
struct by_hand weather;
#else
extern struct by_hand weather;
#endif

#define CLASS(t) (((struct by_hand_thread *)(t))->threadclass)

#define APPEND(queue, t)                                                                                               \
    do {                                                                                                               \
        (t)->next = NULL;                                                                                              \
        if (weather.queue.first)                                                                                       \
            weather.queue.last->next = (t);                                                                            \
        else                                                                                                           \
            weather.queue.first = (t);                                                                                 \
        weather.queue.last = (t);                                                                                      \
    } while (0)

CATAPULTS_INLINE void by_hand_start(void) {
    weather.standard_sensors.first = NULL;
    weather.slow_sensors.first = NULL;
    weather.calculations.first = NULL;
    weather.new_threads = NULL;
    weather.display = NULL;
    weather.next = NULL;
    weather.until_display = 10;
    weather.until_sensor1 = 3;
    weather.until_sensor2 = 6;
    weather.temperature = 0;
}

CATAPULTS_INLINE void by_hand_adopt(struct by_hand_thread *t) { t->threadclass = 0; }

CATAPULTS_INLINE void by_hand_newthread(struct catapults_thread *t) {
    t->next = weather.new_threads;
    weather.new_threads = t;
}

/* A jump by class keeps the thread in registers, comparisons one by one do not. */
CATAPULTS_INLINE void by_hand_switch_out(struct catapults_thread *t) {
    switch (CLASS(t)) {
    case 1:
        APPEND(standard_sensors, t);
        return;
    case 2:
        APPEND(slow_sensors, t);
        return;
    case 3:
        if (!weather.display) {
            weather.display = t;
            return;
        }
        break;
    case 4:
        APPEND(calculations, t);
        return;
    }
    t->next = weather.new_threads;
    weather.new_threads = t;
}

/* Seldom, so it is not to be inlined. */
#ifdef CATAPULTS_DEFINE_INSTANCE
void by_hand_sort(void) {
    struct catapults_thread *next, *t = weather.new_threads;
    weather.new_threads = NULL;
    do {
        next = t->next;
        by_hand_switch_out(t);
    } while ((t = next));
}
#else
void by_hand_sort(void);
#endif

CATAPULTS_INLINE struct catapults_thread *by_hand_schedule(void) {
    struct catapults_thread *t;
    if (weather.new_threads)
        by_hand_sort();
    weather.until_display--;
    weather.until_sensor1--;
    weather.until_sensor2--;
    if ((t = weather.next)) {
        weather.next = NULL;
    } else if (weather.until_display < 0 && weather.temperature >= 100 && (t = weather.display)) {
        weather.display = NULL;
        weather.until_display = 10;
    } else if (weather.until_sensor1 < 0 && (t = weather.standard_sensors.first)) {
        weather.standard_sensors.first = t->next;
        weather.until_sensor1 = 3;
    } else if (weather.until_sensor2 < 0 && (t = weather.slow_sensors.first)) {
        weather.slow_sensors.first = t->next;
        weather.until_sensor2 = 6;
    } else if ((t = weather.calculations.first)) {
        weather.calculations.first = t->next;
    } else if ((t = weather.new_threads)) {
        weather.new_threads = t->next;
    } else if ((t = weather.standard_sensors.first)) {
        weather.standard_sensors.first = t->next;
    } else if ((t = weather.slow_sensors.first)) {
        weather.slow_sensors.first = t->next;
    } else {
        t = weather.display;
        weather.display = NULL;
    }
    return t;
}

#define BY_HAND_NOTHING(t) (void)(t)
#define CATAPULTS_THREAD struct by_hand_thread
#define CATAPULTS_START by_hand_start
#define CATAPULTS_ADOPT by_hand_adopt
#define CATAPULTS_HANDLER_newthread by_hand_newthread
#define CATAPULTS_NEVER_STOPS_newthread
#define CATAPULTS_HANDLER_schedule by_hand_schedule
#define CATAPULTS_NEVER_STOPS_schedule
#define CATAPULTS_HANDLER_switch_out by_hand_switch_out
#define CATAPULTS_NEVER_STOPS_switch_out
#define CATAPULTS_HANDLER_exit BY_HAND_NOTHING
#define CATAPULTS_NEVER_STOPS_exit
#define CATAPULTS_IMPORT_temperature weather.temperature
#define CATAPULTS_THREADIMPORT_threadclass(t) CLASS(t)
