/*
 * A policy as a scheduler of the kernel, by sched_ext: what the kernel tells becomes the events of linux.framework, and
 * what the policy decides goes into the kernel's queues of the processors.
 *
 *     wake-up ──enqueue──► event_raised ──► READY ──dispatch: schedule──► RUNNING ──insert──► the processor's queue
 *                                             ▲                              │
 *                                  switch_out, timeout.*, a wake-up          └─quiescent──► block.*, suspend_thread,
 * exit
 */
#include CATAPULTS_COMPILED_IN
#include "imports.bpf.h"
#include "texts.bpf.h"
#include "timers.bpf.h"

#define PROGRAM(name) CATAPULTS_SECTION("struct_ops") int catapults_do_##name(uint64_t *context)
/* It may sleep. */
#define SLEEPY(name) CATAPULTS_SECTION("struct_ops.s") int catapults_do_##name(uint64_t *context)
#define TASK(index) ((struct task_struct *)context[index])

/* By the numbers of stops, from 1: whether a request is refused. */
#define CATAPULTS_WHY_GUARD 0
#define CATAPULTS_WHY_FAIL 1
#define WHY(why, line, text) , CATAPULTS_WHY_##why
static const uint8_t catapults_refusals[] = {0 CATAPULTS_STOPS(WHY)};
static inline __attribute__((always_inline)) bool catapults_refuses(uint32_t stop) {
    return stop < sizeof(catapults_refusals) && catapults_refusals[stop];
}

/* A task that must run on its own processor, whatever the policy would say: the kernel's threads of one processor, and
 * tasks that the policy does not have. It runs at once. */
static inline __attribute__((always_inline)) void catapults_run_at_once(struct task_struct *p) {
    catapults_insert(p, SCX_DSQ_LOCAL, SCX_SLICE_DFL, SCX_ENQ_PREEMPT);
}

static inline __attribute__((always_inline)) bool catapults_stays(const struct task_struct *p) {
    /* Programs of BPF keep the task that they interrupt where it is. */
    return p->migration_disabled > (p == bpf_get_current_task_btf());
}

static inline __attribute__((always_inline)) bool catapults_may_run(struct task_struct *p, int32_t cpu) {
    if (catapults_stays(p) && scx_bpf_task_cpu(p) != cpu)
        return false;
    return bpf_cpumask_test_cpu((uint32_t)cpu, p->cpus_ptr);
}

/* The idle processor where the task is to run: its own, or another; it is not idle to the kernel any more. -1: none. */
static inline __attribute__((always_inline)) int32_t catapults_idle(struct task_struct *p) {
    int32_t own = scx_bpf_task_cpu(p);
    if (catapults_may_run(p, own) && scx_bpf_test_and_clear_cpu_idle(own))
        return own;
    return catapults_stays(p) ? -1 : scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
}

/* `enqueue` finds an idle processor by itself. */
PROGRAM(select_cpu) { return (int)context[1]; }

