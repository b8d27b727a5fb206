/*
 * The files below the root: finding them, and keeping those open that are asked for often.
 *
 * A kept file is found again by name at most a second after it was last looked for, and its size and times are compared
 * at every use, so that no answer promises a size that the file does not have. Files are few (`room`), and small ones
 * are in memory.
 */
#ifndef COW_FILES_H
#define COW_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "date.h"
#include "mime.h"
#include "text.h"

#define FILE_FIELDS_SIZE 320

/* An open file. Constant once it has been found. */
struct file {
    char *name;
    size_t name_length;
    int descriptor;
    struct stat status;
    const char *type;
    char tag[64]; /* the entity tag, with its quotes */
    size_t tag_length;
    /* Content-Type last: whoever sends parts of the file has another type for the whole. */
    char fields[FILE_FIELDS_SIZE]; /* Last-Modified, ETag, Accept-Ranges, Content-Type: complete lines */
    size_t fields_length, fields_before_type;
    char *body; /* all of it, if it is small; else NULL */

    /* For files.c. */
    int64_t looked;             /* when it was last found by name */
    unsigned users;             /* who hold it, beside the table */
    bool kept;                  /* it is in the table */
    struct file *next;          /* in its bucket of the table */
    struct file *newer, *older; /* by last use */
};

#define FILES_BUCKETS 1024

struct files {
    int root; /* the directory */
    const struct mime *mime;
    size_t room, count;
    struct file *buckets[FILES_BUCKETS];
    struct file *newest, *oldest;
};

enum found {
    FOUND_FILE,
    FOUND_DIRECTORY, /* of which there is no index; it is open */
    FOUND_ELSEWHERE, /* a directory that was asked for without its final slash */
    FOUND_NOTHING,
    FOUND_FORBIDDEN,
    FOUND_NO_DESCRIPTOR, /* or no memory: later perhaps */
    FOUND_FAILURE,       /* of the disk, say */
};

/* `root` is not owned. `room`: how many files are kept open at most. */
void files_start(struct files *files, int root, const struct mime *mime, size_t room);
/* No file may be held any more. */
void files_stop(struct files *files);

/*
 * Finds what `name`, as of path_of_target, stands for: the index of a directory counts as its content. FOUND_FILE:
 * *file is held until file_release. FOUND_DIRECTORY: *directory is a descriptor that the caller closes. May block the
 * thread.
 */
enum found files_find(struct files *files, const char *name, size_t length, struct file **file, int *directory);
void file_release(struct file *file);

/* Closes what nobody holds, because descriptors have run out. Returns whether there was any. */
bool files_forget(struct files *files);

#endif
