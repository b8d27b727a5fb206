/*
 * Under policies/desktop.hierarchy: a thread of `video` runs as soon as it can, whoever of `rest` runs. Prints how
 * often it was woken, and how often it had run before the call that woke it returned.
 */
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"

enum { FRAMES = 200, OTHERS = 20 };

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static catapults_cond_t frame = CATAPULTS_COND_INITIALIZER;
static int shown;

static void *show_frames(void *argument) {
    (void)argument;
    catapults_mutex_lock(&mutex);
    while (shown < FRAMES) {
        catapults_cond_wait(&frame, &mutex);
        shown++;
    }
    catapults_mutex_unlock(&mutex);
    return NULL;
}

static void *work(void *argument) {
    (void)argument;
    while (shown < FRAMES)
        catapults_yield();
    return NULL;
}

static catapults_t start(const char *scheduler, void *(*run)(void *)) {
    catapults_t thread;
    struct catapults_attributes attributes = {.scheduler = catapults_scheduler_find(scheduler)};
    if (!attributes.scheduler || catapults_create(&thread, &attributes, run, NULL) != 0)
        exit(2);
    return thread;
}

int main(void) {
    if (catapults_init(NULL) != 0)
        return 2;
    catapults_t video = start("video", show_frames), others[OTHERS];
    for (int i = 0; i < OTHERS; i++)
        others[i] = start("rest", work);
    int at_once = 0;
    for (int i = 0; i < FRAMES; i++) {
        catapults_yield();
        int before = shown;
        catapults_cond_signal(&frame);
        at_once += shown == before + 1;
    }
    catapults_join(video, NULL);
    for (int i = 0; i < OTHERS; i++)
        catapults_join(others[i], NULL);
    printf("%s: %d of %d at once\n", catapults_scheduler_name(catapults_scheduler_self()), at_once, FRAMES);
    return 0;
}
