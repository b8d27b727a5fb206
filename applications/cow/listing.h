/* An index page for a directory that has none. */
#ifndef COW_LISTING_H
#define COW_LISTING_H

#include <stddef.h>

#define LISTING_MOST 10000 /* names; a longer listing says that it is cut */

/* Lists `directory`, a descriptor that it closes, known as `name` (see path_of_target). Returns a page that the caller
 * frees, or NULL with errno. */
char *listing_make(int directory, const char *name, size_t *length);

#endif
