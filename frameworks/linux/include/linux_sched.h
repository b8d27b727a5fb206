/*
 * What a scheduler needs of the kernel beside linux_bpf.h: its types, as far as members of them are read, and its
 * functions. The loader moves each access to where the member is in the kernel that runs (CO-RE), so this is no copy of
 * any kernel's headers.
 */
#ifndef CATAPULTS_LINUX_SCHED_H
#define CATAPULTS_LINUX_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "linux_bpf.h"

#define CATAPULTS_OF_ANY_KERNEL __attribute__((preserve_access_index))

/* libbpf compares the kinds of types: one that is only declared is not one that is defined. */
struct cpumask {
    unsigned long bits[1];
};

struct sched_ext_entity {
    uint64_t slice;
    uint32_t weight;
} CATAPULTS_OF_ANY_KERNEL;

struct sched_entity {
    uint64_t sum_exec_runtime;
} CATAPULTS_OF_ANY_KERNEL;

struct task_struct {
    uint32_t __state;
    uint32_t flags;
    int static_prio;
    struct sched_entity se;
    struct sched_ext_entity scx;
    int nr_cpus_allowed;
    const struct cpumask *cpus_ptr;
    unsigned short migration_disabled;
    unsigned in_iowait : 1;
    int pid, tgid;
} CATAPULTS_OF_ANY_KERNEL;

struct scx_init_task_args {
    bool fork;
} CATAPULTS_OF_ANY_KERNEL;

struct scx_exit_task_args;

enum scx_exit_kind { SCX_EXIT_NONE };
struct scx_exit_info {
    enum scx_exit_kind kind;
    int64_t exit_code;
    const char *reason;
    char *msg;
} CATAPULTS_OF_ANY_KERNEL;

