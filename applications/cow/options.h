/* What the server was told on its command line. */
#ifndef COW_OPTIONS_H
#define COW_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
    const char *root;
    const char *address;    /* numeric, IPv4 or IPv6 */
    const char *port;       /* 0 to 65535 */
    const char *access_log; /* a file, "-" for standard output, or NULL */
    const char *mime_types; /* a file in the format of /etc/mime.types; NULL: that one, if there is one */
    unsigned handlers;
    unsigned max_connections; /* 0: as many as descriptors allow, up to DEFAULT_CONNECTIONS */
    int64_t idle_timeout;     /* ns that a connection may rest between requests */
    int64_t request_timeout;  /* ns from the first byte of a request to the end of its header; and again for its body */
    int64_t send_timeout;     /* ns in which a response must make some progress */
    int64_t grace;            /* ns that responses under way have when the server is told to end */
    size_t max_header;        /* bytes of request line and header fields */
    uint64_t max_body;        /* bytes of a request's body, which is read and thrown away */
    size_t chunk;             /* bytes of a response after which its thread yields */
    bool listing;             /* make an index for directories that have none */
};

#define DEFAULT_CONNECTIONS 1000

/* Reads the command line. On --help and --version ends the program with status 0; on a mistake says what is wrong and
 * ends it with status 2. The strings are those of `arguments`. */
struct options options_read(int count, char **arguments);

#endif
