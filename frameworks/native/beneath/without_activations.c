/*
 * What process/activations.h and sa.h have elsewhere: there are no activations beneath a program yet. One that asks for
 * them is not started (adopt.c), and nothing of this is called.
 */
#include <errno.h>

#include "process/activations.h"
#include "sa.h"

int activations_start(bool several) {
    (void)several;
    return ENOTSUP;
}

bool activations_running(void) { return false; }

void activations_guard(struct processor *first) { (void)first; }

int activations_carry(uint32_t number, struct processor *processor) {
    (void)number, (void)processor;
    return ENOTSUP;
}

struct processor *activations_processor(void) { return NULL; }

void activations_let_come(void) {}

void activations_interrupt(uint32_t number) { (void)number; }

void activations_forget(struct member *self, const struct stopped *until) { (void)self, (void)until; }

void activations_preempt(struct dispatcher_host *host) { (void)host; }

int sa_signals(const sigset_t *signals) {
    (void)signals;
    return ENOTSUP;
}
