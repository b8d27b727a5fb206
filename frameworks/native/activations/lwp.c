/*
 * Activations: how they begin, wait, are called and resumed.
 */
#include <errno.h>
#include <fcntl.h>

#include "activations/activation.h"
#include "contexts/system.h"
#include "contexts/text.h"

struct lwp sa_lwps[SA_ACTIVATIONS_MOST];
static const uint8_t none = LWP_NONE;

/* From 2.35 on, glibc registers an area for each kernel thread. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
enum { RSEQ_SIGNATURE = 0x53053053, RSEQ_SIZE = 32 };
_Static_assert(sizeof here_variables.restartable == RSEQ_SIZE, "the kernel's area");

/* For libcs that register none. */
static struct rseq_area *own_rseq(void) { return (struct rseq_area *)&here()->restartable; }

static int make_timer(clockid_t clock, int tid, int *timer) {
    return -system_timer_create(clock, tid, activations.signal, (union sigval){0}, timer);
}

void lwp_is(struct lwp *lwp) {
    here()->activation = lwp;
    here()->state = lwp ? (const uint8_t *)&lwp->word : &none; /* its lowest byte */
}

int lwp_adopt(struct lwp *lwp) {
    lwp->pid = system_getpid();
    lwp->tid = system_gettid();
    lwp->signal = activations.signal;
    lwp->sa.sa_id = (int)(lwp - sa_lwps) + 1;
    if (&__rseq_size && __rseq_size) {
        lwp->rseq = (struct rseq_area *)((char *)__builtin_thread_pointer() + __rseq_offset);
    } else {
        long error = -system_call(SYS_rseq, (long)own_rseq(), RSEQ_SIZE, 0, RSEQ_SIGNATURE);
        if (error)
            return (int)error;
        lwp->rseq = own_rseq();
    }
    lwp->section = (struct rseq_section){.length = 1};
    char path[64];
    text_format(path, sizeof path, "/proc/self/task/%d/syscall", lwp->tid);
    lwp->file = system_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (lwp->file < 0)
        return -lwp->file;
    int error = make_timer(CLOCK_MONOTONIC, lwp->tid, &lwp->retry);
    if (!error && (error = make_timer(CLOCK_THREAD_CPUTIME_ID, lwp->tid, &lwp->ticks)))
        system_timer_delete(lwp->retry); /* it was made above */
    if (error) {
        system_close(lwp->file); /* closed, whatever it says */
        return error;
    }
    lwp_is(lwp);
    return 0;
}

void lwp_dismiss(struct lwp *lwp) {
    if (sa_here() == NULL)
        return;
    system_close(lwp->file);         /* closed, whatever it says */
    system_timer_delete(lwp->retry); /* its own, like the next one */
    system_timer_delete(lwp->ticks); /* see above */
    if (lwp->rseq == own_rseq())     /* registered by lwp_adopt */
        system_call(SYS_rseq, (long)own_rseq(), RSEQ_SIZE, 1 /* unregister */, RSEQ_SIGNATURE);
    lwp_is(NULL);
}

void lwp_pin(int tid, unsigned cpu) {
    struct cpus cpus = {0};
    if (cpu >= sizeof cpus * 8)
        return;
    cpus.words[cpu / 64] = UINT64_C(1) << cpu % 64;
    system_sched_setaffinity(tid, &cpus); /* if not, it is woken a little later */
}

/* The first kernel thread of the process. Others decide which CPUs it may use. */
static bool is_first(const struct lwp *lwp) { return lwp->tid == lwp->pid; }

void lwp_pin_spare(struct lwp *spare, unsigned cpu) {
    if (is_first(spare))
        return;
    lwp_pin(spare->tid, cpu);
    atomic_store(&spare->pinned, true);
    if (lwp_state(spare) != LWP_SPARE) /* it was called meanwhile, and may have looked too early */
        lwp_unpin(spare);
}

void lwp_unpin(struct lwp *lwp) {
    if (is_first(lwp))
        return;
    atomic_store(&lwp->pinned, false);
    struct cpus cpus = lwp_cpus();
    system_sched_setaffinity(lwp->tid, &cpus); /* if those CPUs are gone: anywhere */
}

struct cpus lwp_cpus(void) {
    struct cpus cpus;
    for (int i = 0; i < CPUS_WORDS; i++)
        cpus.words[i] = atomic_load(&activations.cpus[i]);
    return cpus;
}

void lwp_let_go(struct lwp *self) {
    uint32_t word = atomic_load(&self->word);
    atomic_store(&self->word, (word & ~(uint32_t)LWP_STATE) | LWP_TAKEN); /* held or called: nobody else changes it */
    self->processor = NULL;
}

