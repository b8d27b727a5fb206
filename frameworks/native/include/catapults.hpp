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
 * below it is one (catapults/cancel.h): a cancelled thread's stack is unwound, and a `catch (...)` on the way throws
 * on.
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
#include <condition_variable> /* std::cv_status */
#include <cstddef>
#include <cstdint>
#include <exception>
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
    std::int64_t length = nanoseconds(duration), now = catapults_now();
    return length > CATAPULTS_FOREVER - now ? CATAPULTS_FOREVER : now + length;
}

/* Inlined, GCC 12 warns of how the standard library makes one. */
[[gnu::noinline]] inline std::stop_source new_stop_source() { return std::stop_source(); }

} // namespace detail

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

/* As catapults_init: the caller becomes the first thread. */
inline void start(const catapults_options &options = {}) { detail::check(catapults_init(&options), "catapults_init"); }

/* What a thread is created with: struct catapults_attributes. Names and values are copied. */
class attributes {
    std::string name_;
    std::vector<std::pair<std::string, catapults_value>> values_;
    catapults_attributes plain_ = {};

    attributes &&with(const char *name, catapults_value value) && {
        values_.emplace_back(name, value);
        return std::move(*this);
    }

  public:
    attributes &&name(std::string name) && {
        name_ = std::move(name);
        return std::move(*this);
    }
    attributes &&stack_size(std::size_t bytes) && {
        plain_.stack_size = bytes;
        return std::move(*this);
    }
    /* Where the policy's per-thread imports are read. It must outlive the thread. */
    attributes &&object(void *object) && {
        plain_.object = object;
        return std::move(*this);
    }
    attributes &&scheduler(catapults_scheduler *scheduler) && {
        plain_.scheduler = scheduler;
        return std::move(*this);
    }
    /* Bit n: it may run on processor n. */
    attributes &&processors(std::uint64_t processors) && {
        plain_.processors = processors;
        return std::move(*this);
    }
    /* It has a job in each: see this_thread::next_period. */
    attributes &&period(std::chrono::nanoseconds period) && {
        plain_.period = period.count();
        return std::move(*this);
    }

    /* What the thread has for a per-thread import of its policy (catapults/imports.h). */
    attributes &&value(const char *import, bool value) && {
        return std::move(*this).with(import, catapults_value_bool(import, value));
    }
    attributes &&value(const char *import, std::integral auto value) && {
        return std::move(*this).with(import, catapults_value_int(import, static_cast<catapults_int>(value)));
    }
    attributes &&value(const char *import, std::floating_point auto value) && {
        return std::move(*this).with(import, catapults_value_float(import, value));
    }
    attributes &&value(const char *import, std::chrono::nanoseconds value) && {
        return std::move(*this).with(import, catapults_value_time(import, value.count()));
    }

    /* Calls `create` with the plain attributes, which are valid for that long. */
    template <class Create> int for_creation(bool detached, Create &&create) const {
        std::vector<catapults_value> values;
        for (const auto &[name, value] : values_) {
            values.push_back(value);
            values.back().name = name.c_str();
        }
        catapults_attributes plain = plain_;
        plain.name = name_.empty() ? nullptr : name_.c_str();
        plain.values = values.data();
        plain.values_count = values.size();
        plain.detached = detached;
        return create(&plain);
    }
};

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* As std::thread. */
class thread {
    catapults_t handle_ = nullptr;

    template <class Call> static void *run(void *call) {
        std::unique_ptr<Call> own(static_cast<Call *>(call));
        (*own)();
        return nullptr;
    }

    template <class Function, class... Arguments> static auto call(Function &&function, Arguments &&...arguments) {
        return [function = std::decay_t<Function>(std::forward<Function>(function)),
                arguments = std::tuple<std::decay_t<Arguments>...>(std::forward<Arguments>(arguments)...)]() mutable {
            std::apply([&](auto &...each) { std::invoke(std::move(function), std::move(each)...); }, arguments);
        };
    }

  public:
    using native_handle_type = catapults_t;

