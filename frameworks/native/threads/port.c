/*
 * Message ports. Messages are linked through memory of their senders: nothing is copied, nothing allocated, and nothing
 * can fail for want of memory. A message that comes while threads wait is given to the first of them, so it cannot be
 * snatched away. If a sender waits for room, the receiver that makes room puts the message into the queue.
 */
#include "threads/port.h"

#include <errno.h>

#include "threads/cancel.h"
#include "threads/waiters.h"

/* Where a message is, in its `state`. */
enum {
    OUTSIDE,   /* the application's */
    QUEUED,    /* in a port, or its sender waits for room in one */
    CALLED,    /* the same, and its sender waits for a reply */
    SERVED,    /* received, and its sender waits for a reply */
    ANSWERED,  /* the reply has been given; its sender may not have run since */
    REFUSED,   /* the port was closed before it was received */
    ABANDONED, /* received, and its sender waits no longer */
};

/* ---- The queue --------------------------------------------------------------------------------------------------- */

static void append(catapults_port_t *port, struct catapults_message *message) {
    if (message->state == SERVED) /* passed on by the thread that received it */
        message->state = CALLED;
    message->port = port;
    message->next = NULL;
    message->previous = port->last;
    if (port->last)
        port->last->next = message;
    else
        port->first = message;
    port->last = message;
    port->count++;
}

static void take_out(catapults_port_t *port, struct catapults_message *message) {
    if (message->previous)
        message->previous->next = message->next;
    else
        port->first = message->next;
    if (message->next)
        message->next->previous = message->previous;
    else
        port->last = message->previous;
    message->port = NULL;
    port->count--;
}

static bool is_full(const catapults_port_t *port) { return port->capacity && port->count >= port->capacity; }

static void tell_selectors(catapults_port_t *port) {
    for (struct port_selector *selector = port->selectors, *next; selector; selector = next) {
        next = selector->next;
        selector->ready(selector);
    }
}

/* Threads that are woken here and below do not run before dispatcher_unblocked. */
static void wake(struct catapults_handle *thread) {
    if (waiters_may_wake(thread))
        dispatcher_unblock_only(&thread->member.dispatched);
}

/* The caller has a reply, or never gets one; it may be running handlers of signals. */
static void wake_caller(const struct catapults_message *message) {
    if (message->sender->message == message)
        wake(message->sender);
}

/* `server` names the thread that is to reply now; 0: none in particular. The caller lends it its turns. */
static void expect_reply_of(struct catapults_message *message, uintptr_t server) {
    struct catapults_handle *caller = message->sender;
    if (message->server && !server)
        dispatcher_renamed(&member_self()->dispatched);
    message->server = server;
    if (member_is_named(server) && server != caller->member.word && caller->message == message &&
        waiters_may_wake(caller))
        dispatcher_redirected(&caller->member.dispatched, &message->server);
}

/* The message is received. */
static struct catapults_message *received(struct catapults_message *message, struct catapults_handle *receiver) {
    if (message->state == CALLED)
        message->state = SERVED;
    if (message->state == SERVED)
        expect_reply_of(message, receiver->member.word);
    if (message->state == QUEUED)
        message->state = OUTSIDE;
    if (message->kind == CATAPULTS_NOTICE_EXITED)
        message->reply_to->spent = message;
    return message;
}

/* Gives the message to a thread that waits for one, or queues it. */
static void deliver(catapults_port_t *port, struct catapults_message *message) {
    if (port->receivers.first) {
        struct catapults_handle *receiver = waiters_take(&port->receivers);
        receiver->message = message;
        wake(receiver);
        received(message, receiver);
    } else {
        append(port, message);
        if (message->state == CALLED)
            expect_reply_of(message, port->server);
        if (port->scheduler && message->kind >= 0)
            wake(port->scheduler);
        tell_selectors(port);
    }
}

void port_post(catapults_port_t *port, struct catapults_message *message) {
    message->state = QUEUED;
    deliver(port, message);
}

/* If there is room, takes the message of a sender that waits. */
static void make_room(catapults_port_t *port) {
    if (!port->senders.first || is_full(port))
        return;
    struct catapults_handle *sender = waiters_take(&port->senders);
    deliver(port, sender->message);
    sender->message = NULL;
    wake(sender);
}

void port_withdraw(struct catapults_message *message) {
    catapults_port_t *port = message->port;
    take_out(port, message);
    message->state = OUTSIDE;
    make_room(port);
}

static int wait(struct catapults_handle *self, const catapults_port_t *port, struct catapults_waiters *waiters,
                int64_t instant) {
    self->port = port;
    waiters_append(waiters, self);
    int result = waiters_sleep_or_cancel(self, BLOCK_PORT, instant);
    if (self->waiting)
        waiters_remove(waiters, self);
    return result;
}

