/* Building text in memory of a fixed size. What does not fit is left out, and `cut` says so. */
#ifndef COW_TEXT_H
#define COW_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct text {
    char *data; /* not terminated */
    size_t size, used;
    bool cut;
};

static inline void text_bytes(struct text *text, const void *bytes, size_t count) {
    if (count > text->size - text->used) {
        text->cut = true;
        return;
    }
    memcpy(text->data + text->used, bytes, count);
    text->used += count;
}

static inline void text_string(struct text *text, const char *string) { text_bytes(text, string, strlen(string)); }

static inline void text_number(struct text *text, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    text_bytes(text, digits + at, sizeof digits - at);
}

#endif
