/* Waiting for several things at once; and that calls which wait for descriptors can be cancelled. */
#include "io_test.h"

#include <fcntl.h>
#include <time.h>

static catapults_port_t port;
static struct catapults_message message;
static int ends[2];

static void make_pipe(void) { require(pipe2(ends, O_CLOEXEC) == 0); }

static void close_pipe(void) {
    catapults_close(ends[0]);
    catapults_close(ends[1]);
}

static void *write_one(void *descriptor) {
    catapults_sleep(MILLISECONDS);
    require(catapults_write((int)(intptr_t)descriptor, "x", 1) == 1);
    return NULL;
}

static int64_t cpu_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void *send_one(void *argument) {
    catapults_sleep(MILLISECONDS);
    require(catapults_port_send(&port, &message) == 0);
    return argument;
}

/* What poll(2) says of a file never changes. */
static void a_file_is_waited_for_in_vain(void **state) {
    (void)state;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    make_pipe();
    for (int also = 0; also <= 1; also++) {
        struct pollfd both[] = {{.fd = file, .events = POLLPRI}, {.fd = ends[0], .events = POLLIN}};
        int64_t instant = after(20 * MILLISECONDS), consumed = cpu_time();
        assert_int_equal(catapults_poll(both, 1 + (nfds_t)also, instant), 0);
        assert_true(catapults_now() >= instant && cpu_time() - consumed < 10 * MILLISECONDS);
    }
    int64_t instant = after(10 * MILLISECONDS);
    assert_int_equal(catapults_poll_until(file, POLLPRI, instant), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_true(catapults_now() >= instant);
    struct pollfd both[] = {{.fd = file}, {.fd = ends[0], .events = POLLIN}};
    catapults_t thread = spawn(write_one, (void *)(intptr_t)ends[1]);
    assert_int_equal(catapults_poll(both, 2, after(20000 * MILLISECONDS)), 1);
    assert_int_equal(catapults_join(thread, NULL), 0);
    close_pipe();
    catapults_close(file);
}

static void *wait_a_little(void *argument) {
    catapults_sleep(MILLISECONDS);
    return argument;
}

static void any_of_four(void **state) {
    (void)state;
    make_pipe();
    catapults_port_init(&port, "port", 0);
    enum { DESCRIPTOR, PORT, THREAD, INSTANT, NOTHING };
    for (int which = 0; which <= NOTHING; which++) {
        catapults_t thread = NULL, target = spawn(wait_a_little, NULL);
        if (which != THREAD) {
            catapults_cancel(target);
            catapults_join(target, NULL);
            target = spawn(wait_a_little, NULL);
            catapults_suspend(target);
        }
        if (which == DESCRIPTOR)
            thread = spawn(write_one, (void *)(intptr_t)ends[1]);
        else if (which == PORT)
            thread = spawn(send_one, NULL);
        struct catapults_source sources[] = {
            catapults_source_descriptor(ends[0], POLLIN),
            catapults_source_port(&port),
            catapults_source_thread(target),
            catapults_source_instant(which == INSTANT ? after(MILLISECONDS) : CATAPULTS_FOREVER),
            catapults_source_descriptor(-1, POLLIN),
        };
        int64_t instant = which == NOTHING ? after(MILLISECONDS) : after(20000 * MILLISECONDS);
        int found = catapults_select(sources, 5, instant);
        assert_int_equal(found, which == NOTHING ? 0 : 1);
        for (int i = 0; i < 5; i++)
            assert_int_equal(sources[i].happened != 0, i == which && which != NOTHING);
        if (which == DESCRIPTOR) {
            char byte;
            assert_int_equal(sources[0].happened, POLLIN);
            assert_int_equal(catapults_read(ends[0], &byte, 1), 1);
        } else if (which == PORT) {
            struct catapults_message *received;
            assert_int_equal(catapults_port_tryreceive(&port, &received), 0);
            assert_ptr_equal(received, &message);
        }
        if (thread != NULL)
            assert_int_equal(catapults_join(thread, NULL), 0);
        if (which != THREAD)
            catapults_resume(target);
        assert_int_equal(catapults_join(target, NULL), 0);
    }
    close_pipe();
}

static void what_is_there_already(void **state) {
    (void)state;
    make_pipe();
    int busy[2];
    require(pipe2(busy, O_CLOEXEC) == 0 && write(busy[1], "x", 1) == 1);
    struct catapults_source sources[] = {
        catapults_source_descriptor(ends[0], POLLIN),  catapults_source_descriptor(busy[0], POLLIN),
        catapults_source_descriptor(ends[1], POLLOUT), catapults_source_instant(0),
        catapults_source_descriptor(9999, POLLIN),
    };
    assert_int_equal(catapults_select(sources, 5, CATAPULTS_FOREVER), 4);
    assert_int_equal(sources[0].happened, 0);
    assert_int_equal(sources[1].happened, POLLIN);
    assert_int_equal(sources[2].happened, POLLOUT);
    assert_int_equal(sources[3].happened, 1);
    assert_int_equal(sources[4].happened, POLLNVAL);
    assert_int_equal(catapults_select(sources, 1, 0), 0);
    assert_int_equal(catapults_select(NULL, 0, 0), 0);
    close(busy[0]);
    close(busy[1]);
    close_pipe();
}

static void what_cannot_be_waited_for(void **state) {
    (void)state;
    struct catapults_source source = catapults_source_thread(catapults_self());
    assert_int_equal(catapults_select(&source, 1, 0), -1);
    assert_int_equal(errno, EINVAL);
    source.kind = (enum catapults_source_kind)77;
    assert_int_equal(catapults_select(&source, 1, 0), -1);
    assert_int_equal(errno, EINVAL);
    struct catapults_source too_many[1];
    assert_int_equal(catapults_select(too_many, SIZE_MAX, 0), -1);
    assert_int_equal(errno, ENOMEM);
}

/* More than there is room for on the stack, and each of them in turn. */
static void many_descriptors(void **state) {
    (void)state;
    enum { MANY = 50 };
    int pipes[MANY][2];
    struct pollfd descriptors[MANY];
    for (int i = 0; i < MANY; i++) {
        require(pipe2(pipes[i], O_CLOEXEC) == 0);
        descriptors[i] = (struct pollfd){.fd = pipes[i][0], .events = POLLIN};
    }
    assert_int_equal(catapults_poll(descriptors, MANY, after(MILLISECONDS)), 0);
    for (int i = 0; i < MANY; i++) {
        char byte;
        catapults_t thread = spawn(write_one, (void *)(intptr_t)pipes[i][1]);
        assert_int_equal(catapults_poll(descriptors, MANY, after(20000 * MILLISECONDS)), 1);
        for (int n = 0; n < MANY; n++)
            assert_int_equal(descriptors[n].revents, n == i ? POLLIN : 0);
        assert_int_equal(catapults_read(pipes[i][0], &byte, 1), 1);
        assert_int_equal(catapults_join(thread, NULL), 0);
    }
    for (int i = 0; i < MANY; i++) {
        catapults_close(pipes[i][0]);
        catapults_close(pipes[i][1]);
    }
}

static void *close_it(void *descriptor) {
    catapults_close((int)(intptr_t)descriptor);
    return NULL;
}

static void a_descriptor_that_is_closed_meanwhile(void **state) {
    (void)state;
    make_pipe();
    catapults_t thread = spawn(close_it, (void *)(intptr_t)ends[0]);
    struct catapults_source source = catapults_source_descriptor(ends[0], POLLIN);
    assert_int_equal(catapults_select(&source, 1, after(20000 * MILLISECONDS)), -1);
    assert_int_equal(errno, EBADF);
    catapults_join(thread, NULL);
    catapults_close(ends[1]);
}

/* ---- Cancellation ------------------------------------------------------------------------------------------------ */

static int cleaned_up;
static void clean_up(void *argument) {
    (void)argument;
    cleaned_up++;
}

static void *read_for_ever(void *argument) {
    char byte;
    catapults_cleanup_push(clean_up, NULL);
    catapults_read(ends[0], &byte, 1);
    catapults_cleanup_pop(0);
    return argument;
}

static void *receive_for_ever(void *argument) {
    char byte;
    catapults_cleanup_push(clean_up, NULL);
    catapults_recv_until(*(int *)argument, &byte, 1, 0, CATAPULTS_FOREVER);
    catapults_cleanup_pop(0);
    return argument;
}

static void *accept_for_ever(void *argument) {
    catapults_cleanup_push(clean_up, NULL);
    catapults_accept(*(int *)argument, NULL, NULL, 0);
    catapults_cleanup_pop(0);
    return argument;
}

static void *poll_for_ever(void *argument) {
    catapults_cleanup_push(clean_up, NULL);
    catapults_poll_until(ends[0], POLLIN, CATAPULTS_FOREVER);
    catapults_cleanup_pop(0);
    return argument;
}

static void *select_for_ever(void *argument) {
    struct catapults_source sources[20];
    for (int i = 0; i < 20; i++)
        sources[i] = catapults_source_descriptor(ends[0], POLLIN);
    catapults_cleanup_push(clean_up, NULL);
    catapults_select(sources, 20, CATAPULTS_FOREVER);
    catapults_cleanup_pop(0);
    return argument;
}

static void calls_that_wait_can_be_cancelled(void **state) {
    (void)state;
    make_pipe();
    int connection[2];
    struct sockaddr_in address;
    connect_tcp(connection);
    int listener = listen_tcp(&address);
    struct {
        void *(*start)(void *);
        int *argument;
    } calls[] = {{read_for_ever, NULL},
                 {receive_for_ever, connection},
                 {accept_for_ever, &listener},
                 {poll_for_ever, NULL},
                 {select_for_ever, NULL}};
    for (int waits = 0; waits < 2; waits++) {
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            cleaned_up = 0;
            catapults_t thread = spawn(calls[i].start, calls[i].argument);
            if (waits)
                catapults_sleep(MILLISECONDS);
            void *result;
            assert_int_equal(catapults_cancel(thread), 0);
            assert_int_equal(catapults_join(thread, &result), 0);
            assert_ptr_equal(result, CATAPULTS_CANCELED);
            assert_int_equal(cleaned_up, 1);
        }
    }
    /* Nothing has been taken, and nothing is left behind. */
    char byte;
    require(write(ends[1], "x", 1) == 1 && write(connection[1], "y", 1) == 1);
    assert_int_equal(catapults_read(ends[0], &byte, 1), 1);
    assert_int_equal(catapults_recv_until(connection[0], &byte, 1, 0, after(5000 * MILLISECONDS)), 1);
    catapults_close(connection[0]);
    catapults_close(connection[1]);
    catapults_close(listener);
    close_pipe();
}

