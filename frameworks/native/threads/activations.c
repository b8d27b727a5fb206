/*
 * The runtime as a thread library on sa.h: who blocks in the kernel leaves the processor.
 *
 * An upcall goes on in the name of the thread that it interrupted, or that has blocked: it blocks for it in the
 * dispatcher, or lets the policy take the processor from it. When the policy comes back to that thread, it comes back
 * to the upcall, whose end is to resume what was interrupted, on the kernel thread where that waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "contexts/tools.h"
#include "sa.h"
#include "threads/runtime.h"
#include "threads/signals.h"

enum { STACKS = 512, STACK_SIZE = 32 << 10 };

/* Of C++, in programs that are linked with it. */
__attribute__((weak)) struct dispatcher_exceptions *__cxa_get_globals(void);
extern const char __start_catapults_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_catapults_text[] __attribute__((weak, visibility("hidden")));

/* What the dispatcher is told of a kernel thread. */
struct carrier {
    int *error_number;
    struct dispatcher_exceptions *exceptions;
};

/* Who is blocked in the kernel; on the stack of its upcall. */
struct away {
    struct dispatcher_thread *thread;
    ucontext_t *context; /* once it is back */
};

static struct away *away[SA_ACTIVATIONS_MOST + 1]; /* by activation */
static int64_t blocked;                            /* how many there are */
static uint64_t told;                              /* how often any came back */
static struct carrier carrier;                     /* of the processor */
static struct dispatcher_exceptions no_exceptions;
static char *stacks;

static bool running;

bool activations_running(void) { return running; }

/* Not to be optimized together with its callers: the kernel thread changes under them. */
__attribute__((noipa)) static struct carrier carrier_here(void) {
    return (struct carrier){.error_number = &errno,
                            .exceptions = __cxa_get_globals ? __cxa_get_globals() : &no_exceptions};
}

static void carry(struct carrier next) {
    carrier = next;
    dispatcher_carry(next.error_number, next.exceptions);
}

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

static char *stack_of(const void *address) {
    return stacks + ((size_t)((const char *)address - stacks) & ~(size_t)(STACK_SIZE - 1));
}

static void give_stack(char *stack) {
    tools_clean(stack, STACK_SIZE);
    sa_stacks(1, &(stack_t){.ss_sp = stack, .ss_size = STACK_SIZE});
}

/* `self` is the thread whose name the upcall goes on in. */
static void block(struct dispatcher_thread *self, const struct sa_t *activation, struct away *mine) {
    *mine = (struct away){.thread = self};
    away[activation->sa_id] = mine;
    blocked++;
    dispatcher_block(BLOCK_KERNEL, DISPATCHER_FOREVER);
}

static void unblock(struct sa_t *sas[], int events) {
    for (int i = 1; i <= events; i++) {
        struct away *other = away[sas[i]->sa_id];
        away[sas[i]->sa_id] = NULL;
        other->context = sas[i]->sa_context;
        blocked--;
        told++;
        dispatcher_unblock_only(other->thread);
    }
    dispatcher_unblocked();
}

static void signal_came(const siginfo_t *info) {
    told++;
    signals_post(NULL, info);
    dispatcher_unblocked();
}

static void upcall(int type, struct sa_t *sas[], int events, int interrupted, void *argument) {
    struct carrier before = carrier;
    char *stack = stack_of(&before);
    struct away mine = {.context = events + interrupted > 0 ? sas[events + interrupted]->sa_context : NULL};
    if (type == SA_UPCALL_BLOCKED || type == SA_UPCALL_UNBLOCKED || type == SA_UPCALL_SIGNAL) {
        struct dispatcher_thread *self = dispatcher_self();
        struct tools_context own;
        tools_move(&self->context.tools, &own, stack, STACK_SIZE);
        carry(carrier_here());
        if (type == SA_UPCALL_BLOCKED)
            block(self, sas[1], &mine);
        else if (type == SA_UPCALL_UNBLOCKED)
            unblock(sas, events);
        else
            signal_came(argument);
        tools_move_back(&self->context.tools, &own);
        carry(before);
    }
    give_stack(stack); /* nobody takes it before the caller has left it: that takes the processor */
    sa_resume(mine.context);
}

/* ---- The driver, between the dispatcher and io's -------------------------------------------------------------------
 */

static const struct dispatcher_driver *driver;

static bool busy(void) { return blocked > 0 || driver->busy(); }

/* Upcalls are put off while the dispatcher is at work; here they may come. */
static void let_upcalls_come(void) {
    dispatcher_leave();
    dispatcher_enter();
}

static void poll_between(int64_t instant) {
    uint64_t before = told;
    int error = *carrier.error_number;
    if (instant > 0)
        let_upcalls_come();
    driver->poll(told == before ? instant : 0);
    if (instant > 0)
        let_upcalls_come();
    *carrier.error_number = error; /* signals have interrupted it */
}

/* ---- Starting ------------------------------------------------------------------------------------------------------
 */

static int give_stacks(void) {
    stacks = mmap(NULL, (size_t)STACKS * STACK_SIZE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED)
        return errno;
    stack_t given[STACKS];
    for (int i = 0; i < STACKS; i++)
        given[i] = (stack_t){.ss_sp = stacks + (size_t)i * STACK_SIZE, .ss_size = STACK_SIZE};
    return sa_stacks(STACKS, given) == STACKS ? 0 : ENOMEM;
}

static void regain(void) { sa_self(); }

int activations_start(void) {
    static const struct dispatcher_driver between = {.poll = poll_between, .busy = busy};
    const struct sa_section runtime_text = {__start_catapults_text, __stop_catapults_text};
    int error = give_stacks();
    carrier = carrier_here();
    if (!error && (sa_sections(1, &runtime_text) != 0 || sa_register(upcall, NULL, 0, -1) != 0 || sa_enable() != 0))
        error = errno;
    if (error) {
        runtime_report("threads cannot leave the processor when they block in the kernel: %s", strerror(error));
        return error;
    }
    driver = dispatcher_set_driver(&between);
    dispatcher_set_guard(sa_hold, sa_release, false);
    dispatcher_guard.regain = regain;
    dispatcher_guard.regains = true;
    running = true;
    dispatcher_enter(); /* until the first thread runs */
    return 0;
}
