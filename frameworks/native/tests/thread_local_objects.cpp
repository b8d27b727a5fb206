/*
 * thread_local objects of C++ that are each thread's own: they begin when a thread uses them first, and end with it.
 */
#include <cstdio>
#include <cstdlib>
#include <string>

#include "catapults.h"

#define require(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                               \
            std::_Exit(EXIT_FAILURE);                                                                                  \
        }                                                                                                              \
    } while (0)

enum { THREADS = 8, ROUNDS = 20 };

static int begun, ended;
static bool expects_first;

struct Counted {
    std::string text = "nobody's so far, and too long to lie in the object";
    Counted() { begun++; }
    ~Counted() {
        ended++;
        if (expects_first) { /* the last of all, when main has returned */
            require(text == "the first thread's, and as long as those of others are");
            require(ended == begun);
            std::_Exit(EXIT_SUCCESS);
        }
    }
};

static thread_local Counted object;

__attribute__((noipa)) static std::string &text() { return object.text; }

static void *use(void *argument) {
    std::string own = "of thread " + std::to_string(reinterpret_cast<long>(argument)) + ", and longer than short ones";
    text() = own;
    for (int i = 0; i < ROUNDS; i++) {
        catapults_yield();
        require(text() == own);
        text() += ".";
        own += ".";
    }
    return argument;
}

int main() {
    catapults_options options = {};
    options.own_thread_locals = true;
    require(catapults_init(&options) == 0);
    text() = "the first thread's, and as long as those of others are";
    catapults_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        require(catapults_create(&threads[i], nullptr, use, reinterpret_cast<void *>(i)) == 0);
    for (int i = 0; i < THREADS; i++)
        require(catapults_join(threads[i], nullptr) == 0);
    require(begun == THREADS + 1 && ended == THREADS);
    expects_first = true;
    return EXIT_FAILURE; /* unless the object of this thread ends, too */
}