    class id {
        catapults_t handle_ = nullptr;

      public:
        id() noexcept = default;
        explicit id(catapults_t handle) noexcept : handle_(handle) {}
        auto operator<=>(const id &) const noexcept = default;
        friend std::ostream &operator<<(std::ostream &out, id one) { return out << static_cast<void *>(one.handle_); }
        friend struct std::hash<id>;
    };

    thread() noexcept = default;

    /* std::system_error with EAGAIN: there is no memory, or the policy refused the thread; what() then has the policy's
     * reason. */
    template <class Function, class... Arguments>
    explicit thread(const attributes &with, Function &&function, Arguments &&...arguments) {
        auto made = call(std::forward<Function>(function), std::forward<Arguments>(arguments)...);
        auto own = std::make_unique<decltype(made)>(std::move(made));
        int error = with.for_creation(false, [&](const catapults_attributes *plain) {
            return catapults_create(&handle_, plain, run<decltype(made)>, own.get());
        });
        if (error != 0) {
            const char *refusal = error == EAGAIN ? catapults_refusal() : nullptr;
            throw std::system_error(error, std::generic_category(),
                                    refusal          ? refusal
                                    : error == EPERM ? "catapults_create: catapults::start() comes first"
                                                     : "catapults_create");
        }
        static_cast<void>(own.release()); /* the thread has it now */
    }

    template <class Function, class... Arguments>
        requires(!std::same_as<std::remove_cvref_t<Function>, thread> &&
                 !std::same_as<std::remove_cvref_t<Function>, attributes>)
    explicit thread(Function &&function, Arguments &&...arguments)
        : thread(attributes(), std::forward<Function>(function), std::forward<Arguments>(arguments)...) {}

    thread(thread &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    thread &operator=(thread &&other) noexcept {
        if (joinable())
            std::terminate();
        handle_ = std::exchange(other.handle_, nullptr);
        return *this;
    }
    ~thread() {
        if (joinable())
            std::terminate();
    }

    [[nodiscard]] bool joinable() const noexcept { return handle_ != nullptr; }
    [[nodiscard]] id get_id() const noexcept { return id(handle_); }
    [[nodiscard]] native_handle_type native_handle() const noexcept { return handle_; }
    void swap(thread &other) noexcept { std::swap(handle_, other.handle_); }

    void join() {
        detail::check(joinable() ? catapults_join(handle_, nullptr) : EINVAL, "catapults_join");
        handle_ = nullptr;
    }
    /* The caller lends its turns until then. */
    void join_donating() {
        detail::check(joinable() ? catapults_join_donating(handle_, nullptr) : EINVAL, "catapults_join_donating");
        handle_ = nullptr;
    }
    void detach() {
        detail::check(joinable() ? catapults_detach(handle_) : EINVAL, "catapults_detach");
        handle_ = nullptr;
    }

    void suspend() { detail::check(catapults_suspend(handle_), "catapults_suspend"); }
    void resume() { detail::check(catapults_resume(handle_), "catapults_resume"); }

    /* How many processors take turns. */
    [[nodiscard]] static unsigned hardware_concurrency() noexcept {
        int processors = catapults_processors();
        return processors > 0 ? static_cast<unsigned>(processors) : 0;
    }
};

inline void swap(thread &one, thread &other) noexcept { one.swap(other); }

/* As std::jthread: asks the function to stop, and joins, when it is destroyed. Look at the token; do not register a
 * std::stop_callback: its destructor tells threads apart by their kernel threads, which Catapults threads share. */
class jthread {
    std::stop_source stop_{std::nostopstate};
    thread thread_;

  public:
    using id = thread::id;
    using native_handle_type = thread::native_handle_type;

    jthread() noexcept = default;

    template <class Function, class... Arguments>
    explicit jthread(const attributes &with, Function &&function, Arguments &&...arguments) {
        stop_ = detail::new_stop_source();
        if constexpr (std::is_invocable_v<std::decay_t<Function>, std::stop_token, std::decay_t<Arguments>...>) {
            thread_ = thread(with, std::forward<Function>(function), stop_.get_token(),
                             std::forward<Arguments>(arguments)...);
        } else {
            thread_ = thread(with, std::forward<Function>(function), std::forward<Arguments>(arguments)...);
        }
    }

