/* A response: what it consists of, and sending it. */
#ifndef COW_RESPONSE_H
#define COW_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catapults.h"
#include "files.h"
#include "ranges.h"
#include "text.h"

#define RESPONSE_HEAD 8192
#define RESPONSE_PIECES (2 * RANGES_MOST + 2)

/* A stretch of memory, or of the response's file. */
struct piece {
    const char *memory; /* NULL: of the file */
    int64_t offset;     /* in the file */
    int64_t length;
};

struct response {
    int status;
    bool close;        /* the connection ends with it */
    struct text head;  /* status line, fields, and the headings of parts */
    struct file *file; /* held until the response is released; or NULL */
    char *page;        /* freed then; or NULL */
    struct piece pieces[RESPONSE_PIECES];
    size_t count;
    int64_t head_length; /* up to the body */
    char head_space[RESPONSE_HEAD];
};

/* What the policy reads of a thread (CATAPULTS 2005, 5.2); the object of each thread starts with it. */
struct imported {
    catapults_int bytesleft; /* of the response that is being sent */
    bool responding;
    bool accepting; /* it is the acceptor */
};

/* How to send. */
struct pace {
    size_t chunk;         /* bytes after which others have their turn */
    int64_t send_timeout; /* ns without progress after which the client is given up */
};

/* Sets up an empty response. */
void response_start(struct response *response);

/* Adds a piece behind those there are. Adjacent memory becomes one. */
void response_add_memory(struct response *response, const char *memory, size_t length);
void response_add_file(struct response *response, int64_t offset, int64_t length);

/* Sends it, keeping `imported` up to date. Returns whether it went out whole; *body is what was sent of the body. */
bool response_send(const struct response *response, int socket, const struct pace *pace, struct imported *imported,
                   int64_t *body);

/* Gives back what it holds. */
void response_release(struct response *response);

#endif
