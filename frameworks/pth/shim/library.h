/*
 * What the shim knows of the library beneath it: GNU Pth 2.0.7, pth_pqueue.c and pth_tcb.c. The library exports these
 * names and calls them through its procedure linkage table, so an object that comes before it can stand in for them.
 *
 *   __pth_NQ  new        __pth_WQ  waiting      __pth_DQ  dead, to be joined
 *   __pth_RQ  ready      __pth_SQ  suspended
 *
 * Every thread but the running one is in one of the queues: a ring in order of priority.
 */
#ifndef PTH_SHIM_LIBRARY_H
#define PTH_SHIM_LIBRARY_H

#include <pth.h>
#include <stdarg.h>
#include <stdbool.h>

/* The start of Pth's thread control block: as much as the shim reads. */
struct pth_st {
    pth_t q_next, q_prev; /* the ring */
    int q_prio;           /* of the queue's head: its priority; of the others: how much lower than the one before */
    int prio;             /* as PTH_ATTR_PRIO */
    char name[40];
    int dispatches;
    pth_state_t state;
    pth_time_t spawned, lastran, running;
    pth_event_t events; /* what it waits for: a ring */
};

/* The same of its attributes. */
struct pth_attr_st {
    pth_t thread; /* whose they are; NULL: of one that is to come */
};

struct pth_queue {
    pth_t q_head;
    int q_num;
};

/* The library's own functions and queues, those that the shim stands in for. */
struct library {
    struct pth_queue *new, *ready, *waiting, *suspended, *dead;
    void (*insert)(struct pth_queue *queue, int priority, pth_t thread);
    pth_t (*delmax)(struct pth_queue *queue);
    void (*delete)(struct pth_queue *queue, pth_t thread);
    int (*favorite)(struct pth_queue *queue, pth_t thread);
    void (*increase)(struct pth_queue *queue);
    int (*contains)(struct pth_queue *queue, pth_t thread);
    void (*tcb_free)(pth_t thread);
    int (*scheduler_init)(void);
    void (*scheduler_drop)(void);
    void (*scheduler_kill)(void);
    pth_t (*spawn)(pth_attr_t attributes, void *(*start)(void *), void *argument);
    int (*yield)(pth_t to);
    int (*raise)(pth_t thread, int signal);
    int (*suspend)(pth_t thread);
    int (*resume)(pth_t thread);
    int (*cancel)(pth_t thread);
    int (*join)(pth_t thread, void **value);
    pid_t (*fork)(void);
    int (*attr_ctrl)(int command, pth_attr_t attributes, int which, va_list arguments);
    long (*version)(void);
    long (*ctrl)(unsigned long query, ...);
    unsigned long (*event_typeof)(pth_event_t event);
};
extern struct library library;

/* Finds the library once; ends the program if it is not there or not the one that the shim was made for. */
void library_find(void);

/* Whether a thread's control block is laid out as above; it has just been spawned. */
bool library_fits(pth_t thread);

/* What stands in for it, here also called by others. */
void __pth_tcb_free(pth_t thread);

#endif
