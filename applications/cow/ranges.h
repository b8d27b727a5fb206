/* The Range field (RFC 9110, 14). */
#ifndef COW_RANGES_H
#define COW_RANGES_H

#include <stddef.h>
#include <stdint.h>

#define RANGES_MOST 16 /* more in one request are answered with the whole file */

struct range {
    int64_t first, length; /* bytes; length > 0 */
};

enum ranges_result {
    RANGES_WHOLE,         /* not understood, or not worth it: send the whole file */
    RANGES_SOME,          /* send these */
    RANGES_UNSATISFIABLE, /* 416 */
};

/* Reads the field for a file of `size` bytes. Ranges that overlap or touch are joined. */
enum ranges_result ranges_read(const char *field, size_t length, int64_t size, struct range ranges[RANGES_MOST],
                               size_t *count);

#endif
