/*
 * catapults.h in C++, and exceptions: they unwind within a thread, across switches, and are each thread's own.
 */
#include <cstdio>
#include <stdexcept>
#include <string>

#include "catapults.h"

namespace {

int destroyed;
struct Guard {
    ~Guard() { destroyed++; }
};

int descend(int depth) {
    Guard guard;
    catapults_yield();
    if (depth == 0)
        throw std::runtime_error("bottom");
    return descend(depth - 1) + 1;
}

void *fall(void *argument) {
    auto &caught = *static_cast<std::string *>(argument);
    try {
        descend(10);
    } catch (const std::exception &exception) {
        catapults_yield(); /* another thread catches one of its own meanwhile */
        caught = exception.what();
    }
    return nullptr;
}

int check(bool condition, const char *what) {
    if (!condition)
        std::fprintf(stderr, "exceptions: not so: %s\n", what);
    return condition ? 0 : 1;
}

} // namespace

int main() {
    int failed = check(catapults_init(nullptr) == 0, "the runtime starts");
    catapults_t threads[2];
    std::string caught[2];
    for (int i = 0; i < 2; i++)
        failed += check(catapults_create(&threads[i], nullptr, fall, &caught[i]) == 0, "a thread is created");
    for (int i = 0; i < 2; i++)
        failed += check(catapults_join(threads[i], nullptr) == 0, "it is joined");
    failed += check(caught[0] == "bottom" && caught[1] == "bottom", "each thread catches its exception");
    failed += check(destroyed == 22, "every frame was unwound");
    return failed ? 1 : 0;
}
