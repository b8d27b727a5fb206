#include "library.h"

void thread_policy_failed(uint16_t line) {
    (void)line;
    for (;;)
        ;
}
