/*
 * Preemption at every so many instructions of the application: it traps (the trap flag of x86-64). An instruction of
 * the runtime or of libc lets it finish first.
 */
#include <signal.h>
#include <ucontext.h>

#include "contexts/tools.h"
#include "dispatcher/dispatcher.h"
#include "preemption/preemption.h"
#include "process/own_code.h"
#include "stress/stress.h"

#if defined(__x86_64__)
static volatile int left;

extern const char __start_steps_handler[], __stop_steps_handler[];

/* In a section of its own, for it is not stepped through itself: another thread may have switched here with the flag.
 */
__attribute__((section("steps_handler"))) TOOLS_UNSEEN static void trapped(int signal, siginfo_t *info,
                                                                           void *context_) {
    const ucontext_t *context = context_;
    (void)signal, (void)info;
    uintptr_t instruction = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    if (!own_code_has(instruction) ||
        (instruction >= (uintptr_t)__start_steps_handler && instruction < (uintptr_t)__stop_steps_handler))
        return;
    if (--left > 0)
        return;
    left = program.every;
    totals->preemptions++;
    dispatcher_interrupted(true);
}

static bool never(enum preemption_where where) {
    (void)where;
    return false;
}

void steps_begin(int every) {
    left = program.every = every;
    require(own_code_start((const void *)(uintptr_t)dispatcher_interrupted) == 0);
    require(preemption_start(never, own_code_has) == 0);
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    require(sigaction(SIGTRAP, &action, NULL) == 0);
}

void steps_go_on(void) {
    if (program.stepped)
        __asm__ volatile("subq $128, %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\taddq $128, %%rsp" ::
                             : "cc", "memory");
}

void steps_end(void) {
    if (program.stepped)
        __asm__ volatile("subq $128, %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\taddq $128, %%rsp" ::
                             : "cc", "memory");
}
#else
void steps_begin(int every) { program.stepped = every < 0; }
void steps_go_on(void) {}
void steps_end(void) {}
#endif
