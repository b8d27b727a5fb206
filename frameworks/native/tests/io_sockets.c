/* Sockets: many threads, slow peers, gone peers, full tables. */
#include "io_test.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/un.h>

#define THREADS 200
#define ROUNDS 20

static void *echo(void *argument) {
    int descriptor = (int)(intptr_t)argument;
    char buffer[256];
    ssize_t size;
    while ((size = catapults_recv_until(descriptor, buffer, sizeof buffer, 0, CATAPULTS_FOREVER)) > 0)
        require(catapults_send_until(descriptor, buffer, (size_t)size, 0, CATAPULTS_FOREVER) == size);
    require(size == 0 && catapults_close(descriptor) == 0);
    return NULL;
}

static void *talk(void *argument) {
    int descriptor = (int)(intptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        char said[100], heard[100];
        memset(said, descriptor + i, sizeof said);
        require(catapults_write(descriptor, said, sizeof said) == sizeof said);
        require(catapults_recv_until(descriptor, heard, sizeof heard, MSG_WAITALL, after(10000 * MILLISECONDS)) ==
                sizeof heard);
        require(memcmp(said, heard, sizeof said) == 0);
    }
    require(catapults_close(descriptor) == 0);
    return NULL;
}

static void echoes_over_socket_pairs(void **state) {
    (void)state;
    catapults_t threads[THREADS];
    for (int i = 0; i < THREADS; i += 2) {
        int pair[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        threads[i] = spawn(echo, (void *)(intptr_t)pair[0]);
        threads[i + 1] = spawn(talk, (void *)(intptr_t)pair[1]);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(catapults_join(threads[i], NULL), 0);
}

static void *accept_all(void *argument) {
    int listener = (int)(intptr_t)argument;
    catapults_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        int connection = catapults_accept(listener, NULL, NULL, i % 2 ? SOCK_NONBLOCK : 0);
        require(connection >= 0);
        threads[i] = spawn(echo, (void *)(intptr_t)connection);
    }
    for (int i = 0; i < THREADS; i++)
        catapults_join(threads[i], NULL);
    return NULL;
}

static void *connect_and_talk(void *argument) {
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    require(descriptor >= 0);
    require(catapults_connect_until(descriptor, argument, sizeof(struct sockaddr_in), after(10000 * MILLISECONDS)) ==
            0);
    require(!(fcntl(descriptor, F_GETFL) & O_NONBLOCK));
    return talk((void *)(intptr_t)descriptor);
}

static void echoes_over_tcp(void **state) {
    (void)state;
    struct sockaddr_in address;
    int listener = listen_tcp(&address);
    catapults_t acceptor = spawn(accept_all, (void *)(intptr_t)listener), threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = spawn(connect_and_talk, &address);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(catapults_join(threads[i], NULL), 0);
    assert_int_equal(catapults_join(acceptor, NULL), 0);
    assert_int_equal(catapults_close(listener), 0);
}

#define LARGE (4 << 20)

static unsigned char pattern(size_t at) { return (unsigned char)(at * 7 + (at >> 13)); }

static void *read_slowly(void *argument) {
    int descriptor = (int)(intptr_t)argument;
    static unsigned char buffer[30000];
    size_t total = 0;
    for (int i = 0;; i++) {
        ssize_t size = catapults_read(descriptor, buffer, sizeof buffer);
        require(size >= 0);
        if (size == 0)
            break;
        for (ssize_t k = 0; k < size; k++)
            require(buffer[k] == pattern(total + (size_t)k));
        total += (size_t)size;
        if (i % 20 == 0)
            catapults_sleep(1 * MILLISECONDS);
    }
    require(catapults_close(descriptor) == 0);
    return (void *)total;
}

/* The writer is given to one of the ways to write. */
static void to_slow_reader(int ends[2], ssize_t (*write_it)(int, const unsigned char *, size_t)) {
    unsigned char *data = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        data[i] = pattern(i);
    catapults_t reader = spawn(read_slowly, (void *)(intptr_t)ends[1]);
    assert_int_equal(write_it(ends[0], data, LARGE), LARGE);
    assert_int_equal(catapults_close(ends[0]), 0);
    void *total;
    assert_int_equal(catapults_join(reader, &total), 0);
    assert_int_equal((size_t)total, LARGE);
    free(data);
}

static ssize_t with_send(int descriptor, const unsigned char *data, size_t size) {
    return catapults_send_until(descriptor, data, size, 0, CATAPULTS_FOREVER);
}

static ssize_t with_write(int descriptor, const unsigned char *data, size_t size) {
    return catapults_write(descriptor, data, size);
}

static ssize_t with_writev(int descriptor, const unsigned char *data, size_t size) {
    struct iovec parts[50];
    for (size_t i = 0; i < 50; i++) {
        size_t from = size * i / 50, to = i == 17 ? from : size * (i + 1) / 50;
        if (i == 18)
            from = size * 17 / 50;
        parts[i] = (struct iovec){(void *)(data + from), to - from};
    }
    return catapults_writev_until(descriptor, parts, 50, CATAPULTS_FOREVER);
}

static void a_send_ends_when_all_has_gone(void **state) {
    (void)state;
    ssize_t (*const ways[])(int, const unsigned char *, size_t) = {with_send, with_write, with_writev};
    for (int i = 0; i < 3; i++) {
        int ends[2];
        connect_tcp(ends);
        to_slow_reader(ends, ways[i]);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        to_slow_reader(ends, ways[i]);
    }
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    to_slow_reader((int[]){ends[1], ends[0]}, with_write);
    assert_int_equal(pipe(ends), 0);
    to_slow_reader((int[]){ends[1], ends[0]}, with_writev);
}

static int received;

static void *receive_one(void *argument) {
    char byte;
    require(catapults_recv_until((int)(intptr_t)argument, &byte, 1, 0, CATAPULTS_FOREVER) == 1);
    received++;
    return NULL;
}

static void many_threads_wait_on_one_descriptor(void **state) {
    (void)state;
    int ends[2];
    connect_tcp(ends);
    received = 0;
    catapults_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = spawn(receive_one, (void *)(intptr_t)ends[1]);
    catapults_sleep(5 * MILLISECONDS);
    assert_int_equal(received, 0);
    for (int sent = 0, some = 1; sent < THREADS; sent += some, some++) {
        char bytes[THREADS] = {0};
        some = some < THREADS - sent ? some : THREADS - sent;
        assert_int_equal(catapults_write(ends[0], bytes, (size_t)some), some);
        for (int64_t deadline = after(10000 * MILLISECONDS); received < sent + some && catapults_now() < deadline;)
            catapults_sleep(1 * MILLISECONDS);
        assert_int_equal(received, sent + some);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(catapults_join(threads[i], NULL), 0);
    catapults_close(ends[0]);
    catapults_close(ends[1]);
}

#define MULTITUDE 5000 /* more than the rings of io_uring have entries */

static void more_threads_wait_than_the_rings_hold(void **state) {
    (void)state;
    static catapults_t threads[MULTITUDE];
    static char bytes[MULTITUDE];
    int ends[2];
    connect_tcp(ends);
    received = 0;
    for (int i = 0; i < MULTITUDE; i++)
        threads[i] = spawn(receive_one, (void *)(intptr_t)ends[1]);
    catapults_sleep(1 * MILLISECONDS);
    assert_int_equal(catapults_write(ends[0], bytes, MULTITUDE), MULTITUDE);
    for (int i = 0; i < MULTITUDE; i++)
        assert_int_equal(catapults_join(threads[i], NULL), 0);
    assert_int_equal(received, MULTITUDE);
    catapults_close(ends[0]);
    catapults_close(ends[1]);
}

/* A reader must not be kept waiting by a writer on the same descriptor, nor the other way round. */
static void *fill(void *argument) {
    char block[4096] = {0};
    for (int i = 0; i < 1000; i++)
        require(catapults_write((int)(intptr_t)argument, block, sizeof block) == sizeof block);
    return NULL;
}

static void readers_and_writers_wait_apart(void **state) {
    (void)state;
    int ends[2];
    connect_tcp(ends);
    received = 0;
    catapults_t writer = spawn(fill, (void *)(intptr_t)ends[0]);
    catapults_t reader = spawn(receive_one, (void *)(intptr_t)ends[0]);
    catapults_sleep(5 * MILLISECONDS);
    assert_int_equal(catapults_write(ends[1], "x", 1), 1);
    assert_int_equal(catapults_join(reader, NULL), 0);
    for (size_t left = 1000 * 4096; left > 0;) {
        char block[10000];
        ssize_t size = catapults_read(ends[1], block, sizeof block);
        assert_true(size > 0);
        left -= (size_t)size;
    }
    assert_int_equal(catapults_join(writer, NULL), 0);
    catapults_close(ends[0]);
    catapults_close(ends[1]);
}

static void *receive_error(void *argument) {
    char byte;
    errno = 0;
    ssize_t result = catapults_recv_until((int)(intptr_t)argument, &byte, 1, 0, CATAPULTS_FOREVER);
    return (void *)(intptr_t)(result < 0 ? errno : 0);
}

static void a_reset_reaches_reader_and_writer(void **state) {
    (void)state;
    int ends[2];
    connect_tcp(ends);
    catapults_t reader = spawn(receive_error, (void *)(intptr_t)ends[1]);
    catapults_sleep(2 * MILLISECONDS);
    struct linger at_once = {.l_onoff = 1};
    assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    assert_int_equal(catapults_close(ends[0]), 0);
    void *error;
    assert_int_equal(catapults_join(reader, &error), 0);
    assert_int_equal((intptr_t)error, ECONNRESET);
    assert_int_equal(catapults_send_until(ends[1], "x", 1, 0, CATAPULTS_FOREVER), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(catapults_write(ends[1], "x", 1), -1); /* and no SIGPIPE */
    assert_int_equal(errno, EPIPE);
    catapults_close(ends[1]);
}

static void an_end_is_not_missed(void **state) {
    (void)state;
    /* Data and end in every order of arrival, so that a reader that expects more than there is must see the end. */
    for (int i = 0; i < 6; i++) {
        int ends[2];
        char buffer[100];
        connect_tcp(ends);
        if (i >= 3) { /* wait once, so that the driver knows the descriptor */
            assert_int_equal(catapults_recv_until(ends[1], buffer, 1, 0, after(1 * MILLISECONDS)), -1);
            assert_int_equal(errno, ETIMEDOUT);
        }
        assert_int_equal(catapults_write(ends[0], "data", 4), 4);
        if (i % 3 == 0)
            catapults_close(ends[0]);
        catapults_sleep(1 * MILLISECONDS);
        assert_int_equal(catapults_recv_until(ends[1], buffer, sizeof buffer, 0, CATAPULTS_FOREVER), 4);
        if (i % 3 == 1)
            catapults_close(ends[0]);
        catapults_sleep(1 * MILLISECONDS);
        if (i % 3 == 2)
            shutdown(ends[0], SHUT_WR);
        int64_t deadline = after(5000 * MILLISECONDS);
        assert_int_equal(catapults_recv_until(ends[1], buffer, sizeof buffer, 0, deadline), 0);
        assert_true(catapults_now() < deadline); /* seen when it came, not when time ran out */
        if (i % 3 == 2)
            catapults_close(ends[0]);
        catapults_close(ends[1]);
    }
}

static void calls_that_may_not_wait_do_not(void **state) {
    (void)state;
    int ends[2];
    char buffer[10];
    connect_tcp(ends);
    assert_int_equal(catapults_recv_until(ends[1], buffer, 1, MSG_DONTWAIT, CATAPULTS_FOREVER), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(catapults_recv_until(ends[1], buffer, 1, 0, after(1 * MILLISECONDS)), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_int_equal(catapults_recv_until(ends[1], buffer, 1, MSG_ERRQUEUE, CATAPULTS_FOREVER), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(catapults_write(ends[0], "abc", 3), 3);
    catapults_sleep(1 * MILLISECONDS);
    assert_int_equal(catapults_recv_until(ends[1], buffer, 10, MSG_PEEK | MSG_WAITALL, CATAPULTS_FOREVER), 3);
    int64_t deadline = after(5000 * MILLISECONDS);
    assert_int_equal(catapults_recv_until(ends[1], buffer, 10, 0, deadline), 3);
    assert_true(catapults_now() < deadline); /* what was only looked at is still there */
    assert_int_equal(catapults_write(ends[0], "abc", 3), 3);
    await_arrival(ends[1]);
    assert_int_equal(catapults_recv_until(ends[1], buffer, 10, MSG_DONTWAIT, CATAPULTS_FOREVER), 3);
    catapults_close(ends[0]);
    catapults_close(ends[1]);
}

static void poll_says_what_is_there(void **state) {
    (void)state;
    int ends[2];
    connect_tcp(ends);
    assert_int_equal(catapults_poll_until(ends[0], POLLIN | POLLOUT, CATAPULTS_FOREVER), POLLOUT);
    assert_int_equal(catapults_poll_until(ends[0], POLLIN, after(2 * MILLISECONDS)), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_int_equal(catapults_write(ends[1], "x", 1), 1);
    assert_int_equal(catapults_poll_until(ends[0], POLLIN, after(5000 * MILLISECONDS)), POLLIN);
    assert_int_equal(catapults_poll_until(ends[0], POLLIN, after(5000 * MILLISECONDS)), POLLIN); /* still there */
    catapults_close(ends[1]);
    assert_true(catapults_poll_until(ends[0], POLLIN | POLLRDHUP, after(5000 * MILLISECONDS)) & POLLIN);
    catapults_close(ends[0]);
    assert_int_equal(catapults_poll_until(ends[0], POLLIN, CATAPULTS_FOREVER), -1);
    assert_int_equal(errno, EBADF);
}

static void a_full_descriptor_table_is_the_callers_to_handle(void **state) {
    (void)state;
    struct sockaddr_in address;
    struct rlimit before, few;
    int listener = listen_tcp(&address), client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(
        catapults_connect_until(client, (struct sockaddr *)&address, sizeof address, after(5000 * MILLISECONDS)), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = (rlim_t)client + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    int accepted = catapults_accept(listener, NULL, NULL, 0);
    int error = errno;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(accepted, -1);
    assert_int_equal(error, EMFILE);
    accepted = catapults_accept(listener, NULL, NULL, 0); /* it is still there */
    assert_true(accepted >= 0);
    catapults_close(accepted);
    catapults_close(client);
    catapults_close(listener);
}

static void *accept_later(void *argument) {
    catapults_sleep(20 * MILLISECONDS);
    int accepted = catapults_accept((int)(intptr_t)argument, NULL, NULL, 0);
    require(accepted >= 0 && catapults_close(accepted) == 0);
    return NULL;
}

static void connect_says_why_not(void **state) {
    (void)state;
    struct sockaddr_in address;
    int listener = listen_tcp(&address), client = socket(AF_INET, SOCK_STREAM, 0);
    catapults_close(listener);
    assert_int_equal(catapults_connect_until(client, (struct sockaddr *)&address, sizeof address, CATAPULTS_FOREVER),
                     -1);
    assert_int_equal(errno, ECONNREFUSED);
    catapults_close(client);

    /* A Unix-domain listener whose queue is full answers neither yes nor no. */
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    snprintf(local.sun_path + 1, sizeof local.sun_path - 1, "catapults-%d", (int)getpid());
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    int first = socket(AF_UNIX, SOCK_STREAM, 0), second = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&local, sizeof local), 0);
    assert_int_equal(listen(listener, 0), 0);
    assert_int_equal(catapults_connect_until(first, (struct sockaddr *)&local, sizeof local, CATAPULTS_FOREVER), 0);
    int64_t instant = after(5 * MILLISECONDS);
    assert_int_equal(catapults_connect_until(second, (struct sockaddr *)&local, sizeof local, instant), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_true(catapults_now() >= instant);
    catapults_t acceptor = spawn(accept_later, (void *)(intptr_t)listener);
    assert_int_equal(
        catapults_connect_until(second, (struct sockaddr *)&local, sizeof local, after(5000 * MILLISECONDS)), 0);
    catapults_join(acceptor, NULL);
    catapults_close(first);
    catapults_close(second);
    catapults_close(listener);

    int ends[2];
    connect_tcp(ends);
    assert_int_equal(catapults_connect_until(ends[0], (struct sockaddr *)&address, sizeof address, CATAPULTS_FOREVER),
                     -1);
    assert_int_equal(errno, EISCONN);
    catapults_close(ends[0]);
    catapults_close(ends[1]);
}

static void a_datagram_is_received_as_it_was_sent(void **state) {
    (void)state;
    int pair[2];
    char buffer[100];
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    assert_int_equal(catapults_recv_until(pair[1], buffer, sizeof buffer, 0, after(1 * MILLISECONDS)), -1);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(catapults_send_until(pair[0], "abc", (size_t)i, 0, CATAPULTS_FOREVER), i);
    catapults_sleep(1 * MILLISECONDS);
    int64_t deadline = after(5000 * MILLISECONDS);
    for (int i = 1; i <= 3; i++) /* a short one does not mean that no other is there */
        assert_int_equal(catapults_recv_until(pair[1], buffer, sizeof buffer, 0, deadline), i);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(catapults_send_until(pair[0], "abc", (size_t)i, 0, CATAPULTS_FOREVER), i);
    for (int i = 1; i <= 3; i++) /* nor that more of it is to come */
        assert_int_equal(catapults_recv_until(pair[1], buffer, sizeof buffer, MSG_WAITALL, deadline), i);
    assert_int_equal(catapults_send_until(pair[0], "abc", 3, 0, CATAPULTS_FOREVER), 3);
    assert_int_equal(catapults_recv_until(pair[1], buffer, 1, MSG_WAITALL | MSG_TRUNC, deadline), 3);
    assert_int_equal(catapults_write(pair[0], "", 0), 0); /* one of no bytes */
    assert_int_equal(catapults_recv_until(pair[1], buffer, sizeof buffer, 0, deadline), 0);
    assert_true(catapults_now() < deadline);
    catapults_close(pair[0]);
    catapults_close(pair[1]);
}

static void no_socket_is_an_error(void **state) {
    (void)state;
    char byte;
    int file = open("/dev/null", O_RDWR);
    assert_int_equal(catapults_recv_until(file, &byte, 1, 0, CATAPULTS_FOREVER), -1);
    assert_int_equal(errno, ENOTSOCK);
    assert_int_equal(catapults_accept(file, NULL, NULL, 0), -1);
    assert_int_equal(errno, ENOTSOCK);
    catapults_close(file);
    assert_int_equal(catapults_recv_until(file, &byte, 1, 0, CATAPULTS_FOREVER), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(catapults_accept(-1, NULL, NULL, 0), -1);
    assert_int_equal(errno, EBADF);
    /* A number that was never open is no reason for a table of that size. */
    assert_int_equal(catapults_accept(INT32_MAX, NULL, NULL, 0), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(catapults_sendfile_until(INT32_MAX - 1, 0, NULL, 1, CATAPULTS_FOREVER), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(catapults_close(-1), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(catapults_writev_until(file, NULL, -1, CATAPULTS_FOREVER), -1);
}

int main(void) {
    const struct CMUnitTest sockets[] = {
        cmocka_unit_test(echoes_over_socket_pairs),
        cmocka_unit_test(echoes_over_tcp),
        cmocka_unit_test(a_send_ends_when_all_has_gone),
        cmocka_unit_test(many_threads_wait_on_one_descriptor),
        cmocka_unit_test(more_threads_wait_than_the_rings_hold),
        cmocka_unit_test(readers_and_writers_wait_apart),
        cmocka_unit_test(a_reset_reaches_reader_and_writer),
        cmocka_unit_test(an_end_is_not_missed),
        cmocka_unit_test(calls_that_may_not_wait_do_not),
        cmocka_unit_test(poll_says_what_is_there),
        cmocka_unit_test(a_full_descriptor_table_is_the_callers_to_handle),
        cmocka_unit_test(connect_says_why_not),
        cmocka_unit_test(a_datagram_is_received_as_it_was_sent),
        cmocka_unit_test(no_socket_is_an_error),
    };
    return run_with_both_drivers(sockets);
}
