#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "ranges.h"

static bool read_number(const char **at, const char *end, int64_t *number);
static void skip_spaces(const char **at, const char *end);
static void join(struct range *ranges, size_t *count, struct range range);

enum ranges_result ranges_read(const char *field, size_t length, int64_t size, struct range ranges[RANGES_MOST],
                               size_t *count) {
    static const char unit[] = "bytes=";
    const char *at = field, *end = field + length;
    if (length < sizeof unit - 1 || strncasecmp(at, unit, sizeof unit - 1) != 0)
        return RANGES_WHOLE;
    at += sizeof unit - 1;
    *count = 0;
    size_t seen = 0;
    for (;;) {
        skip_spaces(&at, end);
        if (at < end && *at == ',') { /* empty elements of a list are allowed */
            at++;
            continue;
        }
        if (at == end)
            break;
        if (++seen > RANGES_MOST)
            return RANGES_WHOLE;
        int64_t first = 0, last = INT64_MAX;
        bool from_start = read_number(&at, end, &first);
        if (at == end || *at != '-')
            return RANGES_WHOLE;
        at++;
        bool to_end = !read_number(&at, end, &last);
        if (!from_start && to_end)
            return RANGES_WHOLE;
        if (from_start && !to_end && last < first)
            return RANGES_WHOLE;
        skip_spaces(&at, end);
        if (at < end && *at != ',')
            return RANGES_WHOLE;
        if (!from_start) { /* the last so many bytes */
            first = last < size ? size - last : 0;
            if (last == 0)
                continue;
            last = size - 1;
        }
        if (first >= size)
            continue;
        if (last >= size)
            last = size - 1;
        join(ranges, count, (struct range){first, last - first + 1});
    }
    if (seen == 0)
        return RANGES_WHOLE;
    return *count > 0 ? RANGES_SOME : RANGES_UNSATISFIABLE;
}

/* A number too large counts as the largest. */
static bool read_number(const char **at, const char *end, int64_t *number) {
    const char *start = *at;
    int64_t value = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
        int digit = **at - '0';
        value = value > (INT64_MAX - digit) / 10 ? INT64_MAX : value * 10 + digit;
    }
    if (*at == start)
        return false;
    *number = value;
    return true;
}

static void skip_spaces(const char **at, const char *end) {
    while (*at < end && (**at == ' ' || **at == '\t'))
        (*at)++;
}

/* Adds it; those that it overlaps or touches become part of it. */
static void join(struct range *ranges, size_t *count, struct range range) {
    for (size_t i = 0; i < *count;) {
        int64_t end = range.first + range.length, other_end = ranges[i].first + ranges[i].length;
        if (range.first > other_end || ranges[i].first > end) {
            i++;
            continue;
        }
        if (ranges[i].first < range.first)
            range.first = ranges[i].first;
        range.length = (end > other_end ? end : other_end) - range.first;
        memmove(&ranges[i], &ranges[i + 1], (*count - i - 1) * sizeof *ranges);
        (*count)--;
        i = 0;
    }
    ranges[(*count)++] = range;
}
