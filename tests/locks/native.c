/* The native runtime. */
#include <unistd.h>

#include "catapults.h"
#include "program.h"

static catapults_mutex_t locks[MOST];
static catapults_sem_t semaphores[MOST];
static catapults_t threads[MOST];
static int left;

static void must(int error) {
    if (error)
        abort();
}

static void *act(void *kind) {
    program_do((int)(intptr_t)kind);
    if (--left == 0) {
        program_print();
        _exit(0);
    }
    return NULL;
}

static void host_create(int kind, int priority) {
    struct catapults_value values[] = {catapults_value_int("priority", priority)};
    struct catapults_attributes attributes = {.values = values, .values_count = 1, .detached = true};
    must(catapults_create(&threads[kind], &attributes, act, (void *)(intptr_t)kind));
}

static void host_make_lock(int lock, char protocol) {
    struct catapults_mutex_attributes attributes = {.protocol = protocol == 'i'   ? CATAPULTS_PROTOCOL_INHERIT
                                                                : protocol == 'n' ? CATAPULTS_PROTOCOL_NONE
                                                                                  : CATAPULTS_PROTOCOL_PROTECT};
    if (attributes.protocol == CATAPULTS_PROTOCOL_PROTECT)
        attributes.ceiling = protocol - '0';
    must(catapults_mutex_init(&locks[lock], &attributes));
}

static void host_make_semaphore(int semaphore, int value) {
    must(catapults_sem_init(&semaphores[semaphore], (uint32_t)value));
}

static void host_lock(int lock) { must(catapults_mutex_lock(&locks[lock])); }
static void host_unlock(int lock) { must(catapults_mutex_unlock(&locks[lock])); }
static void host_wait(int semaphore) { must(catapults_sem_wait(&semaphores[semaphore])); }
static void host_post(int semaphore) { must(catapults_sem_post(&semaphores[semaphore])); }
static void host_send(int receiver) { (void)receiver, abort(); }
static void host_receive(int receiver) { (void)receiver, abort(); }
static void host_yield(void) { catapults_yield(); }

int main(int count, char **words) {
    must(catapults_init(NULL));
    left = count - 3;
    program_read(count, words);
    act((void *)0);
    for (;;)
        catapults_sleep(INT64_C(1000000000000));
}
