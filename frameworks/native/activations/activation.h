/*
 * What the files of this layer share. A processor is the right to run; an activation (struct lwp, the paper's word for
 * a kernel thread, §5.1) is a kernel thread. No file here knows of the dispatcher, and none calls libc except for
 * starting (sa.c): all of it runs in signal handlers.
 *
 * One word of the activation says who holds a processor. It changes by compare-and-swap:
 *
 *     SPARE ──► TAKEN ──► CALLED ──► RUNNING ◄──► IDLE         (sa_yield; whoever has news wakes it)
 *       ▲                             │  ▲ │
 *       └──── sa_resume, sa_yield ◄───┘  │ └──► PARKED ──► RESUMED ──► RUNNING     interrupted; by another's sa_resume
 *                                        │        ▲
 *          was not blocked, or came  ◄── LOST     │ caught when it comes back
 *                      back in time      │        │
 *                                        └──► AWAY ──┘
 *
 * LOST: it seems blocked, and a spare has been called to see. It still owns the processor. If it gets to the library
 * first, it says so by changing the word back. AWAY: it is blocked, and the processor is the spare's. So an activation
 * in the library never loses a processor, and pays nothing for that. RESUMED: it has the processor, and is still in the
 * system call in which it waited for it; that is no reason to take it away again. FORGOTTEN: it was PARKED, its context
 * is given up, and it is about to be SPARE.
 */
#ifndef CATAPULTS_ACTIVATION_H
#define CATAPULTS_ACTIVATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "activations/traps.h"
#include "contexts/here.h"
#include "contexts/system.h"
#include "sa.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

enum lwp_state {
    LWP_NONE,
    LWP_STARTING,
    LWP_SPARE,
    LWP_TAKEN,
    LWP_CALLED,
    LWP_RUNNING,
    LWP_IDLE,
    LWP_LOST,
    LWP_AWAY,
    LWP_PARKED,
    LWP_RESUMED,
    LWP_FORGOTTEN,
    LWP_QUITS /* its kernel thread ends */
};
/* The word: a state, and how often it got a processor, came back in time or began a hold. What was seen before the last
 * of these no longer holds. */
enum { LWP_STATE = 0xff, LWP_EPOCH = 0x100 };
#if defined(__x86_64__)
_Static_assert(LWP_RUNNING == SA_RUNS && LWP_STATE == UINT8_MAX, "sa_runs");
#endif

/* What a spare is called for. */
enum call { CALL_NEWPROC, CALL_BLOCKED, CALL_USER, CALL_SIGNAL, CALL_NEWS };

/* As in the kernel's rseq.h, which old distributions lack. */
struct rseq_area {
    uint32_t cpu_start, cpu;
    uint64_t section;
};
struct rseq_section {
    uint32_t version, flags;
    uint64_t start, length, abort;
} __attribute__((aligned(32)));

struct sa_processor;

struct lwp {
    int32_t pid, tid, signal; /* read by sa_trap, at these offsets */
    _Atomic uint32_t word;
    _Atomic int hold_depth;          /* depth of sa_hold */
    struct sa_processor *processor;  /* while RUNNING or IDLE */
    struct sa_t sa;                  /* its own */
    volatile struct rseq_area *rseq; /* registered with the kernel */
    struct rseq_section section;
    _Atomic bool arming; /* `section` is about to be set */
    int file;            /* /proc/self/task/…/syscall */
    int retry, ticks;    /* timers: of the clock, for sections; of its CPU time */
    int tries, steps;    /* of an interruption that found a section */
    bool retries;        /* `retry` is set */
    _Atomic bool pinned; /* to the CPU of its processor, until it is called */
    char *base;          /* of the stack on which it waits as a spare: the top */
    char *below;         /* PARKED: all that its context uses of its stack is above */

    /* While SPARE or CALLED. */
    enum call call;
    struct lwp *about;   /* the one that was blocked or interrupted; NULL: none */
    uint32_t about_word; /* its word, when it was set to LOST */

    struct lwp *next;   /* in the list of those that came back, or were stopped */
    _Atomic bool user;  /* sa_preempt was called for it */
    ucontext_t place;   /* where it waits without a frame of the kernel's */
    ucontext_t blocked; /* where the activation blocked that its upcall tells of */
    siginfo_t info;     /* of its fault, or of the signal that its upcall tells of */
    struct sa_t events[SA_EVENTS_MOST + 2];
    struct sa_t *sas[SA_EVENTS_MOST + 2];
};
_Static_assert(offsetof(struct lwp, tid) == 4 && offsetof(struct lwp, signal) == 8, "x86_64.S");

/* That it stops existing; the upcall USER, by the activation that runs on it. One word, which activations read as they
 * leave the library. */
enum { WANTED_LEAVES = 1, WANTED_USER = 2 };