/* The processor that the spare had last wants one on its CPU: the kernel wakes a thread where it sleeps, if it can. */
static void become_reserve(struct lwp *self) {
    struct sa_processor *processor = &sa_processors[self->sa.sa_cpu];
    struct lwp *none = NULL;
    if (!atomic_load(&processor->active) || atomic_load(&processor->reserve) ||
        !atomic_compare_exchange_strong(&processor->reserve, &none, self))
        return;
    uint32_t cpu = atomic_load(&processor->cpu);
    if (self->rseq->cpu == cpu || is_first(self))
        return;
    lwp_pin(self->tid, cpu);
    lwp_unpin(self);
}

_Noreturn void lwp_wait(void *unused) {
    (void)unused;
    struct lwp *self = sa_here();
    for (;;) {
        signal_mask(SIGNALS_ALL);
        interrupt_no_more(self);
        self->processor = NULL;
        atomic_store(&self->hold_depth,
                     0); /* not before lwp_let_go: it would seem to have blocked with the processor */
        atomic_store(&self->user, false);
        become_reserve(self);
        atomic_fetch_add(&activations.spares, 1);
        atomic_store(&self->word, (atomic_load(&self->word) & ~(uint32_t)LWP_STATE) | LWP_SPARE);
        for (;;) {
            uint32_t word = atomic_load(&self->word);
            if ((word & LWP_STATE) == LWP_CALLED)
                break;
            if ((word & LWP_STATE) == LWP_QUITS)
                for (;;)
                    system_call(SYS_exit, 0, 0, 0, 0); /* does not return */
            futex_wait(&self->word, word, -1);
        }
        upcall_make(self);
    }
}

static bool take(struct lwp *lwp) {
    uint32_t word = atomic_load(&lwp->word);
    if ((word & LWP_STATE) != LWP_SPARE || !lwp_change(lwp, word, LWP_TAKEN))
        return false;
    /* The keeper's occasional look is not enough: preempted threads keep their activations. */
    if (atomic_fetch_sub(&activations.spares, 1) <= atomic_load(&activations.processors) + 1)
        keeper_wake();
    return true;
}

struct lwp *lwp_take(struct sa_processor *processor) {
    struct lwp *reserve = atomic_exchange(&processor->reserve, NULL);
    if (LIKELY(reserve && take(reserve)))
        return reserve;
    int used = atomic_load(&activations.lwps);
    for (int i = 0; i < used; i++)
        if (take(&sa_lwps[i]))
            return &sa_lwps[i];
    return NULL;
}

void lwp_put_back(struct sa_processor *processor, struct lwp *spare) {
    struct lwp *none = NULL;
    atomic_compare_exchange_strong(&processor->reserve, &none, spare);
    atomic_fetch_add(&activations.spares, 1);
    lwp_change(spare, atomic_load(&spare->word), LWP_SPARE);
}

void lwp_call(struct lwp *spare, struct sa_processor *processor, enum call call, struct lwp *about,
              uint32_t about_word) {
    spare->processor = processor;
    spare->call = call;
    spare->about = about;
    spare->about_word = about_word;
    lwp_change(spare, atomic_load(&spare->word), LWP_CALLED);
    futex_wake(&spare->word, 1);
}

void lwp_resume(struct lwp *lwp, struct sa_processor *processor) {
    lwp->processor = processor;
    lwp->sa.sa_cpu = processor->number;
    atomic_store(&processor->carrier, lwp);
    /* One more epoch: whoever saw it on another processor, or in another stay on this one, must not take it now. */
    uint32_t word = atomic_load(&lwp->word) + LWP_EPOCH; /* PARKED: nobody else changes it */
    atomic_store(&lwp->word, (word & ~(uint32_t)LWP_STATE) | LWP_RESUMED);
    watch_unpark(processor);
    futex_wake(&lwp->word, 1);
}

enum { DEATH = 10000000 }; /* nanoseconds until a called spare is asked whether it lives */

void lwp_park(struct lwp *self, struct lwp *called) {
    for (;;) {
        uint32_t word = atomic_load(&self->word);
        if ((word & LWP_STATE) != LWP_PARKED)
            break;
        futex_wait(&self->word, word, called ? DEATH : -1);
        if (called && lwp_state(self) == LWP_PARKED) {
            uint32_t theirs = atomic_load(&called->word);
            if ((theirs & LWP_STATE) == LWP_CALLED && called->about == self &&
                system_tgkill(called->pid, called->tid, 0) == -ESRCH) {
                lwp_change(called, theirs, LWP_QUITS);
                lwp_resume(self, called->processor);
            } else if ((theirs & LWP_STATE) != LWP_CALLED) {
                called = NULL;
            }
        }
    }
    if (lwp_state(self) == LWP_FORGOTTEN)
        sa_on_stack(self->base, lwp_wait, NULL);
    lwp_change(self, atomic_load(&self->word), LWP_RUNNING); /* RESUMED: nobody else changes it */
}
