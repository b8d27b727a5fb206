/*
 * Three threads take turns by chance (draws.sched): what is drawn goes by the seed.
 */
#include "simulated.h"
#include "thread.h"

static char memory[3][256];

static void work(void *letter) {
    uint8_t i;
    for (i = 0; i < 10; i++) {
        print(*(const char *)letter);
        thread_yield();
    }
}

int main(void) {
    static const char letters[] = "abc";
    uint8_t i;
    thread_init();
    thread_seed(7);
    for (i = 0; i < 3; i++)
        thread_create(memory[i], sizeof memory[i], work, (void *)&letters[i]);
    thread_run();
    stop();
    return 0;
}
