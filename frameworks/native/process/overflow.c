/*
 * A thread that overflows its stack runs into the guard page below it. The handler, on a stack of its own, says which
 * thread it was and lets the signal take effect. An application's own handler is left alone.
 */
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>

#include "contexts/system.h"
#include "contexts/text.h"
#include "process/overflow.h"
#include "process/report.h"
#include "process/runtime.h"

static void handle(int signal, siginfo_t *info, void *context);

static bool installed;

/* False: the kernel thread can have no stack for signals. */
static bool has_stack(void *memory, size_t size) {
    stack_t stack = {.ss_sp = memory, .ss_size = size}, before;
    if (system_sigaltstack(NULL, &before) == 0 && !(before.ss_flags & SS_DISABLE))
        return true;
    if (!memory)
        stack.ss_sp = system_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    return !system_failed(stack.ss_sp) && system_sigaltstack(&stack, NULL) == 0;
}

void overflow_install(void) {
    static _Alignas(16) char memory[OVERFLOW_STACK];
    struct sigaction now;
    if (system_sigaction(SIGSEGV, NULL, &now) != 0 || now.sa_handler != SIG_DFL)
        return;
    struct sigaction ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER};
    installed = has_stack(memory, sizeof memory) && system_sigaction(SIGSEGV, &ours, NULL) == 0;
}

void overflow_attach(void *memory, size_t size) {
    if (installed)
        has_stack(memory, size);
}

/* The address says whose stack it is. The processor does not: with activations, a thread that was found blocked, by a
 * page fault for instance, can be back for a moment without one. The list is read without the lock, which the thread
 * itself may have. If that fails, by a second fault, the process ends as it would have without a report. */
static const struct member *whose_guard_page(const char *address) {
    for (struct dispatcher_thread *t = dispatcher_first_thread(); t; t = dispatcher_next_thread(t)) {
        const struct stack *stack = member_of(t)->stack;
        if (address >= stack->base && address < stack->lowest)
            return member_of(t);
    }
    return NULL;
}

/* Returning repeats the access, which now has the default effect. */
static void handle(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    const struct member *self = runtime.started ? whose_guard_page(info->si_addr) : NULL;
    if (!self)
        return;
    char text[256];
    size_t length =
        text_format(text, sizeof text,
                    "catapults: thread %" PRIu32 " (%s) overflowed its stack of %zu KiB; give it a larger one "
                    "(stack_size in its attributes)\n",
                    self->dispatched.policy.number, self->name, self->stack->size >> 10);
    report_text(text, length);
}
