/* GNU Pth. Every lock there is of the protocol `none`, and there are no semaphores. */
#include <pth.h>
#include <unistd.h>

#include "catapults_pth.h"
#include "program.h"

struct object {
    catapults_int priority;
};

static pth_mutex_t locks[MOST];
static struct object objects[MOST];
static pth_msgport_t ports[MOST];
static pth_message_t messages[MOST_MARKS];
static int messages_count;
static int left;

static void *act(void *kind) {
    program_do((int)(intptr_t)kind);
    if (--left == 0) {
        program_print();
        _exit(0);
    }
    return NULL;
}

static void host_create(int kind, int priority) {
    objects[kind].priority = priority;
    pth_attr_t attributes = pth_attr_new();
    pth_attr_set(attributes, PTH_ATTR_JOINABLE, FALSE);
    if (!pth_spawn_object(attributes, act, (void *)(intptr_t)kind, &objects[kind]))
        abort();
    pth_attr_destroy(attributes);
}

static void host_make_lock(int lock, char protocol) {
    if (protocol != 'n' || !pth_mutex_init(&locks[lock]))
        abort();
}

static void host_make_semaphore(int semaphore, int value) { (void)semaphore, (void)value, abort(); }
static void host_wait(int semaphore) { (void)semaphore, abort(); }
static void host_post(int semaphore) { (void)semaphore, abort(); }

static void host_lock(int lock) {
    if (!pth_mutex_acquire(&locks[lock], FALSE, NULL))
        abort();
}

static void host_unlock(int lock) {
    if (!pth_mutex_release(&locks[lock]))
        abort();
}

static void host_send(int receiver) {
    if (messages_count == MOST_MARKS || !pth_msgport_put(ports[receiver], &messages[messages_count++]))
        abort();
}

static void host_receive(int receiver) {
    while (!pth_msgport_get(ports[receiver])) {
        pth_event_t arrival = pth_event(PTH_EVENT_MSG, ports[receiver]);
        if (!arrival || pth_wait(arrival) != 1)
            abort();
        pth_event_free(arrival, PTH_FREE_ALL);
    }
}

static void host_yield(void) { pth_yield(NULL); }

int main(int count, char **words) {
    pth_init();
    pth_threadvar_register("priority", offsetof(struct object, priority));
    left = count - 3;
    for (int i = 0; i < MOST; i++)
        if (!(ports[i] = pth_msgport_create("port")))
            abort();
    program_read(count, words);
    act((void *)0);
    for (;;)
        pth_sleep(1000);
}
