#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catapults.h"
#include "files.h"
#include "path.h"
#include "resolve.h"

#define FRESH 1000000000 /* ns for which a name stands for the same file */
#define SMALL 16384      /* bytes of a file that is kept in memory */

static struct file **bucket_of(struct files *files, const char *name, size_t length);
static struct file *lookup(struct files *files, const char *name, size_t length);
static bool still_the_same(const struct file *file, const struct stat *status);
static enum found open_named(struct files *files, const char *name, size_t length, int *descriptor, struct stat *status,
                             int *directory);
static enum found open_index(struct files *files, const char *name, size_t length, int *descriptor, struct stat *status,
                             int *directory);
static int open_or_forget(struct files *files, const char *name, int flags);
static enum found found_of_error(int error);
static struct file *make(struct files *files, const char *name, size_t length, int descriptor, struct stat status);
static char *read_body(int descriptor, const struct stat *status);
static void describe(struct file *file);
static void keep(struct files *files, struct file *file);
static void drop(struct files *files, struct file *file);
static void touch(struct files *files, struct file *file);
static void unlink_age(struct files *files, struct file *file);
static void destroy(struct file *file);

void files_start(struct files *files, int root, const struct mime *mime, size_t room) {
    *files = (struct files){.root = root, .mime = mime, .room = room};
}

void files_stop(struct files *files) { files_forget(files); }

enum found files_find(struct files *files, const char *name, size_t length, struct file **found, int *directory) {
    int64_t now = catapults_now();
    struct file *file = lookup(files, name, length);
    if (file != NULL) {
        struct stat status;
        if (now - file->looked < FRESH && fstat(file->descriptor, &status) == 0 && still_the_same(file, &status)) {
            touch(files, file);
            file->users++;
            *found = file;
            return FOUND_FILE;
        }
    }

    int descriptor = -1;
    struct stat status;
    enum found result = open_named(files, name, length, &descriptor, &status, directory);
    if (result != FOUND_FILE) {
        if (file != NULL)
            drop(files, file);
        return result;
    }
    if (file != NULL && still_the_same(file, &status)) {
        close(descriptor);
        touch(files, file);
    } else {
        if (file != NULL)
            drop(files, file);
        file = make(files, name, length, descriptor, status);
        if (file == NULL)
            return FOUND_NO_DESCRIPTOR;
        /* Reading it may have taken time, in which another thread found it too. The newer one is kept. */
        struct file *other = lookup(files, name, length);
        if (other != NULL)
            drop(files, other);
        keep(files, file);
    }
    file->looked = now;
    file->users++;
    *found = file;
    return FOUND_FILE;
}

void file_release(struct file *file) {
    if (--file->users == 0 && !file->kept)
        destroy(file);
}

bool files_forget(struct files *files) {
    bool any = false;
    for (struct file *file = files->oldest, *newer; file != NULL; file = newer) {
        newer = file->newer;
        if (file->users == 0) {
            drop(files, file);
            any = true;
        }
    }
    return any;
}

static struct file **bucket_of(struct files *files, const char *name, size_t length) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
    return &files->buckets[(hash ^ hash >> 32) % FILES_BUCKETS];
}

static struct file *lookup(struct files *files, const char *name, size_t length) {
    struct file *file = *bucket_of(files, name, length);
    while (file != NULL && (file->name_length != length || memcmp(file->name, name, length) != 0))
        file = file->next;
    return file;
}

static bool still_the_same(const struct file *file, const struct stat *status) {
    const struct stat *known = &file->status;
    return known->st_dev == status->st_dev && known->st_ino == status->st_ino && known->st_size == status->st_size &&
           known->st_mtim.tv_sec == status->st_mtim.tv_sec && known->st_mtim.tv_nsec == status->st_mtim.tv_nsec &&
           known->st_ctim.tv_sec == status->st_ctim.tv_sec && known->st_ctim.tv_nsec == status->st_ctim.tv_nsec;
}

static enum found open_named(struct files *files, const char *name, size_t length, int *descriptor, struct stat *status,
                             int *directory) {
    if (length == 0 || name[length - 1] == '/')
        return open_index(files, name, length, descriptor, status, directory);
    *descriptor = open_or_forget(files, name, 0);
    if (*descriptor < 0)
        return found_of_error(errno);
    if (fstat(*descriptor, status) == 0 && S_ISREG(status->st_mode))
        return FOUND_FILE;
    close(*descriptor);
    return S_ISDIR(status->st_mode) ? FOUND_ELSEWHERE : FOUND_FORBIDDEN;
}

static enum found open_index(struct files *files, const char *name, size_t length, int *descriptor, struct stat *status,
                             int *directory) {
    static const char index[] = "index.html";
    char whole[PATH_SIZE + sizeof index];
    memcpy(whole, name, length);
    memcpy(whole + length, index, sizeof index);
    *descriptor = open_or_forget(files, whole, 0);
    if (*descriptor >= 0) {
        if (fstat(*descriptor, status) == 0 && S_ISREG(status->st_mode))
            return FOUND_FILE;
        close(*descriptor);
        return FOUND_FORBIDDEN;
    }
    if (errno != ENOENT)
        return found_of_error(errno);
    *directory = open_or_forget(files, name, O_DIRECTORY);
    return *directory >= 0 ? FOUND_DIRECTORY : found_of_error(errno);
}

