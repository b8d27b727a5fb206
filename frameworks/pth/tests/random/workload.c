/*
 * A program that does whatever Pth can, in an order that a seed chooses: usage workload SEED STEPS VARIABLE...
 *
 * A variable is `int:NAME` or, of threads, `thread-int:NAME`; also bool, time and float. Each is registered, and
 * assigned now and then. The program ends after so many steps, whatever its threads are doing. main never waits for
 * long, and nobody suspends or cancels it: something can always go on. Every call that the policy is told of may let
 * others run, where it preempts, so what a slot holds is looked at again after each.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catapults_pth.h"

enum { SLOTS = 6, VARIABLES = 16 };

union cell {
    catapults_int integer;
    bool truth;
    double real;
};

/* A thread that others may meddle with. */
struct slot {
    union cell cells[VARIABLES];        /* of per-thread variables */
    pth_t thread;                       /* NULL: free */
    bool taken, started, at_any_moment; /* taken: somebody spawns its thread just now */
    unsigned turn;                      /* how many threads have had it */
};

struct variable {
    char type; /* i, b, t, f */
    bool of_threads;
};

static struct slot slots[SLOTS + 1]; /* the last is main's */
static union cell cells[VARIABLES];
static struct variable variables[VARIABLES];
static int variables_count;
static long steps_left;
static int ends[2];
static pth_mutex_t mutex = PTH_MUTEX_INIT;
static pth_cond_t condition = PTH_COND_INIT;

static unsigned random_below(unsigned bound) {
    static uint64_t state;
    if (bound == 0) {
        state = (uint64_t)steps_left; /* the seed, once */
        return 0;
    }
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % bound;
}

static void assign(char type, union cell *cell) {
    static const catapults_int integers[] = {0, 1, 2, 3, 4, 5, 100, 1000, -1, INT64_MAX, INT64_MIN};
    static const catapults_time times[] = {0, 1, 1000000, 5000000, 1000000000, -1};
    static const double reals[] = {0, 1, -1, 0.5, 1e6, -1e-3};
    switch (type) {
    case 'i':
        cell->integer = integers[random_below(11)];
        break;
    case 't':
        cell->integer = times[random_below(6)];
        break;
    case 'b':
        cell->truth = random_below(2);
        break;
    case 'f':
        cell->real = reals[random_below(6)];
        break;
    }
}

static void assign_any(void) {
    if (variables_count == 0)
        return;
    int which = (int)random_below((unsigned)variables_count);
    struct variable variable = variables[which];
    assign(variable.type, variable.of_threads ? &slots[random_below(SLOTS + 1)].cells[which] : &cells[which]);
}

static void free_slot(void *slot) { ((struct slot *)slot)->thread = NULL; }

static void *body(void *argument);

static struct slot *anybody(void) {
    struct slot *slot = &slots[random_below(SLOTS)];
    return slot->thread && slot->thread != pth_self() ? slot : NULL;
}

static void spawn(void) {
    struct slot *slot = slots;
    while (slot < slots + SLOTS && (slot->thread || slot->taken))
        slot++;
    if (slot == slots + SLOTS)
        return;
    const unsigned turn = ++slot->turn;
    slot->started = false;
    slot->at_any_moment = random_below(2);
    pth_attr_t attributes = pth_attr_new();
    pth_attr_set(attributes, PTH_ATTR_JOINABLE, FALSE);
    pth_attr_set(attributes, PTH_ATTR_PRIO, (int)random_below(3) - 1);
    pth_attr_set(attributes, PTH_ATTR_CANCEL_STATE,
                 PTH_CANCEL_ENABLE | (slot->at_any_moment ? PTH_CANCEL_ASYNCHRONOUS : PTH_CANCEL_DEFERRED));
    /* It may run, and even end, before this returns; and then the slot may be the next one's. */
    slot->taken = true;
    pth_t thread = pth_spawn_object(attributes, body, slot, slot);
    pth_attr_destroy(attributes);
    if (slot->turn != turn)
        return;
    if (!slot->started)
        slot->thread = thread;
    slot->taken = false;
}

static void *child(void *turns) {
    for (intptr_t left = (intptr_t)turns; left > 0; left--)
        pth_yield(NULL);
    return NULL;
}

/* With PTH_ATTR_DEFAULT it could be joined only if its parent can; else it is freed where it ends, perhaps before
 * pth_spawn returns, and its name is nobody's then. */
static void spawn_and_join(void) {
    pth_attr_t attributes = pth_attr_new();
    pth_attr_set(attributes, PTH_ATTR_JOINABLE, TRUE);
    pth_t thread = pth_spawn(attributes, child, (void *)(intptr_t)random_below(3));
    pth_attr_destroy(attributes);
    if (thread)
        pth_join(thread, NULL);
}

static pth_event_t timeout(void) { return pth_event(PTH_EVENT_TIME, pth_timeout(0, 200)); }

/* Cancelled at any moment, its owner would keep the mutex for ever. So would whoever cancels one that waits at the
 * condition: Pth takes the mutex again in his name, and has him wait for it, be he main. */
static int keep_until_a_cancellation_point(void) {
    int state;
    pth_cancel_state(PTH_CANCEL_ENABLE | PTH_CANCEL_DEFERRED, &state);
    return state;
}

static void yield_with_mutex(void) {
    if (!pth_mutex_acquire(&mutex, pth_self() == slots[SLOTS].thread, NULL))
        return;
    int state = keep_until_a_cancellation_point();
    pth_yield(NULL);
    pth_mutex_release(&mutex);
    pth_cancel_state(state, NULL);
}

