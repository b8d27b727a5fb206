/*
 * Catapults for C++20: the calls of catapults.h with the names, the types and the errors of the standard library.
 *
 *     #include <catapults.hpp>
 *
 *     int main() {
 *         catapults::start();
 *         catapults::mutex lock;
 *         catapults::jthread worker(catapults::attributes().name("worker").value("priority", 3), [&] {
 *             std::lock_guard held(lock);
 *             catapults::this_thread::sleep_for(std::chrono::milliseconds(1));
 *         });
 *     }
 *
 * What std::thread, std::mutex and the others say of themselves holds for these, with Catapults threads in the place of
 * kernel threads. A call that fails throws std::system_error, with the error number of the call of catapults.h that it
 * makes. An exception that leaves a thread's function ends the program. Waiting is a cancellation point where the call
 * below it is one (catapults/cancel.h): a cancelled thread's stack is unwound, and a `catch (...)` on the way throws on.
 *
 * Everything is defined here, and everything is as safe between threads as the objects of catapults.h are. Objects that
 * threads wait for can be neither copied nor moved.
 */
#ifndef CATAPULTS_HPP
#define CATAPULTS_HPP

#if __cplusplus < 202002L
#error "catapults.hpp needs C++20: compile with -std=c++20"
#endif

#include <cerrno>
#include <chrono>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <ostream>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "catapults.h"

namespace catapults {

/* ---- The clock --------------------------------------------------------------------------------------------------- */

/* That of catapults_now: nanoseconds of CLOCK_MONOTONIC. */
struct clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<clock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept { return time_point(duration(catapults_now())); }
};

namespace detail {

inline void check(int error, const char *call) {
    if (error != 0)
        throw std::system_error(error, std::generic_category(), call);
}

/* Whether it was in time; `late`: the error number that says that it was not. */
inline bool in_time(int error, int late, const char *call) {
    if (error == late)
        return false;
    check(error, call);
    return true;
}

/* Nothing that lies further away than the clock counts ever comes. */
template <class Duration> std::int64_t nanoseconds(const Duration &duration) {
    using namespace std::chrono;
    using exact = std::chrono::duration<long double, std::nano>;
    if (exact(duration) >= exact(std::chrono::nanoseconds::max()))
        return CATAPULTS_FOREVER;
    if (exact(duration) <= exact(std::chrono::nanoseconds::min()))
        return INT64_MIN;
    return std::chrono::ceil<std::chrono::nanoseconds>(duration).count();
}

/* The instant by our clock at which another clock shows this one, as far as can be told now. */
template <class Clock, class Duration> std::int64_t instant(const std::chrono::time_point<Clock, Duration> &point) {
    if constexpr (std::is_same_v<Clock, clock> || std::is_same_v<Clock, std::chrono::steady_clock>)
        return nanoseconds(point.time_since_epoch());
    std::int64_t left = nanoseconds(point - Clock::now()), now = catapults_now();
    return left > CATAPULTS_FOREVER - now ? CATAPULTS_FOREVER : now + left;
}

template <class Rep, class Period> std::int64_t after(const std::chrono::duration<Rep, Period> &duration) {
    return instant(clock::time_point(clock::now()) + std::chrono::nanoseconds(0)) > CATAPULTS_FOREVER - nanoseconds(duration)
               ? CATAPULTS_FOREVER
               : catapults_now() + nanoseconds(duration);
}

} // namespace detail
} // namespace catapults
#endif
