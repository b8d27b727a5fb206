/* Threads that wait for descriptors, and the table of who waits for which. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "contexts/libc.h"
#include "contexts/memory.h"
#include "io/io.h"
#include "process/signals.h"
#include "threads/cancel.h"

static struct io_descriptor *table; /* by descriptor; grows, never shrinks */
static int table_size;
static unsigned waits;
static unsigned closing; /* unfinished calls of catapults_close: the number may be another file's */
static struct io_wait *finished_first, *finished_last; /* in the order in which they finished */

static void delist(struct io_wait *wait);
static void take_finished(struct io_wait *wait);
static void cancel(struct io_wait *wait);
static void try_again(int descriptor);

int io_wait_begin(struct io_wait *wait, int descriptor) {
    dispatcher_enter();
    int result = io_wait_enlist(wait, descriptor);
    if (result < 0)
        dispatcher_leave();
    return result;
}

int io_wait_end(struct io_wait *wait, int started, enum dispatcher_reason reason, int64_t instant) {
    int early = 0; /* why the wait ended early: ETIMEDOUT, ECANCELED, ERESTART */
    if (started == 0 && !wait->done)
        early = (reason == BLOCK_IO_FILE ? cancel_block_only : cancel_block)(handle_of(member_of(wait->thread)), reason,
                                                                             instant);
    else if (started != 0)
        wait->local = true;
    if (wait->done)
        early = 0;
    io_wait_delist(wait);
    dispatcher_leave();
    if (wait->closed)
        return -EBADF; /* whatever happened before: the caller must not use that number again */
    if (started != 0)
        return -started;
    if (early && wait->result < 0)
        return -early;
    /* Only the kernel can have cancelled it: a signal kept io_uring from making a kernel thread for it. */
    return wait->result == -ECANCELED ? -EAGAIN : wait->result;
}

int io_interrupted(void) { return signals_run(member_self()) == SIGNALS_EINTR ? -EINTR : 0; }

int io_wait_enlist(struct io_wait *wait, int descriptor) {
    struct io_descriptor *state;
    int result = io_descriptor_add(descriptor, &state);
    if (result < 0)
        return result;
    *wait = (struct io_wait){.thread = dispatcher_self(), .descriptor = descriptor, .previous = state->last};
    *(state->last != NULL ? &state->last->next : &state->first) = wait;
    state->last = wait;
    waits++;
    return 0;
}

void io_wait_delist(struct io_wait *wait) {
    if (wait->done && wait->thread != NULL) /* finished, but something else was faster */
        take_finished(wait);
    wait->thread = NULL;
    if (!wait->done)
        cancel(wait);
    waits--;
    if (!wait->closed)
        delist(wait);
}

int io_wait_ready(int descriptor, short events, enum dispatcher_reason reason, int64_t instant) {
    struct io_wait wait;
    int result = io_wait_begin(&wait, descriptor);
    if (result < 0)
        return result;
    wait.events = events | POLLERR | POLLHUP;
    result = io_wait_end(&wait, io_driver->ready(&wait), reason, instant);
    if (result == -EAGAIN)
        return 0;
    return result == -ERESTART ? io_interrupted() : result;
}

int io_wait_only(int descriptor, enum dispatcher_reason reason, int64_t instant) {
    struct io_wait wait;
    int result = io_wait_begin(&wait, descriptor);
    if (result < 0)
        return result;
    wait.local = true;
    result = io_wait_end(&wait, 0, reason, instant);
    return result == -ERESTART ? io_interrupted() : result;
}

void io_finish(struct io_wait *wait, int result) {
    wait->result = result;
    wait->done = true;
    if (wait->thread == NULL)
        return;
    wait->finished_next = NULL;
    wait->finished_previous = finished_last;
    *(finished_last != NULL ? &finished_last->finished_next : &finished_first) = wait;
    finished_last = wait;
}

void io_tell(void) {
    if (dispatcher_guard.several && finished_first != NULL)
        io_driver->dispatcher.kick();
}

bool io_finished(void) { return finished_first != NULL; }

