/*
 * Exceptions of threads that are preempted anywhere: while the stack unwinds, and in the handlers.
 */
#include <cstdio>
#include <stdexcept>

#include "catapults.h"

namespace {

volatile int over; /* as a bool, GCC reads it once under UndefinedBehaviorSanitizer */
volatile int wrong;

void spin(int rounds) {
    for (volatile int i = 0; i < rounds; i = i + 1)
        ;
}

struct Guard {
    int &destroyed;
    ~Guard() {
        spin(500);
        destroyed++;
    }
};

int descend(int depth, int &destroyed) {
    Guard guard{destroyed};
    if (depth == 0)
        throw std::runtime_error("bottom");
    return descend(depth - 1, destroyed) + 1;
}

void *fall(void *argument) {
    auto &falls = *static_cast<int *>(argument);
    while (!over) {
        int destroyed = 0;
        try {
            try {
                descend(10, destroyed);
            } catch (const std::exception &) {
                spin(2000);
                throw;
            }
        } catch (const std::exception &) {
            spin(2000);
            if (destroyed != 11)
                wrong = wrong + 1;
        }
        if (std::current_exception() || std::uncaught_exceptions())
            wrong = wrong + 1;
        falls++;
    }
    return nullptr;
}

int check(bool condition, const char *what) {
    if (!condition)
        std::fprintf(stderr, "exceptions_preempted: not so: %s\n", what);
    return condition ? 0 : 1;
}

} // namespace

int main() {
    catapults_options options{};
    options.policy = POLICIES "/turns.so";
    if (catapults_init(&options) != 0)
        return 1;
    int failed = 0;
    catapults_t threads[4];
    int falls[4] = {};
    for (int i = 0; i < 4; i++)
        failed += check(catapults_create(&threads[i], nullptr, fall, &falls[i]) == 0, "a thread is created");
    catapults_sleep(200000000);
    over = 1;
    for (int i = 0; i < 4; i++) {
        failed += check(catapults_join(threads[i], nullptr) == 0, "it is joined");
        failed += check(falls[i] > 0, "each had its turns");
    }
    failed += check(wrong == 0, "each thread handles its own exceptions");
    return failed ? 1 : 0;
}
