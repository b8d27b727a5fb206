/*
 * catapults.hpp: threads, locks and instants with the names and errors of the standard library.
 */
#include "catapults.hpp"

#include <cstdio>
#include <cstring>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <unordered_set>

using namespace std::chrono_literals;

namespace {

int failed;

void check(bool condition, const char *what) {
    if (condition)
        return;
    std::fprintf(stderr, "cplusplus: not so: %s\n", what);
    failed++;
}

/* The error number that it throws; 0: it throws nothing. */
template <class Call> int error_of(Call &&call) {
    try {
        call();
    } catch (const std::system_error &error) {
        return error.code().value();
    }
    return 0;
}

struct Counted {
    static int living;
    Counted() { living++; }
    Counted(const Counted &) { living++; }
    Counted(Counted &&) noexcept { living++; }
    ~Counted() { living--; }
};
int Counted::living;

void threads_are_given_what_they_are_called_with() {
    int sum = 0;
    std::unique_ptr<int> moved = std::make_unique<int>(40);
    catapults::thread adds([&sum](std::unique_ptr<int> one, int other) { sum = *one + other; }, std::move(moved), 2);
    check(adds.joinable() && adds.get_id() != catapults::thread::id(), "it can be joined");
    adds.join();
    check(sum == 42 && !adds.joinable(), "arguments are moved to the thread");
    check(error_of([&] { adds.join(); }) == EINVAL, "nothing is left to be joined");

    struct Machine {
        int value = 0;
        void set(int to) { value = to; }
    } machine;
    catapults::thread(&Machine::set, &machine, 7).join();
    check(machine.value == 7, "a member function is called");

    catapults::thread one, other([] {});
    one = std::move(other);
    check(one.joinable() && !other.joinable(), "a thread is moved");
    one.join();
    {
        Counted counted;
        catapults::thread([counted] {}).join();
    }
    check(Counted::living == 0, "what a thread was called with is destroyed");
}

void identities_differ() {
    std::unordered_set<catapults::thread::id> ids{catapults::this_thread::get_id()};
    catapults::thread::id inner;
    catapults::thread thread([&] { inner = catapults::this_thread::get_id(); });
    ids.insert(thread.get_id());
    check(ids.size() == 2, "two threads are two");
    thread.join();
    check(ids.contains(inner), "a thread has the identity by which others know it");
    std::ostringstream text;
    text << inner;
    check(!text.str().empty(), "an identity can be written");
}

void attributes_reach_the_thread() {
    std::string name;
    catapults::thread(catapults::attributes().name("baker").stack_size(64 << 10), [&] {
        name = catapults_name(catapults_self());
    }).join();
    check(name == "baker", "a thread has its name");
    check(error_of([] { catapults::thread(catapults::attributes().processors(UINT64_C(1) << 40), [] {}); }) == EINVAL,
          "there is no such processor");
}

void a_jthread_stops_and_is_joined() {
    int rounds = 0, seen = 0;
    {
        catapults::jthread works(
            [&](std::stop_token stop, int step) {
                while (!stop.stop_requested()) {
                    rounds += step;
                    catapults::this_thread::yield();
                }
                seen = rounds;
            },
            2);
        while (rounds < 10)
            catapults::this_thread::yield();
    }
    check(seen >= 10, "it was asked to stop, and joined");
    catapults::jthread plain([&] { rounds = 0; });
    plain = catapults::jthread();
    check(rounds == 0, "one that looks at no token is joined, too");
}

void mutexes_exclude() {
    catapults::mutex mutex;
    int inside = 0, most = 0;
    std::vector<catapults::jthread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            for (int j = 0; j < 20; j++) {
                std::scoped_lock held(mutex);
                most = std::max(most, ++inside);
                catapults::this_thread::yield();
                inside--;
            }
        });
    threads.clear();
    check(most == 1, "one thread at a time has a mutex");
    std::unique_lock held(mutex);
    check(error_of([&] { mutex.lock(); }) == EDEADLK, "an owner does not lock it again");
    catapults::thread([&] {
        check(!mutex.try_lock(), "it is locked");
        check(!mutex.try_lock_for(1ms) && !mutex.try_lock_until(catapults::clock::now() + 1ms), "and stays so");
        check(error_of([&] { mutex.unlock(); }) == EPERM, "another thread does not unlock it");
    }).join();
    catapults::recursive_mutex recursive;
    std::scoped_lock twice(recursive);
    check(recursive.try_lock(), "a recursive mutex is locked again");
    recursive.unlock();
}

