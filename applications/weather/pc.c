#include "pc.h"

#include <argp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "station.h"

static unsigned long threads = 6, calculations = 10000;
static int64_t began;

void host_put(char character) { putchar(character); }

void host_failed(const char *what) {
    perror(what);
    exit(EXIT_FAILURE);
}

static int64_t processor_time(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* Of nanoseconds of the processor; in a script it is a comment. */
void host_end(void) {
    int64_t duration = processor_time() - began;
#ifdef STATION_TRACE
    printf("// ");
#endif
    printf("duration %lld ns\n", (long long)duration);
    exit(EXIT_SUCCESS);
}

static void first(void) {
    began = processor_time();
    station_start((uint8_t)threads, (uint16_t)calculations);
}

static unsigned long number(const char *text, unsigned long least, unsigned long most, struct argp_state *state) {
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || number < least || number > most)
        argp_error(state, "`%s` is no number from %lu to %lu", text, least, most);
    return number;
}

static error_t option(int key, char *text, struct argp_state *state) {
    switch (key) {
    case 't':
        threads = number(text, FEWEST_THREADS, MOST_THREADS, state);
        return 0;
    case 'c':
        calculations = number(text, 1, UINT16_MAX, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv) {
    static const struct argp_option options[] = {
        {"threads", 't', "N", 0, "So many threads, 5 to 24 (6)", 0},
        {"calculations", 'c', "N", 0, "It ends after so many, 65535 at most (10000)", 0},
        {0},
    };
    static const struct argp argp = {options, option, NULL, "The weather monitoring station.", NULL, NULL, NULL};
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    host_run(first);
    return EXIT_FAILURE;
}
