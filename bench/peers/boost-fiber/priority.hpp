/*
 * What both priority algorithms share: a property of each fiber, which can be set only once the fiber is there
 * (boostorg/fiber issue 283).
 */
#pragma once

#include <boost/fiber/all.hpp>
#include <condition_variable>
#include <mutex>

struct priority_property : boost::fibers::fiber_properties {
    explicit priority_property(boost::fibers::context *context) : fiber_properties(context) {}
    void set(int to) {
        if (to != level) {
            level = to;
            notify();
        }
    }
    int level = 0;
};

/* All but the queue. */
struct priority_base : boost::fibers::algo::algorithm_with_properties<priority_property> {
    void suspend_until(std::chrono::steady_clock::time_point const &instant) noexcept override {
        std::unique_lock<std::mutex> lock(mutex);
        if ((std::chrono::steady_clock::time_point::max)() == instant)
            changed.wait(lock, [this] { return notified; });
        else
            changed.wait_until(lock, instant, [this] { return notified; });
        notified = false;
    }
    void notify() noexcept override {
        std::unique_lock<std::mutex> lock(mutex);
        notified = true;
        lock.unlock();
        changed.notify_all();
    }
    void property_change(boost::fibers::context *fiber, priority_property &property) noexcept override {
        if (fiber->ready_is_linked()) {
            fiber->ready_unlink();
            awakened(fiber, property);
        }
    }

  private:
    std::mutex mutex;
    std::condition_variable changed;
    bool notified = false;
};
