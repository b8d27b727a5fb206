/*
 * Faults: the Makefile has the linker send these calls of the runtime here, which fail now and then; and a signal comes
 * at random that is not restarted.
 *
 * All of this is linked as code of the runtime: as functions of libc, for which these stand, it is not left halfway.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "stress/faults.h"
#include "stress/require.h"

static uint64_t state;
static int rates[FAULTS];    /* one in so many; 0: never */
static _Atomic int held = 1; /* until they begin */

static _Atomic long counted_here[FAULTS];
_Atomic long *faults_counted = counted_here;

void count_fault(enum fault fault) { faults_counted[fault]++; }

/* Several kernel threads may come here: a race costs a repetition of the random numbers, no more. */
static uint64_t random_number(void) {
    uint64_t random = __atomic_load_n(&state, __ATOMIC_RELAXED);
    next_random(&random);
    __atomic_store_n(&state, random, __ATOMIC_RELAXED);
    return random >> 20;
}

static bool fails(enum fault fault) {
    if (held || !rates[fault] || random_number() % (unsigned)rates[fault])
        return false;
    count_fault(fault);
    return true;
}

void faults_hold(void) { held++; }
void faults_release(void) { held--; }

#define REFUSED(type, name, parameters, arguments, fault, failed)                                                      \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters { return fails(fault) ? failed : __real_##name arguments; }

REFUSED(void *, malloc, (size_t size), (size), FAULT_MEMORY, (errno = ENOMEM, NULL))
REFUSED(void *, calloc, (size_t count, size_t size), (count, size), FAULT_MEMORY, (errno = ENOMEM, NULL))
REFUSED(void *, realloc, (void *old, size_t size), (old, size), FAULT_MEMORY, (errno = ENOMEM, NULL))
REFUSED(void *, memory_take, (size_t size), (size), FAULT_MEMORY, NULL)
REFUSED(void *, system_mmap, (void *at, size_t size, long protection, long flags, long file, off_t offset),
        (at, size, protection, flags, file, offset), FAULT_MEMORY, (void *)-ENOMEM)
REFUSED(int, system_mprotect, (void *at, size_t size, long protection), (at, size, protection), FAULT_MEMORY, -ENOMEM)
REFUSED(int, system_madvise, (void *at, size_t size, int advice), (at, size, advice), FAULT_MEMORY, -ENOMEM)
REFUSED(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument),
        (thread, attributes, start, argument), FAULT_AGAIN, EAGAIN)
REFUSED(ssize_t, system_recvfrom,
        (int socket, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length),
        (socket, buffer, size, flags, from, length), random_number() % 2 ? FAULT_AGAIN : FAULT_INTERRUPTED,
        random_number() % 2 ? -EAGAIN : -EINTR)
REFUSED(ssize_t, system_sendto,
        (int socket, const void *buffer, size_t size, int flags, const struct sockaddr *to, socklen_t length),
        (socket, buffer, size, flags, to, length), FAULT_INTERRUPTED, -EINTR)
REFUSED(int, system_epoll_pwait2,
        (int epoll, struct epoll_event *events, int most, const struct timespec *time, const uint64_t *mask,
         size_t mask_size),
        (epoll, events, most, time, mask, mask_size), FAULT_INTERRUPTED, -EINTR)

/* ---- A signal ---------------------------------------------------------------------------------------------------- */

static void interrupted(int signal) {
    (void)signal;
    count_fault(FAULT_INTERRUPTED);
}

static void send_signals(void) {
    struct sigaction action = {.sa_handler = interrupted}; /* no SA_RESTART */
    require(sigaction(SIGWINCH, &action, NULL) == 0);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGWINCH};
    require(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    long period = 100000 + (long)(random_number() % 2000000);
    struct itimerspec often = {{0, period}, {0, period}};
    require(timer_settime(timer, 0, &often, NULL) == 0);
}

void faults_begin(uint64_t seed) {
    state = seed | 1;
    for (int i = 0; i < FAULTS; i++)
        rates[i] = random_number() % 3 ? 4 + (int)(random_number() % 60) : 0;
    if (random_number() % 2)
        send_signals();
    faults_release();
}
