/*
 * Why a request is refused, where the reason has values: `fail "a load of {booked + load}"`; ../../catapults/told.h for
 * small hosts. Where CATAPULTS_TEXTS is not defined, the numbers remain of it: the host's application finds their
 * meaning in the policy, by the line.
 */
#ifndef CATAPULTS_TOLD_H
#define CATAPULTS_TOLD_H

#include "catapults/policy.h"

/* A bool is 0 or 1. */
#ifdef CATAPULTS_HAS_TIME
typedef catapults_time catapults_told_value;
#else
typedef catapults_int catapults_told_value;
#endif

struct catapults_told {
    struct catapults_stop stop;
    uint8_t count; /* of values */
    catapults_told_value values[4];
#ifdef CATAPULTS_TEXTS
    uint8_t length;
    char text[128];
#endif
};

/* The request is refused in this line of the policy's source. The values follow. */
CATAPULTS_INLINE void catapults_tell(struct catapults_told *told, uint16_t line) {
    told->count = 0;
    told->stop.why = CATAPULTS_STOP_FAIL;
    told->stop.line = line;
#ifdef CATAPULTS_TEXTS
    told->length = 0;
    told->stop.text = told->text;
#else
    told->stop.text = NULL;
#endif
}

#ifdef CATAPULTS_TEXTS

CATAPULTS_INLINE void catapults_tell_text(struct catapults_told *told, const char *text) {
    for (; *text; text++)
        told->text[told->length++] = *text;
    told->text[told->length] = '\0';
}

CATAPULTS_INLINE void catapults_tell_digits(struct catapults_told *told, catapults_told_value value) {
    char digits[21]; /* of the greatest number, with a 0 */
    uint8_t first = sizeof digits - 1;
    bool below = value < 0;
    digits[first] = '\0';
    do {
        int8_t digit = (int8_t)(value % 10);
        digits[--first] = (char)('0' + (digit < 0 ? -digit : digit));
        value /= 10;
    } while (value != 0);
    if (below)
        digits[--first] = '-';
    catapults_tell_text(told, digits + first);
}

#else

#define catapults_tell_text(told, text) ((void)0)
#define catapults_tell_digits(told, value) ((void)0)

#endif

CATAPULTS_INLINE void catapults_tell_int(struct catapults_told *told, catapults_int value) {
    told->values[told->count++] = value;
    catapults_tell_digits(told, value);
}

CATAPULTS_INLINE void catapults_tell_bool(struct catapults_told *told, bool value) {
    told->values[told->count++] = value;
    catapults_tell_text(told, value ? "true" : "false");
}

#ifdef CATAPULTS_HAS_TIME
/* As a multiple of the longest unit that divides it. */
CATAPULTS_INLINE void catapults_tell_time(struct catapults_told *told, catapults_time value) {
#ifdef CATAPULTS_TEXTS
    static const char *const units[] = {"s", "ms", "us", "ns"};
    catapults_time length = 1000000000;
    uint8_t unit = 0;
    while (unit < 3 && (value == 0 || value % length != 0)) {
        length /= 1000;
        unit++;
    }
    catapults_tell_digits(told, value / length);
    catapults_tell_text(told, units[unit]);
#endif
    told->values[told->count++] = value;
}
#endif

#endif
