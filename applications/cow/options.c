#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define SECOND 1000000000

enum choice {
    HELP = 256,
    VERSION,
    PORT,
    ADDRESS,
    HANDLERS,
    MAX_CONNECTIONS,
    IDLE_TIMEOUT,
    REQUEST_TIMEOUT,
    SEND_TIMEOUT,
    GRACE,
    MAX_HEADER,
    MAX_BODY,
    ACCESS_LOG,
    NO_ACCESS_LOG,
    CHUNK,
    MIME_TYPES,
    LISTING,
};

static const struct option known[] = {
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {"port", required_argument, NULL, PORT},
    {"address", required_argument, NULL, ADDRESS},
    {"handlers", required_argument, NULL, HANDLERS},
    {"max-connections", required_argument, NULL, MAX_CONNECTIONS},
    {"idle-timeout", required_argument, NULL, IDLE_TIMEOUT},
    {"request-timeout", required_argument, NULL, REQUEST_TIMEOUT},
    {"send-timeout", required_argument, NULL, SEND_TIMEOUT},
    {"grace", required_argument, NULL, GRACE},
    {"max-header", required_argument, NULL, MAX_HEADER},
    {"max-body", required_argument, NULL, MAX_BODY},
    {"access-log", required_argument, NULL, ACCESS_LOG},
    {"no-access-log", no_argument, NULL, NO_ACCESS_LOG},
    {"chunk", required_argument, NULL, CHUNK},
    {"mime-types", required_argument, NULL, MIME_TYPES},
    {"listing", no_argument, NULL, LISTING},
    {0},
};

static const char help[] =
    "Usage: cow [OPTIONS] ROOT\n"
    "\n"
    "CoW, the cooperative web server: serves the files below the directory ROOT over HTTP/1.1.\n"
    "\n"
    "  --port PORT             listen there; 0: any that is free            [8080]\n"
    "  --address ADDRESS       listen on this numeric address               [127.0.0.1]\n"
    "  --handlers N            threads that answer requests                 [100]\n"
    "  --max-connections N     open at a time; more wait, then get 503      [1000, less if descriptors are short]\n"
    "  --idle-timeout S        seconds that a connection may be silent      [60]\n"
    "  --request-timeout S     seconds in which a request must arrive       [10]\n"
    "  --send-timeout S        seconds without progress before a slow reader is dropped [30]\n"
    "  --grace S               seconds that responses under way have on SIGTERM [3]\n"
    "  --max-header BYTES      of a request's header                        [16384]\n"
    "  --max-body BYTES        of a request's body, which is discarded      [1048576]\n"
    "  --chunk BYTES           of a response, before the next thread's turn [65536]\n"
    "  --access-log FILE       in common log format; -: standard output     [none]\n"
    "  --no-access-log         cancels an earlier --access-log\n"
    "  --mime-types FILE       types by file name extension                 [/etc/mime.types]\n"
    "  --listing               list directories that have no index.html\n"
    "  --help, --version\n"
    "\n"
    "Environment: CATAPULTS_POLICY, the scheduler (a shared object made by `catapults build`); unset: the built-in "
    "FIFO.\n"
    "CATAPULTS_IO, io_uring or epoll. CATAPULTS_TRACE, a file to record who ran when.\n"
    "Signals: SIGTERM and SIGINT end it, finishing the responses under way; SIGHUP reopens the access log.\n";

static int64_t number(const char *name, const char *value, int64_t least, int64_t most);
static int64_t seconds(const char *name, const char *value);
_Noreturn static void mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct options options_read(int count, char **arguments) {
    struct options options = {
        .address = "127.0.0.1",
        .port = "8080",
        .handlers = 100,
        .idle_timeout = 60LL * SECOND,
        .request_timeout = 10LL * SECOND,
        .send_timeout = 30LL * SECOND,
        .grace = 3LL * SECOND,
        .max_header = 16384,
        .max_body = 1048576,
        .chunk = 65536,
    };
    opterr = 0;
    for (int option, index = -1; (option = getopt_long(count, arguments, ":", known, &index)) != -1; index = -1) {
        const char *name = index >= 0 ? known[index].name : "";
        switch (option) {
        case HELP:
            fputs(help, stdout);
            exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
        case VERSION:
            puts("cow " COW_VERSION);
            exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
        case PORT:
            number(name, optarg, 0, 65535);
            options.port = optarg;
            break;
        case ADDRESS:
            options.address = optarg;
            break;
        case HANDLERS:
            options.handlers = (unsigned)number(name, optarg, 1, 10000);
            break;
        case MAX_CONNECTIONS:
            options.max_connections = (unsigned)number(name, optarg, 1, 1000000);
            break;
        case IDLE_TIMEOUT:
            options.idle_timeout = seconds(name, optarg);
            break;
        case REQUEST_TIMEOUT:
            options.request_timeout = seconds(name, optarg);
            break;
        case SEND_TIMEOUT:
            options.send_timeout = seconds(name, optarg);
            break;
        case GRACE:
            options.grace = seconds(name, optarg);
            break;
        case MAX_HEADER:
            options.max_header = (size_t)number(name, optarg, 256, 1 << 20);
            break;
        case MAX_BODY:
            options.max_body = (uint64_t)number(name, optarg, 0, INT64_MAX);
            break;
        case CHUNK:
            options.chunk = (size_t)number(name, optarg, 1, 1 << 30);
            break;
        case ACCESS_LOG:
            options.access_log = optarg;
            break;
        case NO_ACCESS_LOG:
            options.access_log = NULL;
            break;
        case MIME_TYPES:
            options.mime_types = optarg;
            break;
        case LISTING:
            options.listing = true;
            break;
        case ':':
            mistake("%s needs a value", arguments[optind - 1]);
        default:
            mistake("there is no option %s, or it takes no value", arguments[optind - 1]);
        }
    }
    if (optind == count)
        mistake("the directory to serve is missing");
    if (optind + 1 < count)
        mistake("one directory is served, and `%s` is a second", arguments[optind + 1]);
    options.root = arguments[optind];
    return options;
}

static int64_t number(const char *name, const char *value, int64_t least, int64_t most) {
    char *end;
    errno = 0;
    long long result = strtoll(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || result < least || result > most)
        mistake("--%s %s: a whole number from %lld to %lld is wanted", name, value, (long long)least, (long long)most);
    return result;
}

/* Decimal fractions are allowed: 0.5. */
static int64_t seconds(const char *name, const char *value) {
    char *end;
    double result = strtod(value, &end);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || !(result >= 0.001 && result <= 86400))
        mistake("--%s %s: seconds from 0.001 to 86400 are wanted", name, value);
    return (int64_t)(result * SECOND);
}

_Noreturn static void mistake(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("cow: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\ncow: see `cow --help`\n", stderr);
    exit(2);
}