static size_t written;
static void *write_much(void *data) {
    written = (size_t)catapults_write(ends[1], data, 1 << 20);
    catapults_testcancel();
    return NULL;
}

/* What has gone is not hidden. */
static void a_write_that_is_cancelled_says_how_much_has_gone(void **state) {
    (void)state;
    static char data[1 << 20];
    make_pipe();
    catapults_t thread = spawn(write_much, data);
    catapults_sleep(MILLISECONDS);
    void *result;
    assert_int_equal(catapults_cancel(thread), 0);
    assert_int_equal(catapults_join(thread, &result), 0);
    assert_ptr_equal(result, CATAPULTS_CANCELED);
    assert_true(written > 0 && written < sizeof data);
    close_pipe();
}

int main(void) {
    const struct CMUnitTest several[] = {
        cmocka_unit_test(any_of_four),
        cmocka_unit_test(a_file_is_waited_for_in_vain),
        cmocka_unit_test(what_is_there_already),
        cmocka_unit_test(what_cannot_be_waited_for),
        cmocka_unit_test(many_descriptors),
        cmocka_unit_test(a_descriptor_that_is_closed_meanwhile),
        cmocka_unit_test(calls_that_wait_can_be_cancelled),
        cmocka_unit_test(a_write_that_is_cancelled_says_how_much_has_gone),
    };
    return run_with_both_drivers(several);
}
