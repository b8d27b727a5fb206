/*
 * Floats of the policy language, for policies that have some: this file and what includes it need the registers for
 * floats.
 *
 * A policy never sees a NaN: where one would arise or is read from the application, it is 0. So floats are in order and
 * can be sort keys. Generated code is built with -ffp-contract=off: each operation rounds.
 */
#ifndef CATAPULTS_FLOATS_H
#define CATAPULTS_FLOATS_H

#include <stdint.h>

/* 0 for a NaN. */
static inline double catapults_number(double value) { return value == value ? value : 0.0; }

/* Of equal numbers the left one: 0 has two signs. */
static inline double catapults_min_float(double left, double right) { return right < left ? right : left; }
static inline double catapults_max_float(double left, double right) { return right > left ? right : left; }

/* Rounds towards zero. What does not fit so many bits becomes their highest or lowest number. */
static inline int64_t catapults_truncate(double value, int bits) {
    const int64_t highest = INT64_MAX >> (64 - bits);
    const double end = 2.0 * (double)(INT64_C(1) << (bits - 2));
    if (value >= end)
        return highest;
    if (value < -end)
        return -highest - 1;
    return (int64_t)value;
}

/* The application may change these at any moment, from any processor. */
static inline double catapults_read_float(const double *variable) {
    double value;
    __atomic_load(variable, &value, __ATOMIC_RELAXED);
    return catapults_number(value);
}

static inline void catapults_write_float(double *variable, double value) {
    __atomic_store(variable, &value, __ATOMIC_RELAXED);
}

#endif
