/*
 * CoW's calls into catapults.h, made of GNU Pth: as many of them as CoW has. Threads are Pth's, and who goes next is
 * for Pth's scheduler to say, or for the policy that PTH_SCHED names.
 *
 * Descriptors are tried first, and waited for when they are not ready. Pth waits with select(2), so there are at most
 * FD_SETSIZE of them, 1024: the limit that the 2005 paper (7.1) speaks of.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* Both declare them, each for its own threads. */
#include "catapults.h"
#include "catapults_pth.h"

#define STACK (64 * 1024)
#define SECOND 1000000000LL

static int waiting_for[FD_SETSIZE]; /* threads, by descriptor */
static bool closing[FD_SETSIZE];

/* ---- Starting and threads ---------------------------------------------------------------------------------------- */

int catapults_init(const struct catapults_options *options) {
    (void)options; /* CoW has none */
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return errno;
    if (limit.rlim_max > FD_SETSIZE)
        limit.rlim_max = FD_SETSIZE;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return errno;
    signal(SIGPIPE, SIG_IGN);
    return pth_init() ? 0 : errno;
}

int catapults_create(catapults_t *thread, const struct catapults_attributes *attributes, void *(*start)(void *),
                     void *argument) {
    pth_attr_t how = pth_attr_new();
    if (how == NULL)
        return EAGAIN;
    pth_attr_set(how, PTH_ATTR_NAME, attributes->name);
    pth_attr_set(how, PTH_ATTR_STACK_SIZE, (unsigned)STACK);
    pth_attr_set(how, PTH_ATTR_JOINABLE, attributes->detached ? FALSE : TRUE);
    pth_t made = pth_spawn_object(how, start, argument, attributes->object);
    int error = made != NULL ? 0 : errno != 0 ? errno : EAGAIN;
    pth_attr_destroy(how);
    if (made != NULL && thread != NULL)
        *thread = (catapults_t)made;
    return error;
}

int catapults_join(catapults_t thread, void **result) { return pth_join((pth_t)thread, result) ? 0 : errno; }

void catapults_yield(void) { pth_yield(NULL); }

const char *catapults_refusal(void) { return pth_sched_refusal(); }

const char *catapults_policy_name(void) {
    const char *name = pth_sched_name();
    return name != NULL ? name : "of Pth itself";
}

/* ---- Signals
 * --------------------------------------------------------------------------------------------------------- */

static int heard[2];

static void hear(int number) {
    struct signalfd_siginfo signal = {.ssi_signo = (uint32_t)number};
    int error = errno;
    if (write(heard[1], &signal, sizeof signal) < 0) {
        /* There are as many of them as the pipe holds. */
    }
    errno = error;
}

/*
 * Stands in for the system's: Pth forgets which signals its threads block, and lets all of them through while it waits
 * for descriptors. So they are taken there, and read from a pipe.
 */
