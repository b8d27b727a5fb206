#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "listing.h"
#include "path.h"

struct names {
    char **all;
    size_t count;
    bool cut;
};

static int collect(DIR *directory, struct names *names);
static bool is_directory(DIR *directory, const struct dirent *entry);
static int compare(const void *left, const void *right);
static char *page_of(const struct names *names, const char *name, size_t *length);
static void write_escaped(FILE *page, const char *name);
static void write_reference(FILE *page, const char *name);

char *listing_make(int descriptor, const char *name, size_t *length) {
    DIR *directory = fdopendir(descriptor);
    if (directory == NULL) {
        int failure = errno;
        close(descriptor);
        errno = failure;
        return NULL;
    }
    struct names names = {0};
    int failed = collect(directory, &names);
    closedir(directory);
    char *page = NULL;
    if (failed == 0) {
        if (names.count > 0)
            qsort(names.all, names.count, sizeof *names.all, compare);
        page = page_of(&names, name, length);
        failed = page == NULL ? ENOMEM : 0;
    }
    for (size_t i = 0; i < names.count; i++)
        free(names.all[i]);
    free(names.all);
    errno = failed;
    return page;
}

/* Directories get a slash. Hidden names are left out. */
static int collect(DIR *directory, struct names *names) {
    size_t room = 0;
    errno = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL; errno = 0) {
        if (entry->d_name[0] == '.')
            continue;
        if (names->count == LISTING_MOST) {
            names->cut = true;
            return 0;
        }
        if (names->count == room) {
            room = room > 0 ? room * 2 : 64;
            char **larger = realloc(names->all, room * sizeof *larger);
            if (larger == NULL)
                return ENOMEM;
            names->all = larger;
        }
        char *name;
        if (asprintf(&name, "%s%s", entry->d_name, is_directory(directory, entry) ? "/" : "") < 0)
            return ENOMEM;
        names->all[names->count++] = name;
    }
    return errno;
}

static bool is_directory(DIR *directory, const struct dirent *entry) {
    struct stat status;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

static int compare(const void *left, const void *right) { return strcmp(*(char *const *)left, *(char *const *)right); }

static char *page_of(const struct names *names, const char *name, size_t *length) {
    char *text = NULL;
    FILE *page = open_memstream(&text, length);
    if (page == NULL)
        return NULL;
    fputs("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Index of /", page);
    write_escaped(page, name);
    fputs("</title></head>\n<body><h1>Index of /", page);
    write_escaped(page, name);
    fputs("</h1>\n<ul>\n", page);
    if (*name != '\0')
        fputs("<li><a href=\"../\">../</a></li>\n", page);
    for (size_t i = 0; i < names->count; i++) {
        fputs("<li><a href=\"", page);
        write_reference(page, names->all[i]);
        fputs("\">", page);
        write_escaped(page, names->all[i]);
        fputs("</a></li>\n", page);
    }
    fputs("</ul>\n", page);
    if (names->cut)
        fprintf(page, "<p>There is more: this shows %d names.</p>\n", LISTING_MOST);
    fputs("</body></html>\n", page);
    bool failed = ferror(page) != 0;
    if (fclose(page) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

static void write_escaped(FILE *page, const char *name) {
    for (; *name != '\0'; name++) {
        switch (*name) {
        case '&':
            fputs("&amp;", page);
            break;
        case '<':
            fputs("&lt;", page);
            break;
        case '>':
            fputs("&gt;", page);
            break;
        case '"':
            fputs("&quot;", page);
            break;
        case '\'':
            fputs("&#39;", page);
            break;
        default:
            fputc(*name, page);
        }
    }
}

/* With ./ before it, lest a colon in a name be taken for the end of a scheme. */
static void write_reference(FILE *page, const char *name) {
    char encoded[2 + 3 * (NAME_MAX + 2)];
    struct text text = {.data = encoded, .size = sizeof encoded};
    text_string(&text, "./");
    path_encode(&text, name, strlen(name));
    fwrite(encoded, 1, text.used, page);
}