    template <class Function, class... Arguments>
        requires(!std::same_as<std::remove_cvref_t<Function>, jthread> &&
                 !std::same_as<std::remove_cvref_t<Function>, attributes>)
    explicit jthread(Function &&function, Arguments &&...arguments)
        : jthread(attributes(), std::forward<Function>(function), std::forward<Arguments>(arguments)...) {}

    jthread(jthread &&) noexcept = default;
    jthread &operator=(jthread &&other) noexcept {
        jthread(std::move(other)).swap(*this);
        return *this;
    }
    ~jthread() {
        if (joinable()) {
            request_stop();
            join();
        }
    }

    void swap(jthread &other) noexcept {
        std::swap(stop_, other.stop_);
        thread_.swap(other.thread_);
    }
    [[nodiscard]] bool joinable() const noexcept { return thread_.joinable(); }
    [[nodiscard]] id get_id() const noexcept { return thread_.get_id(); }
    [[nodiscard]] native_handle_type native_handle() const noexcept { return thread_.native_handle(); }
    void join() { thread_.join(); }
    void detach() { thread_.detach(); }

    [[nodiscard]] std::stop_source get_stop_source() noexcept { return stop_; }
    [[nodiscard]] std::stop_token get_stop_token() const noexcept { return stop_.get_token(); }
    bool request_stop() noexcept { return stop_.request_stop(); }
};

namespace this_thread {

[[nodiscard]] inline thread::id get_id() noexcept { return thread::id(catapults_self()); }
inline void yield() noexcept { catapults_yield(); }

template <class Clock, class Duration> void sleep_until(const std::chrono::time_point<Clock, Duration> &point) {
    int error;
    do {
        error = catapults_sleep_until(detail::instant(point));
    } while (error == EINTR); /* a handler of a signal has run */
    detail::check(error, "catapults_sleep_until");
}

template <class Rep, class Period> void sleep_for(const std::chrono::duration<Rep, Period> &duration) {
    sleep_until(clock::time_point(std::chrono::nanoseconds(detail::after(duration))));
}

/* Ends the caller's job and waits for the next one. Returns how many releases had passed. */
inline std::int64_t next_period() {
    std::int64_t missed = 0;
    detail::check(catapults_next_period(&missed), "catapults_next_period");
    return missed;
}

} // namespace this_thread

/* ---- Mutexes ----------------------------------------------------------------------------------------------------- */

namespace detail {

/* What all mutexes have. Those that wait lend their turns to the owner, unless the protocol is another. */
template <catapults_mutex_type Type> class basic_mutex {
    catapults_mutex_t mutex_;

  public:
    using native_handle_type = catapults_mutex_t *;

    basic_mutex() : basic_mutex(CATAPULTS_PROTOCOL_INHERIT) {}
    explicit basic_mutex(catapults_mutex_protocol protocol, std::int64_t ceiling = 0) {
        catapults_mutex_attributes with = {};
        with.type = Type;
        with.protocol = protocol;
        with.ceiling = ceiling;
        check(catapults_mutex_init(&mutex_, &with), "catapults_mutex_init");
    }
    basic_mutex(const basic_mutex &) = delete;
    basic_mutex &operator=(const basic_mutex &) = delete;
    ~basic_mutex() { catapults_mutex_destroy(&mutex_); }

    void lock() { check(catapults_mutex_lock(&mutex_), "catapults_mutex_lock"); }
    bool try_lock() { return in_time(catapults_mutex_trylock(&mutex_), EBUSY, "catapults_mutex_trylock"); }
    void unlock() { check(catapults_mutex_unlock(&mutex_), "catapults_mutex_unlock"); }

    template <class Clock, class Duration> bool try_lock_until(const std::chrono::time_point<Clock, Duration> &point) {
        return in_time(catapults_mutex_lock_until(&mutex_, instant(point)), ETIMEDOUT, "catapults_mutex_lock_until");
    }
    template <class Rep, class Period> bool try_lock_for(const std::chrono::duration<Rep, Period> &duration) {
        return in_time(catapults_mutex_lock_until(&mutex_, after(duration)), ETIMEDOUT, "catapults_mutex_lock_until");
    }

    native_handle_type native_handle() noexcept { return &mutex_; }
};

} // namespace detail

/* As std::mutex and std::timed_mutex. An owner that locks it again gets EDEADLK. */
using mutex = detail::basic_mutex<CATAPULTS_MUTEX_ERRORCHECK>;
using recursive_mutex = detail::basic_mutex<CATAPULTS_MUTEX_RECURSIVE>;

/* As std::shared_timed_mutex. A thread that has it must not ask to share it again (catapults/locks.h). */
class shared_mutex {
    catapults_rwlock_t lock_ = CATAPULTS_RWLOCK_INITIALIZER;

