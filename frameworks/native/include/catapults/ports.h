/*
 * Catapults: message ports, by which threads communicate. Part of catapults.h.
 *
 * All-zero memory is a port without a name and without a bound, as the initializer makes it.
 */
#ifndef CATAPULTS_PORTS_H
#define CATAPULTS_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catapults/locks.h"
#include "catapults/threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A message is memory of the application that begins with this struct, or contains it. Nothing is copied: a message is
 * the sender's until it is sent, the port's until it is received, and then the receiver's. A message that is not in use
 * has `state` 0; members not named in an initializer are 0 and NULL.
 */
struct catapults_message {
    int kind; /* these three are the application's; negative kinds are the runtime's own */
    void *data;
    size_t size;
    struct catapults_port *reply_to; /* where catapults_port_reply sends a message that was not called; NULL: nowhere */
    /* Disposes of a message that nobody wants any more: see catapults_port_call_until and _destroy. NULL: nothing to
     * do. */
    void (*release)(struct catapults_message *message);
    catapults_t sender; /* set when it is sent; valid while its sender lives */

    struct catapults_message *next, *previous; /* the runtime's, from here on */
    struct catapults_port *port;
    uintptr_t server; /* the thread that is expected to reply */
    int state;
};

typedef struct catapults_port {
    const char *name;                            /* for the report of a deadlock; may be NULL */
    size_t capacity;                             /* messages that it holds before senders wait; 0: any number */
    size_t count;                                /* the runtime's, from here on */
    struct catapults_message *first, *last;      /* in order of arrival */
    struct catapults_waiters receivers, senders; /* in order of arrival, too */
    struct port_selector *selectors;
    uintptr_t server; /* names the server: see catapults_port_set_server */
    catapults_t scheduler;
    struct catapults_message *spent; /* the notice that was received last, still to be released */
    bool closed;
} catapults_port_t;
#define CATAPULTS_PORT_INITIALIZER {0, 0, 0, 0, 0, {0, 0}, {0, 0}, 0, 0, 0, 0, false}

/* As the initializer does. `name` is not copied. */
void catapults_port_init(catapults_port_t *port, const char *name, size_t capacity);

/* Sending, receiving and calling are cancellation points where they may wait. A call is one until it waits for the
 * reply.
 *
 * Waits while the port is full. Any number of threads may send, and any number receive. Each message is received once,
 * by the thread that has waited longest. EPIPE: the port is closed. ETIMEDOUT, EAGAIN: there was no room. EINVAL: the
 * message is in use. After an error the message is still the caller's. A message received from a call may be sent on to
 * another port, and its receiver there can reply. */
int catapults_port_send(catapults_port_t *port, struct catapults_message *message);
int catapults_port_send_until(catapults_port_t *port, struct catapults_message *message, int64_t instant);
int catapults_port_trysend(catapults_port_t *port, struct catapults_message *message);

/* Waits for a message. EPIPE: the port is closed, and there is none left. ETIMEDOUT, EAGAIN: there was none. After an
 * error *message is NULL. */
int catapults_port_receive(catapults_port_t *port, struct catapults_message **message);
int catapults_port_receive_until(catapults_port_t *port, struct catapults_message **message, int64_t instant);
int catapults_port_tryreceive(catapults_port_t *port, struct catapults_message **message);

/* Sends a message and waits for the reply. The message is then the caller's again, with what was written into it.
 * EPIPE: the port was closed before the message was received; it is the caller's. EINVAL: it is in use.
 *
 * The caller lends its turns (1996, §3.4) to the thread that has received the message, before that to the port's
 * server.
 *
 * ETIMEDOUT: the instant came first. A message with a `release` is then the runtime's, which calls `release` at once,
 * or when the server replies. A message without one is the caller's again, so once received, its call waits for the
 * reply whatever the instant. */
int catapults_port_call(catapults_port_t *port, struct catapults_message *message);
int catapults_port_call_until(catapults_port_t *port, struct catapults_message *message, int64_t instant);

/* Returns a received message to its sender, whose call then returns. A message that was sent goes to its `reply_to`,
 * however full that is. Any thread that has the message may reply. ECANCELED: the caller has given up; the message has
 * been released. EPIPE: `reply_to` is closed. EINVAL: nobody expects a reply. After these two it is still the
 * replier's. */
int catapults_port_reply(struct catapults_message *message);

/* The thread that receives here. From now on callers lend it their turns while the message waits. NULL: none, or
 * several. It must not end before another is set. */
void catapults_port_set_server(catapults_port_t *port, catapults_t thread);

/* Ends sending. Threads that wait to send, or in calls that were not received yet, get EPIPE. Other messages can still
 * be received; then receivers get EPIPE. */
void catapults_port_close(catapults_port_t *port);

/* Closes the port and releases what is left in it. Its memory may be used anew. EBUSY: threads wait at it. */
int catapults_port_destroy(catapults_port_t *port);

size_t catapults_port_count(const catapults_port_t *port); /* messages that wait to be received */

/* ---- Threads that schedule threads (1996, §3.5) ------------------------------------------------------------------ */

/*
 * A thread that was created with a port as `scheduled_by` in its attributes is a client of the port, and under no
 * policy. It runs when a thread lends it turns, by catapults_schedule or by waiting for it. What becomes of it is told
 * at the port, in messages of the following kinds; `sender` is the client, or was. A message is valid until the next is
 * received there, and must not be replied to. It takes back a contradicting one that has not been received: if a client
 * becomes ready and blocks again, nothing is told.
 */
enum catapults_notice {
    CATAPULTS_NOTICE_READY = -1,
    CATAPULTS_NOTICE_BLOCKED = -2, /* or suspended, or it waits for a thread that is */
    CATAPULTS_NOTICE_YIELDED = -3, /* it is still ready */
    CATAPULTS_NOTICE_EXITED = -4
};

/* What ends catapults_schedule, besides another client that becomes ready and a message that comes. */
enum catapults_sensitivity {
    CATAPULTS_WAKEUP_ON_BLOCK,   /* the target blocks, or yields */
    CATAPULTS_WAKEUP_ON_SWITCH,  /* the target yields; when it blocks, the caller blocks with it */
    CATAPULTS_WAKEUP_ON_CONFLICT /* nothing; if the target is blocked, a client that becomes ready becomes the target */
};

/*
 * Lends the caller's turn, and those that follow, to a client of the port, and waits for a message there. 0: there is
 * one to receive. It may be taken back before the caller receives it, by a client that another processor or an
 * interruption makes ready again. So receive it with catapults_port_tryreceive; after EAGAIN all is as before, and the
 * caller schedules again. EAGAIN: the target is blocked, and the caller asked to be woken then. EINVAL: it is no client
 * of the port. EBUSY: another thread schedules there. EDEADLK: the target waits for the caller. EPIPE: the port is
 * closed. ETIMEDOUT. The port must outlive its clients.
 */
int catapults_schedule(catapults_t target, catapults_port_t *port, enum catapults_sensitivity sensitivity);
int catapults_schedule_until(catapults_t target, catapults_port_t *port, enum catapults_sensitivity sensitivity,
                             int64_t instant);

#ifdef __cplusplus
}
#endif
#endif
