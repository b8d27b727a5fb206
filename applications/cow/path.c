#include <string.h>
#include <strings.h>

#include "path.h"

static bool skip_authority(const char **target, size_t *length);
static int hexadecimal(char digit);
static bool drop_segment(const char *path, size_t *used);

enum path_result path_of_target(const char *target, size_t length, char path[PATH_SIZE], size_t *path_length) {
    if (!skip_authority(&target, &length))
        return PATH_MALFORMED;
    enum path_result result = PATH_FOUND;
    size_t used = 0, segment = 0; /* the start of the last segment in `path` */
    for (size_t i = 0; i <= length; i++) {
        char byte = i < length ? target[i] : '\0';
        bool end = i == length || byte == '?' || byte == '#';
        if (end || byte == '/') {
            size_t size = used - segment;
            bool dot = size == 1 && path[segment] == '.', dots = size == 2 && memcmp(path + segment, "..", 2) == 0;
            if (dot || dots)
                used = segment;
            if (dots && !drop_segment(path, &used))
                return PATH_MALFORMED;
            if (end)
                break;
            if (used > 0 && path[used - 1] != '/')
                path[used++] = '/';
            segment = used;
            continue;
        }
        if (byte == '%') {
            int high = i + 1 < length ? hexadecimal(target[i + 1]) : -1;
            int low = i + 2 < length ? hexadecimal(target[i + 2]) : -1;
            if (high < 0 || low < 0)
                return PATH_MALFORMED;
            byte = (char)(high * 16 + low);
            i += 2;
        }
        if (byte == '\0')
            return PATH_MALFORMED;
        if (byte == '/')
            result = PATH_ABSENT;
        if (used + 2 >= PATH_SIZE) /* room for a slash and the end */
            return PATH_ABSENT;
        path[used++] = byte;
    }
    path[used] = '\0';
    *path_length = used;
    return result;
}

void path_query(const char *target, size_t length, const char **query, size_t *query_length) {
    const char *mark = memchr(target, '?', length);
    *query = mark != NULL ? mark : "";
    *query_length = mark != NULL ? length - (size_t)(mark - target) : 0;
}

void path_encode(struct text *text, const char *bytes, size_t count) {
    static const char plain[] = "-._~/", digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
        if (letter || (byte != '\0' && strchr(plain, byte) != NULL))
            text_bytes(text, bytes + i, 1);
        else
            text_bytes(text, (char[]){'%', digits[byte >> 4], digits[byte & 15]}, 3);
    }
}

/* Leaves the path, which starts with a slash. */
static bool skip_authority(const char **target, size_t *length) {
    if (*length > 0 && **target == '/')
        return true;
    size_t scheme = *length >= 7 && strncasecmp(*target, "http://", 7) == 0    ? 7
                    : *length >= 8 && strncasecmp(*target, "https://", 8) == 0 ? 8
                                                                               : 0;
    if (scheme == 0)
        return false;
    size_t end = scheme;
    while (end < *length && strchr("/?#", (*target)[end]) == NULL)
        end++;
    bool named = end > scheme;
    *target += end;
    *length -= end;
    return named;
}

static int hexadecimal(char digit) {
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

/* Removes the segment before the slash at the end. False: there is none. */
static bool drop_segment(const char *path, size_t *used) {
    if (*used == 0)
        return false;
    (*used)--;
    while (*used > 0 && path[*used - 1] != '/')
        (*used)--;
    return true;
}