int signalfd(int descriptor, const sigset_t *signals, int flags) {
    (void)descriptor, (void)flags; /* a new one, as CoW asks for it */
    if (pipe2(heard, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    struct sigaction taken = {.sa_handler = hear, .sa_flags = SA_RESTART};
    sigfillset(&taken.sa_mask);
    for (int number = 1; number < NSIG; number++)
        if (sigismember(signals, number) == 1)
            sigaction(number, &taken, NULL);
    return heard[0];
}

/* ---- Variables of the policy ------------------------------------------------------------------------------------- */

int catapults_schedvar_register(const char *name, catapults_int *variable) {
    return pth_schedvar_register(name, variable) ? 0 : errno;
}

int catapults_threadvar_register_at(const char *name, size_t offset) {
    return pth_threadvar_register(name, offset) ? 0 : errno;
}

int catapults_threadvar_register_bool_at(const char *name, size_t offset) {
    return pth_threadvar_register_bool(name, offset) ? 0 : errno;
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

int64_t catapults_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

static pth_time_t time_of(int64_t nanoseconds) {
    return pth_time((long)(nanoseconds / SECOND), (long)(nanoseconds % SECOND / 1000));
}

int catapults_sleep(int64_t nanoseconds) {
    pth_nap(time_of(nanoseconds));
    return 0; /* no signal ends it */
}

/* An event at an instant of our clock; NULL: never. */
static pth_event_t alarm_at(int64_t instant) {
    if (instant == CATAPULTS_FOREVER)
        return NULL;
    int64_t left = instant - catapults_now() + 1000;
    pth_time_t end = left > 0 ? pth_timeout((long)(left / SECOND), (long)(left % SECOND / 1000)) : pth_timeout(0, 0);
    return pth_event(PTH_EVENT_TIME, end);
}

static bool has_come(pth_event_t event) { return event != NULL && pth_event_status(event) == PTH_STATUS_OCCURRED; }

/* ---- Locks: Pth's, made when they are first used ----------------------------------------------------------------- */

static pth_mutex_t *lock_of(catapults_mutex_t *mutex) {
    if (mutex->waiters.first == NULL) {
        pth_mutex_t *made = malloc(sizeof *made);
        if (made == NULL)
            abort();
        pth_mutex_init(made);
        mutex->waiters.first = made;
    }
    return mutex->waiters.first;
}

static pth_cond_t *condition_of(catapults_cond_t *cond) {
    if (cond->waiters.first == NULL) {
        pth_cond_t *made = malloc(sizeof *made);
        if (made == NULL)
            abort();
        pth_cond_init(made);
        cond->waiters.first = made;
    }
    return cond->waiters.first;
}

int catapults_mutex_lock(catapults_mutex_t *mutex) {
    return pth_mutex_acquire(lock_of(mutex), FALSE, NULL) ? 0 : errno;
}

int catapults_mutex_unlock(catapults_mutex_t *mutex) { return pth_mutex_release(lock_of(mutex)) ? 0 : errno; }

int catapults_cond_wait(catapults_cond_t *cond, catapults_mutex_t *mutex) {
    return catapults_cond_wait_until(cond, mutex, CATAPULTS_FOREVER);
}

int catapults_cond_wait_until(catapults_cond_t *cond, catapults_mutex_t *mutex, int64_t instant) {
    pth_event_t alarm = alarm_at(instant);
    int error = pth_cond_await(condition_of(cond), lock_of(mutex), alarm) ? 0 : errno;
    if (has_come(alarm))
        error = ETIMEDOUT;
    if (alarm != NULL)
        pth_event_free(alarm, PTH_FREE_THIS);
    return error;
}

int catapults_cond_signal(catapults_cond_t *cond) { return pth_cond_notify(condition_of(cond), FALSE) ? 0 : errno; }

int catapults_cond_broadcast(catapults_cond_t *cond) { return pth_cond_notify(condition_of(cond), TRUE) ? 0 : errno; }

/* ---- Descriptors ------------------------------------------------------------------------------------------------- */

/* Until the descriptor may be ready. False, with errno: the instant has come, or the descriptor is closed. */
static bool wait_for(int descriptor, unsigned long goal, int64_t instant) {
    if (instant != CATAPULTS_FOREVER && catapults_now() >= instant) {
        errno = ETIMEDOUT;
        return false;
    }
    pth_event_t ready = pth_event(PTH_EVENT_FD | goal, descriptor);
    if (ready == NULL)
        return false;
    pth_event_t alarm = alarm_at(instant);
    if (alarm != NULL)
        pth_event_concat(ready, alarm, NULL);
    waiting_for[descriptor]++;
    pth_wait(ready);
    waiting_for[descriptor]--;
    int error = closing[descriptor] || pth_event_status(ready) == PTH_STATUS_FAILED ? EBADF
                : !has_come(ready) && has_come(alarm)                               ? ETIMEDOUT
                                                                                    : 0;
    pth_event_free(ready, PTH_FREE_ALL);
    errno = error;
    return error == 0;
}

static bool would_block(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int catapults_accept(int descriptor, struct sockaddr *address, socklen_t *length, int flags) {
    int accepted;
    while ((accepted = accept4(descriptor, address, length, flags)) < 0 && would_block())
        if (!wait_for(descriptor, PTH_UNTIL_FD_READABLE, CATAPULTS_FOREVER))
            return -1;
    return accepted;
}

ssize_t catapults_recv_until(int descriptor, void *buffer, size_t size, int flags, int64_t instant) {
    ssize_t received;
    while ((received = recv(descriptor, buffer, size, flags | MSG_DONTWAIT)) < 0 && would_block())
        if (!wait_for(descriptor, PTH_UNTIL_FD_READABLE, instant))
            return -1;
    return received;
}

ssize_t catapults_send_until(int descriptor, const void *buffer, size_t size, int flags, int64_t instant) {
    struct iovec whole = {(void *)buffer, size};
    size_t sent = 0;
    while (sent < size) {
        ssize_t gone =
            send(descriptor, (char *)whole.iov_base + sent, size - sent, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
        if (gone >= 0)
            sent += (size_t)gone;
        else if (!would_block())
            return -1;
        else if (!wait_for(descriptor, PTH_UNTIL_FD_WRITEABLE, instant))
            return errno == ETIMEDOUT && sent > 0 ? (ssize_t)sent : -1;
    }
    return (ssize_t)sent;
}

ssize_t catapults_writev_until(int descriptor, const struct iovec *parts, int count, int64_t instant) {
    ssize_t sent = 0;
    for (int part = 0; part < count; part++) {
        int more = part + 1 < count ? MSG_MORE : 0;
        ssize_t gone = catapults_send_until(descriptor, parts[part].iov_base, parts[part].iov_len, more, instant);
        if (gone < 0)
            return errno == ETIMEDOUT && sent > 0 ? sent : -1;
        sent += gone;
        if ((size_t)gone < parts[part].iov_len)
            break;
    }
    return sent;
}

ssize_t catapults_sendfile_until(int socket, int file, off_t *offset, size_t size, int64_t instant) {
    ssize_t sent;
    while ((sent = sendfile(socket, file, offset, size)) < 0 && would_block())
        if (!wait_for(socket, PTH_UNTIL_FD_WRITEABLE, instant))
            return -1;
    return sent;
}

int catapults_poll_until(int descriptor, short events, int64_t instant) {
    struct pollfd asked = {.fd = descriptor, .events = events};
    while (poll(&asked, 1, 0) <= 0)
        if (!wait_for(descriptor, events & POLLOUT ? PTH_UNTIL_FD_WRITEABLE : PTH_UNTIL_FD_READABLE, instant))
            return -1;
    return asked.revents;
}

/* The log alone is written so. Who reads it may be slow. */
ssize_t catapults_write(int descriptor, const void *buffer, size_t size) { return pth_write(descriptor, buffer, size); }

ssize_t catapults_pread(int descriptor, void *buffer, size_t size, off_t offset) {
    return pread(descriptor, buffer, size, offset);
}

/* Pth would go on to wait for a descriptor that is no more, so those who do are let go first. */
int catapults_close(int descriptor) {
    if (descriptor >= 0 && descriptor < FD_SETSIZE && waiting_for[descriptor] > 0) {
        closing[descriptor] = true;
        shutdown(descriptor, SHUT_RDWR);
        while (waiting_for[descriptor] > 0)
            pth_yield(NULL);
        closing[descriptor] = false;
    }
    return close(descriptor);
}
