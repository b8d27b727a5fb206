/*
 * Threads that call everything in a random order, and note when: `mark` is the number of a function (below) from just
 * before it is called until just after the call returns, in whichever thread that is, or until a new thread begins. So
 * the time between two of its changes is that of the call, and of 24 clocks besides. `control` is set before the
 * program starts.
 */
#include CATAPULTS_COMPILED_IN
#include "simulated.h"
#include "thread.h"

enum { MOST = 16, MEMORY = 192 };

static volatile __at(0x9f00) uint8_t mark;
static volatile __at(0x9f02) struct {
    uint16_t seed;    /* not 0 */
    uint16_t actions; /* how many calls there are, about */
    uint8_t threads;  /* how many live at the most, up to MOST */
    uint8_t values;   /* what imported variables are: 0: anything; 1: all alike; 2: one of two; 3: few */
} control;

static uint8_t memory[MOST][MEMORY];
static bool alive[MOST];
static uint8_t live;
static uint8_t habit; /* which calls are frequent now */
static uint16_t one, other;

/* clang-format off */
#define HASH # /* before a parameter, it would make a text of that */
#define CALL_AS(number, function, parameter, without_a_use)                                                            \
    static void call_##function(parameter) __naked {                                                                   \
        without_a_use                                                                                                  \
        __asm                                                                                                          \
        ld a, HASH number                                                                                              \
        ld (_mark), a                                                                                                  \
        call _##function                                                                                               \
        xor a, a                                                                                                       \
        ld (_mark), a                                                                                                  \
        ret                                                                                                            \
        __endasm;                                                                                                      \
    }
#define CALL(number, function) CALL_AS(number, function, void, )
/* The thread is in HL, there and here. */
#define CALL_WITH_THREAD(number, function) CALL_AS(number, function, struct thread *thread, (void)thread;)

CALL(1, thread_init)
CALL(3, thread_run)
CALL(4, thread_yield)
CALL_WITH_THREAD(5, thread_yield_to)
CALL(6, thread_wait)
CALL_WITH_THREAD(7, thread_signal)
CALL_WITH_THREAD(8, thread_suspend)
CALL_WITH_THREAD(9, thread_resume)
CALL(10, thread_exit)

static void *created, *argument;

/* Where threads begin. */
static void begun(void *number) __naked {
    (void)number;
    __asm
    xor a, a
    ld (_mark), a
    jp _act
    __endasm;
}

static struct thread *call_thread_create(void) __naked {
    __asm
    ld hl, (_argument)
    push hl
    ld hl, #_begun
    push hl
    ld hl, #192
    push hl
    ld hl, (_created)
    ld a, #2
    ld (_mark), a
    call _thread_create
    xor a, a
    ld (_mark), a
    ret
    __endasm;
}
/* clang-format on */

static uint16_t draw(void) {
    uint16_t state = control.seed;
    state ^= state << 7;
    state ^= state >> 9;
    state ^= state << 8;
    control.seed = state;
    return state;
}

static uint8_t below(uint8_t bound) { return (uint8_t)(draw() >> 3) % bound; }

static catapults_int random_int(void) {
    switch (control.values) {
    case 0:
        return below(4) ? (catapults_int)below(8) : (catapults_int)draw();
    case 1:
        return (catapults_int)one;
    case 2:
        return (catapults_int)(below(2) ? one : other);
    default:
        return (catapults_int)below(5);
    }
}

static bool random_bool(void) { return control.values == 1 ? one & 1 : below(2); }

#define GLOBAL(import, type) CATAPULTS_IMPORT_##import = random_##type();
#define OF_THREAD(import, type) CATAPULTS_THREADIMPORT_##import((struct catapults_thread *)thread) = random_##type();

static void set_imports(struct thread *thread) {
    (void)thread;
    CATAPULTS_IMPORTS(GLOBAL)
    CATAPULTS_THREADIMPORTS(OF_THREAD)
}

static struct thread *of(uint8_t number) { return (struct thread *)memory[number]; }

/* Of all at once, so that much is to be put in order. */
static void set_all(void) {
    for (uint8_t number = 0; number < MOST; number++)
        if (alive[number])
            set_imports(of(number));
}

static void count(void) {
    if (control.actions-- == 0)
        stop();
    if (below(32) == 0)
        habit = below(6);
    if (below(32) == 0)
        set_all();
    if (below(64) == 0) {
        one = below(2) ? below(8) : draw();
        other = below(2) ? below(8) : one + 1;
    }
}

static void create(void) {
    uint8_t number = 0;
    if (live == control.threads)
        return;
    while (alive[number])
        number++;
    created = memory[number];
    argument = (void *)number;
    live++;
    alive[number] = true;
    if (!call_thread_create()) {
        alive[number] = false;
        live--;
    } else if (below(2))
        set_imports(of(number));
}

/* One that lives, if any does. */
static struct thread *some(void) {
    uint8_t number = below(MOST);
    for (uint8_t tried = 0; tried < MOST; tried++, number = (number + 1) % MOST)
        if (alive[number])
            return of(number);
    return NULL;
}

/* Of 16 calls, by the habit of the time: as many as there are of a letter. */
static const char *const habits[] = {
    "yyyttwssuurrceyy", /* some of all */
    "wwwwwwwwwwwwwwsy", /* nearly all wait */
    "uuuuuuuuuuuwryyy", /* nearly all are suspended */
    "yyyyyyyyyyyyyttt", "cccccccceeecccyy", "uuuuwwwwssssrrrr",
};

void act(void *own) {
    uint8_t number = (uint8_t)(uint16_t)own;
    for (;;) {
        struct thread *thread = some();
        count();
        if (below(4) == 0)
            set_imports(thread);
        switch (habits[habit][below(16)]) {
        case 'y':
            call_thread_yield();
            break;
        case 't':
            call_thread_yield_to(thread);
            break;
        case 'w':
            call_thread_wait();
            break;
        case 's':
            call_thread_signal(thread);
            break;
        case 'u':
            call_thread_suspend(thread);
            break;
        case 'r':
            call_thread_resume(thread);
            break;
        case 'c':
            create();
            break;
        default:
            alive[number] = false;
            live--;
            call_thread_exit();
        }
    }
}

void thread_policy_failed(uint16_t line) {
    (void)line;
    print('F');
    stop();
    for (;;)
        ;
}

void main(void) {
    call_thread_init();
    one = draw();
    other = draw();
    for (;;) {
        uint8_t times = below(3);
        count();
        if (live == 0 || below(2))
            do
                create();
            while (below(4) && live < control.threads);
        /* Not all at once, so that many stay. */
        do {
            struct thread *thread = some();
            if (thread) {
                call_thread_signal(thread);
                call_thread_resume(thread);
            }
        } while (times--);
        call_thread_run();
    }
}
