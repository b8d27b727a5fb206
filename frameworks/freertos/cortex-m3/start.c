/*
 * From reset to main, and the kernel's exceptions.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern uint32_t data_load[], data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];
int main(void);
void vPortSVCHandler(void);
void xPortPendSVHandler(void);
void xPortSysTickHandler(void);
void initialise_monitor_handles(void);
void reset(void);

/* Of newlib, for who links its semihosting. */
__attribute__((weak)) void initialise_monitor_handles(void) {}

__attribute__((noreturn)) void reset(void) {
    memcpy(data_begin, data_load, (size_t)((char *)data_end - (char *)data_begin));
    memset(bss_begin, 0, (size_t)((char *)bss_end - (char *)bss_begin));
    initialise_monitor_handles();
    exit(main());
}

static void fault(void) {
    for (;;)
        ;
}

__attribute__((section(".vectors"), used)) static void *const vectors[] = {
    stack_top,
    reset,
    fault,
    fault,
    fault,
    fault,
    fault,
    NULL,
    NULL,
    NULL,
    NULL,
    vPortSVCHandler,
    fault,
    NULL,
    xPortPendSVHandler,
    xPortSysTickHandler,
};
