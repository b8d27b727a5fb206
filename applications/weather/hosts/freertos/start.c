/*
 * What runs before main: the vector table, and memory as C expects it.
 */
#include <stdint.h>

int main(void);
void start(void), on_svc(void), on_pendsv(void), on_systick(void);

extern uint32_t stack_top, data_load, data_start, data_end, bss_start, bss_end;

void start(void) {
    uint32_t *from = &data_load;
    for (uint32_t *to = &data_start; to < &data_end;)
        *to++ = *from++;
    for (uint32_t *to = &bss_start; to < &bss_end;)
        *to++ = 0;
    main();
    for (;;)
        ;
}

/* A fault, or an interrupt that nobody has asked for. */
static void fail(void) {
    for (;;)
        ;
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))&stack_top, start, fail, fail, fail, fail, fail, 0, 0, 0, 0, on_svc, fail, 0, on_pendsv, on_systick,
};
