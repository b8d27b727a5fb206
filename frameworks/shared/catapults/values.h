/*
 * The arithmetic of the policy language where it differs from C's, and access to variables of the application.
 *
 * Sums, differences and products wrap: generated code is built with -fwrapv.
 */
#ifndef CATAPULTS_VALUES_H
#define CATAPULTS_VALUES_H

#include "catapults/policy.h"

#include <stdint.h>

/* Generated code keeps what the policy says, even if that compares a variable with itself. */
#pragma GCC diagnostic ignored "-Wtautological-compare"

/* Guards fail, and requests are refused, rarely. */
#define CATAPULTS_UNLIKELY(condition) __builtin_expect((condition), 0)

/* The application may change these at any moment, from any processor. */
#define CATAPULTS_READ(variable) __atomic_load_n((variable), __ATOMIC_RELAXED)
#define CATAPULTS_WRITE(variable, value) __atomic_store_n((variable), (value), __ATOMIC_RELAXED)

/* Units of time. */
#define CATAPULTS_NS INT64_C(1)
#define CATAPULTS_US INT64_C(1000)
#define CATAPULTS_MS INT64_C(1000000)
#define CATAPULTS_S INT64_C(1000000000)

/* The element of an array that an index means; out of range, the nearest. */
static inline unsigned catapults_element(catapults_int index, unsigned length) {
    if (index <= 0)
        return 0;
    return index < (catapults_int)length ? (unsigned)index : length - 1;
}

/* By zero: 0, so that no policy can stop its host. By -1: a wrapping negation, unlike the processor's division. */
static inline int64_t catapults_divide(int64_t dividend, int64_t divisor) {
    if (divisor == 0)
        return 0;
    if (divisor == -1)
        return (int64_t)(0 - (uint64_t)dividend);
    return dividend / divisor;
}

/* By zero: 0. Otherwise the sign is the dividend's. */
static inline int64_t catapults_remainder(int64_t dividend, int64_t divisor) {
    if (divisor == 0 || divisor == -1)
        return 0;
    return dividend % divisor;
}

/* By less than 0: by 0. By the width or more: 0; a negative number to the right: all ones. A policy with a narrower int
 * cuts it off from the result. */
static inline int64_t catapults_shift_left(int64_t value, int64_t amount) {
    if (amount >= 64)
        return 0;
    return (int64_t)((uint64_t)value << (amount < 0 ? 0 : amount));
}

static inline int64_t catapults_shift_right(int64_t value, int64_t amount) {
    return value >> (amount < 0 ? 0 : amount > 63 ? 63 : amount);
}

/* Equal numbers cannot be told apart. */
static inline int64_t catapults_min(int64_t left, int64_t right) { return right < left ? right : left; }
static inline int64_t catapults_max(int64_t left, int64_t right) { return right > left ? right : left; }

#endif
