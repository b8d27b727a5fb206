#include "contexts/here.h"

/* Its address is 0 where there is no dispatcher, as in programs that use activations only. */
extern struct processor dispatcher_processor __attribute__((weak, visibility("hidden")));

static const uint8_t none = 0; /* no activation */

#ifdef CATAPULTS_BENEATH

void here_begin(struct here_block *block, char *last_stack) {
    block->self = &block->here;
    block->here.state = &none;
    block->here.processor = &dispatcher_processor;
    block->here.beneath.inside = true;
    block->here.beneath.last_stack = last_stack;
    __asm__ volatile("wrgsbase %0" : : "r"(block) : "memory");
}

void here_start(void) {
    static struct here_block first;
    static _Alignas(64) char last_stack[LAST_STACK];
    here_begin(&first, last_stack + sizeof last_stack);
}

#else

_Thread_local struct here here_variables = {.state = &none, .processor = &dispatcher_processor};

#if defined(__x86_64__)
/* Programs that include sa.h read it without a call: it is the first of these variables. */
extern _Thread_local const uint8_t *sa_state __attribute__((alias("here_variables")));
_Static_assert(offsetof(struct here, state) == 0, "sa_state is the first of the variables");
#endif

#endif
