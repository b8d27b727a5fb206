/*
 * Catapults: user-level threads whose order is a policy.
 *
 * Every call is made by a Catapults thread (catapults_init makes the caller the first one) unless it says otherwise.
 * Names and meanings follow POSIX threads. Calls return 0 or an error number; those that wrap a system call return what
 * it returns, and set errno. All threads share one virtual processor: between two calls into this header a thread runs
 * undisturbed.
 *
 * Instants are nanoseconds of CLOCK_MONOTONIC; see catapults_now().
 */
#ifndef CATAPULTS_H
#define CATAPULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "catapults/policy.h" /* catapults_int, catapults_time */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

struct catapults_options {
    const char
        *policy; /* a shared object; NULL: $CATAPULTS_POLICY, else the policy compiled in, else the built-in FIFO */
    bool strict_imports; /* registering a variable that the policy does not import ends the program (2005, §5.2) */
    const char *io;      /* "io_uring" or "epoll"; NULL: $CATAPULTS_IO, else io_uring where the kernel allows it */
    const char *trace;   /* where to record who ran when; NULL: $CATAPULTS_TRACE, else nowhere */
    size_t stack_size;   /* bytes of a thread's stack; 0: 64 KiB. Rounded up to a power of two, at least 16 KiB */
};

/* Starts the runtime with the caller as its first thread. `options` may be NULL. On failure the reason is on standard
 * error, and the result is EINVAL (the policy cannot be used), ENOMEM, EALREADY, or what the system said. */
int catapults_init(const struct catapults_options *options);

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

typedef struct catapults_handle *catapults_t;

struct catapults_attributes {
    const char *name;  /* for messages, traces and debuggers; copied, cut at 31 bytes */
    size_t stack_size; /* bytes; 0: that of the options */
    void *object;      /* where the policy's per-thread imports are read: see catapults_threadvar_register */
    bool detached;
};

/* Creates a thread. EAGAIN: no memory, or the policy refused it (catapults_refusal says why). EPERM: there was no
 * catapults_init. `attributes` and `thread` may be NULL. */
int catapults_create(catapults_t *thread, const struct catapults_attributes *attributes, void *(*start)(void *),
                     void *argument);
const char *catapults_refusal(void);                   /* the `fail` of the caller's last refused request, or NULL */
int catapults_join(catapults_t thread, void **result); /* EDEADLK, EINVAL (detached, or joined by another) */
int catapults_detach(catapults_t thread);
__attribute__((noreturn)) void catapults_exit(void *result);
catapults_t catapults_self(void);
const char *catapults_name(catapults_t thread);

void catapults_yield(void);
int catapults_yield_to(catapults_t thread); /* asks for `thread` next; EAGAIN: it cannot run, plain yield instead */
int catapults_suspend(catapults_t thread);  /* ENOTSUP, ESRCH; a thread may suspend itself */
int catapults_resume(catapults_t thread);   /* EINVAL: it is not suspended */

/* ---- Time -------------------------------------------------------------------------------------------------------- */

#define CATAPULTS_FOREVER INT64_MAX

int64_t catapults_now(void);
void catapults_sleep_until(int64_t instant);
void catapults_sleep(int64_t nanoseconds);

/* ---- Variables that the policy imports (2005, §5.2) -------------------------------------------------------------- */

/* Links a variable of the application with the one of that name in the `imports` of the policy; it must outlive the
 * runtime. Changes on either side are seen on the other. ENOENT if the policy has none: see strict_imports. */
int catapults_schedvar_register(const char *name, catapults_int *variable);
int catapults_schedvar_register_bool(const char *name, bool *variable);
int catapults_schedvar_register_time(const char *name, catapults_time *nanoseconds);
int catapults_schedvar_register_float(const char *name, double *variable);

/* Links a member of each thread's object with the one of that name in the `threadimports`. For threads with an object
 * now and later; without one the default holds. Use the macros, which check the member's type. */
#define catapults_threadvar_register(name, type, member)                                                               \
    catapults_threadvar_register_at(name,                                                                              \
                                    offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (catapults_int *)0))
#define catapults_threadvar_register_bool(name, type, member)                                                          \
    catapults_threadvar_register_bool_at(name, offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (bool *)0))
#define catapults_threadvar_register_time(name, type, member)                                                          \
    catapults_threadvar_register_time_at(name, offsetof(type, member) +                                                \
                                                   0 * sizeof(&((type *)0)->member == (catapults_time *)0))
#define catapults_threadvar_register_float(name, type, member)                                                         \
    catapults_threadvar_register_float_at(name,                                                                        \
                                          offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (double *)0))
