/*
 * Catapults: message ports, by which threads talk. Part of catapults.h.
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
 * A message is memory of the application's that begins with, or contains, this. Nothing is copied: it is the sender's
 * until it is sent, the port's until it is received, and the receiver's from then on. A message that is not in use has
 * `state` 0; members not named in an initializer are 0 and NULL.
 */
struct catapults_message {
    int kind; /* these three are the application's; negative kinds are the runtime's own */
    void *data;
    size_t size;
    struct catapults_port *reply_to; /* where catapults_port_reply sends a message that was sent; NULL: nowhere */
    /* How to do away with a message that nobody wants any more: see catapults_port_call_until and _destroy. NULL: it
     * need not be. */
    void (*release)(struct catapults_message *message);
    catapults_t sender; /* set when it is sent; while its sender lives */

    struct catapults_message *next, *previous; /* the runtime's, from here on */
    struct catapults_port *port;
    uintptr_t server; /* of whom a reply is expected */
    int state;
};

typedef struct catapults_port {
    const char *name;                            /* for the report of a deadlock; may be NULL */
    size_t capacity;                             /* messages that it holds before senders have to wait; 0: any number */
    size_t count;                                /* the runtime's, from here on */
    struct catapults_message *first, *last;      /* in order of arrival */
    struct catapults_waiters receivers, senders; /* in order of arrival, too */
    struct port_selector *selectors;
    uintptr_t server; /* its name */
    catapults_t scheduler;
    struct catapults_message *spent; /* a notice that was received last, and is to be released */
    bool closed;
} catapults_port_t;
#define CATAPULTS_PORT_INITIALIZER {0, 0, 0, 0, 0, {0, 0}, {0, 0}, 0, 0, 0, 0, false}

/* As the initializer does. `name` is not copied. */
void catapults_port_init(catapults_port_t *port, const char *name, size_t capacity);

/* Sending, receiving and calling are cancellation points where they may wait; a call, until it waits for the reply.
 *
 * Waits while the port is full. Any number of threads may send, and any number receive: each message is received once,
 * by the one that has waited longest. EPIPE: the port is closed. ETIMEDOUT, EAGAIN: there was no room. EINVAL: the
 * message is in use. After an error the message is the caller's still. What was received of a call may be sent on to
 * another port: whoever receives it there can reply. */
int catapults_port_send(catapults_port_t *port, struct catapults_message *message);
int catapults_port_send_until(catapults_port_t *port, struct catapults_message *message, int64_t instant);
int catapults_port_trysend(catapults_port_t *port, struct catapults_message *message);

/* Waits for a message. EPIPE: the port is closed, and there is none left. ETIMEDOUT, EAGAIN: there was none. After an
 * error *message is NULL. */
int catapults_port_receive(catapults_port_t *port, struct catapults_message **message);
int catapults_port_receive_until(catapults_port_t *port, struct catapults_message **message, int64_t instant);
int catapults_port_tryreceive(catapults_port_t *port, struct catapults_message **message);

/* Sends a message and waits until somebody replies to it: then it is the caller's again, with what was written into it.
 * EPIPE: the port was closed before it was received; it is the caller's. EINVAL: it is in use.
 *
 * Who calls lends its turns (1996, §3.4) to the thread that has received the message, and before that to the port's
 * server, if it has one.
 *
 * ETIMEDOUT: the instant came first. A message with a `release` is the runtime's then, which calls that at once, or
 * when the server replies; one without is the caller's again, and so such a call, once received, waits for its reply
 * whatever the instant. */
int catapults_port_call(catapults_port_t *port, struct catapults_message *message);
int catapults_port_call_until(catapults_port_t *port, struct catapults_message *message, int64_t instant);

/* Gives a message that was received back to its sender, whom the call returns to; or sends it to its `reply_to`,
 * however full that is. Any thread may do so that has the message. ECANCELED: the caller has given up; the message has
 * been released. EPIPE: `reply_to` is closed, EINVAL: nobody expects a reply; the message is the replier's still. */
int catapults_port_reply(struct catapults_message *message);

/* The thread that receives here: who calls from now on lends its turns to it while the message waits. NULL: none, or
 * several. It does not end before another is set. */
void catapults_port_set_server(catapults_port_t *port, catapults_t thread);

/* Nothing more is sent: threads that wait to send, or in calls that were not received yet, get EPIPE; what was sent
 * besides is received still, and then receivers get EPIPE. */
void catapults_port_close(catapults_port_t *port);

/* Closes it, and releases what is left in it: its memory may be used anew. EBUSY: threads wait at it. */
int catapults_port_destroy(catapults_port_t *port);

size_t catapults_port_count(const catapults_port_t *port); /* messages that wait to be received */

/* ---- Threads that schedule threads (1996, §3.5) ------------------------------------------------------------------ */

/*
 * A thread that was created with a port as `scheduled_by` in its attributes is under no policy: it runs when a thread
 * lends its turns to it, by catapults_schedule, or because it waits for it. What becomes of it is told at that port, in
 * messages of the following kinds; `sender` is the thread, or was. A message is valid until the next is received there,
 * and not to be replied to. One that contradicts another which has not been received takes it back: who becomes ready
 * and blocks again was never heard of.
 */
enum catapults_notice {
    CATAPULTS_NOTICE_READY = -1,
    CATAPULTS_NOTICE_BLOCKED = -2, /* or suspended, or it waits for a thread that is */
    CATAPULTS_NOTICE_YIELDED = -3, /* it is ready still */
    CATAPULTS_NOTICE_EXITED = -4
};

/* What ends catapults_schedule before another client becomes ready or a message comes. */
enum catapults_sensitivity {
    CATAPULTS_WAKEUP_ON_BLOCK,   /* that the target blocks, or yields */
    CATAPULTS_WAKEUP_ON_SWITCH,  /* that it yields; when it blocks, the caller blocks with it */
    CATAPULTS_WAKEUP_ON_CONFLICT /* nothing; and if the target is blocked, the client that becomes ready is the target
                                  */
};

/*
 * Lends the caller's turn, and those that follow, to a client of the port, and waits for a message there. 0: there is
 * one, to be received; with several processors it may be taken back until then (catapults_port_tryreceive). EAGAIN: the
 * target is blocked, and the caller asked to be woken then. EINVAL: it is no client of the port. EBUSY: another thread
 * schedules there. EDEADLK: the target waits for the caller. EPIPE: the port is closed. ETIMEDOUT. The port outlives
 * its clients.
 */
int catapults_schedule(catapults_t target, catapults_port_t *port, enum catapults_sensitivity sensitivity);
int catapults_schedule_until(catapults_t target, catapults_port_t *port, enum catapults_sensitivity sensitivity,
                             int64_t instant);

#ifdef __cplusplus
}
#endif
#endif