PROGRAM(enqueue) {
    struct task_struct *p = TASK(0);
    uint32_t number = catapults_number(p);
    struct catapults_after after = {0};
    struct catapults_facts facts = {0};
    unsigned long flags;
    CATAPULTS_HAS_ARENA;
    struct catapults_record CATAPULTS_MEMORY *record = catapults_record(number);
    struct catapults_thread CATAPULTS_MEMORY *t = catapults_thread(number);
    if (!number || !record->known || catapults_out) {
        catapults_run_at_once(p);
        return 0;
    }
    bool dies = p->flags & PF_EXITING;
    if ((p->flags & PF_KTHREAD) && p->nr_cpus_allowed == 1 && !CATAPULTS_IS_READY(t) && !CATAPULTS_IS_RUNNING(t)) {
        catapults_run_at_once(p);
        return 0;
    }
    struct catapults_frame CATAPULTS_MEMORY *frame = record->frame;
    int32_t own = scx_bpf_task_cpu(p);
    int32_t turn = frame ? frame->processor : -1;
    bool may = turn >= 0 && catapults_may_run(p, turn);
    int32_t idle = frame || dies ? -1 : catapults_idle(p);
    catapults_learn(&facts, p);
    struct bpf_res_spin_lock *lock = catapults_enter(&flags);
    if (!lock) {
        catapults_run_at_once(p);
        return 0;
    }
    bool inserts = false;
    record->pid = (uint32_t)p->pid;
    record->on = -1;
    catapults_keep(number, &facts);
    if (record->frame) {
        inserts = may && record->frame->processor == turn;
        if (!inserts)
            catapults_raise(CATAPULTS_SWITCH_OUT, number, own, &after);
    } else if (!CATAPULTS_IS_READY(t)) {
        uint32_t event = record->resumes ? CATAPULTS_RESUME_THREAD : CATAPULTS_EVENT_RAISED;
        catapults_raise(event, number, idle >= 0 ? idle : own, &after);
    }
    /* The number of a task that dies may lead nowhere by the time that its turn has come. */
    record->queued = !inserts && !dies;
    catapults_leave(lock, &flags, &after);
    if (inserts)
        /* It was interrupted, or the policy has already chosen it for another processor. */
        catapults_insert(p, SCX_DSQ_LOCAL_ON | (uint32_t)turn, SCX_SLICE_INF,
                         turn == own ? CATAPULTS_FLAG(scx_enq_flags, SCX_ENQ_HEAD) : SCX_ENQ_PREEMPT);
    else if (dies)
        catapults_run_at_once(p);
    if (idle >= 0)
        scx_bpf_kick_cpu(idle, SCX_KICK_IDLE);
    catapults_finish(&after);
    return 0;
}

/* The processor has nothing to run: the policy is asked. If what it dispatches may not run here, the kernel calls this
 * again, because something was inserted, and not into this processor's queue. */
PROGRAM(dispatch) {
    int32_t cpu = (int32_t)context[0];
    struct task_struct *prev = TASK(1);
    uint32_t prev_number = prev ? catapults_number(prev) : 0;
    struct catapults_after after = {0};
    unsigned long flags;
    uint32_t number = 0, pid = 0;
    bool queued = false, keeps = false;
    struct bpf_res_spin_lock *lock = catapults_enter(&flags);
    if (!lock)
        return 0;
    CATAPULTS_INSTANCE CATAPULTS_MEMORY *self = catapults_instance;
    struct catapults_frame CATAPULTS_MEMORY *frame = catapults_frame_of(cpu);
    if (prev_number) {
        struct catapults_record CATAPULTS_MEMORY *record = catapults_record(prev_number);
        keeps = record->frame && record->on == cpu && (record->frame == frame || record->frame == &record->away);
    }
    if (!keeps && !frame->runs && CATAPULTS_HANDLER_threads_ready(self) > 0) {
        catapults_see(frame);
        struct catapults_thread CATAPULTS_MEMORY *t = CATAPULTS_HANDLER_schedule(self, &after.stop);
        catapults_told.dispatches++;
        if (t && !after.stop) {
            number = t->number;
            struct catapults_record CATAPULTS_MEMORY *record = catapults_record(number);
            frame->runs = number;
            record->frame = frame;
            pid = record->pid;
            queued = record->queued;
            record->queued = 0;
            keeps = number == prev_number && record->on == cpu;
        }
    }
    catapults_leave(lock, &flags, &after);
    catapults_finish(&after);
    if (keeps && prev)
        catapults_set_slice(prev, SCX_SLICE_INF);
    /* One that still runs elsewhere comes by itself: see `enqueue`. */
    if (keeps || !number || !queued)
        return 0;
    struct task_struct *p = bpf_task_from_pid((int32_t)pid);
    if (!p) {
        __sync_fetch_and_add(&catapults_told.lost, 1); /* the lock is free */
        return 0;
    }
    if (catapults_may_run(p, cpu)) {
        catapults_insert(p, SCX_DSQ_LOCAL, SCX_SLICE_INF, 0);
        bpf_task_release(p);
        return 0;
    }
    /* It waits for its own processor. */
    int32_t home = scx_bpf_task_cpu(p);
    bool goes = false;
    lock = catapults_enter(&flags);
    if (lock) {
        struct catapults_record CATAPULTS_MEMORY *record = catapults_record(number);
        goes = record->frame == catapults_frame_of(cpu);
        if (goes) {
            catapults_move(number, &record->away);
            record->away.processor = home;
        } else {
            record->queued = 1;
        }
        catapults_leave(lock, &flags, &after);
    }
    if (goes)
        catapults_insert(p, SCX_DSQ_LOCAL_ON | (uint32_t)home, SCX_SLICE_INF, 0);
    bpf_task_release(p);
    return 0;
}