static int open_or_forget(struct files *files, const char *name, int flags) {
    int descriptor = resolve(files->root, name, flags);
    if (descriptor < 0 && (errno == EMFILE || errno == ENFILE) && files_forget(files))
        descriptor = resolve(files->root, name, flags);
    return descriptor;
}

static enum found found_of_error(int error) {
    switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
        return FOUND_NOTHING;
    case EACCES:
    case EPERM:
    case EXDEV: /* out of the root */
    case ELOOP:
    case ENXIO: /* a socket, or a device without a driver */
    case ENODEV:
        return FOUND_FORBIDDEN;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return FOUND_NO_DESCRIPTOR;
    default:
        return FOUND_FAILURE;
    }
}

/* Owns `descriptor`, also if it fails. */
static struct file *make(struct files *files, const char *name, size_t length, int descriptor, struct stat status) {
    struct file *file = calloc(1, sizeof *file);
    char *copy = malloc(length + 1);
    if (file == NULL || copy == NULL) {
        free(file);
        free(copy);
        close(descriptor);
        return NULL;
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    *file = (struct file){.name = copy, .name_length = length, .descriptor = descriptor, .status = status};
    file->type = length == 0 || name[length - 1] == '/' ? "text/html" : mime_type(files->mime, copy);
    describe(file);
    if (status.st_size <= SMALL)
        file->body = read_body(descriptor, &status);
    return file;
}

/* NULL: it cannot be read, changes meanwhile, or there is no memory; it is then sent without being kept. */
static char *read_body(int descriptor, const struct stat *status) {
    size_t size = (size_t)status->st_size;
    char *body = malloc(size + 1);
    struct stat after;
    if (body == NULL)
        return NULL;
    /* One byte more than there should be: it must not be there. */
    bool whole = catapults_pread(descriptor, body, size + 1, 0) == status->st_size && fstat(descriptor, &after) == 0 &&
                 after.st_size == status->st_size &&
                 memcmp(&after.st_mtim, &status->st_mtim, sizeof after.st_mtim) == 0 &&
                 memcmp(&after.st_ctim, &status->st_ctim, sizeof after.st_ctim) == 0;
    if (whole)
        return body;
    free(body);
    return NULL;
}

static void describe(struct file *file) {
    const struct stat *status = &file->status;
    int written = snprintf(file->tag, sizeof file->tag, "\"%" PRIx64 "-%" PRIx64 "-%" PRIx64 "\"",
                           (uint64_t)status->st_ino, (uint64_t)status->st_size,
                           (uint64_t)status->st_mtim.tv_sec * 1000000000 + (uint64_t)status->st_mtim.tv_nsec);
    file->tag_length = (size_t)written;

    /* A date in the future would not be believed (RFC 9110, 8.8.2.1). */
    time_t now = time(NULL), changed = status->st_mtim.tv_sec < now ? status->st_mtim.tv_sec : now;
    char date[DATE_LENGTH + 1];
    date_http(changed, date);
    struct text fields = {.data = file->fields, .size = sizeof file->fields};
    text_string(&fields, "Last-Modified: ");
    text_string(&fields, date);
    text_string(&fields, "\r\nETag: ");
    text_bytes(&fields, file->tag, file->tag_length);
    text_string(&fields, "\r\nAccept-Ranges: bytes\r\n");
    file->fields_before_type = fields.used;
    if (strlen(file->type) > 120) /* from a mime.types file */
        file->type = "application/octet-stream";
    text_string(&fields, "Content-Type: ");
    text_string(&fields, file->type);
    if (strncmp(file->type, "text/", 5) == 0)
        text_string(&fields, "; charset=utf-8");
    text_string(&fields, "\r\n");
    file->fields_length = fields.used;
}

static void keep(struct files *files, struct file *file) {
    for (struct file *old = files->oldest, *newer; files->count >= files->room && old != NULL; old = newer) {
        newer = old->newer;
        drop(files, old);
    }
    struct file **bucket = bucket_of(files, file->name, file->name_length);
    file->next = *bucket;
    *bucket = file;
    file->older = files->newest;
    *(files->newest != NULL ? &files->newest->newer : &files->oldest) = file;
    files->newest = file;
    file->kept = true;
    files->count++;
}

/* Takes it out of the table; it goes when nobody holds it. */
static void drop(struct files *files, struct file *file) {
    struct file **link = bucket_of(files, file->name, file->name_length);
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    unlink_age(files, file);
    file->kept = false;
    files->count--;
    if (file->users == 0)
        destroy(file);
}

static void touch(struct files *files, struct file *file) {
    if (files->newest == file)
        return;
    unlink_age(files, file);
    file->older = files->newest;
    file->newer = NULL;
    *(files->newest != NULL ? &files->newest->newer : &files->oldest) = file;
    files->newest = file;
}

static void unlink_age(struct files *files, struct file *file) {
    *(file->newer != NULL ? &file->newer->older : &files->newest) = file->older;
    *(file->older != NULL ? &file->older->newer : &files->oldest) = file->newer;
    file->newer = file->older = NULL;
}

static void destroy(struct file *file) {
    /* Not seen by the runtime: no thread waits for it. */
    close(file->descriptor);
    free(file->body);
    free(file->name);
    free(file);
}