struct sa_processor {
    int number;
    _Atomic bool active;         /* it exists, for the library */
    _Atomic uint32_t wanted;     /* of it: WANTED_… */
    int timer, again;            /* of sa_alarm; for interruptions that lack a spare */
    struct lwp *_Atomic carrier; /* the activation that has it, or is about to get it */
    struct lwp *_Atomic reserve; /* the spare that waits on the same CPU */
    _Atomic uint32_t parked;     /* the standby waits until there is something to watch */
    _Atomic uint32_t cpu;        /* where the standby is */
    _Atomic bool doubt;          /* it seemed blocked the last time, but was not: the standby asks the kernel first */
    bool watched;                /* has a standby */
    uint32_t lost;               /* the keeper's: its carrier's word, if that seemed blocked the last time; else 0 */
};

struct sections {
    _Atomic int count;
    struct sa_section all[16];
};

struct activations {
    _Atomic bool enabled;
    bool traps;         /* the kernel leads activations that come back from a system call to sa_trap */
    _Atomic bool fixed; /* SA_FLAG_FIXED */
    bool steps;         /* SIGTRAP is ours, to leave sections */
    int signal;
    uint64_t mask; /* of signals that are blocked while upcalls and the library run; but see signals_open */
    _Atomic(sa_upcall_t) upcall;
    _Atomic int concurrency; /* asked for */
    _Atomic int processors;  /* that exist or are being made */
    struct sections sections;
    struct lwp *_Atomic returned; /* PARKED, and not told yet */
    struct lwp *_Atomic removed;  /* PARKED, or without anything, because their processors are gone */
    _Atomic uint32_t keeper;      /* its futex: there is something to do */
    _Atomic bool keeper_sleeps;
    _Atomic uint64_t cpus[CPUS_WORDS]; /* that the process may use */
    _Atomic int lwps;                  /* slots that were ever used */
    _Atomic int spares;                /* about how many wait to be called */
};

extern struct activations activations;
extern struct sa_processor sa_processors[SA_PROCESSORS_MOST];
extern struct lwp sa_lwps[SA_ACTIVATIONS_MOST];

/* The activation that the calling kernel thread is. */
static inline struct lwp *sa_here(void) { return here()->activation; }

static inline enum lwp_state lwp_state(const struct lwp *lwp) {
    return (enum lwp_state)(atomic_load(&lwp->word) & LWP_STATE);
}
static inline bool lwp_change(struct lwp *lwp, uint32_t from, enum lwp_state to) {
    return atomic_compare_exchange_strong(&lwp->word, &from, (from & ~(uint32_t)LWP_STATE) | to);
}

/* Where an activation goes on that gets into each trap; 0: not in use yet. */
extern _Atomic uint64_t sa_places[TRAPS_COUNT];

/* Sets errno, for what a public call returns: -1. */
int sa_fail(int error);

/* In assembly. */
_Noreturn void sa_on_stack(void *top, void (*function)(void *), void *argument);
extern const char sa_traps[], sa_traps_end[], sa_trap[], sa_trap_saved[], sa_trap_restored[], sa_trap_end[];
int sa_probe(const struct timespec *moment);

/* ---- lwp.c: lives of activations --------------------------------------------------------------------------------- */

/* The calling kernel thread is it from now on; NULL: none. */
void lwp_is(struct lwp *lwp);
/* The caller becomes an activation. Returns 0 or an error number. */
int lwp_adopt(struct lwp *lwp);
/* Undoes that. */
void lwp_dismiss(struct lwp *lwp);
/* Waits to be called, on the caller's base stack; does not return. */
_Noreturn void lwp_wait(void *unused);
/* Takes a spare, preferably on the processor's CPU; it is then TAKEN. NULL: there is none. */
struct lwp *lwp_take(struct sa_processor *processor);
void lwp_put_back(struct sa_processor *processor, struct lwp *spare);
/* Sets a TAKEN spare to work. */
void lwp_call(struct lwp *spare, struct sa_processor *processor, enum call call, struct lwp *about,
              uint32_t about_word);
/* Gives the processor to a PARKED activation. */
void lwp_resume(struct lwp *lwp, struct sa_processor *processor);
/* Waits until that happens to the caller, which is PARKED. `called`: the activation that makes the upcall; it may have
 * died. */
void lwp_park(struct lwp *self, struct lwp *called);
/* Binds a kernel thread (0: the caller) to one CPU; lets an activation run on any again. */
void lwp_pin(int tid, unsigned cpu);
void lwp_unpin(struct lwp *lwp);
void lwp_pin_spare(struct lwp *spare, unsigned cpu);
/* The CPUs that the process may use. */
struct cpus lwp_cpus(void);
/* The caller is about to give up its processor: it must not be taken away now. */
void lwp_let_go(struct lwp *self);

/* ---- blocking.c: who is blocked ---------------------------------------------------------------------------------- */

