/* Reading requests: llhttp underneath, limits around it. */
#ifndef COW_REQUEST_H
#define COW_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llhttp/llhttp.h>

#define REQUEST_FIELDS 100      /* more in one header are answered with 431 */
#define REQUEST_TARGET 8192     /* bytes; longer ones are answered with 414 */
#define REQUEST_BODY_SPACE 4096 /* a buffer is so much larger than the longest header */

struct span {
    const char *start;
    size_t length;
};

struct field {
    struct span name, value;
};

/* Where a request stands. */
enum request_state {
    REQUEST_EMPTY,  /* not one byte of it has come */
    REQUEST_HEADER, /* its header is incomplete */
    REQUEST_BODY,   /* its body is incomplete */
    REQUEST_COMPLETE,
    REQUEST_REFUSED, /* `refusal` says why; what follows cannot be understood */
};

/*
 * The requests of a connection, one after the other.
 *
 *     buffer: │ this request's header │ its body, as it comes │ perhaps the next request │ space │
 *                                                             ▲ parsed                   ▲ filled
 * Spans point into the buffer, and hold until request_next.
 */
struct request {
    enum request_state state;
    int refusal; /* the status of the answer to what is no proper request */
    struct span line, method, target;
    struct field fields[REQUEST_FIELDS];
    size_t field_count;
    int minor;       /* of the version, HTTP/1.x */
    bool keep_alive; /* the client allows another request on this connection */
    bool wants_continue;
    uint64_t body_bytes;

    /* For request.c. */
    llhttp_t parser;
    char *buffer;
    size_t size, filled, parsed;
    size_t header_end; /* of the last span; what lies behind is not needed once it is parsed */
    size_t max_header;
    uint64_t max_body;
};

/* `buffer` holds max_header + REQUEST_BODY_SPACE bytes and stays the caller's. */
void request_start(struct request *request, char *buffer, size_t max_header, uint64_t max_body);

/* Where to put what is received next; at least one byte unless the request is complete or refused. */
char *request_space(struct request *request, size_t *size);

/* So many bytes were put there. Sees how far the request has come. */
void request_received(struct request *request, size_t count);

/* Gives up on a request that is incomplete: it is answered with that status. */
void request_refuse(struct request *request, int status);

/* Goes to the next request, which may be there already. */
void request_next(struct request *request);

/* Whether bytes behind this request have been received. */
bool request_more(const struct request *request);

/* The next field of that name (in lower case) from *index on, which is moved behind it; or NULL. */
const struct field *request_field(const struct request *request, const char *name, size_t *index);

/* Whether a span is that text, whatever the case of its letters. */
bool span_is(struct span span, const char *text);

#endif
