/*
 * The parts of the shim. Pth keeps its queues as ever, and so knows which threads are ready. The policy is told of
 * every move between the queues (queues.c, calls.c), and asked which thread is next. Without a policy, Pth's own
 * scheduler decides.
 *
 *   library.c   what lies beneath          records.c   what the shim keeps for a thread
 *   queues.c    stands in for the queues   policy.c    raises events, and what happens when a guard fails
 *   calls.c     stands in for some calls   load.c      PTH_SCHED
 *   imports.c   variables of the program   trace.c     PTH_SCHED_TRACE
 *                                          recording.c CATAPULTS_TRACE
 */
#ifndef PTH_SHIM_H
#define PTH_SHIM_H

#include "pth_policy.h"
#include "shim/library.h"

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* Where Pth has a thread. */
enum place { NOWHERE, RUNS, IS_NEW, IS_READY, WAITS, IS_SUSPENDED, IS_DEAD };

/* A thread, from pth_spawn until Pth frees its control block. */
struct record {
    pth_t thread;
    struct record *chain;         /* the next of its bucket */
    struct record *older, *newer; /* of all records */
    enum place place;
    catapults_int priority; /* where a policy finds PTH_ATTR_PRIO */
    void *object;           /* where per-thread imports are linked; NULL: nowhere */
    union value *recorded;  /* while tracing: per-thread imports, as the trace knows them */
    struct catapults_thread policy;
};

struct record *record_of(pth_t thread); /* NULL: there is none */
struct record *record_in(const struct catapults_thread *t);
struct record *record_add(pth_t thread); /* NULL: no memory */
void record_remove(struct record *record);
struct record *record_oldest(void);

/* ---- The policy -------------------------------------------------------------------------------------------------- */

struct shim {
    const struct catapults_policy *policy; /* in force; NULL: Pth's own scheduler is */
    const struct pth_handlers *handlers;
    void *instance;
    struct record *running;
    const struct catapults_stop *refused; /* why the thread that is being spawned is refused */
    void *object;                         /* of the thread that is being spawned */
    pth_t cancelled, signalled;           /* the thread that is being cancelled; the one that a signal is raised for */
    uint32_t numbers;                     /* of threads, the last given */
    uint64_t seed;                        /* the seed of what the policy draws */
    bool strict;                          /* PTH_SCHED_STRICT */
    bool dropping;                        /* Pth frees threads, and takes them from its queues for that */
};
extern struct shim shim;

/* Loads the policy that PTH_SCHED names, if any, and raises init. Ends the program if it cannot be used. */
void policy_start(void);
void policy_end(void);

/* Raises an event for a thread, if the policy handles it. Afterwards the policy may be out. */
struct event {
    const char *name;
    size_t handler; /* of struct pth_handlers, in bytes from its start */
};
#define EVENT(name, member) ((struct event){name, offsetof(struct pth_handlers, member)})
void policy_raise(struct event event, struct record *record);
/* A variable of the thread that the policy imports was changed: tells it, if the thread is known to it. */
void policy_changed(struct record *record);
/* Yields if the policy has taken the processor from the running thread. Must be the last step of a call. */
void settle(void);
/* Raises newthread: false if the thread is refused, for the reason in shim.refused. */
bool policy_admit(struct record *record);
/* The thread to run, which is ready; NULL: the policy is out. */
struct record *policy_choose(void);
/* The policy broke a rule: Pth's own scheduler takes over. */
void policy_contain(const char *event, const struct catapults_stop *stop, const char *text);
bool policy_asks_ready(const struct record *record, bool can_switch_to);
/* Monotonic. */
catapults_time clock_now(void);
/* The state class of the container in which the policy has the thread. */
static inline int policy_class(const struct record *record) { return shim.policy->classes[record->policy.container]; }

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

/* NULL in a set-user-id program. */
const char *environment(const char *name);
/* The value of a variable that is 0 or 1; anything else is reported, and counts as 0. */
bool environment_switch(const char *name);
const struct catapults_policy *load(const char *name);
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- Imported variables ------------------------------------------------------------------------------------------ */

union value {
    catapults_int integer; /* or time */
    bool truth;
    double real;
};

void imports_start(void);                 /* a policy has started: what was registered before is linked */
void imports_link(struct record *record); /* the policy has adopted the thread */
/* The variable as the policy sees it, of its instance or of a thread. */
void *import_variable(void *object, const struct catapults_import *import);

/* ---- Tracing ----------------------------------------------------------------------------------------------------- */

void trace_start(void);
void trace_stop(void);
void trace_forget(void); /* in a child of fork: the parent writes what is in the buffer */
/* Comes before a step; `now` is what the policy is told. */
void trace_step(const char *event, const struct record *record, catapults_time now);
void trace_chosen(const struct record *record); /* of schedule; NULL: nobody */
void trace_stopped(const struct catapults_stop *stop);
void trace_answer(const char *text); /* of a query */
void trace_done(void);               /* the step is over, and decided nothing */
bool tracing(void);

/* ---- Recording --------------------------------------------------------------------------------------------------- */

/* Begins if CATAPULTS_TRACE names a file; a policy is in force. Ends the program if the file cannot be written. */
void recording_start(void);
void recording_stop(void);
void recording_leave(void); /* in a child of fork: what is recorded is the parent's */
bool recording(void);
/* These record, while recording, what the handler has done. `handler`: of struct pth_handlers, in bytes. */
void recording_new(const struct record *record);
void recording_refused(const struct record *record);
void recording_raised(size_t handler, const struct record *record);
void recording_preempted(const struct record *record);
void recording_dispatched(const struct record *record); /* it is still among Pth's ready threads */
void recording_policy_out(const struct catapults_stop *stop);

#endif