enum look { LOOK_RUNS, LOOK_TAKEN, LOOK_NOTHING, LOOK_SECTION, LOOK_NO_SPARE };
/* Calls a spare if the processor's activation seems blocked; `certain`: asks the kernel first. */
enum look watch_look(struct sa_processor *processor, bool certain);
/* The called spare makes sure that `lwp` is blocked, and takes its processor. */
bool watch_take_over(struct lwp *self, struct sa_processor *processor, struct lwp *lwp, uint32_t word);
/* Whether the activation is blocked in the kernel, and where. */
bool watch_blocked(struct lwp *lwp, uint64_t *pc, uint64_t *sp);
void *watch_standby(void *processor);
/* The activation has seemed blocked for long, and no spare has come: calls another one. */
void watch_call_again(struct sa_processor *processor);
/* As watch_blocked; if it is, it is caught when it comes back. */
bool watch_catch(struct lwp *lwp, uint64_t *pc, uint64_t *sp);
/* The processor's carrier may have something to do from now on. */
void watch_unpark(struct sa_processor *processor);

/* ---- interrupt.c ------------------------------------------------------------------------------------------------- */

/* Has the kernel's signal handled here. Returns 0 or an error number, negated. */
int interrupt_catch(int signal);
bool interrupt_in_section(uint64_t pc);
/* Wakes an activation that is IDLE; false: it is not. */
bool interrupt_wake(struct lwp *lwp);
/* Makes sure that some activation makes the upcall for what is in the lists. */
void interrupt_notify(struct sa_processor *preferred);
/* An activation that was LOST and has come back keeps its processor. False: another one has it. */
bool interrupt_regain(struct lwp *self);
/* Interrupts an activation that runs. */
void interrupt_send(struct lwp *lwp);
/* Interrupts the activation that runs on the processor, or has it taken over from one that has blocked there. If
 * neither can be now, it is tried again. */
void interrupt_tell(struct sa_processor *processor);
/* Tries that again, if there still is something to tell. */
void interrupt_again(struct sa_processor *processor);
/* Has the activation that runs on the processor, now or next, make the upcall USER. */
void interrupt_processor(struct sa_processor *processor);
/* The caller, which is about to end its last hold, is stopped for what was put off. False: not now. */
bool interrupt_here(struct lwp *self);
/* The caller is not interrupted again for what was put off: that must not break off a call that it makes later. Signals
 * are masked. */
void interrupt_no_more(struct lwp *self);
/* The caller has been given a processor, and is told what has come up meanwhile. */
void interrupt_given(struct lwp *self);
/* The activation has come back from the kernel. Returns when it has a processor. */
void interrupt_hand_in(struct lwp *self, ucontext_t *context);
/* The activation, which is about to wait, is in this context for those who are told of it. Called by the one that
 * waits. */
void interrupt_set_context(struct lwp *self, ucontext_t *context);
/* Adds `lwp` to the list, the newest first. */
void interrupt_push(struct lwp *_Atomic *list, struct lwp *lwp);

/* ---- upcall.c ---------------------------------------------------------------------------------------------------- */

/* Makes the upcall that the caller was called for, on a stack of the library. Returns if nothing is left to do and the
 * caller has no processor. */
void upcall_make(struct lwp *self);
/* The caller holds a processor and has nothing to run: waits for news, and makes the upcall. Returns as above. */
void upcall_idle(struct lwp *self);

/* ---- signal_upcalls.c -------------------------------------------------------------------------------------------- */

/* Keeps a signal that the library asked for. If there is no room, it waits in the kernel. */
void signals_keep(siginfo_t *info);
/* Of a mask that the layer sets, or leaves in force: lets signals through that the library asked for, if there is
 * room. */
uint64_t signals_open(uint64_t mask);
extern _Atomic int signals_waiting;
static inline bool signals_any(void) { return atomic_load(&signals_waiting) > 0; }
bool signals_next(siginfo_t *info);

/* Whether the processor has something to tell the library. */
static inline bool interrupt_news(const struct sa_processor *processor) {
    return atomic_load(&activations.returned) || atomic_load(&activations.removed) || signals_any() ||
           atomic_load(&processor->wanted);
}

/* Whether the running activation is to make the upcall USER. */
static inline bool interrupt_asked(const struct lwp *self) {
    return atomic_load(&self->user) || (atomic_load(&self->processor->wanted) & WANTED_USER);
}
static inline void interrupt_answer(struct lwp *self, struct sa_processor *processor) {
    atomic_store(&self->user, false);
    atomic_fetch_and(&processor->wanted, ~(uint32_t)WANTED_USER);
}

/* ---- alarms.c ---------------------------------------------------------------------------------------------------- */

/* The kernel thread that the timers of processors interrupt. */
void *alarms_ring(void *unused);
/* Whether it has begun. */
bool alarms_begun(void);
/* Gives the processor its timers. Returns 0 or an error number. */
int alarms_add(struct sa_processor *processor);
void alarms_remove(struct sa_processor *processor);
/* There was no spare to interrupt the activation that has the processor, or to take it over: that is soon tried
 * again. */
void alarms_again(struct sa_processor *processor);

/* ---- keeper.c: makes spares, watches affinity, looks twice ------------------------------------------------------- */

int keeper_start(void);
/* The keeper looks at once, or once more if it is looking. */
void keeper_wake(void);
/* It looks, if it would not by itself: for functions that it may call itself. */
void keeper_rouse(void);

#endif
