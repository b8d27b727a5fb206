#include "host.h"

#include <errno.h>

#include "station.h"

/* A thread's object. */
struct place {
    catapults_int threadclass;
    void (*body)(uint8_t number);
    uint8_t number;
};

catapults_int host_temperature;

static struct place places[MOST_THREADS + 2]; /* by number */

static void *begin(void *argument) {
    struct place *place = argument;
    place->body(place->number);
    return NULL;
}

void host_spawn(void (*body)(uint8_t number), uint8_t number, uint8_t class) {
    struct place *place = &places[number];
    *place = (struct place){class, body, number};
    errno = catapults_create(NULL, &(struct catapults_attributes){.object = place, .detached = true}, begin, place);
    if (errno != 0)
        host_failed("catapults_create");
}

void host_run(void (*first)(void)) {
    if ((errno = catapults_init(&(struct catapults_options){.cooperative = true})) != 0)
        host_failed("catapults_init");
    catapults_schedvar_register("temperature", &host_temperature);
    catapults_threadvar_register("threadclass", struct place, threadclass);
    first();
    catapults_exit(NULL);
}
