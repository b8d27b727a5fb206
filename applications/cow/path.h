/* From the target of a request to a name below the root, and back. */
#ifndef COW_PATH_H
#define COW_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/* Names longer than this do not exist: PATH_MAX. */
#define PATH_SIZE 4096

enum path_result {
    PATH_FOUND,
    PATH_MALFORMED, /* not a path, bad percent encoding, a NUL, or upwards out of the root */
    PATH_ABSENT,    /* no file can have this name: it is too long, or holds an encoded slash */
};

/*
 * Decodes `target` (origin form /a/b?query or absolute form http://host/a/b) into a terminated name relative to the
 * root, without empty, `.` and `..` segments: "" is the root, "a/b" perhaps a file, "a/b/" must be a directory.
 */
enum path_result path_of_target(const char *target, size_t length, char path[PATH_SIZE], size_t *path_length);

/* The query with its question mark, or an empty string. */
void path_query(const char *target, size_t length, const char **query, size_t *query_length);

/* Appends `bytes` with all but letters, digits and -._~/ percent-encoded. */
void path_encode(struct text *text, const char *bytes, size_t count);

#endif
