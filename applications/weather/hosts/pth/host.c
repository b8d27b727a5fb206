#include "host.h"

#include "station.h"

/* A thread's object. */
struct place {
    catapults_int threadclass;
    void (*body)(uint8_t number);
    uint8_t number;
};

catapults_int host_temperature;

static struct place places[MOST_THREADS + 2]; /* by number */
static pth_attr_t attributes;

/* STATION_GENERIC: for Pth as it is, without a policy and without what brings one. */
#ifdef STATION_GENERIC
#define SPAWN(attributes, start, place) pth_spawn(attributes, start, place)
#else
#define SPAWN(attributes, start, place) pth_spawn_object(attributes, start, place, place)
#endif

static void *begin(void *argument) {
    struct place *place = argument;
    place->body(place->number);
    return NULL;
}

void host_spawn(void (*body)(uint8_t number), uint8_t number, uint8_t class) {
    struct place *place = &places[number];
    *place = (struct place){class, body, number};
    if (!SPAWN(attributes, begin, place))
        host_failed("pth_spawn");
}

void host_run(void (*first)(void)) {
#ifndef STATION_GENERIC
    pth_schedvar_register("temperature", &host_temperature);
    pth_threadvar_register("threadclass", offsetof(struct place, threadclass));
#endif
    if (!pth_init())
        host_failed("pth_init");
    attributes = pth_attr_new();
    pth_attr_set(attributes, PTH_ATTR_JOINABLE, FALSE);
    first();
    /* Its end would end the others. It waits for what never comes. */
    pth_wait(pth_event(PTH_EVENT_MSG, pth_msgport_create("nothing")));
}
