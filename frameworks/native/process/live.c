/*
 * How the process comes to be asked: the signal, the kernel thread that it makes, and how that has a processor do
 * something.
 */
#include "process/live.h"

#include <sched.h>
#include <stdatomic.h>

#include "contexts/kernel_thread.h"
#include "contexts/system.h"
#include "contexts/tools.h"
#include "process/activations.h"
#include "process/kernel_threads.h"
#include "process/runtime.h"

#ifdef CATAPULTS_BENEATH
enum { BENEATH = 1 };
#else
enum { BENEATH = 0 };
#endif

/* In the file of every program that contains the runtime: so it is known before a signal is sent, and which. */
static const struct {
    uint32_t name_size, size, type;
    char name[12];
    uint32_t version, signal, beneath;
} note __attribute__((section(".note.catapults"), aligned(4), used)) = {.name_size = sizeof "Catapults",
                                                                        .size = 3 * sizeof(uint32_t),
                                                                        .type = 1,
                                                                        .name = "Catapults",
                                                                        .version = LIVE_VERSION,
                                                                        .signal = PREEMPTION_SIGNAL,
                                                                        .beneath = BENEATH};

/* The signal's value: this, and the name of the asker's socket. */
enum { MARK = 0x63617461, NAME_MOST = 0xfffff };

enum {
    STACK = 64 << 10,
    CONVERSATIONS = 4, /* at a time */
    AGAIN = 5000000,   /* nanoseconds until the next processor is interrupted */
    PATIENCE = 2000    /* milliseconds until it is said that none can */
};

static struct conversation {
    _Atomic uint32_t process; /* that it is of: a child of fork does not have it; 0: nobody talks */
    uint32_t name;
    _Alignas(16) char stack[STACK];
} conversations[CONVERSATIONS];

static struct {
    _Atomic uint32_t owner; /* the process in which one of them asks; 0: none */
    _Atomic uint32_t state; /* a futex */
    struct live_request *what;
} asked;
enum { NOTHING, WANTED, BEGUN, DONE };

static void begin(void *conversation_) {
    enum { UNSHARE = 2 };
    struct conversation *conversation = conversation_;
    /* The program's descriptors are not touched, and a child of fork has none of those here. */
    if (system_call(SYS_close_range, 0, ~0u, UNSHARE, 0) == 0)
        live_talk(conversation->name);
    for (;;)
        system_call(SYS_exit, 0, 0, 0, 0); /* does not return */
}

/* Whether it is the caller's now. */
static TOOLS_UNSEEN bool take(_Atomic uint32_t *owner, uint32_t process) {
    uint32_t before = atomic_load(owner);
    return before != process && atomic_compare_exchange_strong(owner, &before, process);
}

/* If all talk, who asks sends the signal again. */
static TOOLS_UNSEEN bool is_for_us(const siginfo_t *info) {
    const long flags =
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
    uint64_t value = (uintptr_t)info->si_value.sival_ptr;
    if (info->si_code != SI_QUEUE || value >> 32 != MARK)
        return false;
    uint32_t process = (uint32_t)system_getpid();
    for (int i = 0; i < CONVERSATIONS; i++) {
        struct conversation *one = &conversations[i];
        if (!take(&one->process, process))
            continue;
        one->name = (uint32_t)value & NAME_MOST;
        uint64_t mask = signal_mask(~UINT64_C(0)); /* which it inherits */
        if (kernel_thread_make(flags, one->stack + STACK, begin, one, &one->process) < 0)
            atomic_store(&one->process, 0);
        signal_mask(mask);
        break;
    }
    return true;
}

void live_start(void) {
#ifndef __SANITIZE_THREAD__ /* which would take what such a kernel thread does for another one's */
    preemption_listen(is_for_us);
#endif
}

TOOLS_UNSEEN bool live_wanted(void) {
    return __builtin_expect(atomic_load_explicit(&asked.state, memory_order_relaxed) == WANTED, 0);
}

/* Those who sleep are woken, those who run are interrupted: each in turn, until one has done it. */
static void call_one(unsigned number) {
    if (dispatcher_guard.several)
        processors_rouse(dispatcher_processor_at(number % dispatcher_processors()));
    else if (runtime.activations)
        activations_interrupt(0);
    else
        preemption_interrupt_first();
}

bool live_ask(struct live_request *request) {
    uint32_t process = (uint32_t)system_getpid(), wanted = WANTED;
    while (!take(&asked.owner, process))
        system_nanosleep(AGAIN); /* how it ends does not matter */
    asked.what = request;
    atomic_store(&asked.state, WANTED);
    for (unsigned i = 0; i < PATIENCE / (AGAIN / 1000000) && atomic_load(&asked.state) == WANTED; i++) {
        call_one(i);
        futex_wait(&asked.state, WANTED, AGAIN); /* however that ends, the state tells */
    }
    bool gives_up = atomic_compare_exchange_strong(&asked.state, &wanted, NOTHING);
    while (!gives_up && atomic_load(&asked.state) != DONE)
        futex_wait(&asked.state, BEGUN, -1);
    atomic_store(&asked.state, NOTHING);
    atomic_store(&asked.owner, 0);
    return !gives_up;
}

struct live_request *live_begin(void) {
    uint32_t wanted = WANTED;
    bool begins = live_wanted() && atomic_load(&asked.owner) == (uint32_t)system_getpid() &&
                  atomic_compare_exchange_strong(&asked.state, &wanted, BEGUN);
    return begins ? asked.what : NULL;
}

void live_end(void) {
    atomic_store(&asked.state, DONE);
    futex_wake(&asked.state, 1);
}