  public:
    using native_handle_type = catapults_rwlock_t *;

    shared_mutex() = default;
    shared_mutex(const shared_mutex &) = delete;
    shared_mutex &operator=(const shared_mutex &) = delete;
    ~shared_mutex() { catapults_rwlock_destroy(&lock_); }

    void lock() { detail::check(catapults_rwlock_wrlock(&lock_), "catapults_rwlock_wrlock"); }
    bool try_lock() { return detail::in_time(catapults_rwlock_trywrlock(&lock_), EBUSY, "catapults_rwlock_trywrlock"); }
    void unlock() { detail::check(catapults_rwlock_unlock(&lock_), "catapults_rwlock_unlock"); }
    void lock_shared() { detail::check(catapults_rwlock_rdlock(&lock_), "catapults_rwlock_rdlock"); }
    bool try_lock_shared() {
        return detail::in_time(catapults_rwlock_tryrdlock(&lock_), EBUSY, "catapults_rwlock_tryrdlock");
    }
    void unlock_shared() { unlock(); }

    template <class Clock, class Duration> bool try_lock_until(const std::chrono::time_point<Clock, Duration> &point) {
        return detail::in_time(catapults_rwlock_wrlock_until(&lock_, detail::instant(point)), ETIMEDOUT,
                               "catapults_rwlock_wrlock_until");
    }
    template <class Rep, class Period> bool try_lock_for(const std::chrono::duration<Rep, Period> &duration) {
        return try_lock_until(clock::time_point(std::chrono::nanoseconds(detail::after(duration))));
    }
    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &point) {
        return detail::in_time(catapults_rwlock_rdlock_until(&lock_, detail::instant(point)), ETIMEDOUT,
                               "catapults_rwlock_rdlock_until");
    }
    template <class Rep, class Period> bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &duration) {
        return try_lock_shared_until(clock::time_point(std::chrono::nanoseconds(detail::after(duration))));
    }

    native_handle_type native_handle() noexcept { return &lock_; }
};

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

/* As std::condition_variable. */
class condition_variable {
    catapults_cond_t condition_ = CATAPULTS_COND_INITIALIZER;

    std::cv_status wait_until_instant(std::unique_lock<mutex> &lock, std::int64_t instant) {
        int error = catapults_cond_wait_until(&condition_, lock.mutex()->native_handle(), instant);
        return detail::in_time(error, ETIMEDOUT, "catapults_cond_wait_until") ? std::cv_status::no_timeout
                                                                              : std::cv_status::timeout;
    }

  public:
    using native_handle_type = catapults_cond_t *;

    condition_variable() = default;
    condition_variable(const condition_variable &) = delete;
    condition_variable &operator=(const condition_variable &) = delete;
    ~condition_variable() { catapults_cond_destroy(&condition_); }

    void notify_one() noexcept { catapults_cond_signal(&condition_); }
    void notify_all() noexcept { catapults_cond_broadcast(&condition_); }

