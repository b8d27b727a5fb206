/*
 * The arithmetic of the policy language where it differs from C's.
 *
 * Sums, differences and products wrap: generated code is built with -fwrapv, or by a compiler that takes it for
 * granted.
 */
#ifndef CATAPULTS_VALUES_H
#define CATAPULTS_VALUES_H

#include "catapults/policy.h"

#ifdef __GNUC__
/* Generated code keeps what the policy says, even if that compares a variable with itself. */
#pragma GCC diagnostic ignored "-Wtautological-compare"
#endif

/* Guards fail, and requests are refused, rarely; small compilers take no hint. */
#define CATAPULTS_UNLIKELY(condition) (condition)

/* The element of an array that an index means; out of range, the nearest. */
CATAPULTS_INLINE unsigned catapults_element(catapults_int index, unsigned length) {
    if (index <= 0)
        return 0;
    return index < (catapults_int)length ? (unsigned)index : length - 1;
}

/* By zero: 0, so that no policy can stop its host. By -1: a wrapping negation, unlike the processor's division. */
CATAPULTS_INLINE catapults_int catapults_divide(catapults_int dividend, catapults_int divisor) {
    if (divisor == 0)
        return 0;
    if (divisor == -1)
        return (catapults_int)(0 - (catapults_bits)dividend);
    return dividend / divisor;
}

/* By zero: 0. Otherwise the sign is the dividend's. */
CATAPULTS_INLINE catapults_int catapults_remainder(catapults_int dividend, catapults_int divisor) {
    if (divisor == 0 || divisor == -1)
        return 0;
    return dividend % divisor;
}

/* By less than 0: by 0. By the width or more: 0; a negative number to the right: all ones. */
CATAPULTS_INLINE catapults_int catapults_shift_left(catapults_int value, catapults_int amount) {
    const catapults_int width = 8 * (catapults_int)sizeof(catapults_int);
    if (amount >= width)
        return 0;
    return (catapults_int)((catapults_bits)value << (amount < 0 ? 0 : amount)); /* of 16 bits, at most 16 turns */
}

CATAPULTS_INLINE catapults_int catapults_shift_right(catapults_int value, catapults_int amount) {
    const catapults_int highest = 8 * (catapults_int)sizeof(catapults_int) - 1;
    return value >> (amount < 0 ? 0 : amount > highest ? highest : amount); /* of 16 bits, at most 16 turns */
}

/* Equal numbers cannot be told apart. */
CATAPULTS_INLINE catapults_int catapults_min(catapults_int left, catapults_int right) {
    return right < left ? right : left;
}

CATAPULTS_INLINE catapults_int catapults_max(catapults_int left, catapults_int right) {
    return right > left ? right : left;
}

#ifdef CATAPULTS_HAS_TIME
/* Units of time. */
#define CATAPULTS_NS INT64_C(1)
#define CATAPULTS_US INT64_C(1000)
#define CATAPULTS_MS INT64_C(1000000)
#define CATAPULTS_S INT64_C(1000000000)

/* The same where a time takes part. */
CATAPULTS_INLINE int64_t catapults_divide_time(int64_t dividend, int64_t divisor) {
    if (divisor == 0)
        return 0;
    if (divisor == -1)
        return (int64_t)(0 - (uint64_t)dividend);
    return dividend / divisor;
}

CATAPULTS_INLINE int64_t catapults_remainder_time(int64_t dividend, int64_t divisor) {
    if (divisor == 0 || divisor == -1)
        return 0;
    return dividend % divisor;
}

CATAPULTS_INLINE int64_t catapults_min_time(int64_t left, int64_t right) { return right < left ? right : left; }
CATAPULTS_INLINE int64_t catapults_max_time(int64_t left, int64_t right) { return right > left ? right : left; }
#endif

#endif
