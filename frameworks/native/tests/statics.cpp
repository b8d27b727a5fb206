/*
 * Static variables of functions whose initialization waits, is given up, or is looked at from elsewhere.
 */
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "catapults.h"

namespace {

std::atomic<int> attempts, failures;

struct Slow {
    int value;
    Slow() {
        attempts++;
        catapults_sleep(2000000);
        value = 7;
    }
};

struct Second_time {
    int value;
    Second_time() {
        catapults_yield();
        if (attempts++ == 0)
            throw std::runtime_error("not yet");
        value = 8;
    }
};

int slow() {
    static Slow variable;
    return variable.value;
}

int second_time() {
    static Second_time variable;
    return variable.value;
}

/* By a kernel thread that runs none of ours. */
int apart() {
    static int variable = [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return 9;
    }();
    return variable;
}

void *use_slow(void *result) {
    *static_cast<int *>(result) = slow();
    return nullptr;
}

void *use_second_time(void *result) {
    try {
        *static_cast<int *>(result) = second_time();
    } catch (const std::runtime_error &) {
        failures++;
        *static_cast<int *>(result) = second_time();
    }
    return nullptr;
}

void *use_apart(void *result) {
    *static_cast<int *>(result) = apart();
    return nullptr;
}

struct Half_done {
    int value;
    Half_done() {
        catapults_sleep(attempts++ == 0 ? 50000000 : 1000);
        value = 10;
    }
};

int half_done() {
    static Half_done variable;
    return variable.value;
}

void *use_half_done(void *result) {
    *static_cast<int *>(result) = half_done();
    return nullptr;
}

int check(bool condition, const char *what) {
    if (!condition)
        std::fprintf(stderr, "statics: not so: %s\n", what);
    return condition ? 0 : 1;
}

bool all_get(int value, void *(*use)(void *)) {
    enum { MANY = 8 };
    catapults_t threads[MANY];
    int results[MANY] = {}, equal = 0;
    for (int i = 0; i < MANY; i++)
        if (catapults_create(&threads[i], nullptr, use, &results[i]) != 0)
            return false;
    for (int i = 0; i < MANY; i++)
        equal += catapults_join(threads[i], nullptr) == 0 && results[i] == value;
    return equal == MANY;
}

int try_on(int processors) {
    catapults_options options = {};
    options.processors = processors;
    int failed = check(catapults_init(&options) == 0, "the runtime starts");
    failed += check(all_get(7, use_slow) && attempts == 1, "who comes meanwhile waits");
    attempts = 0;
    failed += check(all_get(8, use_second_time) && attempts == 2 && failures == 1, "another tries again");
    attempts = 0;
    catapults_t thread;
    int result = 0, status = 1;
    failed += check(catapults_create(&thread, nullptr, use_half_done, &result) == 0, "a thread is created");
    while (attempts == 0)
        catapults_yield();
    pid_t child = catapults_fork();
    if (child == 0)
        _exit(half_done() == 10 && attempts == 2 ? 0 : 1);
    failed += check(catapults_join(thread, nullptr) == 0 && result == 10 && attempts == 1, "the parent goes on");
    failed += check(waitpid(child, &status, 0) == child && status == 0, "a child of fork begins anew");
    std::thread other(apart);
    failed += check(all_get(9, use_apart), "kernel threads are waited for");
    other.join();
    return failed ? 1 : 0;
}

} // namespace

int main() {
    for (int processors = 1; processors <= 3; processors++) {
        pid_t child = fork();
        int status;
        if (child == 0)
            _exit(try_on(processors));
        if (waitpid(child, &status, 0) != child || status != 0)
            return 1;
    }
    return 0;
}
