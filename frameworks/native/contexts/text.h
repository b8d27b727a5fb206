/*
 * Words and numbers, without libc: its functions may take locks, and look at the language that the user has chosen.
 */
#ifndef CATAPULTS_TEXT_H
#define CATAPULTS_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As snprintf, for %s, for %d and %u, also with l or z before the letter, and for %%. Returns the length that the whole
 * has, whether there was room for it or not. */
__attribute__((format(printf, 3, 4))) size_t text_format(char *text, size_t room, const char *format, ...);
__attribute__((format(printf, 3, 0))) size_t text_format_list(char *text, size_t room, const char *format,
                                                              va_list arguments);

/* Reads a decimal number; before it there may be white space, and a plus. False: it is none, or more than `most`. */
bool text_number(const char *text, uint64_t most, uint64_t *number);

size_t text_length(const char *text);
bool text_equal(const char *one, const char *other);

/* What an error number stands for, in English. */
const char *text_of_error(int error);

#endif
