/*
 * Threads that schedule threads: the FIFO of 1996, Figure 4, with each of the wake-up sensitivities of §3.5, which are
 * told apart by how often it wakes up.
 */
#include <errno.h>

#include "catapults.h"
#include "support/child.h"

enum { CLIENTS = 3 };

static catapults_port_t port = CATAPULTS_PORT_INITIALIZER; /* of the scheduler */
static catapults_port_t boxes[CLIENTS], main_box;          /* of the clients, and of who wakes them */
static enum catapults_sensitivity alone, contended;        /* with one client ready, and with more */
static int wakeups, exits;
static char order[512];

static void require_order(const char *expected) {
    if (strcmp(order, expected) != 0) {
        fprintf(stderr, "order: %s, not %s\n", order, expected);
        _exit(CHILD_REQUIRE_FAILED);
    }
    order[0] = '\0';
}

static void *schedule_first_in_first_out(void *argument) {
    catapults_t ready[16], current = NULL;
    int count = 0;
    struct catapults_message *message;
    while (exits < CLIENTS) {
        if (!current && count) {
            current = ready[0];
            memmove(ready, ready + 1, (size_t)--count * sizeof *ready);
        }
        if (current) {
            int error = catapults_schedule(current, &port, count ? contended : alone);
            require(error == 0);
            wakeups++;
        } else {
            if (catapults_port_count(&port) == 0)
                wakeups++;
        }
        /* What came may have been taken back since, by a client that is ready again. */
        for (bool waits = !current; (waits ? catapults_port_receive : catapults_port_tryreceive)(&port, &message) == 0;
             waits = false) {
            switch (message->kind) {
            case CATAPULTS_NOTICE_READY:
                ready[count++] = message->sender;
                break;
            case CATAPULTS_NOTICE_EXITED:
                exits++;
                /* fall through */
            case CATAPULTS_NOTICE_BLOCKED:
                if (message->sender == current)
                    current = NULL;
                for (int i = 0; i < count; i++)
                    if (ready[i] == message->sender)
                        memmove(ready + i, ready + i + 1, (size_t)(--count - i) * sizeof *ready);
                break;
            case CATAPULTS_NOTICE_YIELDED:
                require(message->sender == current);
                ready[count++] = current;
                current = NULL;
                break;
            default:
                strcat(order, "message ");
            }
        }
    }
    return argument;
}

static void *be_client(void *number) {
    catapults_port_t *box = &boxes[(intptr_t)number];
    char name[] = {(char)('a' + (intptr_t)number), ' ', 0};
    struct catapults_message *message;
    for (;;) {
        require(catapults_port_receive(box, &message) == 0);
        if (message->kind == 0)
            break;
        for (int turns = message->kind; turns; turns--) {
            strcat(order, name);
            if (turns > 1)
                catapults_yield();
        }
        message->kind = -100;
    }
    return number;
}

static catapults_t scheduler, clients[CLIENTS];
static struct catapults_message messages[CLIENTS];

/* All clients are blocked afterwards, and the scheduler waits. */
static void begin(void) {
    require(catapults_init(NULL) == 0);
    alarm(HANGS);
    require(catapults_create(&scheduler, NULL, schedule_first_in_first_out, NULL) == 0);
    struct catapults_attributes attributes = {.scheduled_by = &port};
    for (intptr_t i = 0; i < CLIENTS; i++)
        require(catapults_create(&clients[i], &attributes, be_client, (void *)i) == 0);
    for (int i = 0; i < 20; i++)
        catapults_yield();
    wakeups = 0;
}

/* Has the client note its name so many times, with a yield between each two. */
static void wake(int client, int turns) {
    messages[client].kind = turns;
    require(catapults_port_send(&boxes[client], &messages[client]) == 0);
}

static void let_run(void) {
    for (int i = 0; i < 30; i++)
        catapults_yield();
}

static void finish(void) {
    for (int i = 0; i < CLIENTS; i++) {
        messages[i].kind = 0;
        require(catapults_port_send(&boxes[i], &messages[i]) == 0);
    }
    for (int i = 0; i < CLIENTS; i++)
        require(catapults_join(clients[i], NULL) == 0);
    require(catapults_join(scheduler, NULL) == 0);
    require(catapults_port_destroy(&port) == 0);
}

