/* Waits that end before their time: deadlines, cancellations, closed and reused descriptors. */
#include "io_test.h"

#include <fcntl.h>
#include <poll.h>

#include "dispatcher/instance.h"

static void *stay(void *argument) {
    int64_t until = *(int64_t *)argument;
    while (catapults_now() < until)
        catapults_yield();
    return NULL;
}

static void deadlines_hold(void **state) {
    (void)state;
    int ends[2];
    char buffer[100];
    connect_tcp(ends);
    for (int busy = 0; busy < 2; busy++) { /* with an idle processor, and with one that is never idle */
        int64_t begin = catapults_now(), until = begin + 60 * MILLISECONDS;
        catapults_t other = busy ? spawn(stay, &until) : NULL;
        for (int i = 1; i <= 4; i++) {
            int64_t instant = catapults_now() + i * MILLISECONDS;
            assert_int_equal(catapults_recv_until(ends[0], buffer, sizeof buffer, 0, instant), -1);
            assert_int_equal(errno, ETIMEDOUT);
            int64_t late = catapults_now() - instant;
            assert_true(late >= 0);
            assert_true(late < 1000 * MILLISECONDS); /* generous: other programs run here too */
        }
        if (busy)
            catapults_join(other, NULL);
    }
    /* Past, but what is there is received. */
    assert_int_equal(catapults_recv_until(ends[0], buffer, sizeof buffer, 0, 0), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_int_equal(catapults_write(ends[1], "abc", 3), 3);
    await_arrival(ends[0]);
    assert_int_equal(catapults_recv_until(ends[0], buffer, sizeof buffer, 0, 0), 3);
    assert_int_equal(catapults_write(ends[1], "abc", 3), 3); /* also when the last one had emptied the socket */
    await_arrival(ends[0]);
    assert_int_equal(catapults_recv_until(ends[0], buffer, sizeof buffer, 0, 0), 3);
    catapults_close(ends[0]);
    catapults_close(ends[1]);
}

static void a_send_that_runs_out_says_how_much_has_gone(void **state) {
    (void)state;
    int ends[2];
    static char data[8 << 20];
    connect_tcp(ends);
    ssize_t sent = catapults_send_until(ends[0], data, sizeof data, 0, after(20 * MILLISECONDS));
    assert_true(sent > 0 && (size_t)sent < sizeof data);
    ssize_t more; /* the receiving end makes room as it sees fit */
    while ((more = catapults_send_until(ends[0], data, sizeof data, 0, after(20 * MILLISECONDS))) >= 0)
        sent += more;
    assert_int_equal(errno, ETIMEDOUT);
    struct iovec part = {data, sizeof data};
    while ((more = catapults_writev_until(ends[0], &part, 1, after(20 * MILLISECONDS))) >= 0)
        sent += more;
    assert_int_equal(errno, ETIMEDOUT);
    for (ssize_t got = 0; got < sent;) {
        ssize_t size = catapults_read(ends[1], data, sizeof data);
        assert_true(size > 0);
        got += size;
    }
    catapults_close(ends[0]);
    catapults_close(ends[1]);
}

/* The kernel may write into the buffer of a recv only until the call returns. */
static void a_buffer_is_left_alone_afterwards(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        int ends[2];
        char buffer[16];
        connect_tcp(ends);
        memset(buffer, '-', sizeof buffer);
        assert_int_equal(catapults_recv_until(ends[0], buffer, sizeof buffer, 0, after(10000)), -1);
        assert_int_equal(errno, ETIMEDOUT);
        assert_int_equal(catapults_write(ends[1], "0123456789abcdef", 16), 16);
        if (round % 20 == 0)
            catapults_sleep(1 * MILLISECONDS);
        assert_memory_equal(buffer, "----------------", 16);
        assert_int_equal(catapults_recv_until(ends[0], buffer, sizeof buffer, 0, CATAPULTS_FOREVER), 16);
        assert_memory_equal(buffer, "0123456789abcdef", 16); /* and nothing was lost */
        catapults_close(ends[0]);
        catapults_close(ends[1]);
    }
}

/* Data and deadline at about the same time: either the data come, or they are still there. */
static int racing_ends[2];

static void *send_soon(void *argument) {
    catapults_sleep((intptr_t)argument);
    require(catapults_write(racing_ends[1], "x", 1) == 1);
    return NULL;
}

