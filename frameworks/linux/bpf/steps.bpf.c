/*
 * A policy by itself: each event, each query and each assignment of a script (docs/frameworks.md, "Taking steps") is a
 * program of its own, which the loader has the kernel run. There is no scheduler of the kernel's beneath it: what is
 * shown is that the verifier accepts the handlers, and what they decide. Each runs under the one lock, as it would
 * there.
 */
#include CATAPULTS_COMPILED_IN
#include "arena.bpf.h"
#include "texts.bpf.h"

/* What a program is given, and gives back. loader/src/programs.rs has the same. */
struct catapults_step {
    uint64_t thread; /* its number */
    int64_t which;   /* of the imported variables, or of the timers */
    int64_t value;   /* to be assigned; an instant */
    int64_t answer;  /* a query's; the thread that was dispatched, or whose timer expired; -1: none */
    uint64_t stop;   /* why the handler stopped: from 1, in the order of CATAPULTS_STOPS */
    uint64_t gone;   /* 1: the thread is in no container any more */
    int64_t told[4]; /* the values of the reason of a refusal */
};

/* What a program returns. */
enum {
    CATAPULTS_DONE,
    CATAPULTS_NO_MEMORY, /* or the lock is not to be had */
    CATAPULTS_SPENT      /* a loop took too many turns */
};

enum { CATAPULTS_THREADS = 4096, CATAPULTS_PAGE = 4096 };

/* In the arena; NULL before the first step. */
static CATAPULTS_INSTANCE CATAPULTS_MEMORY *catapults_instance;
static CATAPULTS_THREAD CATAPULTS_MEMORY *catapults_threads;
/* Instants are those of the script. */
static int64_t catapults_instant;

static inline __attribute__((always_inline)) struct bpf_res_spin_lock *catapults_locked(void) {
    uint32_t first = 0;
    CATAPULTS_HAS_ARENA;
    struct catapults_locked *locked = bpf_map_lookup_elem(&catapults_lock, &first);
    if (!locked || !catapults_instance || !catapults_threads || bpf_res_spin_lock(&locked->lock))
        return NULL;
    return &locked->lock;
}

static inline __attribute__((always_inline)) int catapults_unlocked(struct bpf_res_spin_lock *lock) {
    uint32_t spent = catapults_spent;
    catapults_spent = 0;
    bpf_res_spin_unlock(lock);
    return spent ? CATAPULTS_SPENT : CATAPULTS_DONE;
}

static inline __attribute__((always_inline)) struct catapults_thread CATAPULTS_MEMORY *
catapults_thread_of(const struct catapults_step *step) {
    return &catapults_threads[step->thread & (CATAPULTS_THREADS - 1)].base;
}

/* A program. Its parameter is `step`; what is done under the lock can use `self`. */
#define PROGRAM(name, what)                                                                                            \
    CATAPULTS_SECTION("syscall") int catapults_do_##name(struct catapults_step *step) {                                \
        struct bpf_res_spin_lock *lock = catapults_locked();                                                           \
        if (!lock)                                                                                                     \
            return CATAPULTS_NO_MEMORY;                                                                                \
        CATAPULTS_INSTANCE CATAPULTS_MEMORY *self = catapults_instance;                                                \
        (void)self;                                                                                                    \
        (void)step;                                                                                                    \
        what return catapults_unlocked(lock);                                                                          \
    }

/* ---- Events ------------------------------------------------------------------------------------------------------ */

#ifdef CATAPULTS_TOLD
#define TOLD                                                                                                           \
    for (uint32_t i = 0; i < 4; i++)                                                                                   \
        step->told[i] = CATAPULTS_TOLD(self)[i];
#else
#define TOLD
#endif

