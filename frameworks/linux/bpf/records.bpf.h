/*
 * What the host keeps of each task, in the arena beside the policy's threads.
 *
 *     task ──storage──► number ──► records[number]       threads[number] ◄── containers of the policy
 *
 * The policy's state of a thread and the kernel's of its task are two things. A thread that the policy has dispatched
 * is RUNNING, in the frame of a processor, before its task runs there. One that the policy has taken off its processor
 * is READY, and runs on until the kernel has come to it.
 */
#ifndef CATAPULTS_RECORDS_BPF_H
#define CATAPULTS_RECORDS_BPF_H

#include "arena.bpf.h"
#include "linux_sched.h"

enum { CATAPULTS_THREADS = 16384, CATAPULTS_PROCESSORS = 64, CATAPULTS_PAGE = 4096 };

/* What is RUNNING on a processor while another one decides: the RUNNING containers of the policy. The policy is proved
 * for one processor, and sees one frame at a time. */
struct catapults_frame {
#define MEMBER(member) __typeof__(((CATAPULTS_INSTANCE *)0)->member) member;
    CATAPULTS_RUNNING(MEMBER)
#undef MEMBER
    uint32_t runs;     /* the number of the thread that is RUNNING; 0: none */
    int32_t processor; /* whose frame it is */
};

struct catapults_record {
    struct catapults_frame CATAPULTS_MEMORY *frame; /* in which the thread is RUNNING; NULL: it is not */
    /* Where it is RUNNING if it may not run on the processor that asked: it waits in the kernel's queue of another. */
    struct catapults_frame away;
    uint32_t pid;
    uint32_t next;   /* the next record that is free */
    int32_t on;      /* the processor that runs the task; -1: none */
    uint8_t queued;  /* the kernel has left it to us when the task runs next */
    uint8_t resumes; /* it will be back by resume_thread, not by event_raised */
    uint8_t known;   /* the policy has the thread */
};

/* The numbers of tasks. */
struct {
    CATAPULTS_NUMBER(type, BPF_MAP_TYPE_TASK_STORAGE);
    CATAPULTS_NUMBER(map_flags, BPF_F_NO_PREALLOC);
    CATAPULTS_TYPE(key, int);
    CATAPULTS_TYPE(value, uint64_t);
} catapults_numbers CATAPULTS_SECTION(".maps");

static CATAPULTS_INSTANCE CATAPULTS_MEMORY *catapults_instance;
static CATAPULTS_THREAD CATAPULTS_MEMORY *catapults_threads;
static struct catapults_record CATAPULTS_MEMORY *catapults_records;
/* One for each processor, and behind them one in which nothing is RUNNING. */
static struct catapults_frame CATAPULTS_MEMORY *catapults_frames;
/* The first record that is free; 0: none. Number 0 is nobody's. */
static volatile uint32_t catapults_free;

/* The number of the task's record; 0: the policy does not have it. */
static inline __attribute__((always_inline)) uint32_t catapults_number(struct task_struct *p) {
    uint64_t *number = bpf_task_storage_get(&catapults_numbers, p, NULL, 0);
    return number ? *number & (CATAPULTS_THREADS - 1) : 0;
}

static inline __attribute__((always_inline)) struct catapults_record CATAPULTS_MEMORY *
catapults_record(uint32_t number) {
    return &catapults_records[number & (CATAPULTS_THREADS - 1)];
}

static inline __attribute__((always_inline)) struct catapults_thread CATAPULTS_MEMORY *
catapults_thread(uint32_t number) {
    return &catapults_threads[number & (CATAPULTS_THREADS - 1)].base;
}

static inline __attribute__((always_inline)) struct catapults_frame CATAPULTS_MEMORY *
catapults_frame_of(int32_t processor) {
    return &catapults_frames[processor & (CATAPULTS_PROCESSORS - 1)];
}

/* Memory for all that is in the arena, taken once. */
static inline __attribute__((always_inline)) int catapults_take_memory(void) {
    const uint64_t instance = (sizeof(CATAPULTS_INSTANCE) + 15) / 16 * 16;
    const uint64_t frames = ((CATAPULTS_PROCESSORS + 1) * sizeof(struct catapults_frame) + 15) / 16 * 16;
    const uint64_t records = CATAPULTS_THREADS * sizeof(struct catapults_record);
    const uint64_t threads = CATAPULTS_THREADS * sizeof(CATAPULTS_THREAD);
    const uint64_t pages = (instance + frames + records + threads + CATAPULTS_PAGE - 1) / CATAPULTS_PAGE;
    char CATAPULTS_MEMORY *memory = NULL;
    /* In pieces: the kernel gives no more than some pages at a time. They lie one behind the other in a new arena. */
    for (uint64_t have = CATAPULTS_COUNTED(0); CATAPULTS_LOOP(have < pages); have += 64) {
        char CATAPULTS_MEMORY *piece =
            bpf_arena_alloc_pages(&catapults_arena, memory ? memory + have * CATAPULTS_PAGE : NULL, 64, -1, 0);
        if (!piece)
            return -ENOMEM;
        if (!memory)
            memory = piece;
    }
    catapults_instance = (CATAPULTS_INSTANCE CATAPULTS_MEMORY *)memory;
    catapults_frames = (struct catapults_frame CATAPULTS_MEMORY *)(memory + instance);
    catapults_records = (struct catapults_record CATAPULTS_MEMORY *)(memory + instance + frames);
    catapults_threads = (CATAPULTS_THREAD CATAPULTS_MEMORY *)(memory + instance + frames + records);
    for (uint32_t i = CATAPULTS_COUNTED(CATAPULTS_THREADS - 1); CATAPULTS_LOOP(i > 0); i--) {
        catapults_record(i)->next = catapults_free;
        catapults_free = i;
    }
    return 0;
}

#endif
