/*
 * Threads that an application's thread schedules (1996, §3.5). To the dispatcher they are under a scheduler that never
 * dispatches, so they run only on loans. Its handlers, which are these, tell the threads that schedule them.
 */
#include "threads/client.h"

#include <errno.h>

#include "contexts/memory.h"
#include "process/runtime.h"
#include "threads/cancel.h"
#include "threads/port.h"
#include "threads/waiters.h"

enum { NOTICES = 4 };

/* Of a client, and of the notice that it has exited, which may outlive the thread. */
struct client {
    catapults_port_t *port;
    struct catapults_message notices[NOTICES]; /* one of each kind; at most one of them is in the port */
};

static struct catapults_message *notice_of(struct client *client, enum catapults_notice kind) {
    return &client->notices[CATAPULTS_NOTICE_READY - (int)kind];
}

/* Within dispatcher_enter. */
static void release(struct catapults_message *exited) {
    memory_give((char *)(exited - (NOTICES - 1)) - offsetof(struct client, notices));
}

int client_make(struct catapults_handle *thread, catapults_port_t *port) {
    struct client *client = memory_take(sizeof *client);
    if (!client)
        return ENOMEM;
    *client = (struct client){.port = port};
    for (int i = 0; i < NOTICES; i++)
        client->notices[i] =
            (struct catapults_message){.kind = CATAPULTS_NOTICE_READY - i, .sender = thread, .reply_to = port};
    notice_of(client, CATAPULTS_NOTICE_EXITED)->release = release;
    thread->client = client;
    return 0;
}

/* ---- What is told, and whom it wakes ----------------------------------------------------------------------------- */

/* Takes back what was told and not received. Returns what remains to be told; 0: nothing. */
static int take_back(struct client *client, enum catapults_notice kind) {
    struct catapults_message *told = NULL;
    for (int i = 0; i < NOTICES && !told; i++)
        if (client->notices[i].port)
            told = &client->notices[i];
    if (!told)
        return kind;
    port_withdraw(told);
    if (kind == CATAPULTS_NOTICE_EXITED)
        return kind;
    if (told->kind == CATAPULTS_NOTICE_READY)
        return kind == CATAPULTS_NOTICE_BLOCKED ? 0 : CATAPULTS_NOTICE_READY;
    return told->kind == CATAPULTS_NOTICE_BLOCKED && kind == CATAPULTS_NOTICE_READY ? 0 : (int)kind;
}

static bool is_blocked(const struct catapults_handle *thread) {
    return thread->member.dispatched.state == THREAD_BLOCKED || thread->member.dispatched.state == THREAD_SUSPENDED;
}

/* Whether a scheduler that is in catapults_schedule is to wake up. */
static bool concerns(struct catapults_handle *scheduler, struct catapults_handle *client, enum catapults_notice kind) {
    struct catapults_handle *target = handle_of((struct member *)scheduler->target);
    enum catapults_sensitivity sensitivity = scheduler->sensitivity;
    bool blocked = is_blocked(target);
    if (client == target) {
        if (kind == CATAPULTS_NOTICE_READY)
            return false;
        return kind == CATAPULTS_NOTICE_EXITED || sensitivity == CATAPULTS_WAKEUP_ON_BLOCK ||
               (sensitivity == CATAPULTS_WAKEUP_ON_SWITCH && kind == CATAPULTS_NOTICE_YIELDED);
    }
    if (kind == CATAPULTS_NOTICE_YIELDED)
        return false;
    if (sensitivity != CATAPULTS_WAKEUP_ON_CONFLICT)
        return true;
    if (kind != CATAPULTS_NOTICE_READY || !blocked)
        return kind == CATAPULTS_NOTICE_READY;
    scheduler->target = (uintptr_t)&client->member;
    dispatcher_redirected(&scheduler->member.dispatched, &scheduler->target);
    return false;
}

static const struct catapults_stop *tell(struct catapults_thread *t, enum catapults_notice kind) {
    struct catapults_handle *thread = handle_of(member_of(dispatcher_thread_of(t)));
    struct client *client = thread->client;
    struct catapults_handle *scheduler = client->port->scheduler;
    bool wakes = scheduler && waiters_may_wake(scheduler) && concerns(scheduler, thread, kind);
    if (kind == CATAPULTS_NOTICE_YIELDED && !wakes)
        return NULL; /* no scheduler gives it turns that could give them to another */
    int left = take_back(client, kind);
    if (left)
        port_post(client->port, notice_of(client, left));
    if (wakes)
        dispatcher_unblock_only(&scheduler->member.dispatched);
    return NULL;
}

