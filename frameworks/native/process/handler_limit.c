/*
 * Notices a policy's handler that runs for too long: looks whenever the kernel thread has run for the limit. A handler
 * is left after one to two limits, however busy the machine.
 */
#include <stdint.h>
#include <ucontext.h>

#include "contexts/tools.h"
#include "process/handler_limit.h"
#include "process/processor_time.h"
#include "process/runtime.h"

enum { BELOW = 256, FRAME = 256 }; /* what the code may use below its stack, and what is called uses at most */

/* Where the interrupted code goes on: below what it may use of its stack, aligned as at the start of a function. */
static TOOLS_UNSEEN void redirect(ucontext_t *context, void (*to)(void)) {
#if defined(__x86_64__)
    uintptr_t stack = ((uintptr_t)context->uc_mcontext.gregs[REG_RSP] - BELOW) & ~(uintptr_t)15;
    tools_lower((void *)(stack - FRAME), FRAME);
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)(stack - 8);
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)to;
#elif defined(__aarch64__)
    context->uc_mcontext.sp = (context->uc_mcontext.sp - BELOW) & ~(uintptr_t)15;
    context->uc_mcontext.pc = (uintptr_t)to;
#else
#error "where does this machine keep the instruction and the stack pointer?"
#endif
}

static TOOLS_UNSEEN void passed(ucontext_t *context) {
    if (dispatcher_overruns())
        redirect(context, dispatcher_leave_handler);
}

static struct processor_time watch = {.passed = passed,
                                      .without = "no handler of a policy is stopped that runs for too long"};

void watch_start(void) {
    watch.every = runtime.handler_limit;
    processor_time_start(&watch);
}