/* The task runs from now on. */
PROGRAM(running) {
    struct task_struct *p = TASK(0);
    uint32_t number = catapults_number(p);
    struct catapults_after after = {0};
    unsigned long flags;
    CATAPULTS_HAS_ARENA;
    if (!number)
        return 0;
    int32_t cpu = scx_bpf_task_cpu(p);
    bool dies = p->flags & PF_EXITING;
    struct catapults_record CATAPULTS_MEMORY *record = catapults_record(number);
    struct catapults_frame CATAPULTS_MEMORY *own = catapults_frame_of(cpu);
    record->on = cpu;
    record->queued = 0;
    if (record->frame == own)
        return 0;
    struct bpf_res_spin_lock *lock = catapults_enter(&flags);
    if (!lock)
        return 0;
    struct catapults_frame CATAPULTS_MEMORY *frame = record->frame;
    if (frame && frame != own && !own->runs) {
        if (frame != &record->away)
            after.kicks |= 1ULL << (frame->processor & (CATAPULTS_PROCESSORS - 1));
        catapults_move(number, own);
    } else if (!frame && !dies && CATAPULTS_IS_READY(catapults_thread(number))) {
        /* The kernel has gone on with it, or the policy has thought better of it. */
        after.kicks |= 1ULL << (cpu & (CATAPULTS_PROCESSORS - 1));
    }
    catapults_leave(lock, &flags, &after);
    catapults_finish(&after);
    return 0;
}

PROGRAM(stopping) {
    uint32_t number = catapults_number(TASK(0));
    CATAPULTS_HAS_ARENA;
    if (number)
        catapults_record(number)->on = -1;
    return 0;
}

static inline __attribute__((always_inline)) bool catapults_in_iowait(struct task_struct *p) {
    const char *at = (const char *)p + __builtin_preserve_field_info(p->in_iowait, 0);
    uint64_t bits;
    switch (__builtin_preserve_field_info(p->in_iowait, 1)) {
    case 1:
        bits = *(const uint8_t *)at;
        break;
    case 2:
        bits = *(const uint16_t *)at;
        break;
    case 4:
        bits = *(const uint32_t *)at;
        break;
    default:
        bits = *(const uint64_t *)at;
    }
    return bits << __builtin_preserve_field_info(p->in_iowait, 4) >> __builtin_preserve_field_info(p->in_iowait, 5);
}

/* The task cannot run, or not for the moment. */
PROGRAM(quiescent) {
    struct task_struct *p = TASK(0);
    uint32_t number = catapults_number(p);
    struct catapults_after after = {0};
    struct catapults_facts facts = {0};
    unsigned long flags;
    CATAPULTS_HAS_ARENA;
    if (!number)
        return 0;
    bool sleeps = context[1] & CATAPULTS_FLAG(scx_deq_flags, SCX_DEQ_SLEEP);
    bool is_dead = p->__state & TASK_DEAD;
    uint32_t block = catapults_in_iowait(p)                ? CATAPULTS_BLOCK_IO
                     : (p->__state & TASK_UNINTERRUPTIBLE) ? CATAPULTS_BLOCK_OTHER
                                                           : CATAPULTS_BLOCK_SLEEP;
    int32_t own = scx_bpf_task_cpu(p);
    catapults_learn(&facts, p);
    struct bpf_res_spin_lock *lock = catapults_enter(&flags);
    if (!lock)
        return 0;
    struct catapults_record CATAPULTS_MEMORY *record = catapults_record(number);
    struct catapults_thread CATAPULTS_MEMORY *t = catapults_thread(number);
    record->queued = 0;
    catapults_keep(number, &facts);
    if (record->known && is_dead && record->frame) {
        catapults_raise(CATAPULTS_EXIT, number, own, &after);
        record->known = 0;
    } else if (record->known && is_dead) {
        catapults_raise(CATAPULTS_CANCEL, number, own, &after);
        record->known = 0;
    } else if (record->known && record->frame && sleeps) {
        record->resumes = 0;
        catapults_raise(block, number, own, &after);
    } else if (record->known && (record->frame || CATAPULTS_IS_READY(t))) {
        record->resumes = 1;
        catapults_raise(CATAPULTS_SUSPEND_THREAD, number, own, &after);
    }
    /* A processor whose task has gone asks by itself. */
    if (sleeps)
        after.kicks &= ~(1ULL << (own & (CATAPULTS_PROCESSORS - 1)));
    catapults_leave(lock, &flags, &after);
    catapults_finish(&after);
    return 0;
}

