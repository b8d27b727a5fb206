/* Media types by file name extension. */
#ifndef COW_MIME_H
#define COW_MIME_H

#include <stddef.h>

struct mime {
    struct mime_entry *entries; /* of a mime.types file, sorted by extension; go before what is built in */
    size_t count;
    char *text; /* that they point into */
};

/* Reads `file`; NULL: /etc/mime.types, if there is one. Returns 0 or an error number. */
int mime_read(struct mime *mime, const char *file);
void mime_free(struct mime *mime);

/* The type of a file of that name. Lives as long as `mime`. */
const char *mime_type(const struct mime *mime, const char *name);

#endif