static void a_race_between_data_and_deadline_loses_nothing(void **state) {
    (void)state;
    int timeouts = 0, data = 0;
    connect_tcp(racing_ends);
    for (intptr_t i = 0; i < 400; i++) {
        char byte;
        catapults_t sender = spawn(send_soon, (void *)(200000 + (i % 40) * 1000));
        ssize_t size = catapults_recv_until(racing_ends[0], &byte, 1, 0, after(220000));
        if (size < 0) {
            assert_int_equal(errno, ETIMEDOUT);
            timeouts++;
            size = catapults_recv_until(racing_ends[0], &byte, 1, 0, after(5000 * MILLISECONDS));
        } else {
            data++;
        }
        assert_int_equal(size, 1);
        catapults_join(sender, NULL);
    }
    assert_int_equal(timeouts + data, 400);
    catapults_close(racing_ends[0]);
    catapults_close(racing_ends[1]);
}

struct reception {
    int64_t instant;
    ssize_t size;
};

static void *receive_in_time(void *argument) {
    struct reception *reception = argument;
    char byte;
    reception->size = catapults_recv_until(racing_ends[0], &byte, 1, 0, reception->instant);
    return NULL;
}

/* Both are found in the same look at the world outside: the thread becomes ready once. */
static void data_and_deadline_at_once_make_one_event(void **state) {
    (void)state;
    connect_tcp(racing_ends);
    for (int rounds = 0; rounds < 3;) {
        struct reception reception = {.instant = after(2 * MILLISECONDS)};
        catapults_t receiver = spawn(receive_in_time, &reception);
        catapults_sleep(MILLISECONDS / 2);
        assert_int_equal(write(racing_ends[1], "x", 1), 1);
        bool in_time = catapults_now() < reception.instant; /* else the machine is busy, and this round shows nothing */
        while (catapults_now() < reception.instant)         /* holds the processor */
            ;
        catapults_yield();
        catapults_sleep(MILLISECONDS / 2);
        assert_true(dispatcher.root.runnable == 1 || !in_time); /* no one but this thread */
        assert_int_equal(catapults_join(receiver, NULL), 0);
        assert_true(reception.size == 1 || !in_time);
        if (reception.size != 1)
            receive_in_time(&(struct reception){.instant = CATAPULTS_FOREVER});
        rounds += in_time;
    }
    catapults_close(racing_ends[0]);
    catapults_close(racing_ends[1]);
}

static void *receive_and_tell_when(void *argument) {
    char byte;
    require(catapults_recv_until(racing_ends[0], &byte, 1, 0, CATAPULTS_FOREVER) == 1);
    *(int64_t *)argument = catapults_now();
    return NULL;
}

static void a_thread_that_never_blocks_keeps_nobody_from_data(void **state) {
    (void)state;
    connect_tcp(racing_ends);
    int64_t received = 0, until = after(500 * MILLISECONDS);
    catapults_t receiver = spawn(receive_and_tell_when, &received), other = spawn(stay, &until);
    catapults_yield();
    assert_int_equal(received, 0);
    assert_int_equal(write(racing_ends[1], "x", 1), 1);
    assert_int_equal(catapults_join(other, NULL), 0);
    assert_int_equal(catapults_join(receiver, NULL), 0);
    assert_true(received < until);
    catapults_close(racing_ends[0]);
    catapults_close(racing_ends[1]);
}

enum way { RECV, SEND, POLL, ACCEPT, READ, WRITE, WAYS };
static struct waiting {
    int descriptor;
    enum way way;
} waiting;
static char large[8 << 20];

static void *wait_for_close(void *argument) {
    (void)argument;
    struct waiting own = waiting;
    char byte;
    ssize_t result = -2;
    errno = 0;
    switch (own.way) {
    case RECV:
        result = catapults_recv_until(own.descriptor, &byte, 1, 0, CATAPULTS_FOREVER);
        break;
    case SEND:
        result = catapults_send_until(own.descriptor, large, sizeof large, 0, CATAPULTS_FOREVER);
        break;
    case POLL:
        result = catapults_poll_until(own.descriptor, POLLIN, CATAPULTS_FOREVER);
        break;
    case ACCEPT:
        result = catapults_accept(own.descriptor, NULL, NULL, 0);
        break;
    case READ:
        result = catapults_read(own.descriptor, &byte, 1);
        break;
    case WRITE:
        result = catapults_write(own.descriptor, large, sizeof large);
        break;
    case WAYS:
        break;
    }
    return (void *)(intptr_t)(result == -1 ? errno : 0);
}

