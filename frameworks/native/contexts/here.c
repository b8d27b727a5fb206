#include "contexts/here.h"

/* Its address is 0 where there is no dispatcher, as in programs that use activations only. */
extern struct processor dispatcher_processor __attribute__((weak, visibility("hidden")));

static const uint8_t none = 0; /* no activation */

#ifdef CATAPULTS_BENEATH

static struct here_block block = {.self = &block.here, .here = {.state = &none, .processor = &dispatcher_processor}};

void here_start(void) { __asm__ volatile("wrgsbase %0" : : "r"(&block)); }

#else

_Thread_local struct here here_variables = {.state = &none, .processor = &dispatcher_processor};

#if defined(__x86_64__)
/* Programs that include sa.h read it without a call: it is the first of these variables. */
extern _Thread_local const uint8_t *sa_state __attribute__((alias("here_variables")));
_Static_assert(offsetof(struct here, state) == 0, "sa_state is the first of the variables");
#endif

#endif