/* Raises an event of the thread if it is RUNNING. Whether it still is. */
static inline __attribute__((always_inline)) bool catapults_raise_running(struct task_struct *p, uint32_t event) {
    uint32_t number = catapults_number(p);
    struct catapults_after after = {0};
    struct catapults_facts facts = {0};
    unsigned long flags;
    if (!number)
        return true;
    int32_t own = scx_bpf_task_cpu(p);
    catapults_learn(&facts, p);
    struct bpf_res_spin_lock *lock = catapults_enter(&flags);
    if (!lock)
        return true;
    struct catapults_record CATAPULTS_MEMORY *record = catapults_record(number);
    catapults_keep(number, &facts);
    if (record->known && record->frame)
        catapults_raise(event, number, own, &after);
    bool runs = record->frame != NULL;
    catapults_leave(lock, &flags, &after);
    catapults_finish(&after);
    return runs;
}

#ifdef CATAPULTS_HANDLER_tick
PROGRAM(tick) {
    catapults_raise_running(TASK(0), CATAPULTS_TICK);
    return 0;
}
#endif

PROGRAM(yield) {
    if (!catapults_raise_running(TASK(0), CATAPULTS_SWITCH_OUT))
        catapults_set_slice(TASK(0), 0);
    return 0;
}

/* What became READY while this processor was about to be idle has not found it so. */
PROGRAM(update_idle) {
    int32_t cpu = (int32_t)context[0];
    CATAPULTS_HAS_ARENA;
    CATAPULTS_INSTANCE CATAPULTS_MEMORY *self = catapults_instance;
    if (context[1] && self && !catapults_frame_of(cpu)->runs && CATAPULTS_HANDLER_threads_ready(self) > 0)
        scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
    return 0;
}

/* The record goes back. Under the lock. */
CATAPULTS_CALLED void catapults_forget(uint32_t number) {
    catapults_record(number)->known = 0;
    catapults_record(number)->next = catapults_free;
    catapults_free = number;
}

/* A task is born, or was there before. The policy has it asleep until it can run. */
SLEEPY(init_task) {
    struct task_struct *p = TASK(0);
    bool is_born = ((struct scx_init_task_args *)context[1])->fork;
    struct catapults_after after = {0};
    struct catapults_facts facts = {0};
    unsigned long flags;
    CATAPULTS_HAS_ARENA;
    uint64_t none = 0;
    uint64_t *kept = bpf_task_storage_get(&catapults_numbers, p, &none, 1);
    if (!kept)
        return -ENOMEM;
    catapults_learn(&facts, p);
    /* Where the parent runs: policies may look at it. */
    int32_t here = (int32_t)bpf_get_smp_processor_id();
    struct bpf_res_spin_lock *lock = catapults_enter(&flags);
    if (!lock)
        return is_born ? -EAGAIN : 0;
    uint32_t number = catapults_free;
    uint32_t refusal = 0;
    if (number) {
        struct catapults_record CATAPULTS_MEMORY *record = catapults_record(number);
        struct catapults_thread CATAPULTS_MEMORY *t = catapults_thread(number);
        catapults_free = record->next;
        CATAPULTS_ADOPT((CATAPULTS_THREAD CATAPULTS_MEMORY *)t);
        t->number = number;
        record->frame = NULL;
        record->pid = (uint32_t)p->pid;
        record->on = -1;
        record->queued = 0;
        record->resumes = 1;
        record->known = 1;
        catapults_keep(number, &facts);
        catapults_raise(CATAPULTS_NEWTHREAD, number, here, &after);
        if (!after.stop)
            catapults_raise(CATAPULTS_SUSPEND_THREAD, number, here, &after);
        if (catapults_refuses(after.stop)) {
            refusal = after.stop;
            after.stop = 0;
            catapults_note_refusal(refusal);
            catapults_forget(number);
        }
    }
    catapults_leave(lock, &flags, &after);
    catapults_finish(&after);
    if (number && !refusal) {
        *kept = number;
        return 0;
    }
    /* Nobody is refused who is already there: it runs beside the policy. */
    return is_born ? -EAGAIN : 0;
}