int catapults_threadvar_register_at(const char *name, size_t offset);
int catapults_threadvar_register_bool_at(const char *name, size_t offset);
int catapults_threadvar_register_time_at(const char *name, size_t offset);
int catapults_threadvar_register_float_at(const char *name, size_t offset);
void catapults_set_object(catapults_t thread, void *object); /* NULL: none, the defaults hold */

/* ---- What the policy answers ------------------------------------------------------------------------------------- */

int64_t catapults_threads_ready(void), catapults_threads_suspended(void), catapults_threads_total(void);
const char *catapults_policy_name(void); /* the policy in force; "fifo (built-in)" after a policy had to go */

/* ---- Locks: owned by the thread that locked; waiters are served first come, first served ------------------------- */

struct catapults_waiters {
    void *first, *last;
};
typedef struct {
    catapults_t owner;
    struct catapults_waiters waiters;
} catapults_mutex_t;
typedef struct {
    struct catapults_waiters waiters;
} catapults_cond_t;
#define CATAPULTS_MUTEX_INITIALIZER {0, {0, 0}}
#define CATAPULTS_COND_INITIALIZER {{0, 0}}

int catapults_mutex_lock(catapults_mutex_t *mutex);    /* EDEADLK: the caller has it */
int catapults_mutex_trylock(catapults_mutex_t *mutex); /* EBUSY */
int catapults_mutex_unlock(catapults_mutex_t *mutex);  /* EPERM: the caller does not have it */
int catapults_cond_wait(catapults_cond_t *cond, catapults_mutex_t *mutex);
int catapults_cond_wait_until(catapults_cond_t *cond, catapults_mutex_t *mutex, int64_t instant); /* ETIMEDOUT */
int catapults_cond_signal(catapults_cond_t *cond);
int catapults_cond_broadcast(catapults_cond_t *cond);

/* ---- Calls that block the thread, never the processor ------------------------------------------------------------ */

/*
 * As the system call on a blocking descriptor, whether the descriptor is blocking or not: reads return what there is,
 * writes and sends return when all has gone. They return -1 and set errno. EINTR never comes; `_until` gives ETIMEDOUT
 * at the instant, or the number of bytes that had gone by then.
 *
 * - Close with catapults_close what has been used here, or close(2) what no thread of ours used: the runtime remembers
 * descriptors. Threads that wait on it get EBADF.
 * - catapults_accept makes the listening socket O_NONBLOCK, catapults_sendfile_until the connected one; nothing else of
 * the descriptor is changed.
 * - catapults_init sets SIGPIPE to SIG_IGN, unless the application has chosen something else by then: a peer that is
 * gone is EPIPE.
 * - ENOMEM: no memory to wait; nothing has been done.
 * - With epoll, a disk that has to be waited for holds the processor: io_uring alone reads, writes and syncs files by
 * itself. catapults_sendfile_until holds it with either while pages of the file are read from a disk.
 * - Not for a child of fork, before it calls exec.
 */
ssize_t catapults_read(int descriptor, void *buffer, size_t size);
ssize_t catapults_write(int descriptor, const void *buffer, size_t size);
ssize_t catapults_pread(int descriptor, void *buffer, size_t size, off_t offset);
ssize_t catapults_pwrite(int descriptor, const void *buffer, size_t size, off_t offset);
int catapults_fsync(int descriptor);
int catapults_accept(int descriptor, struct sockaddr *address, socklen_t *length,
                     int flags); /* accept4; EMFILE as it comes */
/* After ETIMEDOUT the socket may still connect: close it. */
int catapults_connect_until(int descriptor, const struct sockaddr *address, socklen_t length, int64_t instant);
/* With MSG_DONTWAIT in `flags` these two never block: EAGAIN. A send says MSG_NOSIGNAL by itself. */
ssize_t catapults_recv_until(int descriptor, void *buffer, size_t size, int flags, int64_t instant);
ssize_t catapults_send_until(int descriptor, const void *buffer, size_t size, int flags, int64_t instant);
ssize_t catapults_writev_until(int descriptor, const struct iovec *parts, int count, int64_t instant);
/* Sends at most `size` bytes; returns as soon as some have gone, like sendfile(2) on a non-blocking socket. 0: end of
 * the file. */
ssize_t catapults_sendfile_until(int socket, int file, off_t *offset, size_t size, int64_t instant);
/* Waits for POLLIN, POLLOUT…; returns what is there (> 0), or -1. */
int catapults_poll_until(int descriptor, short events, int64_t instant);
/* As close(2), for any descriptor. */
int catapults_close(int descriptor);

#ifdef __cplusplus
}
#endif
#endif