#define EVENT(name)                                                                                                    \
    PROGRAM(name, struct catapults_thread CATAPULTS_MEMORY *t = catapults_thread_of(step);                             \
            step->stop = CATAPULTS_HANDLER_##name(self, t); step->gone = t->container == 0; TOLD)

#ifdef CATAPULTS_HANDLER_init
PROGRAM(init, step->stop = CATAPULTS_HANDLER_init(self);)
#endif
EVENT(newthread)
EVENT(switch_out)
EVENT(block_sleep)
EVENT(block_io)
EVENT(block_other)
EVENT(event_raised)
EVENT(suspend_thread)
EVENT(resume_thread)
#ifdef CATAPULTS_HANDLER_tick
EVENT(tick)
#endif
EVENT(exit)
EVENT(cancel)

PROGRAM(schedule, uint32_t stop = 0;
        struct catapults_thread CATAPULTS_MEMORY *t = CATAPULTS_HANDLER_schedule(self, &stop); step->stop = stop;
        step->answer = t ? (int64_t)t->number : -1;)

/* ---- Time -------------------------------------------------------------------------------------------------------- */

#ifdef CATAPULTS_NOW
PROGRAM(at, catapults_instant = step->value; CATAPULTS_NOW(self) = step->value;)
#else
PROGRAM(at, catapults_instant = step->value;)
#endif

#ifdef CATAPULTS_TIMERS
/* The event of the timer that expires next, if its instant has come. */
PROGRAM(
    expire, struct catapults_timer CATAPULTS_MEMORY *first = CATAPULTS_TIMERS(self).first; step->answer = -1;
    if (first && first->instant <= catapults_instant) {
        struct catapults_thread CATAPULTS_MEMORY *t = first->thread;
        step->which = first->timeout;
        step->answer = t->number;
        step->thread = t->number;
        step->stop = CATAPULTS_EXPIRE(self, first->timeout, t);
        step->gone = t->container == 0;
    })
PROGRAM(timeout, struct catapults_thread CATAPULTS_MEMORY *t = catapults_thread_of(step);
        step->stop = CATAPULTS_EXPIRE(self, (uint32_t)step->which, t); step->gone = t->container == 0;)
#endif

/* ---- Queries and imported variables ------------------------------------------------------------------------------ */

PROGRAM(threads_ready, step->answer = CATAPULTS_HANDLER_threads_ready(self);)
PROGRAM(threads_suspended, step->answer = CATAPULTS_HANDLER_threads_suspended(self);)
PROGRAM(threads_total, step->answer = CATAPULTS_HANDLER_threads_total(self);)
PROGRAM(is_ready, step->answer = CATAPULTS_HANDLER_is_ready(self, catapults_thread_of(step));)
PROGRAM(can_switch_to, step->answer = CATAPULTS_HANDLER_can_switch_to(self, catapults_thread_of(step));)

#define OF_ALL(import, type) CATAPULTS_OF_ALL_##import,
#define OF_THREAD(import, type) CATAPULTS_OF_THREAD_##import,
enum { CATAPULTS_IMPORTS(OF_ALL) CATAPULTS_OF_ALL };
enum { CATAPULTS_THREADIMPORTS(OF_THREAD) CATAPULTS_OF_THREAD };
#undef OF_ALL
#undef OF_THREAD

#define VALUE_int(value) (value)
#define VALUE_bool(value) ((value) != 0)
#define VALUE_time(value) (value)
#define OF_ALL(import, type)                                                                                           \
    if (step->which == CATAPULTS_OF_ALL_##import)                                                                      \
        CATAPULTS_IMPORT_##import(self) = VALUE_##type(step->value);
#define OF_THREAD(import, type)                                                                                        \
    if (step->which == CATAPULTS_OF_THREAD_##import)                                                                   \
        CATAPULTS_THREADIMPORT_##import(t) = VALUE_##type(step->value);
PROGRAM(set_import, CATAPULTS_IMPORTS(OF_ALL))
PROGRAM(set_thread_import, struct catapults_thread CATAPULTS_MEMORY *t = catapults_thread_of(step); (void)t;
        CATAPULTS_THREADIMPORTS(OF_THREAD))

/* ---- Beginnings -------------------------------------------------------------------------------------------------- */

/* Takes the memory for all. Runs once, before any other program. */
CATAPULTS_SECTION("syscall") int catapults_do_begin(struct catapults_step *step) {
    const uint64_t instance = (sizeof(CATAPULTS_INSTANCE) + CATAPULTS_PAGE - 1) / CATAPULTS_PAGE;
    const uint64_t threads = (CATAPULTS_THREADS * sizeof(CATAPULTS_THREAD) + CATAPULTS_PAGE - 1) / CATAPULTS_PAGE;
    (void)step;
    void CATAPULTS_MEMORY *memory = bpf_arena_alloc_pages(&catapults_arena, NULL, instance + threads, -1, 0);
    if (!memory)
        return CATAPULTS_NO_MEMORY;
    catapults_instance = memory;
    catapults_threads =
        (CATAPULTS_THREAD CATAPULTS_MEMORY *)((char CATAPULTS_MEMORY *)memory + instance * CATAPULTS_PAGE);
    return CATAPULTS_DONE;
}

PROGRAM(restart, catapults_instant = 0; CATAPULTS_START(self);)

/* Sets up a thread, in whose place anything may be. */
PROGRAM(adopt, CATAPULTS_THREAD CATAPULTS_MEMORY *t = (CATAPULTS_THREAD CATAPULTS_MEMORY *)catapults_thread_of(step);
        uint64_t CATAPULTS_MEMORY *words = (uint64_t CATAPULTS_MEMORY *)t;
        for (uint64_t i = CATAPULTS_COUNTED(0); CATAPULTS_LOOP(i < sizeof(*t) / sizeof(*words)); i++)
            words[i] = 0xa5a5a5a5a5a5a5a5;
        CATAPULTS_ADOPT(t); t->base.number = (uint32_t)step->thread;)
