#include <string.h>

#include "conditional.h"

static bool any_tag(const struct request *request, const char *field, const struct file *file, bool weakly);
static bool tag_in_list(struct span list, const struct file *file, bool weakly);
static bool same_tag(struct span tag, const struct file *file);
static const struct field *date_of(const struct request *request, const char *name, time_t *date);
static time_t modified(const struct file *file);

/* The order is that of RFC 9110, 13.2.2. */
int conditional_status(const struct request *request, const struct file *file) {
    size_t index = 0;
    time_t date;
    if (request_field(request, "if-match", &index) != NULL) {
        if (!any_tag(request, "if-match", file, false))
            return 412;
    } else if (date_of(request, "if-unmodified-since", &date) != NULL) {
        if (modified(file) > date)
            return 412;
    }
    index = 0;
    if (request_field(request, "if-none-match", &index) != NULL) {
        if (any_tag(request, "if-none-match", file, true))
            return 304;
    } else if (date_of(request, "if-modified-since", &date) != NULL) {
        if (modified(file) <= date)
            return 304;
    }
    return 0;
}

bool conditional_range(const struct request *request, const struct file *file) {
    size_t index = 0;
    const struct field *field = request_field(request, "if-range", &index);
    if (field == NULL)
        return true;
    time_t date;
    if (date_read(field->value.start, field->value.length, &date))
        /* A date is a strong validator only if the file cannot have changed twice in that second (8.8.2.2). */
        return modified(file) == date && time(NULL) - date >= 1;
    return same_tag(field->value, file);
}

static bool any_tag(const struct request *request, const char *name, const struct file *file, bool weakly) {
    const struct field *field;
    for (size_t index = 0; (field = request_field(request, name, &index)) != NULL;) {
        if (tag_in_list(field->value, file, weakly))
            return true;
    }
    return false;
}

static bool tag_in_list(struct span list, const struct file *file, bool weakly) {
    const char *at = list.start, *end = at + list.length;
    if (list.length == 1 && *at == '*')
        return true;
    while (at < end) {
        if (*at == ' ' || *at == '\t' || *at == ',') {
            at++;
            continue;
        }
        bool weak = end - at >= 2 && memcmp(at, "W/", 2) == 0;
        const char *start = weak ? at + 2 : at;
        if (start == end || *start != '"')
            return false; /* not a list of tags */
        const char *quote = memchr(start + 1, '"', (size_t)(end - start - 1));
        if (quote == NULL)
            return false;
        if ((weakly || !weak) && same_tag((struct span){start, (size_t)(quote + 1 - start)}, file))
            return true;
        at = quote + 1;
    }
    return false;
}

static bool same_tag(struct span tag, const struct file *file) {
    return tag.length == file->tag_length && memcmp(tag.start, file->tag, tag.length) == 0;
}

static const struct field *date_of(const struct request *request, const char *name, time_t *date) {
    size_t index = 0;
    const struct field *field = request_field(request, name, &index);
    return field != NULL && date_read(field->value.start, field->value.length, date) ? field : NULL;
}

/* As in Last-Modified: whole seconds. */
static time_t modified(const struct file *file) { return file->status.st_mtim.tv_sec; }