static void await_condition(void) {
    pth_event_t event = timeout();
    if (pth_mutex_acquire(&mutex, FALSE, event)) {
        int state = keep_until_a_cancellation_point();
        pth_cond_await(&condition, &mutex, event);
        pth_mutex_release(&mutex);
        pth_cancel_state(state, NULL);
    }
    pth_event_free(event, PTH_FREE_THIS);
}

/* Whoever else was told of the byte finds none: Pth's own read would wait for the next one with the whole process. */
static void read_byte(void) {
    char byte;
    pth_event_t event = pth_event(PTH_EVENT_FD | PTH_UNTIL_FD_READABLE, ends[0]);
    pth_event_concat(event, timeout(), NULL);
    pth_wait(event);
    pth_event_free(event, PTH_FREE_ALL);
    if (read(ends[0], &byte, 1) < 0)
        return;
}

static void cancel(void) {
    struct slot *slot = anybody();
    if (!slot || random_below(3))
        return;
    pth_t thread = slot->thread;
    bool never_runs = slot->at_any_moment && !slot->started;
    if (never_runs)
        slot->thread = NULL; /* others may run before pth_cancel returns, and it is gone by then */
    if (!pth_cancel(thread) && never_runs)
        slot->thread = thread; /* it is suspended; nobody else has run */
}

static void ask(void) {
    struct slot *slot = anybody();
    pth_sched_threads_ready();
    pth_sched_threads_suspended();
    pth_sched_threads_total();
    if (slot)
        pth_sched_is_ready(slot->thread);
}

/* The attributes are freed: whom the policy lets run meanwhile may free the thread. */
static void give_priority(pth_t thread) {
    pth_attr_t attributes = pth_attr_of(thread);
    if (attributes) {
        pth_attr_set(attributes, PTH_ATTR_PRIO, (int)random_below(5) - 2);
        pth_attr_destroy(attributes);
    }
}

static void step(void) {
    struct slot *slot;
    if (steps_left-- <= 0)
        _exit(0);
    switch (random_below(22)) {
    case 0:
    case 1:
    case 2:
    case 3:
        pth_yield(NULL);
        break;
    case 4:
    case 5:
        if ((slot = anybody()))
            pth_yield(slot->thread);
        break;
    case 6:
        pth_usleep(100);
        break;
    case 7:
        yield_with_mutex();
        break;
    case 8:
        if (pth_self() != slots[SLOTS].thread) /* it takes the mutex again, however long that takes */
            await_condition();
        break;
    case 9:
        pth_cond_notify(&condition, (int)random_below(2));
        break;
    case 10:
    case 11:
        spawn();
        break;
    case 12:
        if ((slot = anybody()))
            pth_suspend(slot->thread);
        break;
    case 13:
        if ((slot = anybody()))
            pth_resume(slot->thread);
        break;
    case 14:
        if ((slot = anybody()))
            pth_raise(slot->thread, SIGUSR1);
        break;
    case 15:
        cancel();
        break;
    case 16:
        spawn_and_join();
        break;
    case 17:
        assign_any();
        break;
    case 18:
        ask();
        break;
    case 20:
        if ((slot = anybody()))
            pth_sched_changed(slot->thread);
        break;
    case 21:
        if ((slot = anybody()))
            give_priority(slot->thread);
        break;
    case 19:
        if (random_below(2))
            read_byte();
        else if (write(ends[1], "x", 1) < 0)
            return;
        break;
    }
}

static void *body(void *argument) {
    struct slot *slot = argument;
    slot->thread = pth_self();
    slot->started = true;
    slot->taken = false;
    pth_cleanup_push(free_slot, slot);
    while (random_below(12))
        step();
    return NULL;
}

static void handle(int signal) { (void)signal; }

static void declare(const char *word) {
    struct variable *variable = &variables[variables_count];
    union cell *cell = &cells[variables_count];
    static const char prefix[] = "thread-";
    variable->of_threads = strncmp(word, prefix, strlen(prefix)) == 0;
    if (variable->of_threads)
        word += strlen(prefix);
    variable->type = *word;
    const char *name = strchr(word, ':') + 1;
    size_t offset = offsetof(struct slot, cells) + (size_t)variables_count * sizeof *cell;
    switch (variable->type) {
    case 'i':
        cell->integer = 5;
        variable->of_threads ? pth_threadvar_register(name, offset) : pth_schedvar_register(name, &cell->integer);
        break;
    case 'b':
        variable->of_threads ? pth_threadvar_register_bool(name, offset)
                             : pth_schedvar_register_bool(name, &cell->truth);
        break;
    case 't':
        variable->of_threads ? pth_threadvar_register_time(name, offset)
                             : pth_schedvar_register_time(name, &cell->integer);
        break;
    case 'f':
        variable->of_threads ? pth_threadvar_register_float(name, offset)
                             : pth_schedvar_register_float(name, &cell->real);
        break;
    }
    variables_count++;
}

int main(int count, char **arguments) {
    if (count < 3 || count > 3 + VARIABLES)
        return 2;
    steps_left = atol(arguments[1]);
    random_below(0);
    steps_left = atol(arguments[2]);
    for (int i = 3; i < count; i++)
        declare(arguments[i]);
    signal(SIGUSR1, handle);
    if (pipe2(ends, O_NONBLOCK) != 0)
        return 3;
    if (!pth_init())
        return pth_sched_refusal() ? 0 : 4;
    slots[SLOTS].thread = pth_self();
    pth_threadvar_object(pth_self(), &slots[SLOTS]);
    for (;;)
        step();
}
