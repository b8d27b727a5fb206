/*
 * Hunts wake-ups that get lost: every instruction of the application traps (the trap flag of x86-64), and every n-th of
 * them takes the processor from its thread, for n from 1 on; an instruction of the runtime or of libc lets it finish
 * first, so the preemption comes as soon as it can. Threads meanwhile use all that threads wait for. What is lost is a
 * deadlock, which the runtime reports, or a count that does not come out.
 *
 *     stepped [SECONDS]
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include "catapults.h"
#include "contexts/tools.h"
#include "dispatcher/dispatcher.h"
#include "preemption/preemption.h"
#include "process/own_code.h"

#define require(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "stepped: at every %d: %s:%d: not so: %s\n", every, __FILE__, __LINE__, #condition);       \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

enum { SECOND = 1000000000, US = 1000, ROUNDS = 8 };

static int every = 1;       /* instructions of the application */
static volatile int left;   /* of these */
static volatile long taken; /* preemptions */
static volatile long steps;

extern const char __start_stepped_handler[], __stop_stepped_handler[];

/* In a section of its own, for it is not stepped through itself: another thread may have switched here with the flag.
 */
__attribute__((section("stepped_handler"))) TOOLS_UNSEEN static void trapped(int signal, siginfo_t *info,
                                                                             void *context_) {
    const ucontext_t *context = context_;
    (void)signal, (void)info;
    uintptr_t instruction = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    if (!own_code_has(instruction) ||
        (instruction >= (uintptr_t)__start_stepped_handler && instruction < (uintptr_t)__stop_stepped_handler))
        return;
    steps++;
    if (--left > 0)
        return;
    left = every;
    taken++;
    dispatcher_interrupted(true);
}

/* A thread that is switched to in the handler runs freely until it says so again. */
static inline void step(void) {
    __asm__ volatile("subq $128, %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\taddq $128, %%rsp" ::
                         : "cc", "memory");
}

static inline void walk_freely(void) {
    __asm__ volatile("subq $128, %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\taddq $128, %%rsp" ::
                         : "cc", "memory");
}

static void begin_stepping(void) {
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    sigaction(SIGTRAP, &action, NULL);
}

static bool never(enum preemption_where where) {
    (void)where;
    return false;
}

static catapults_t spawn(void *(*start)(void *), void *argument) {
    catapults_t thread;
    int error = catapults_create(&thread, NULL, start, argument);
    require(error == 0);
    return thread;
}

/* ---- A queue between two, of one place --------------------------------------------------------------------------- */

static catapults_mutex_t lock;
static catapults_cond_t filled, emptied;
static int place;

static void *produce(void *argument) {
    for (int i = 1; i <= ROUNDS; i++) {
        step();
        catapults_mutex_lock(&lock);
        while (place)
            catapults_cond_wait(&emptied, &lock);
        place = i;
        catapults_cond_signal(&filled);
        catapults_mutex_unlock(&lock);
    }
    walk_freely();
    return argument;
}

static void *consume(void *argument) {
    for (int i = 1; i <= ROUNDS; i++) {
        step();
        catapults_mutex_lock(&lock);
        while (!place)
            catapults_cond_wait(&filled, &lock);
        require(place == i);
        place = 0;
        catapults_cond_broadcast(&emptied);
        catapults_mutex_unlock(&lock);
    }
    walk_freely();
    return argument;
}

/* ---- Instants that come while the wake-up does ------------------------------------------------------------------- */

static catapults_cond_t rung;

static void *wait_briefly(void *argument) {
    for (int i = 0; i < ROUNDS; i++) {
        step();
        catapults_mutex_lock(&lock);
        int result = catapults_cond_wait_until(&rung, &lock, catapults_now() + i * US);
        require(result == 0 || result == ETIMEDOUT);
        catapults_mutex_unlock(&lock);
        catapults_sleep(i % 3 * US);
    }
    walk_freely();
    return argument;
}

static void *ring(void *argument) {
    for (int i = 0; i < ROUNDS; i++) {
        step();
        catapults_cond_signal(&rung);
        catapults_yield();
        if (catapults_mutex_lock_until(&lock, catapults_now() + i % 5 * US) == 0)
            catapults_mutex_unlock(&lock);
    }
    walk_freely();
    return argument;
}

