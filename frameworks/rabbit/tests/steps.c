/*
 * The events that a script can raise; the rest of the program is the same on every host. On the simulated processor the
 * script is the string in the file SCRIPT, and answers go to the simulator's console.
 */
#ifdef SCRIPT
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEPS_CONSOLE
#define STEPS_THREADS 128 /* a script of 200 steps makes fewer */

static const char script[] =
#include SCRIPT
    ;

static volatile __at(0x7fff) uint8_t console;

static void say(const char *text) {
    for (; *text; text++) {
        console = 'p';
        console = *text;
    }
}

/* Whoever reads the console skips what is empty. */
static void begin_answer(void) { say(":"); }

static _Noreturn void end(uint8_t status) {
    (void)status;
    console = 's';
    for (;;)
        ;
}

static bool read_line(char *line, size_t size) {
    static const char *rest = script;
    if (!*rest)
        return false;
    while (*rest != '\n' && --size)
        *line++ = *rest++;
    *line = 0;
    rest++;
    return true;
}
#endif

#include "catapults/steps.h"

static bool raise_event(const char *name, struct catapults_thread *t) {
#ifdef CATAPULTS_HANDLER_init
    if (strcmp(name, "init") == 0) {
        stopped(CATAPULTS_RAISE_ALONE(init));
        return true;
    }
#endif
    EVENT("newthread", newthread)
    EVENT("switch_out", switch_out)
    EVENT("block.wait", block_wait)
    EVENT("event_raised", event_raised)
    EVENT("suspend_thread", suspend_thread)
    EVENT("resume_thread", resume_thread)
#ifdef CATAPULTS_HANDLER_set_next_thread
    EVENT("set_next_thread", set_next_thread)
#endif
    EVENT("exit", exit)
    return false;
}
