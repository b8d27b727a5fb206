#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mime.h"

#define USUAL_FILE "/etc/mime.types"
#define UNKNOWN "application/octet-stream"

struct mime_entry {
    const char *extension, *type;
};

/* Sorted. */
static const struct mime_entry built_in[] = {
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"bz2", "application/x-bzip2"},
    {"css", "text/css"},
    {"csv", "text/csv"},
    {"epub", "application/epub+zip"},
    {"flac", "audio/flac"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"ico", "image/x-icon"},
    {"ics", "text/calendar"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"m4a", "audio/mp4"},
    {"md", "text/markdown"},
    {"mjs", "text/javascript"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"oga", "audio/ogg"},
    {"ogg", "audio/ogg"},
    {"ogv", "video/ogg"},
    {"opus", "audio/ogg"},
    {"otf", "font/otf"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"ttf", "font/ttf"},
    {"txt", "text/plain"},
    {"wasm", "application/wasm"},
    {"wav", "audio/x-wav"},
    {"webm", "video/webm"},
    {"webmanifest", "application/manifest+json"},
    {"webp", "image/webp"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"xhtml", "application/xhtml+xml"},
    {"xml", "application/xml"},
    {"xz", "application/x-xz"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
};

static char *read_whole(FILE *file);
static int add(struct mime *mime, size_t *room, const char *extension, const char *type);
static int compare(const void *left, const void *right);

int mime_read(struct mime *mime, const char *name) {
    *mime = (struct mime){0};
    FILE *file = fopen(name != NULL ? name : USUAL_FILE, "re");
    if (file == NULL)
        return name == NULL && errno == ENOENT ? 0 : errno;
    errno = ENOMEM;
    mime->text = read_whole(file);
    int failed = mime->text == NULL ? errno : 0;
    fclose(file);

    size_t room = 0;
    char *rest, *next_line = mime->text;
    for (char *line; failed == 0 && (line = strsep(&next_line, "\n")) != NULL;) {
        line[strcspn(line, "#")] = '\0';
        const char *type = strtok_r(line, " \t\r", &rest), *extension;
        while (failed == 0 && type != NULL && (extension = strtok_r(NULL, " \t\r", &rest)) != NULL)
            failed = add(mime, &room, extension, type);
    }
    if (failed != 0)
        mime_free(mime);
    else if (mime->count > 0)
        qsort(mime->entries, mime->count, sizeof *mime->entries, compare);
    return failed;
}

void mime_free(struct mime *mime) {
    free(mime->entries);
    free(mime->text);
    *mime = (struct mime){0};
}

const char *mime_type(const struct mime *mime, const char *name) {
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash != NULL ? slash : name, '.');
    if (dot == NULL)
        return UNKNOWN;
    struct mime_entry wanted = {.extension = dot + 1};
    const struct mime_entry *found = NULL;
    if (mime->count > 0)
        found = bsearch(&wanted, mime->entries, mime->count, sizeof wanted, compare);
    if (found == NULL)
        found = bsearch(&wanted, built_in, sizeof built_in / sizeof *built_in, sizeof wanted, compare);
    return found != NULL ? found->type : UNKNOWN;
}

static char *read_whole(FILE *file) {
    char *text = NULL;
    size_t length = 0;
    if (getdelim(&text, &length, '\0', file) < 0) {
        free(text);
        text = ferror(file) ? NULL : strdup("");
    }
    return text;
}

static int add(struct mime *mime, size_t *room, const char *extension, const char *type) {
    if (mime->count == *room) {
        *room = *room > 0 ? *room * 2 : 1024;
        struct mime_entry *larger = realloc(mime->entries, *room * sizeof *larger);
        if (larger == NULL)
            return ENOMEM;
        mime->entries = larger;
    }
    mime->entries[mime->count++] = (struct mime_entry){extension, type};
    return 0;
}

static int compare(const void *left, const void *right) {
    return strcasecmp(((const struct mime_entry *)left)->extension, ((const struct mime_entry *)right)->extension);
}
