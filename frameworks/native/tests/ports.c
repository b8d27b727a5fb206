/*
 * Message ports.
 */
#include <errno.h>

#include "support/program.h"
#include "threads/port.h"

static catapults_port_t port = CATAPULTS_PORT_INITIALIZER;
static char order[256];

static void begin(void) {
    require(catapults_init(NULL) == 0);
    alarm(HANGS);
}

/* ---- Sending and receiving --------------------------------------------------------------------------------------- */

static void messages_arrive_in_order(void) {
    begin();
    struct catapults_message messages[3] = {{.kind = 1}, {.kind = 2}, {.kind = 3}}, *message;
    for (int i = 0; i < 3; i++)
        require(catapults_port_send(&port, &messages[i]) == 0);
    require(catapults_port_count(&port) == 3);
    for (int i = 0; i < 3; i++)
        require(catapults_port_receive(&port, &message) == 0 && message == &messages[i] && message->kind == i + 1 &&
                message->sender == catapults_self());
    require(catapults_port_tryreceive(&port, &message) == EAGAIN && message == NULL);
    require(catapults_port_send(&port, &messages[1]) == 0); /* it may be used anew */
    require(catapults_port_receive_until(&port, &message, 0) == 0 && message == &messages[1]);
}

static void *receive_and_note(void *name) {
    struct catapults_message *message;
    require(catapults_port_receive(&port, &message) == 0);
    char line[8];
    snprintf(line, sizeof line, "%s%d ", (char *)name, message->kind);
    strcat(order, line);
    return NULL;
}

static void who_waited_longest_receives(void) {
    begin();
    struct catapults_message messages[3] = {{.kind = 1}, {.kind = 2}, {.kind = 3}};
    catapults_t threads[] = {spawn(receive_and_note, "a"), spawn(receive_and_note, "b"), spawn(receive_and_note, "c")};
    catapults_yield();
    for (int i = 0; i < 3; i++)
        require(catapults_port_send(&port, &messages[i]) == 0);
    require(catapults_port_count(&port) == 0); /* all have been given away */
    for (int i = 0; i < 3; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(strcmp(order, "a1 b2 c3 ") == 0);
}

static int sent;
static struct catapults_message numbered[100];
static void *send_ten(void *base) {
    for (int i = 0; i < 10; i++) {
        numbered[(intptr_t)base + i].kind = (int)(intptr_t)base + i;
        require(catapults_port_send(&port, &numbered[(intptr_t)base + i]) == 0);
        sent++;
    }
    return NULL;
}

static void senders_wait_for_room(void) {
    begin();
    catapults_port_init(&port, "bounded", 3);
    catapults_t a = spawn(send_ten, (void *)0), b = spawn(send_ten, (void *)10);
    catapults_yield();
    require(sent == 3 && catapults_port_count(&port) == 3);
    struct catapults_message more = {.kind = 99}, *message;
    require(catapults_port_trysend(&port, &more) == EAGAIN);
    require(catapults_port_send_until(&port, &more, catapults_now() + 1000000) == ETIMEDOUT && more.state == 0);
    int last[2] = {-1, 9};
    for (int i = 0; i < 20; i++) {
        require(catapults_port_receive(&port, &message) == 0 && catapults_port_count(&port) <= 3);
        require(message->kind == last[message->kind / 10] + 1); /* of each sender in order */
        last[message->kind / 10] = message->kind;
    }
    require(catapults_join(a, NULL) == 0 && catapults_join(b, NULL) == 0);
    require(port.senders.first == NULL);
}

static void *wait_for_a_message(void *argument) {
    struct catapults_message *message;
    *(int *)argument = catapults_port_receive_until(&port, &message, catapults_now() + 1000000);
    return message;
}

/* The instant of both has come, neither has run since: the message must be lost on neither account. */
static void a_message_and_a_timeout_meet(void) {
    begin();
    int results[2];
    catapults_t threads[] = {spawn(wait_for_a_message, &results[0]), spawn(wait_for_a_message, &results[1])};
    catapults_yield();
    usleep(5000);
    struct catapults_message one = {.kind = 1};
    require(catapults_port_send(&port, &one) == 0);
    void *got[2];
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], &got[i]) == 0);
    require(results[0] == 0 && got[0] == &one && results[1] == ETIMEDOUT && got[1] == NULL);
    require(port.receivers.first == NULL);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static bool server_waits; /* before it replies */

static void *serve(void *argument) {
    struct catapults_message *message;
    int error;
    while ((error = catapults_port_receive(&port, &message)) == 0) {
        message->kind *= 2;
        if (server_waits)
            catapults_sleep(3000000);
        *(int *)argument = catapults_port_reply(message);
    }
    require(error == EPIPE);
    return NULL;
}

static int served[4];

static void *call_ten_times(void *argument) {
    struct catapults_message message = {0};
    for (int i = 0; i < 10; i++) {
        message.kind = (int)(intptr_t)argument + i;
        require(catapults_port_call(&port, &message) == 0);
        require(message.kind == 2 * ((int)(intptr_t)argument + i) && message.state == 0);
    }
    return NULL;
}