static const struct catapults_stop *ready(void *self, struct catapults_thread *t) {
    (void)self;
    return tell(t, CATAPULTS_NOTICE_READY);
}

static const struct catapults_stop *blocked(void *self, struct catapults_thread *t) {
    (void)self;
    return tell(t, CATAPULTS_NOTICE_BLOCKED);
}

static const struct catapults_stop *yielded(void *self, struct catapults_thread *t) {
    (void)self;
    return tell(t, CATAPULTS_NOTICE_YIELDED);
}

static const struct catapults_stop *exited(void *self, struct catapults_thread *t) {
    (void)self;
    return tell(t, CATAPULTS_NOTICE_EXITED);
}

/* ---- The scheduler that never dispatches ------------------------------------------------------------------------- */

static void start(void *self) { (void)self; }

static void adopt(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
}

static int64_t none(const void *self) {
    (void)self;
    return 0;
}

#define HANDLERS                                                                                                       \
    {                                                                                                                  \
        .newthread = ready,                                                                                            \
        .switch_out = yielded,                                                                                         \
        .event_raised = ready,                                                                                         \
        .suspend_thread = blocked,                                                                                     \
        .resume_thread = ready,                                                                                        \
        .exit = exited,                                                                                                \
        .threads_ready = none,                                                                                         \
        .threads_suspended = none,                                                                                     \
        .threads_total = none,                                                                                         \
    }
static const struct native_handlers handlers = HANDLERS;

static const struct catapults_policy policy = {
    .magic = CATAPULTS_MAGIC,
    .contract = CATAPULTS_CONTRACT,
    .framework_abi = CATAPULTS_NATIVE_ABI,
    .thread_size = sizeof(struct catapults_thread),
    .framework = "native",
    .name = "a thread's",
    .source = "built-in",
    .classes = (const uint8_t[]){CATAPULTS_IN_HAND},
    .start = start,
    .adopt = adopt,
    .handlers = &handlers,
};

static struct scheduler clients = {
    .handlers = HANDLERS, .lent_only = true, .policy = &policy, .name = "clients", .host = &client_scheduler};

struct catapults_scheduler client_scheduler = {.dispatched = &clients, .policy = &policy, .name = "clients"};

/* ---- Scheduling -------------------------------------------------------------------------------------------------- */

static int schedule(struct catapults_handle *target, catapults_port_t *port, enum catapults_sensitivity sensitivity,
                    int64_t instant) {
    struct catapults_handle *self = handle_self();
    if (port->first)
        return 0;
    if (port->closed)
        return EPIPE;
    if (port->scheduler)
        return EBUSY;
    if (!target->client || target->client->port != port || (unsigned)sensitivity > CATAPULTS_WAKEUP_ON_CONFLICT)
        return EINVAL;
    self->sensitivity = (uint8_t)sensitivity;
    self->port = port;
    self->message = NULL;
    int result = 0;
    /* What woke it may have been taken back: then all is as the caller believes, and the target is the same. */
    while (!result && !port->first && !port->closed) {
        self->target = (uintptr_t)&target->member;
        if (dispatcher_cycle(&self->target) != CYCLE_NONE)
            return EDEADLK;
        if (sensitivity == CATAPULTS_WAKEUP_ON_BLOCK && is_blocked(target))
            return EAGAIN;
        port->scheduler = self;
        self->asleep = true;
        self->member.signals.place = SIGNAL_PLACE_WAIT;
        result = dispatcher_wait_for(&self->target, true, BLOCK_PORT, instant);
        self->member.signals.place = SIGNAL_PLACE_ELSEWHERE;
        self->asleep = false;
        port->scheduler = NULL;
        if (self->member.signals.due) {
            waiters_run_handlers(self);
            result = 0;
        }
    }
    return port->first ? 0 : port->closed ? EPIPE : result;
}

int catapults_schedule(catapults_t target, catapults_port_t *port, enum catapults_sensitivity sensitivity) {
    return catapults_schedule_until(target, port, sensitivity, CATAPULTS_FOREVER);
}

int catapults_schedule_until(catapults_t target, catapults_port_t *port, enum catapults_sensitivity sensitivity,
                             int64_t instant) {
    catapults_testcancel();
    dispatcher_enter();
    int result = schedule(target, port, sensitivity, instant);
    dispatcher_leave();
    return result;
}