void io_unblock_finished(void) {
    struct io_wait *wait;
    while ((wait = finished_first) != NULL) {
        struct dispatcher_thread *thread = wait->thread;
        take_finished(wait);
        wait->thread = NULL;
        if (core_is_blocked(thread)) /* otherwise its instant has made it ready, and it has not run since */
            dispatcher_unblock(thread);
    }
}

void io_forget_waits(void) {
    waits = closing = 0;
    finished_first = finished_last = NULL;
    for (int i = 0; i < table_size; i++)
        table[i] = (struct io_descriptor){.nonblocking = table[i].nonblocking};
}

bool io_waiting(void) { return waits > 0; }

bool io_closing(void) { return closing > 0; }

int io_checked(int negative) {
    if (negative == -ECANCELED)
        catapults_testcancel();
    return negative;
}

int io_failed(int negative) {
    int error = -io_checked(negative);
    *libc_error_number() = error; /* where the thread runs now */
    return -1;
}

struct io_descriptor *io_descriptor(int descriptor) {
    return descriptor >= 0 && descriptor < table_size ? &table[descriptor] : NULL;
}

int io_descriptor_add(int descriptor, struct io_descriptor **state) {
    if (descriptor < 0 || (descriptor >= table_size && system_fcntl(descriptor, F_GETFD, 0) < 0))
        return -EBADF; /* a number that is no descriptor does not make the table larger */
    if (descriptor >= table_size) {
        int size = table_size > 0 ? table_size : 64;
        while (size <= descriptor)
            size = size > INT32_MAX / 2 ? INT32_MAX : size * 2;
        struct io_descriptor *larger = memory_take((size_t)size * sizeof *table);
        if (larger == NULL)
            return -ENOMEM;
        if (table_size > 0)
            memcpy(larger, table, (size_t)table_size * sizeof *table);
        memory_give(table);
        table = larger;
        table_size = size;
    }
    *state = &table[descriptor];
    return 0;
}

int catapults_close(int descriptor) {
    dispatcher_enter();
    closing++;
    struct io_descriptor *state = io_descriptor(descriptor);
    if (state != NULL) {
        while (state->first != NULL) {
            struct io_wait *wait = state->first;
            delist(wait);
            wait->closed = true;
            if (!wait->done)
                cancel(wait);
        }
        io_driver->forget(descriptor, state);
        *state = (struct io_descriptor){.file = state->file + 1};
        io_tell();
    }
    dispatcher_leave();
    /* Other threads run here. Even after EINTR, Linux has closed it. */
    int result = system_close(descriptor);
    try_again(descriptor);
    return result == 0 || result == -EINTR ? 0 : io_failed(result);
}

/* A thread that began to wait while the file was being closed may wait for a file that nobody can write to any more, or
 * already for the next one of that number. Each looks for itself. */
static void try_again(int descriptor) {
    dispatcher_enter();
    closing--;
    struct io_descriptor *state = io_descriptor(descriptor);
    if (state != NULL) {
        for (struct io_wait *wait = state->first; wait != NULL; wait = wait->next)
            if (!wait->done && wait->local)
                io_finish(wait, 0);
            else if (!wait->done)
                io_driver->cancel(wait);
        *state = (struct io_descriptor){
            .first = state->first, .last = state->last, .moving = state->moving, .file = state->file};
        io_tell();
    }
    dispatcher_leave();
}

static void delist(struct io_wait *wait) {
    struct io_descriptor *state = &table[wait->descriptor];
    *(wait->previous != NULL ? &wait->previous->next : &state->first) = wait->next;
    *(wait->next != NULL ? &wait->next->previous : &state->last) = wait->previous;
    wait->next = wait->previous = NULL;
}

static void take_finished(struct io_wait *wait) {
    struct io_wait *next = wait->finished_next, *previous = wait->finished_previous;
    *(previous != NULL ? &previous->finished_next : &finished_first) = next;
    *(next != NULL ? &next->finished_previous : &finished_last) = previous;
}

static void cancel(struct io_wait *wait) {
    if (wait->local)
        io_finish(wait, -ECANCELED);
    else
        io_driver->cancel(wait);
}