static void calls_return_with_the_reply(void) {
    begin();
    catapults_t servers[] = {spawn(serve, &served[0]), spawn(serve, &served[1])}, clients[10];
    for (intptr_t i = 0; i < 10; i++)
        clients[i] = spawn(call_ten_times, (void *)(100 * i));
    for (int i = 0; i < 10; i++)
        require(catapults_join(clients[i], NULL) == 0);
    catapults_port_close(&port);
    for (int i = 0; i < 2; i++)
        require(catapults_join(servers[i], NULL) == 0);
    require(catapults_port_destroy(&port) == 0);
}

static catapults_port_t second;
static void *pass_on(void *argument) {
    struct catapults_message *message;
    while (catapults_port_receive(&port, &message) == 0) {
        message->kind++;
        require(catapults_port_send(&second, message) == 0);
    }
    return argument;
}

static void *serve_second(void *argument) {
    struct catapults_message *message;
    while (catapults_port_receive(&second, &message) == 0) {
        message->kind *= 10;
        catapults_port_reply(message);
    }
    return argument;
}

static void a_request_is_passed_on(void) {
    begin();
    catapults_port_init(&second, "second", 0);
    struct catapults_message message = {.kind = 1};
    spawn(pass_on, NULL);
    require(catapults_port_call_until(&port, &message, catapults_now() + 1000000) == ETIMEDOUT && message.kind == 2);
    require(message.state == 0 && catapults_port_count(&second) == 0);
    spawn(serve_second, NULL);
    require(catapults_port_call(&port, &message) == 0 && message.kind == 30);
    catapults_port_t third = CATAPULTS_PORT_INITIALIZER;
    require(catapults_port_send(&third, &message) == 0);
    require(catapults_port_send(&third, &message) == EINVAL && catapults_port_call(&third, &message) == EINVAL);
}

static int releases;
static void count_release(struct catapults_message *message) {
    require(message->state == 0);
    releases++;
}

static void calls_that_time_out(void) {
    begin();
    /* Nobody has received it. */
    struct catapults_message message = {.kind = 5};
    require(catapults_port_call_until(&port, &message, catapults_now() + 1000000) == ETIMEDOUT);
    require(message.state == 0 && catapults_port_count(&port) == 0);
    message.release = count_release;
    require(catapults_port_call_until(&port, &message, catapults_now() + 1000000) == ETIMEDOUT && releases == 1);
    /* The server has it: memory that cannot be released is waited for. */
    server_waits = true;
    spawn(serve, &served[0]);
    message.release = NULL;
    require(catapults_port_call_until(&port, &message, catapults_now() + 1000000) == 0 && message.kind == 10);
    message.release = count_release;
    require(catapults_port_call_until(&port, &message, catapults_now() + 1000000) == ETIMEDOUT && releases == 1);
    catapults_sleep(4000000);
    require(releases == 2 && served[0] == ECANCELED && message.kind == 20);
}

static void replies_to_a_port(void) {
    begin();
    catapults_port_t answers;
    catapults_port_init(&answers, "answers", 1);
    struct catapults_message messages[3] = {
        {.kind = 1, .reply_to = &answers}, {.kind = 2, .reply_to = &answers}, {.kind = 3}};
    spawn(serve, &served[0]);
    for (int i = 0; i < 3; i++)
        require(catapults_port_send(&port, &messages[i]) == 0);
    catapults_yield();
    require(served[0] == EINVAL && messages[2].kind == 6);
    struct catapults_message *message;
    for (int i = 0; i < 2; i++)
        require(catapults_port_receive(&answers, &message) == 0 && message == &messages[i] &&
                message->kind == 2 * (i + 1));
    require(catapults_port_send(&port, &messages[0]) == 0);
    catapults_port_close(&answers);
    catapults_yield();
    require(served[0] == EPIPE && messages[0].state == 0);
}

/* ---- The end of a port ------------------------------------------------------------------------------------------- */

static void *call_once(void *argument) {
    struct catapults_message message = {0};
    *(int *)argument = catapults_port_call(&port, &message);
    return NULL;
}

static void *send_once(void *argument) {
    static struct catapults_message message;
    *(int *)argument = catapults_port_send(&port, &message);
    return NULL;
}

static void closing_ends_what_cannot_happen_any_more(void) {
    begin();
    catapults_port_init(&port, "closing", 2);
    int call = -1, sending = -1;
    struct catapults_message kept = {.kind = 7, .release = count_release}, late = {0}, *message;
    require(catapults_port_send(&port, &kept) == 0);
    catapults_t threads[] = {spawn(call_once, &call), spawn(send_once, &sending)};
    catapults_yield();
    require(catapults_port_count(&port) == 2 && catapults_port_destroy(&port) == EBUSY);
    catapults_port_close(&port);
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(call == EPIPE && sending == EPIPE);
    require(catapults_port_send(&port, &late) == EPIPE && catapults_port_call(&port, &late) == EPIPE);
    require(catapults_port_receive(&port, &message) == 0 && message == &kept);
    require(catapults_port_receive(&port, &message) == EPIPE && catapults_port_tryreceive(&port, &message) == EPIPE);
    port.closed = false;
    require(catapults_port_send(&port, &kept) == 0 && catapults_port_destroy(&port) == 0 && releases == 1);
}