/* May return before there is a reply. */
static int wait_for_reply(struct catapults_handle *self, struct catapults_message *message, int64_t instant) {
    enum dispatcher_cycle cycle = dispatcher_cycle(&message->server);
    bool known = member_is_named(message->server & ~NAME_OWN);
    self->port = message->port;
    self->message = message;
    int result = waiters_sleep_for(self, &message->server, known && cycle == CYCLE_NONE, BLOCK_PORT, instant);
    self->message = NULL;
    return result;
}

/* After a call that can be cancelled and interrupted; false: it is to begin anew. */
static bool is_over(int *result) {
    struct catapults_handle *self = handle_self();
    if (*result == ECANCELED)
        catapults_testcancel();
    if (*result != ERESTART)
        signals_check(&self->member);
    else if (signals_run(&self->member) == SIGNALS_EINTR)
        *result = EINTR;
    return *result != ERESTART;
}

/* ---- Sending and receiving --------------------------------------------------------------------------------------- */

static int put(catapults_port_t *port, struct catapults_message *message, int64_t instant, bool may_wait) {
    struct catapults_handle *self = handle_self();
    if (port->closed)
        return EPIPE;
    if (message->state == QUEUED || message->state == CALLED)
        message->sender = self;
    if (!is_full(port)) {
        deliver(port, message);
        dispatcher_unblocked();
        return 0;
    }
    if (!may_wait)
        return EAGAIN;
    self->message = message;
    int result = wait(self, port, &port->senders, instant);
    if (!self->message)
        return 0;
    self->message = NULL;
    return result ? result : EPIPE;
}

static int offer(catapults_port_t *port, struct catapults_message *message, int64_t instant, bool may_wait) {
    dispatcher_enter();
    int result = EINVAL;
    switch (message->state) {
    case OUTSIDE:
        message->state = QUEUED;
        result = put(port, message, instant, may_wait);
        if (result)
            message->state = OUTSIDE;
        break;
    case SERVED: /* a request is passed on */
    case ABANDONED:
        result = put(port, message, instant, may_wait);
        break;
    default:
        break;
    }
    dispatcher_leave();
    return result;
}

int catapults_port_send(catapults_port_t *port, struct catapults_message *message) {
    return catapults_port_send_until(port, message, CATAPULTS_FOREVER);
}

int catapults_port_send_until(catapults_port_t *port, struct catapults_message *message, int64_t instant) {
    for (;;) {
        catapults_testcancel();
        int result = offer(port, message, instant, true);
        if (is_over(&result))
            return result;
    }
}

int catapults_port_trysend(catapults_port_t *port, struct catapults_message *message) {
    return offer(port, message, 0, false);
}

static int get(catapults_port_t *port, struct catapults_message **message, int64_t instant, bool may_wait) {
    struct catapults_handle *self = handle_self();
    if (port->spent) {
        port->spent->release(port->spent);
        port->spent = NULL;
    }
    if (port->first) {
        *message = port->first;
        take_out(port, *message);
        received(*message, self);
        make_room(port);
        dispatcher_unblocked();
        return 0;
    }
    *message = NULL;
    if (port->closed)
        return EPIPE;
    if (!may_wait)
        return EAGAIN;
    self->message = NULL;
    int result = wait(self, port, &port->receivers, instant);
    *message = self->message;
    self->message = NULL;
    return *message ? 0 : result ? result : EPIPE;
}

static int receive(catapults_port_t *port, struct catapults_message **message, int64_t instant, bool may_wait) {
    dispatcher_enter();
    int result = get(port, message, instant, may_wait);
    dispatcher_leave();
    return result;
}

int catapults_port_receive(catapults_port_t *port, struct catapults_message **message) {
    return catapults_port_receive_until(port, message, CATAPULTS_FOREVER);
}

int catapults_port_receive_until(catapults_port_t *port, struct catapults_message **message, int64_t instant) {
    for (;;) {
        catapults_testcancel();
        int result = receive(port, message, instant, true);
        if (is_over(&result))
            return result;
    }
}

int catapults_port_tryreceive(catapults_port_t *port, struct catapults_message **message) {
    return receive(port, message, 0, false);
}

/* ---- Calls and replies ------------------------------------------------------------------------------------------- */

/* The application's function may do anything: the caller has left the dispatcher. */
static void release(struct catapults_message *message) {
    if (message->release)
        message->release(message);
}

static int call(catapults_port_t *port, struct catapults_message *message, int64_t instant) {
    struct catapults_handle *self = handle_self();
    if (message->state != OUTSIDE)
        return EINVAL;
    message->state = CALLED;
    message->server = 0;
    int result = put(port, message, instant, true);
    while (!result && (message->state == CALLED || message->state == SERVED)) {
        result = wait_for_reply(self, message, instant);
        if (!result || message->state == ANSWERED || message->state == REFUSED) {
            result = 0;
        } else if (message->state == CALLED) {
            port = message->port;
            take_out(port, message);
            make_room(port);
            dispatcher_unblocked();
        } else if (message->release) {
            message->state = ABANDONED;
        } else {
            instant = CATAPULTS_FOREVER;
            result = 0;
        }
    }
    return result || message->state != REFUSED ? result : EPIPE;
}

