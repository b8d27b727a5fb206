/*
 * Messages that are sent and received, calls with replies, ports that are selected, threads that schedule threads.
 */
#include "stress/stress.h"

static catapults_port_t post, shop;
static _Atomic long sent, received, calls, replies;
static catapults_t servers[2];

struct letter {
    struct catapults_message message;
    int check;
};

static void *serve(void *unused) {
    struct catapults_message *message;
    steps_go_on();
    while (catapults_port_receive(&shop, &message) == 0) {
        message->kind++;
        replies++;
        if (message->kind % 3 == 0)
            catapults_yield();
        int error = catapults_port_reply(message);
        require(error == 0 || error == ECANCELED);
        steps_go_on();
    }
    steps_end();
    ends();
    return unused;
}

static void begin(struct worker *self) {
    catapults_port_init(&post, "post", (size_t)any(self, 4));
    catapults_port_init(&shop, "shop", (size_t)any(self, 3));
    for (int i = 0; i < 2; i++)
        require((servers[i] = spawn(self, NULL, serve, NULL)) != NULL);
    if (any(self, 2))
        catapults_port_set_server(&shop, servers[0]);
}

static void take(struct catapults_message *message) {
    struct letter *letter = (struct letter *)message;
    require(letter->check == message->kind + 1);
    received++;
    free(letter);
}

static void post_something(struct worker *self) {
    struct letter *letter = calloc(1, sizeof *letter);
    if (!letter)
        return;
    letter->message.kind = any(self, 1000);
    letter->check = letter->message.kind + 1;
    int error = any(self, 2) ? catapults_port_trysend(&post, &letter->message)
                             : catapults_port_send_until(&post, &letter->message,
                                                         catapults_now() + any(self, 100) * program.unit);
    require(error == 0 || error == EAGAIN || error == ETIMEDOUT);
    if (error)
        free(letter);
    else
        sent++;
}

static void fetch_something(struct worker *self) {
    struct catapults_message *message;
    struct catapults_source sources[] = {catapults_source_port(&post), catapults_source_instant(0)};
    sources[1].of.instant = catapults_now() + any(self, 100) * program.unit;
    int error;
    switch (any(self, 3)) {
    case 0:
        error = catapults_port_tryreceive(&post, &message);
        break;
    case 1:
        error = catapults_port_receive_until(&post, &message, sources[1].of.instant);
        break;
    default: {
        int count = catapults_select(sources, 2, CATAPULTS_FOREVER);
        require(count > 0 || errno == ENOMEM);
        error = catapults_port_tryreceive(&post, &message);
    }
    }
    require(error == 0 || error == EAGAIN || error == ETIMEDOUT);
    if (!error)
        take(message);
}

static void release(struct catapults_message *message) { free(message); }

static void call(struct worker *self) {
    if (any(self, 3)) {
        struct catapults_message message = {.kind = any(self, 1000)};
        int kind = message.kind;
        require(catapults_port_call(&shop, &message) == 0 && message.kind == kind + 1);
        calls++;
        return;
    }
    struct catapults_message *message = calloc(1, sizeof *message);
    if (!message)
        return;
    message->release = release;
    int error = catapults_port_call_until(&shop, message, catapults_now() + any(self, 50) * program.unit);
    require(error == 0 || error == ETIMEDOUT);
    if (error)
        return; /* it is the runtime's */
    calls++;
    free(message);
}

/* ---- Threads that schedule threads ------------------------------------------------------------------------------- */

static void *be_scheduled(void *argument) {
    struct worker self = {.random = (uintptr_t)argument};
    steps_go_on();
    for (int i = any(&self, 5); i > 0; i--)
        pause_somehow(&self);
    steps_end();
    ends();
    return argument;
}

static void *schedule(void *self_) {
    struct worker *self = self_;
    catapults_port_t port = CATAPULTS_PORT_INITIALIZER;
    catapults_t clients[3], ready[3], current = NULL;
    int count = 0, left = 0, all = 0;
    for (int i = 0; i < 3; i++) {
        struct catapults_attributes attributes = {.scheduled_by = &port};
        catapults_t client = spawn(self, &attributes, be_scheduled, (void *)(uintptr_t)(self->random | 1));
        if (client)
            clients[all++] = client;
    }
    left = all;
    steps_go_on();
    while (left > 0) {
        if (!current && count)
            current = ready[--count];
        if (current)
            require(catapults_schedule(current, &port, CATAPULTS_WAKEUP_ON_BLOCK) == 0);
        do {
            struct catapults_message *message;
            /* What came may have been taken back since, by who became ready again. */
            int error = current ? catapults_port_tryreceive(&port, &message) : catapults_port_receive(&port, &message);
            require(error == 0 || error == EAGAIN);
            if (error)
                break;
            bool is_current = message->sender == current;
            int kind = message->kind;
            if (kind == CATAPULTS_NOTICE_READY || (kind == CATAPULTS_NOTICE_YIELDED && is_current))
                ready[count++] = message->sender;
            for (int i = 0; kind != CATAPULTS_NOTICE_READY && kind != CATAPULTS_NOTICE_YIELDED && i < count; i++)
                if (ready[i] == message->sender)
                    ready[i] = ready[--count];
            left -= kind == CATAPULTS_NOTICE_EXITED;
            if (is_current)
                current = NULL;
        } while (catapults_port_count(&port));
    }
    steps_end();
    for (int i = 0; i < all; i++)
        join(clients[i], NULL);
    require(catapults_port_destroy(&port) == 0);
    ends();
    return NULL;
}

static void schedule_some(struct worker *self) {
    struct worker scheduler = {.random = self->random | 1};
    catapults_t thread = spawn(self, NULL, schedule, &scheduler);
    if (thread)
        join(thread, NULL);
}

static void act(struct worker *self) {
    switch (any(self, 8)) {
    case 0:
        schedule_some(self);
        break;
    case 1:
    case 2:
        call(self);
        break;
    case 3:
    case 4:
        post_something(self);
        break;
    default:
        fetch_something(self);
    }
}

static void end(struct worker *self) {
    (void)self;
    catapults_port_close(&shop);
    for (int i = 0; i < 2; i++)
        join(servers[i], NULL);
    require(catapults_port_destroy(&shop) == 0);
    struct catapults_message *message;
    while (catapults_port_tryreceive(&post, &message) == 0)
        take(message);
    require(received == sent && replies >= calls);
    require(catapults_port_destroy(&post) == 0);
}

const struct scene ports_scene = {"ports", begin, act, end};