static void *wait_for_ever(void *argument) {
    struct catapults_message *message;
    *(int *)argument = catapults_port_receive(&port, &message);
    return message;
}

static void closing_wakes_who_receives(void) {
    begin();
    int results[2];
    catapults_t threads[] = {spawn(wait_for_ever, &results[0]), spawn(wait_for_ever, &results[1])};
    catapults_yield();
    catapults_port_close(&port);
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0 && results[i] == EPIPE);
}

/* ---- Selectors --------------------------------------------------------------------------------------------------- */

static int told[2];
static void tell_first(struct port_selector *selector) {
    told[0]++;
    port_unwatch(&port, selector);
}
static void tell_second(struct port_selector *selector) {
    (void)selector;
    told[1]++;
}

static void selectors_are_told(void) {
    begin();
    struct port_selector first = {.ready = tell_first}, second = {.ready = tell_second};
    port_watch(&port, &second);
    port_watch(&port, &first);
    struct catapults_message messages[2] = {{.kind = 1}, {.kind = 2}};
    require(!port_is_ready(&port) && catapults_port_send(&port, &messages[0]) == 0 && port_is_ready(&port));
    require(catapults_port_send(&port, &messages[1]) == 0 && told[0] == 1 && told[1] == 2);
    catapults_port_close(&port);
    require(told[1] == 3 && catapults_port_destroy(&port) == EBUSY);
    port_unwatch(&port, &second);
    require(catapults_port_destroy(&port) == 0 && !port.selectors);
}

/* ---- Many of all ------------------------------------------------------------------------------------------------- */

enum { CLIENTS = 20, ROUNDS = 300 };

static void *serve_at_random(void *argument) {
    unsigned seed = (unsigned)(uintptr_t)argument;
    struct catapults_message *message;
    while (catapults_port_receive(&port, &message) == 0) {
        message->size++;
        if (rand_r(&seed) % 3 == 0)
            catapults_yield();
        if (rand_r(&seed) % 20 == 0)
            catapults_sleep(rand_r(&seed) % 100000);
        catapults_port_reply(message);
    }
    return NULL;
}

static int allocated;
static void free_message(struct catapults_message *message) {
    allocated--;
    free(message);
}

static void *call_at_random(void *argument) {
    unsigned seed = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct catapults_message *message = calloc(1, sizeof *message);
        allocated++;
        message->release = rand_r(&seed) % 2 ? free_message : NULL;
        bool released = message->release;
        int64_t instant = rand_r(&seed) % 2 ? CATAPULTS_FOREVER : catapults_now() + rand_r(&seed) % 100000;
        int error = catapults_port_call_until(&port, message, instant);
        require(error == 0 || (error == ETIMEDOUT && instant != CATAPULTS_FOREVER));
        if (error && released)
            continue;
        require(message->size == !error);
        free_message(message);
    }
    return NULL;
}

static void no_message_is_lost(void) {
    begin();
    catapults_port_init(&port, "random", 4);
    catapults_t servers[3], clients[CLIENTS];
    for (uintptr_t i = 0; i < 3; i++)
        servers[i] = spawn(serve_at_random, (void *)(i + 1000));
    for (uintptr_t i = 0; i < CLIENTS; i++)
        clients[i] = spawn(call_at_random, (void *)i);
    for (int i = 0; i < CLIENTS; i++)
        require(catapults_join(clients[i], NULL) == 0);
    catapults_port_close(&port);
    for (int i = 0; i < 3; i++)
        require(catapults_join(servers[i], NULL) == 0);
    require(catapults_port_destroy(&port) == 0 && allocated == 0);
}

static void wait_for_nobody(void) {
    begin();
    port.name = "requests";
    struct catapults_message message = {0};
    catapults_port_call(&port, &message);
}

static void a_deadlock_names_the_port(void **state) {
    (void)state;
    struct child child = run_child(wait_for_nobody);
    assert_exit(&child, EXIT_FAILURE);
    assert_reported(&child, "thread 1 (main) waits for somebody to receive its message at port requests\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(messages_arrive_in_order),
        child_test(who_waited_longest_receives),
        child_test(senders_wait_for_room),
        child_test(a_message_and_a_timeout_meet),
        child_test(calls_return_with_the_reply),
        child_test(a_request_is_passed_on),
        child_test(calls_that_time_out),
        child_test(replies_to_a_port),
        child_test(closing_ends_what_cannot_happen_any_more),
        child_test(closing_wakes_who_receives),
        child_test(selectors_are_told),
        child_test(no_message_is_lost),
        cmocka_unit_test(a_deadlock_names_the_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