void readers_share() {
    catapults::shared_mutex mutex;
    {
        std::shared_lock reads(mutex);
        catapults::thread([&] {
            check(mutex.try_lock_shared(), "two read");
            mutex.unlock_shared();
            check(!mutex.try_lock() && !mutex.try_lock_for(1ms), "nobody writes meanwhile");
        }).join();
    }
    std::unique_lock writes(mutex);
    catapults::thread([&] { check(!mutex.try_lock_shared_for(1ms), "nobody reads while one writes"); }).join();
}

void conditions_wait() {
    catapults::mutex mutex;
    catapults::condition_variable changed;
    std::optional<int> value;
    catapults::jthread gives([&] {
        std::scoped_lock held(mutex);
        value = 5;
        changed.notify_all();
    });
    std::unique_lock held(mutex);
    changed.wait(held, [&] { return value.has_value(); });
    check(value == 5 && held.owns_lock(), "it waits until the value is there");
    check(changed.wait_for(held, 1ms) == std::cv_status::timeout, "nobody notifies");
    check(!changed.wait_until(held, std::chrono::system_clock::now() + 1ms, [&] { return !value; }), "nor changes it");
    check(changed.wait_for(held, 1h, [&] { return *value == 5; }), "what is so need not be waited for");
}

void semaphores_and_barriers_count() {
    catapults::semaphore semaphore(1);
    check(semaphore.try_acquire() && !semaphore.try_acquire(), "one passes");
    check(!semaphore.try_acquire_for(1ms), "no other");
    catapults::jthread releases([&] { semaphore.release(2); });
    semaphore.acquire();
    semaphore.acquire();
    check(error_of([] { catapults::semaphore(UINT32_MAX); }) == EINVAL, "so many cannot pass");

    enum { MEMBERS = 3 };
    catapults::barrier barrier(MEMBERS);
    int last = 0;
    {
        std::vector<catapults::jthread> members;
        for (int i = 0; i < MEMBERS; i++)
            members.emplace_back([&] { last += barrier.arrive_and_wait(); });
    }
    check(last == 1, "one comes last");
}

void instants_are_exact() {
    auto before = catapults::clock::now();
    catapults::this_thread::sleep_for(2ms);
    check(catapults::clock::now() - before >= 2ms, "a sleep is not shorter than asked for");
    before = catapults::clock::now();
    catapults::this_thread::sleep_until(std::chrono::system_clock::now() + 2ms);
    check(catapults::clock::now() - before >= 1ms, "another clock's instant is waited for");
    catapults::this_thread::sleep_for(-1s);
    catapults::this_thread::sleep_until(catapults::clock::time_point::min());
    catapults::mutex mutex;
    check(mutex.try_lock_for(std::chrono::hours::max()), "the end of time is not the past");
    mutex.unlock();
}

/* A cancelled thread's stack is unwound, and what it was called with is destroyed. */
void a_cancelled_thread_is_cleaned_up() {
    int unwound = 0;
    struct Tells {
        int &count;
        ~Tells() { count++; }
    };
    catapults::thread sleeps([&unwound, counted = Counted()] {
        Tells tells{unwound};
        catapults::this_thread::sleep_for(1h);
    });
    catapults::this_thread::yield();
    catapults_cancel(sleeps.native_handle());
    sleeps.join();
    check(unwound == 1, "destructors run");
    check(Counted::living == 0, "also those of its arguments");
}

} // namespace

int main() {
    check(error_of([] { catapults::thread([] {}); }) == EPERM, "there are no threads before the start");
    catapults::start();
    check(error_of([] { catapults::start(); }) == EALREADY, "it starts once");
    threads_are_given_what_they_are_called_with();
    identities_differ();
    attributes_reach_the_thread();
    a_jthread_stops_and_is_joined();
    mutexes_exclude();
    readers_share();
    conditions_wait();
    semaphores_and_barriers_count();
    instants_are_exact();
    a_cancelled_thread_is_cleaned_up();
    return failed > 0;
}