/* ---- Semaphores, locks of readers and writers -------------------------------------------------------------------- */

static catapults_sem_t ping, pong;
static catapults_rwlock_t book;
static int pages, copies;

static void *call_out(void *argument) {
    for (int i = 0; i < ROUNDS; i++) {
        step();
        catapults_sem_post(&ping);
        catapults_sem_wait(&pong);
        catapults_rwlock_wrlock(&book);
        pages++;
        copies++;
        catapults_rwlock_unlock(&book);
    }
    walk_freely();
    return argument;
}

static void *answer(void *argument) {
    for (int i = 0; i < ROUNDS; i++) {
        step();
        catapults_sem_wait(&ping);
        catapults_rwlock_rdlock(&book);
        require(pages == copies);
        catapults_rwlock_unlock(&book);
        catapults_sem_post(&pong);
    }
    walk_freely();
    return argument;
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static catapults_port_t port = {.capacity = 1};

static void *serve(void *argument) {
    struct catapults_message *message;
    for (;;) {
        step();
        if (catapults_port_receive(&port, &message) != 0)
            break;
        message->kind++;
        require(catapults_port_reply(message) == 0);
    }
    walk_freely();
    return argument;
}

static void *ask(void *argument) {
    for (int i = 0; i < ROUNDS; i++) {
        struct catapults_message message = {.kind = i};
        step();
        require(catapults_port_call(&port, &message) == 0);
        require(message.kind == i + 1);
    }
    walk_freely();
    return argument;
}

/* ---- Lives ------------------------------------------------------------------------------------------------------- */

static void *sleep_for_ever(void *argument) {
    step();
    catapults_sleep(INT64_MAX);
    return argument;
}

static void *live(void *argument) {
    step();
    catapults_yield();
    walk_freely();
    return argument;
}

static void *make_threads(void *argument) {
    for (int i = 0; i < ROUNDS; i++) {
        step();
        void *result;
        require(catapults_join(spawn(live, &result), &result) == 0 && result == &result);
        catapults_t sleeper = spawn(sleep_for_ever, NULL);
        if (i % 2) {
            catapults_suspend(sleeper);
            catapults_yield();
            catapults_resume(sleeper);
        }
        require(catapults_cancel(sleeper) == 0);
        require(catapults_join(sleeper, &result) == 0 && result == CATAPULTS_CANCELED);
    }
    walk_freely();
    return argument;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static void once(void) {
    void *(*const entries[])(void *) = {produce, consume, wait_briefly, ring, call_out, answer, ask, ask, make_threads};
    enum { COUNT = sizeof entries / sizeof *entries };
    catapults_t threads[COUNT], server;
    catapults_port_init(&port, "stepped", 1);
    server = spawn(serve, NULL);
    for (int i = 0; i < COUNT; i++)
        threads[i] = spawn(entries[i], &threads[i]);
    for (int i = 0; i < COUNT; i++) {
        void *result;
        require(catapults_join(threads[i], &result) == 0 && result == &threads[i]);
    }
    catapults_port_close(&port);
    require(catapults_join(server, NULL) == 0);
    require(catapults_port_destroy(&port) == 0);
    require(place == 0 && pages == copies);
}

int main(int count, char **arguments) {
    int64_t seconds = count > 1 ? atoi(arguments[1]) : 2;
    /* The timer stays off: it could interrupt the handler of traps, which may stand in the middle of the runtime. */
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/ticks.so", .cooperative = true}) == 0);
    require(own_code_start((const void *)(uintptr_t)dispatcher_interrupted) == 0);
    require(preemption_start(never, own_code_has) == 0);
    begin_stepping();
    alarm((unsigned)seconds + 120); /* who waits for ever without a deadlock */
    int64_t end = catapults_now() + seconds * SECOND;
    for (; catapults_now() < end; every = every < 400 ? every + 1 : 1) {
        left = every;
        once();
    }
    require(taken > 0);
    printf("stepped: %ld instructions, %ld preemptions, in the end at every %d. one\n", steps, taken, every);
    return 0;
}