/* One after the other: each time the client blocks the scheduler is woken, and when the next is ready. */
static void on_block(void) {
    alone = contended = CATAPULTS_WAKEUP_ON_BLOCK;
    begin();
    for (int i = 0; i < 10; i++) {
        wake(i % 2, 1);
        let_run();
    }
    require_order("a b a b a b a b a b ");
    require(wakeups == 20);
    finish();
}

/* As long as it is the same client, nothing wakes it. */
static void on_switch(void) {
    alone = CATAPULTS_WAKEUP_ON_SWITCH;
    contended = CATAPULTS_WAKEUP_ON_BLOCK;
    begin();
    wake(0, 1);
    let_run();
    wakeups = 0;
    for (int i = 0; i < 10; i++) {
        wake(0, 1);
        let_run();
    }
    require_order("a a a a a a a a a a a ");
    require(wakeups == 0);
    wake(1, 1);
    let_run();
    require_order("b ");
    require(wakeups == 1);
    finish();
}

/* As long as one of them at a time can run, nothing wakes it, whoever that is. */
static void on_conflict(void) {
    alone = CATAPULTS_WAKEUP_ON_CONFLICT;
    contended = CATAPULTS_WAKEUP_ON_BLOCK;
    begin();
    wake(0, 1);
    let_run();
    wakeups = 0;
    for (int i = 0; i < 12; i++) {
        wake(i % 3, 1);
        let_run();
    }
    require_order("a a b c a b c a b c a b c ");
    require(wakeups == 0);
    wake(0, 1);
    wake(1, 1);
    wake(2, 1);
    let_run();
    require_order("c a b "); /* it has heard of nobody since it chose c: the others have become ready */
    require(wakeups == 3);   /* and then when c and a block; b is alone */
    finish();
}

/* Who yields comes last. */
static void yields_are_told(void) {
    alone = CATAPULTS_WAKEUP_ON_CONFLICT;
    contended = CATAPULTS_WAKEUP_ON_BLOCK;
    begin();
    wake(0, 3);
    wake(1, 3);
    wake(2, 3);
    let_run();
    require_order("c a b c a b c a b ");
    wakeups = 0;
    wake(2, 3); /* nobody to give way to */
    let_run();
    require_order("c c c ");
    require(wakeups == 0);
    finish();
}

static void a_message_wakes_it(void) {
    alone = contended = CATAPULTS_WAKEUP_ON_CONFLICT;
    begin();
    wake(0, 1);
    let_run();
    wakeups = 0;
    struct catapults_message message = {.kind = 7};
    require(catapults_port_send(&port, &message) == 0);
    let_run();
    require_order("a message ");
    require(wakeups == 1);
    finish();
}

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static void *lock_as_client(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0);
    strcat(order, "client ");
    require(catapults_mutex_unlock(&mutex) == 0);
    return argument;
}

/* A client waits for a thread of a policy, which sleeps: to its scheduler it is blocked, and ready again with that. */
static void a_client_may_lend(void) {
    require(catapults_init(NULL) == 0);
    alarm(HANGS);
    require(catapults_mutex_lock(&mutex) == 0);
    struct catapults_attributes attributes = {.scheduled_by = &port};
    catapults_t client;
    require(catapults_create(&client, &attributes, lock_as_client, NULL) == 0);
    exits = CLIENTS - 1;
    alone = contended = CATAPULTS_WAKEUP_ON_BLOCK;
    require(catapults_create(&scheduler, NULL, schedule_first_in_first_out, NULL) == 0);
    catapults_yield();
    require_order("");
    catapults_sleep(2000000);
    require_order("");
    strcat(order, "main ");
    require(catapults_mutex_unlock(&mutex) == 0);
    require(catapults_join(client, NULL) == 0 && catapults_join(scheduler, NULL) == 0);
    require_order("main client ");
}

struct task {
    catapults_int priority;
};
static struct task urgent = {5};

static void *note_that_it_ended(void *argument) {
    struct catapults_message *message;
    do
        require(catapults_port_receive(&port, &message) == 0);
    while (message->kind != CATAPULTS_NOTICE_EXITED);
    strcat(order, "scheduler ");
    return argument;
}

static void *note_itself(void *argument) {
    strcat(order, "client ");
    return argument;
}

