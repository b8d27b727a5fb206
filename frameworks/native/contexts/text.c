#include "contexts/text.h"

struct output {
    char *text;
    size_t room, length;
};

static void put(struct output *output, char c) {
    if (output->length + 1 < output->room)
        output->text[output->length] = c;
    output->length++;
}

static void put_text(struct output *output, const char *text) {
    while (*text)
        put(output, *text++);
}

static void put_number(struct output *output, uint64_t number) {
    char digits[20];
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count > 0)
        put(output, digits[--count]);
}

/* `letter`: of the format, behind `wide`. */
static void put_argument(struct output *output, char letter, bool wide, va_list *arguments) {
    if (letter == 's') {
        put_text(output, va_arg(*arguments, const char *));
    } else if (letter == 'u') {
        put_number(output, wide ? va_arg(*arguments, unsigned long) : va_arg(*arguments, unsigned));
    } else if (letter == 'd') {
        long number = wide ? va_arg(*arguments, long) : va_arg(*arguments, int);
        if (number < 0)
            put(output, '-');
        put_number(output, number < 0 ? -(uint64_t)number : (uint64_t)number);
    } else {
        put(output, letter);
    }
}

size_t text_format_list(char *text, size_t room, const char *format, va_list arguments) {
    struct output output = {.text = text, .room = room};
    va_list left;
    va_copy(left, arguments);
    for (; *format; format++) {
        if (*format != '%') {
            put(&output, *format);
            continue;
        }
        bool wide = format[1] == 'l' || format[1] == 'z';
        format += wide ? 2 : 1;
        put_argument(&output, *format, wide, &left);
    }
    va_end(left);
    if (room > 0)
        text[output.length < room ? output.length : room - 1] = 0;
    return output.length;
}

size_t text_format(char *text, size_t room, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t length = text_format_list(text, room, format, arguments);
    va_end(arguments);
    return length;
}

bool text_number(const char *text, uint64_t most, uint64_t *number) {
    while (*text == ' ' || (*text >= '\t' && *text <= '\r'))
        text++;
    if (*text == '+')
        text++;
    const char *first = text;
    uint64_t value = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        unsigned digit = (unsigned)(*text - '0');
        if (digit > most || value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    return text > first && !*text;
}

size_t text_length(const char *text) {
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

bool text_equal(const char *one, const char *other) {
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}
