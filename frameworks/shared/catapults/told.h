/*
 * Why a request is refused, where the reason has values: `fail "a load of {booked + load}"`. The handler writes the
 * text into the policy's own data, which holds it until the next refusal with values. A host that keeps it longer, or
 * whose handlers another processor may run meanwhile, copies it first.
 *
 * The compiler refuses a reason that could be longer than the text, so no function here looks for its end.
 */
#ifndef CATAPULTS_TOLD_H
#define CATAPULTS_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "catapults/policy.h"

/* Bytes of a text, with the 0 at its end (compiler/src/policy/reasons.rs). */
#define CATAPULTS_TOLD 128

struct catapults_told {
    struct catapults_stop stop;
    uint8_t length;
    char text[CATAPULTS_TOLD];
};

/* The request is refused in this line of the policy's source. The text follows, piece by piece. */
static inline void catapults_tell(struct catapults_told *told, uint32_t line) {
    told->length = 0;
    told->stop.why = CATAPULTS_STOP_FAIL;
    told->stop.line = line;
    told->stop.text = told->text;
}

static inline void catapults_tell_text(struct catapults_told *told, const char *text) {
    for (; *text; text++)
        told->text[told->length++] = *text;
    told->text[told->length] = '\0';
}

/* In decimal digits. */
static inline void catapults_tell_int(struct catapults_told *told, int64_t value) {
    char digits[21]; /* of the greatest number, with a 0 */
    int first = sizeof digits - 1;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    digits[first] = '\0';
    do {
        digits[--first] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        catapults_tell_text(told, "-");
    catapults_tell_text(told, digits + first);
}

static inline void catapults_tell_bool(struct catapults_told *told, bool value) {
    catapults_tell_text(told, value ? "true" : "false");
}

/* As a multiple of the longest unit that divides it. */
static inline void catapults_tell_time(struct catapults_told *told, catapults_time value) {
    const char *const units[] = {"s", "ms", "us", "ns"};
    catapults_time length = 1000000000;
    int unit = 0;
    while (unit < 3 && (value == 0 || value % length != 0)) {
        length /= 1000;
        unit++;
    }
    catapults_tell_int(told, value / length);
    catapults_tell_text(told, units[unit]);
}

#endif