PROGRAM(exit_task) {
    struct task_struct *p = TASK(0);
    uint32_t number = catapults_number(p);
    struct catapults_after after = {0};
    unsigned long flags;
    CATAPULTS_HAS_ARENA;
    if (!number)
        return 0;
    bpf_task_storage_delete(&catapults_numbers, p);
    struct bpf_res_spin_lock *lock = catapults_enter(&flags);
    if (!lock)
        return 0;
    struct catapults_record CATAPULTS_MEMORY *record = catapults_record(number);
    if (record->known)
        catapults_raise(record->frame ? CATAPULTS_EXIT : CATAPULTS_CANCEL, number, 0, &after);
    catapults_forget(number);
    catapults_leave(lock, &flags, &after);
    catapults_finish(&after);
    return 0;
}

SLEEPY(init) {
    struct catapults_after after = {0};
    unsigned long flags;
    (void)context;
    CATAPULTS_HAS_ARENA;
    /* The loader has said so before, in words. */
    if (scx_bpf_nr_cpu_ids() > CATAPULTS_PROCESSORS)
        return -ENOMEM;
    int stop = catapults_take_memory();
    if (stop)
        return stop;
    stop = catapults_make_alarm();
    if (stop)
        return stop;
    struct bpf_res_spin_lock *lock = catapults_enter(&flags);
    if (!lock)
        return -ENOMEM;
    CATAPULTS_START(catapults_instance);
#ifdef CATAPULTS_NOW
    CATAPULTS_NOW(catapults_instance) = catapults_instant;
#endif
    catapults_frames_init();
#ifdef CATAPULTS_HANDLER_init
    after.stop = CATAPULTS_HANDLER_init(catapults_instance);
#endif
    catapults_leave(lock, &flags, &after);
    catapults_finish(&after);
    return 0;
}

PROGRAM(exit) {
    struct scx_exit_info *info = (struct scx_exit_info *)context[0];
    catapults_out = 1;
    bpf_probe_read_kernel_str(catapults_told.reason, sizeof(catapults_told.reason), info->reason);
    bpf_probe_read_kernel_str(catapults_told.message, sizeof(catapults_told.message), info->msg);
    catapults_told.code = info->exit_code;
    *(volatile uint64_t *)&catapults_told.kind = (uint64_t)info->kind;
    return 0;
}

#ifdef CATAPULTS_HANDLER_tick
#define TICKS .tick = (void *)catapults_do_tick,
#else
#define TICKS
#endif
#define OPS(which, more)                                                                                               \
    CATAPULTS_SECTION(".struct_ops.link")                                                                              \
    struct sched_ext_ops which = {TICKS.select_cpu = (void *)catapults_do_select_cpu,                                  \
                                  .enqueue = (void *)catapults_do_enqueue,                                             \
                                  .dispatch = (void *)catapults_do_dispatch,                                           \
                                  .running = (void *)catapults_do_running,                                             \
                                  .stopping = (void *)catapults_do_stopping,                                           \
                                  .quiescent = (void *)catapults_do_quiescent,                                         \
                                  .yield = (void *)catapults_do_yield,                                                 \
                                  .update_idle = (void *)catapults_do_update_idle,                                     \
                                  .init_task = (void *)catapults_do_init_task,                                         \
                                  .exit_task = (void *)catapults_do_exit_task,                                         \
                                  .init = (void *)catapults_do_init,                                                   \
                                  .exit = (void *)catapults_do_exit,                                                   \
                                  .flags = SCX_OPS_KEEP_BUILTIN_IDLE | SCX_OPS_ENQ_LAST | SCX_OPS_ENQ_EXITING |        \
                                           SCX_OPS_ENQ_MIGRATION_DISABLED | (more),                                    \
                                  .timeout_ms = 10000,                                                                 \
                                  .name = CATAPULTS_NAME}

/* The loader changes timeout_ms. For the whole machine, and for the tasks that ask for it. The loader takes one. */
OPS(catapults_machine, 0);
OPS(catapults_program, SCX_OPS_SWITCH_PARTIAL);