    /* The thread is expected to notify: those that wait lend it their turns. */
    void expect(const thread &owner) { catapults_cond_set_owner(&condition_, owner.native_handle()); }

    void wait(std::unique_lock<mutex> &lock) {
        detail::check(catapults_cond_wait(&condition_, lock.mutex()->native_handle()), "catapults_cond_wait");
    }
    template <std::predicate Predicate> void wait(std::unique_lock<mutex> &lock, Predicate until) {
        while (!until())
            wait(lock);
    }

    template <class Clock, class Duration>
    std::cv_status wait_until(std::unique_lock<mutex> &lock, const std::chrono::time_point<Clock, Duration> &point) {
        return wait_until_instant(lock, detail::instant(point));
    }
    template <class Clock, class Duration, std::predicate Predicate>
    bool wait_until(std::unique_lock<mutex> &lock, const std::chrono::time_point<Clock, Duration> &point,
                    Predicate until) {
        while (!until())
            if (wait_until(lock, point) == std::cv_status::timeout)
                return until();
        return true;
    }
    template <class Rep, class Period>
    std::cv_status wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &duration) {
        return wait_until_instant(lock, detail::after(duration));
    }
    template <class Rep, class Period, std::predicate Predicate>
    bool wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &duration, Predicate until) {
        return wait_until(lock, clock::time_point(std::chrono::nanoseconds(detail::after(duration))), std::move(until));
    }

    native_handle_type native_handle() noexcept { return &condition_; }
};

/* ---- Semaphores and barriers --------------------------------------------------------------------------------------
 */

/* As std::counting_semaphore. */
class semaphore {
    catapults_sem_t semaphore_;

  public:
    explicit semaphore(std::uint32_t value) {
        detail::check(catapults_sem_init(&semaphore_, value), "catapults_sem_init");
    }
    semaphore(const semaphore &) = delete;
    semaphore &operator=(const semaphore &) = delete;
    ~semaphore() { catapults_sem_destroy(&semaphore_); }

    static constexpr std::ptrdiff_t max() noexcept { return CATAPULTS_SEM_VALUE_MAX; }

    void release(std::uint32_t count = 1) {
        for (; count > 0; count--)
            detail::check(catapults_sem_post(&semaphore_), "catapults_sem_post");
    }
    void acquire() { acquire_until(CATAPULTS_FOREVER); }
    bool try_acquire() { return detail::in_time(catapults_sem_trywait(&semaphore_), EAGAIN, "catapults_sem_trywait"); }
    template <class Clock, class Duration>
    bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &point) {
        return acquire_until(detail::instant(point));
    }
    template <class Rep, class Period> bool try_acquire_for(const std::chrono::duration<Rep, Period> &duration) {
        return acquire_until(detail::after(duration));
    }

  private:
    bool acquire_until(std::int64_t instant) {
        int error;
        do {
            error = catapults_sem_wait_until(&semaphore_, instant);
        } while (error == EINTR); /* a handler of a signal has run */
        return detail::in_time(error, ETIMEDOUT, "catapults_sem_wait_until");
    }
};

/* As std::barrier, without a completion function. */
class barrier {
    catapults_barrier_t barrier_;

  public:
    explicit barrier(std::uint32_t threads) {
        detail::check(catapults_barrier_init(&barrier_, threads), "catapults_barrier_init");
    }
    barrier(const barrier &) = delete;
    barrier &operator=(const barrier &) = delete;
    ~barrier() { catapults_barrier_destroy(&barrier_); }

    /* Whether the caller came last. */
    bool arrive_and_wait() {
        int error = catapults_barrier_wait(&barrier_);
        detail::check(error == CATAPULTS_BARRIER_SERIAL_THREAD ? 0 : error, "catapults_barrier_wait");
        return error == CATAPULTS_BARRIER_SERIAL_THREAD;
    }
};

} // namespace catapults

template <> struct std::hash<catapults::thread::id> {
    std::size_t operator()(catapults::thread::id id) const noexcept { return std::hash<const void *>()(id.handle_); }
};

#endif