int catapults_port_call(catapults_port_t *port, struct catapults_message *message) {
    return catapults_port_call_until(port, message, CATAPULTS_FOREVER);
}

int catapults_port_call_until(catapults_port_t *port, struct catapults_message *message, int64_t instant) {
    for (;;) {
        catapults_testcancel();
        dispatcher_enter();
        int result = call(port, message, instant);
        bool abandoned = message->state == ABANDONED;
        if (!abandoned && result != EINVAL)
            message->state = OUTSIDE;
        dispatcher_leave();
        if (result == ETIMEDOUT && !abandoned)
            release(message);
        if (is_over(&result))
            return result;
    }
}

/* ECANCELED: it is to be released. */
static int reply(struct catapults_message *message) {
    catapults_port_t *port = message->reply_to;
    switch (message->state) {
    case SERVED:
        message->state = ANSWERED;
        message->server = 0;
        wake_caller(message);
        dispatcher_unblocked();
        return 0;
    case ABANDONED:
        message->state = OUTSIDE;
        return ECANCELED;
    case OUTSIDE:
        if (!port || message->kind < 0)
            return EINVAL;
        if (port->closed)
            return EPIPE;
        message->state = QUEUED;
        message->sender = handle_self();
        deliver(port, message); /* even if it is full: the one that asked has room for the answer */
        dispatcher_unblocked();
        return 0;
    default:
        return EINVAL;
    }
}

int catapults_port_reply(struct catapults_message *message) {
    dispatcher_enter();
    int result = reply(message);
    dispatcher_leave();
    if (result == ECANCELED)
        release(message);
    return result;
}

/* ---- The port itself --------------------------------------------------------------------------------------------- */

void catapults_port_init(catapults_port_t *port, const char *name, size_t capacity) {
    *port = (catapults_port_t)CATAPULTS_PORT_INITIALIZER;
    port->name = name;
    port->capacity = capacity;
}

static void close_port(catapults_port_t *port) {
    if (port->closed)
        return;
    port->closed = true;
    for (struct catapults_message *message = port->first, *next; message; message = next) {
        next = message->next;
        if (message->state != CALLED)
            continue;
        take_out(port, message);
        message->state = REFUSED;
        wake_caller(message);
    }
    struct catapults_handle *thread;
    while ((thread = port->senders.first)) {
        waiters_remove(&port->senders, thread);
        wake(thread);
    }
    while ((thread = port->receivers.first)) {
        waiters_remove(&port->receivers, thread);
        wake(thread);
    }
    if (port->scheduler)
        wake(port->scheduler);
    tell_selectors(port);
    dispatcher_unblocked();
}

void catapults_port_close(catapults_port_t *port) {
    dispatcher_enter();
    close_port(port);
    dispatcher_leave();
}

int catapults_port_destroy(catapults_port_t *port) {
    dispatcher_enter();
    bool busy = port->receivers.first || port->senders.first || port->selectors || port->scheduler;
    struct catapults_message *left = NULL;
    if (!busy) {
        close_port(port);
        left = port->first;
        port->first = port->last = NULL;
        port->count = 0;
        if (port->spent)
            port->spent->release(port->spent);
        port->spent = NULL;
    }
    dispatcher_leave();
    for (struct catapults_message *message = left, *next; message; message = next) {
        next = message->next;
        message->state = OUTSIDE;
        message->port = NULL;
        if (message->kind < 0) { /* a notice, which is the runtime's */
            dispatcher_enter();
            release(message);
            dispatcher_leave();
        } else {
            release(message);
        }
    }
    return busy ? EBUSY : 0;
}

void port_forget(struct catapults_handle *thread) {
    struct catapults_message *message = thread->message;
    if (!message || message->sender != thread)
        return;
    if (message->state == SERVED)
        message->state = ABANDONED;
    if (message->state == CALLED && message->port) {
        take_out(message->port, message);
        message->state = OUTSIDE;
    }
}

void catapults_port_set_server(catapults_port_t *port, catapults_t thread) {
    dispatcher_enter();
    port->server = thread ? thread->member.word : 0;
    dispatcher_leave();
}

size_t catapults_port_count(const catapults_port_t *port) {
    dispatcher_enter();
    size_t count = port->count;
    dispatcher_leave();
    return count;
}

void port_watch(catapults_port_t *port, struct port_selector *selector) {
    selector->previous = NULL;
    selector->next = port->selectors;
    if (selector->next)
        selector->next->previous = selector;
    port->selectors = selector;
}

void port_unwatch(catapults_port_t *port, struct port_selector *selector) {
    if (selector->previous)
        selector->previous->next = selector->next;
    else
        port->selectors = selector->next;
    if (selector->next)
        selector->next->previous = selector->previous;
}
