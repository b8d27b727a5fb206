#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/wait.h>

#include "beneath/instant.h"
#include "beneath/thread.h"
#include "beneath/waits.h"

enum { FIRST = 200000, LAST = 8000000 }; /* nanoseconds between tries */

/* Waits a little longer each time. -EINTR, or 0. */
static long pause_before_trying(int64_t *pause) {
    int64_t now = *pause ? *pause : FIRST;
    *pause = now * 2 < LAST ? now * 2 : LAST;
    return thread_wait_alone(BLOCK_KERNEL, instant_in(now)) == EINTR ? -EINTR : 0;
}

long again_wait4(const struct call *call) {
    struct call at_once = *call;
    at_once.third |= WNOHANG;
    for (int64_t pause = 0;;) {
        long result = call_kernel(&at_once);
        if (result != 0 || (call->third & WNOHANG))
            return result;
        if (pause_before_trying(&pause) < 0)
            return -EINTR;
    }
}

long again_waitid(const struct call *call) {
    struct call at_once = *call;
    siginfo_t found, *wanted = (siginfo_t *)call->third;
    at_once.fourth |= WNOHANG;
    at_once.third = (long)&found;
    for (int64_t pause = 0;;) {
        found.si_pid = 0;
        long result = call_kernel(&at_once);
        if (result != 0 || found.si_pid != 0 || (call->fourth & WNOHANG)) {
            if (wanted && result == 0)
                *wanted = found;
            return result;
        }
        if (pause_before_trying(&pause) < 0)
            return -EINTR;
    }
}

static long try_until_free(const struct call *at_once, long busy) {
    for (int64_t pause = 0;;) {
        long result = call_kernel(at_once);
        if (result != -EAGAIN && result != busy)
            return result;
        if (pause_before_trying(&pause) < 0)
            return -EINTR;
    }
}

long again_flock(const struct call *call) {
    struct call at_once = *call;
    if (call->second & LOCK_NB)
        return call_kernel(call);
    at_once.second |= LOCK_NB;
    return try_until_free(&at_once, -EWOULDBLOCK);
}

/* fcntl(2). */
long again_lock(const struct call *call) {
    struct call at_once = *call;
    if (call->second == F_SETLKW)
        at_once.second = F_SETLK;
    else if (call->second == F_OFD_SETLKW)
        at_once.second = F_OFD_SETLK;
    else
        return call_kernel(call);
    return try_until_free(&at_once, -EACCES);
}

/* ---- System V ---------------------------------------------------------------------------------------------------- */

long again_send(const struct call *call) {
    struct call at_once = *call;
    if (call->fourth & IPC_NOWAIT)
        return call_kernel(call);
    at_once.fourth |= IPC_NOWAIT;
    return try_until_free(&at_once, -EAGAIN);
}

long again_receive(const struct call *call) {
    struct call at_once = *call;
    if (call->fifth & IPC_NOWAIT)
        return call_kernel(call);
    at_once.fifth |= IPC_NOWAIT;
    return try_until_free(&at_once, -ENOMSG);
}

/* One operation is tried without waiting. Of several, the kernel waits for all at once, and holds the processor. */
long again_semaphores(const struct call *call) {
    const struct sembuf *asked = (const struct sembuf *)call->second;
    const struct timespec *time = call->number == SYS_semtimedop ? (const struct timespec *)call->fourth : NULL;
    if (call->third != 1 || (asked->sem_flg & IPC_NOWAIT))
        return call_kernel(call);
    int64_t instant = time ? instant_after(time) : DISPATCHER_FOREVER;
    if (instant < 0)
        return -EINVAL;
    struct sembuf one = *asked;
    one.sem_flg |= IPC_NOWAIT;
    const struct call at_once = {.number = SYS_semop, .first = call->first, .second = (long)&one, .third = 1};
    for (int64_t pause = 0;;) {
        long result = call_kernel(&at_once);
        if (result != -EAGAIN || clock_now() >= instant)
            return result;
        if (pause_before_trying(&pause) < 0)
            return -EINTR;
    }
}
