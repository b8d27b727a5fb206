/*
 * The threads of tests/tests/traces.rs in GNU Pth: the same that its scenario has, and nothing that takes time but to
 * sleep.
 */
#include <stdlib.h>
#include <string.h>

#include "catapults_pth.h"

/* A thread's variable, whatever the policy calls it: each that a policy of the test imports is linked with it. */
struct object {
    catapults_int value;
};

static pth_msgport_t letters;
static pth_message_t messages[2];
static pth_t c_thread;

static void must(bool done) {
    if (!done)
        abort();
}

static void yields(int times) {
    for (int i = 0; i < times; i++)
        must(pth_yield(NULL));
}

static void sleeps(long milliseconds) { must(pth_nap(pth_time(0, milliseconds * 1000))); }

static void receives(void) {
    pth_event_t event = pth_event(PTH_EVENT_MSG, letters);
    if (pth_msgport_pending(letters) == 0)
        pth_wait(event);
    pth_event_free(event, PTH_FREE_THIS);
    must(pth_msgport_get(letters));
}

static void *a(void *argument) {
    yields(3);
    receives();
    sleeps(300);
    receives();
    return argument;
}

static void *b(void *argument) {
    yields(1);
    must(pth_suspend(c_thread));
    yields(3);
    must(pth_resume(c_thread));
    yields(2);
    must(pth_msgport_put(letters, &messages[0]));
    return argument;
}

static void *c(void *argument) {
    yields(5);
    sleeps(100);
    must(pth_msgport_put(letters, &messages[1]));
    return argument;
}

static pth_t spawns(const char *name, void *(*start)(void *), struct object *object) {
    pth_attr_t attributes = pth_attr_new();
    must(pth_attr_set(attributes, PTH_ATTR_NAME, name));
    pth_t thread = pth_spawn_object(attributes, start, NULL, object);
    must(thread);
    pth_attr_destroy(attributes);
    return thread;
}

int main(void) {
    static struct object of_main = {5}, of_a = {3}, of_b = {4}, of_c = {4};
    for (const char *const *name = (const char *const[]){"bytesleft", "priority", NULL}; *name; name++)
        pth_threadvar_register(*name, offsetof(struct object, value));
    must(pth_init());
    must(pth_threadvar_object(pth_self(), &of_main));
    letters = pth_msgport_create("letters");
    must(letters);
    c_thread = spawns("c", c, &of_c);
    pth_t of[] = {spawns("a", a, &of_a), spawns("b", b, &of_b)};
    yields(2);
    must(pth_join(of[0], NULL));
    must(pth_join(of[1], NULL));
    must(pth_join(c_thread, NULL));
    return EXIT_SUCCESS;
}