/* The kernel finds members by their names: these are those that we set. */
struct sched_ext_ops {
    int32_t (*select_cpu)(struct task_struct *p, int32_t cpu, uint64_t flags);
    void (*enqueue)(struct task_struct *p, uint64_t flags);
    void (*dispatch)(int32_t cpu, struct task_struct *prev);
    void (*tick)(struct task_struct *p);
    void (*running)(struct task_struct *p);
    void (*stopping)(struct task_struct *p, bool runnable);
    void (*quiescent)(struct task_struct *p, uint64_t flags);
    bool (*yield)(struct task_struct *from, struct task_struct *to);
    void (*update_idle)(int32_t cpu, bool idle);
    int32_t (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
    void (*exit_task)(struct task_struct *p, struct scx_exit_task_args *args);
    int32_t (*init)(void);
    void (*exit)(struct scx_exit_info *info);
    uint64_t flags;
    uint32_t timeout_ms;
    char name[128];
};

/* Flags whose bits have moved from version to version. */
enum scx_enq_flags { SCX_ENQ_HEAD = 0x10 };
enum scx_deq_flags { SCX_DEQ_SLEEP = 1 };
#define CATAPULTS_FLAG(type, name) __builtin_preserve_enum_value(*(__typeof__(enum type) *)name, 1)

/* Those that have not. */
#define SCX_ENQ_PREEMPT (1ULL << 32)
#define SCX_DSQ_LOCAL (1ULL << 63 | 2)
#define SCX_DSQ_LOCAL_ON (3ULL << 62)
#define SCX_SLICE_DFL (20 * 1000 * 1000ULL)
#define SCX_SLICE_INF UINT64_MAX
enum { SCX_KICK_IDLE = 1, SCX_KICK_PREEMPT = 2 };
enum {
    SCX_OPS_KEEP_BUILTIN_IDLE = 1 << 0,
    SCX_OPS_ENQ_LAST = 1 << 1,
    SCX_OPS_ENQ_EXITING = 1 << 2,
    SCX_OPS_SWITCH_PARTIAL = 1 << 3,
    SCX_OPS_ENQ_MIGRATION_DISABLED = 1 << 4
};
enum { PF_EXITING = 0x4, PF_KTHREAD = 0x200000 };
enum { TASK_UNINTERRUPTIBLE = 0x2, TASK_DEAD = 0x80 };
enum { EAGAIN = 11, ENOMEM = 12 };

enum { BPF_MAP_TYPE_TASK_STORAGE = 29 };
enum { BPF_F_NO_PREALLOC = 1 };
struct bpf_timer {
    uint64_t opaque[2];
} __attribute__((aligned(8)));
enum { CATAPULTS_CLOCK_MONOTONIC = 1, BPF_F_TIMER_ABS = 1 };

static uint64_t (*const bpf_ktime_get_ns)(void) = (void *)5;
static uint32_t (*const bpf_get_smp_processor_id)(void) = (void *)8;
static long (*const bpf_probe_read_kernel_str)(void *to, uint32_t size, const void *from) = (void *)115;
static void *(*const bpf_task_storage_get)(void *map, struct task_struct *p, void *value, uint64_t flags) = (void *)156;
static long (*const bpf_task_storage_delete)(void *map, struct task_struct *p) = (void *)157;
static struct task_struct *(*const bpf_get_current_task_btf)(void) = (void *)158;
static long (*const bpf_timer_init)(struct bpf_timer *timer, void *map, uint64_t clock) = (void *)169;
static long (*const bpf_timer_set_callback)(struct bpf_timer *timer, void *callback) = (void *)170;
static long (*const bpf_timer_start)(struct bpf_timer *timer, uint64_t instant, uint64_t flags) = (void *)171;

CATAPULTS_OF_KERNEL int bpf_res_spin_lock_irqsave(struct bpf_res_spin_lock *lock, unsigned long *flags);
CATAPULTS_OF_KERNEL void bpf_res_spin_unlock_irqrestore(struct bpf_res_spin_lock *lock, unsigned long *flags);
CATAPULTS_OF_KERNEL void scx_bpf_kick_cpu(int32_t cpu, uint64_t flags);
CATAPULTS_OF_KERNEL uint32_t scx_bpf_nr_cpu_ids(void);
CATAPULTS_OF_KERNEL int32_t scx_bpf_task_cpu(const struct task_struct *p);
CATAPULTS_OF_KERNEL int32_t scx_bpf_pick_idle_cpu(const struct cpumask *allowed, uint64_t flags);
CATAPULTS_OF_KERNEL bool scx_bpf_test_and_clear_cpu_idle(int32_t cpu);
CATAPULTS_OF_KERNEL void scx_bpf_error_bstr(char *format, unsigned long long *data, uint32_t size);
CATAPULTS_OF_KERNEL struct task_struct *bpf_task_from_pid(int32_t pid);
CATAPULTS_OF_KERNEL void bpf_task_release(struct task_struct *p);
CATAPULTS_OF_KERNEL bool bpf_cpumask_test_cpu(uint32_t cpu, const struct cpumask *mask);

/* Those that some kernels lack. libbpf leaves out the last three underscores of a name, and what follows them. */
#define CATAPULTS_OF_SOME_KERNELS CATAPULTS_OF_KERNEL __attribute__((weak))
CATAPULTS_OF_SOME_KERNELS bool scx_bpf_dsq_insert___v2___new(struct task_struct *p, uint64_t queue, uint64_t slice,
                                                             uint64_t flags);
CATAPULTS_OF_SOME_KERNELS void scx_bpf_dsq_insert___old(struct task_struct *p, uint64_t queue, uint64_t slice,
                                                        uint64_t flags);
CATAPULTS_OF_SOME_KERNELS bool scx_bpf_task_set_slice___new(struct task_struct *p, uint64_t slice);

/* Puts a task into a queue of the kernel, for a time. */
static inline __attribute__((always_inline)) void catapults_insert(struct task_struct *p, uint64_t queue,
                                                                   uint64_t slice, uint64_t flags) {
    if (scx_bpf_dsq_insert___v2___new)
        scx_bpf_dsq_insert___v2___new(p, queue, slice, flags);
    else
        scx_bpf_dsq_insert___old(p, queue, slice, flags);
}

/* For how long the task may go on where it runs. */
static inline __attribute__((always_inline)) void catapults_set_slice(struct task_struct *p, uint64_t slice) {
    if (scx_bpf_task_set_slice___new)
        scx_bpf_task_set_slice___new(p, slice);
    else
        p->scx.slice = slice;
}

#endif
