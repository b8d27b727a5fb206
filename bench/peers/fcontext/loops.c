/*
 * What Boost's switch costs: jump_fcontext, back and forth. No threads and no scheduler: a limit, not a peer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of Boost.Context, which has no C header for them: <boost/context/detail/fcontext.hpp>. */
struct transfer {
    void *context, *data;
};
void *make_fcontext(void *top, size_t size, void (*start)(struct transfer));
struct transfer jump_fcontext(void *context, void *data);

enum { SWITCHES = 2000000, STACK = 64 << 10 };

static void bounce(struct transfer from) {
    for (;;)
        from = jump_fcontext(from.context, NULL);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(int arguments, char **argument) {
    if (arguments < 2) {
        printf("Boost fcontext, bare %s\nswitch %d\n", VERSION, SWITCHES);
        return EXIT_SUCCESS;
    }
    static _Alignas(64) char stack[STACK];
    long count = arguments > 2 ? strtol(argument[2], NULL, 10) : SWITCHES;
    struct transfer there = {make_fcontext(stack + STACK, STACK, bounce), NULL};
    int64_t start = now();
    for (long i = 0; i < count / 2; i++)
        there = jump_fcontext(there.context, NULL);
    printf("switch %.3f\n", (double)(now() - start) / (double)count);
    return EXIT_SUCCESS;
}