static void close_wakes_all_who_wait(void **state) {
    (void)state;
    for (enum way way = 0; way < WAYS; way++) {
        int ends[2];
        struct sockaddr_in address;
        if (way == ACCEPT)
            ends[0] = listen_tcp(&address), ends[1] = -1;
        else if (way >= READ) {
            assert_int_equal(pipe(ends), 0);
            if (way == WRITE) {
                int reader = ends[0];
                ends[0] = ends[1], ends[1] = reader;
            }
        } else
            connect_tcp(ends);
        catapults_t threads[5];
        waiting = (struct waiting){ends[0], way};
        for (int i = 0; i < 5; i++)
            threads[i] = spawn(wait_for_close, NULL);
        catapults_sleep(2 * MILLISECONDS);
        assert_int_equal(catapults_close(ends[0]), 0);
        for (int i = 0; i < 5; i++) {
            void *error;
            assert_int_equal(catapults_join(threads[i], &error), 0);
            assert_int_equal((intptr_t)error, EBADF);
        }
        assert_int_equal(fcntl(ends[0], F_GETFD), -1);
        if (ends[1] >= 0)
            catapults_close(ends[1]);
    }
}

/* A thread that was woken for the old descriptor must not touch the new one of the same number. */
static void a_reused_number_is_another_descriptor(void **state) {
    (void)state;
    for (enum way way = RECV; way <= POLL; way++) {
        int old[2], new[2];
        connect_tcp(old);
        connect_tcp(new);
        waiting = (struct waiting){old[0], way};
        catapults_t waiter = spawn(wait_for_close, NULL);
        catapults_sleep(2 * MILLISECONDS);
        assert_int_equal(catapults_close(old[0]), 0);
        assert_int_equal(dup2(new[0], old[0]), old[0]); /* before the waiter has run */
        assert_int_equal(catapults_write(new[1], "new", 3), 3);
        void *error;
        assert_int_equal(catapults_join(waiter, &error), 0);
        assert_int_equal((intptr_t)error, EBADF);
        char buffer[10];
        assert_int_equal(catapults_recv_until(old[0], buffer, sizeof buffer, 0, after(5000 * MILLISECONDS)), 3);
        /* The driver knows the new one: a wait for it ends. */
        waiting = (struct waiting){old[0], RECV};
        waiter = spawn(wait_for_close, NULL);
        catapults_sleep(2 * MILLISECONDS);
        assert_int_equal(catapults_write(new[1], "x", 1), 1);
        assert_int_equal(catapults_join(waiter, &error), 0);
        assert_int_equal((intptr_t)error, 0);
        catapults_close(old[0]);
        catapults_close(old[1]);
        catapults_close(new[0]);
        catapults_close(new[1]);
    }
}

/* Accepted descriptors have the numbers of earlier ones; also of those that were closed behind our back. */
static void numbers_go_round(void **state) {
    (void)state;
    struct sockaddr_in address;
    int listener = listen_tcp(&address);
    for (int i = 0; i < 300; i++) {
        int client = socket(AF_INET, SOCK_STREAM, 0);
        char buffer[10];
        assert_int_equal(
            catapults_connect_until(client, (struct sockaddr *)&address, sizeof address, after(5000 * MILLISECONDS)),
            0);
        int server = catapults_accept(listener, NULL, NULL, 0);
        assert_true(server >= 0);
        assert_int_equal(catapults_recv_until(server, buffer, sizeof buffer, 0, after(20000)), -1);
        assert_int_equal(errno, ETIMEDOUT);
        assert_int_equal(catapults_write(client, "abc", 3), 3);
        assert_int_equal(catapults_recv_until(server, buffer, sizeof buffer, 0, after(5000 * MILLISECONDS)), 3);
        if (i % 2)
            close(server);
        else
            catapults_close(server);
        assert_int_equal(catapults_recv_until(client, buffer, sizeof buffer, 0, after(5000 * MILLISECONDS)), 0);
        catapults_close(client);
    }
    catapults_close(listener);
}

int main(void) {
    const struct CMUnitTest waits[] = {
        cmocka_unit_test(deadlines_hold),
        cmocka_unit_test(a_send_that_runs_out_says_how_much_has_gone),
        cmocka_unit_test(a_buffer_is_left_alone_afterwards),
        cmocka_unit_test(a_race_between_data_and_deadline_loses_nothing),
        cmocka_unit_test(data_and_deadline_at_once_make_one_event),
        cmocka_unit_test(a_thread_that_never_blocks_keeps_nobody_from_data),
        cmocka_unit_test(close_wakes_all_who_wait),
        cmocka_unit_test(a_reused_number_is_another_descriptor),
        cmocka_unit_test(numbers_go_round),
    };
    return run_with_both_drivers(waits);
}