/* It runs on the turn of who waits for its end, which is lost to its scheduler as soon as that is told. */
static void an_end_may_cost_the_turn(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/urgency.so"}) == 0);
    alarm(HANGS);
    catapults_threadvar_register("priority", struct task, priority);
    struct catapults_attributes attributes = {.object = &urgent};
    require(catapults_create(&scheduler, &attributes, note_that_it_ended, NULL) == 0);
    attributes = (struct catapults_attributes){.scheduled_by = &port};
    catapults_t client;
    require(catapults_create(&client, &attributes, note_itself, NULL) == 0);
    require_order("");
    require(catapults_join_donating(client, NULL) == 0);
    require_order("client scheduler ");
    catapults_yield();
    require(catapults_join(scheduler, NULL) == 0);
    require(strcmp(catapults_policy_name(), "urgency") == 0);
}

static void *nothing(void *argument) { return argument; }

static void *send_to_scheduler(void *message) {
    require(catapults_port_send(&port, message) == 0);
    return NULL;
}

/* Who waits for room behind a notice has it as soon as that is taken back, although nobody receives. */
static void what_is_taken_back_makes_room(void) {
    require(catapults_init(NULL) == 0);
    alarm(HANGS);
    port.capacity = 1;
    struct catapults_attributes attributes = {.scheduled_by = &port};
    catapults_t client, sender;
    require(catapults_create(&client, &attributes, nothing, NULL) == 0);
    static struct catapults_message waiting = {.kind = 1}, late = {.kind = 2}, *received;
    require(catapults_create(&sender, NULL, send_to_scheduler, &waiting) == 0);
    catapults_yield();
    require(catapults_port_count(&port) == 1 && port.senders.first);
    require(catapults_suspend(client) == 0);
    require(catapults_join(sender, NULL) == 0 && catapults_port_trysend(&port, &late) == EAGAIN);
    require(catapults_port_receive(&port, &received) == 0 && received == &waiting);
}

static void *schedule_wrongly(void *argument) {
    return (void *)(intptr_t)catapults_schedule(argument, &port, CATAPULTS_WAKEUP_ON_BLOCK);
}

static void misuse(void) {
    require(catapults_init(NULL) == 0);
    alarm(HANGS);
    struct catapults_attributes attributes = {.scheduled_by = &port};
    catapults_t client;
    require(catapults_schedule(catapults_self(), &port, CATAPULTS_WAKEUP_ON_BLOCK) == EINVAL);
    require(catapults_create(&client, &attributes, be_client, NULL) == 0);
    require(catapults_schedule(client, &port, CATAPULTS_WAKEUP_ON_BLOCK) == 0); /* there is a message */
    struct catapults_message *message;
    require(catapults_port_receive(&port, &message) == 0 && message->kind == CATAPULTS_NOTICE_READY &&
            message->sender == client && catapults_port_reply(message) == EINVAL);
    require(catapults_schedule(client, &main_box, CATAPULTS_WAKEUP_ON_BLOCK) == EINVAL);
    require(catapults_schedule(client, &port, 3) == EINVAL);
    require(catapults_schedule(client, &port, CATAPULTS_WAKEUP_ON_BLOCK) == 0);
    require(catapults_port_receive(&port, &message) == 0 && message->kind == CATAPULTS_NOTICE_BLOCKED);
    require(catapults_schedule(client, &port, CATAPULTS_WAKEUP_ON_BLOCK) == EAGAIN);
    require(catapults_schedule_until(client, &port, CATAPULTS_WAKEUP_ON_SWITCH, catapults_now() + 1000000) ==
            ETIMEDOUT);
    wake(0, 0);
    catapults_t other;
    require(catapults_create(&other, NULL, schedule_wrongly, client) == 0);
    void *result;
    require(catapults_join(other, &result) == 0 && result == NULL);
    require(catapults_port_tryreceive(&port, &message) == 0 && message->kind == CATAPULTS_NOTICE_READY);
    require(catapults_schedule(client, &port, CATAPULTS_WAKEUP_ON_CONFLICT) == 0);
    require(catapults_port_receive(&port, &message) == 0 && message->kind == CATAPULTS_NOTICE_EXITED);
    require(catapults_join(client, NULL) == 0);
    require(catapults_create(&client, &attributes, nothing, NULL) == 0);
    catapults_port_close(&port);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(on_block),
        child_test(on_switch),
        child_test(on_conflict),
        child_test(yields_are_told),
        child_test(a_message_wakes_it),
        child_test(a_client_may_lend),
        child_test(what_is_taken_back_makes_room),
        child_test(misuse),
        child_test(an_end_may_cost_the_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
