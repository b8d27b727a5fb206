/*
 * The end of a thread in C++: its stack is unwound, whether it is cancelled or leaves.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "catapults.h"

namespace {

std::string order;

struct Guard {
    const char *name;
    ~Guard() { order += name; }
};

struct BlockingGuard {
    ~BlockingGuard() {
        catapults_yield();
        catapults_sleep(1000);
        order += "b";
    }
};

void note(void *name) { order += static_cast<const char *>(name); }

int failures;
void check(bool condition, const char *what) {
    if (!condition) {
        std::fprintf(stderr, "unwinding: not so: %s (%s)\n", what, order.c_str());
        failures++;
    }
}

catapults_t spawn(void *(*start)(void *), void *argument = nullptr) {
    catapults_t thread = nullptr;
    check(catapults_create(&thread, nullptr, start, argument) == 0, "a thread is created");
    return thread;
}

void *join(catapults_t thread) {
    void *result = nullptr;
    check(catapults_join(thread, &result) == 0, "it is joined");
    return result;
}

void descend(int depth, bool leave) {
    Guard guard{"d"};
    if (depth > 0)
        return descend(depth - 1, leave);
    if (leave)
        catapults_exit(&order);
    catapults_sleep_until(CATAPULTS_FOREVER);
}

/* Destructors, handlers and `catch` blocks take turns, the innermost first. What `__forced_unwind` refers to does not
 * exist, here as with pthreads. */
__attribute__((no_sanitize("null"))) void *fall(void *leave) {
    Guard outermost{"o"};
    catapults_cleanup_push(note, const_cast<char *>("c"));
    try {
        Guard inner{"i"};
        try {
            descend(3, leave != nullptr);
        } catch (abi::__forced_unwind &) {
            order += "f";
            throw;
        }
    } catch (...) {
        catapults_yield();
        order += "a";
        throw;
    }
    catapults_cleanup_pop(0);
    return nullptr;
}

void cancelled() {
    order.clear();
    catapults_t thread = spawn(fall);
    catapults_yield();
    check(catapults_cancel(thread) == 0 && join(thread) == CATAPULTS_CANCELED, "it is cancelled");
    check(order == "ddddfiaco", "all frames are unwound in order");
}

void leaves() {
    order.clear();
    check(join(spawn(fall, &order)) == &order, "it leaves with a result");
    check(order == "ddddfiaco", "all frames are unwound in order");
}

void *block_in_destructors(void *) {
    BlockingGuard guard;
    descend(0, false);
    return nullptr;
}

/* Several unwind at once, each its own. */
void several() {
    order.clear();
    catapults_t threads[10];
    for (auto &thread : threads)
        thread = spawn(block_in_destructors);
    catapults_yield();
    for (auto thread : threads)
        catapults_cancel(thread);
    for (auto thread : threads)
        check(join(thread) == CATAPULTS_CANCELED, "it is cancelled");
    check(order == "ddddddddddbbbbbbbbbb", "destructors may block");
}

void *throw_meanwhile(void *) {
    struct Thrower {
        ~Thrower() {
            try {
                throw std::runtime_error("inside");
            } catch (const std::exception &exception) {
                catapults_yield();
                order += exception.what();
            }
        }
    } thrower;
    descend(0, true);
    return nullptr;
}

void exceptions_in_destructors() {
    order.clear();
    join(spawn(throw_meanwhile));
    check(order == "dinside", "a destructor may throw and catch while the stack is unwound");
}

catapults_mutex_t mutex;
catapults_cond_t cond;
struct Lock {
    Lock() { catapults_mutex_lock(&mutex); }
    ~Lock() { catapults_mutex_unlock(&mutex); }
};

void *wait_locked(void *) {
    Lock lock;
    catapults_cond_wait(&cond, &mutex);
    return nullptr;
}

void a_lock_is_released() {
    catapults_t thread = spawn(wait_locked);
    catapults_yield();
    check(catapults_cancel(thread) == 0 && join(thread) == CATAPULTS_CANCELED, "it is cancelled");
    check(mutex.state == 0, "its mutex was unlocked");
}

catapults_once_t once;
int attempts;
void attempt() {
    if (++attempts == 1)
        throw std::runtime_error("in vain");
    if (attempts == 2)
        catapults_sleep_until(CATAPULTS_FOREVER);
}

void *try_once(void *) {
    try {
        catapults_once(&once, attempt);
    } catch (const std::exception &) {
        return &attempts;
    }
    return nullptr;
}

void once_until_it_returns() {
    check(join(spawn(try_once)) == &attempts, "the first attempt throws");
    catapults_t second = spawn(try_once), third = spawn(try_once);
    catapults_yield();
    catapults_yield();
    check(attempts == 2, "the others wait for the second attempt");
    check(catapults_cancel(second) == 0 && join(second) == CATAPULTS_CANCELED, "which is cancelled");
    check(join(third) == nullptr && attempts == 3 && catapults_once(&once, attempt) == 0 && attempts == 3,
          "the third is the last");
}

/* In a child: what it wrote to standard error, and how it ended. */
std::string run_child(void (*body)(), int &status) {
    int ends[2];
    check(pipe(ends) == 0, "there is a pipe");
    std::fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        body();
        _exit(failures ? 1 : 0);
    }
    close(ends[1]);
    std::string report;
    char buffer[1000];
    for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
        report.append(buffer, static_cast<size_t>(count));
    close(ends[0]);
    waitpid(child, &status, 0);
    return report;
}

void *swallow(void *) {
    try {
        catapults_exit(nullptr);
    } catch (...) {
    }
    return nullptr;
}

void keep() {
    catapults_init(nullptr);
    join(spawn(swallow));
}

struct Farewell {
    ~Farewell() { std::fprintf(stderr, "unwound;"); }
};

void leave_first() {
    catapults_init(nullptr);
    Farewell farewell;
    catapults_exit(nullptr);
}

void run(void (*body)()) {
    int status = 0;
    static void (*what)();
    what = body;
    std::string report = run_child(
        [] {
            check(catapults_init(nullptr) == 0, "the runtime starts");
            what();
        },
        status);
    if (status != 0) {
        std::fprintf(stderr, "%s", report.c_str());
        failures++;
    }
}

} // namespace

int main() {
    run(cancelled);
    run(leaves);
    run(several);
    run(exceptions_in_destructors);
    run(a_lock_is_released);
    run(once_until_it_returns);
    int status = 0;
    std::string report = run_child(keep, status);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "who swallows the end of a thread is aborted");
    check(report.find("thread 2 () is to end, and a `catch` did not let it pass") != std::string::npos, report.c_str());
    report = run_child(leave_first, status);
    check(status == 0 && report == "unwound;", "the first thread is unwound, too");
    return failures ? 1 : 0;
}
