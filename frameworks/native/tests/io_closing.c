/* What begins between a close's look at who waits and the close itself. Others run there: close is a system call. */
#include "io_test.h"

#include <fcntl.h>

static int closing = -1; /* where others get the processor in the middle of its close… */
static bool closed;      /* …when the system call has been made already */
static bool taken;       /* …and they make it themselves, and have the number anew */
static struct sockaddr_in address_of_next;

int __real_system_close(int descriptor);
int __wrap_system_close(int descriptor);

int __wrap_system_close(int descriptor) {
    if (descriptor != closing)
        return __real_system_close(descriptor);
    closing = -1;
    int result = closed ? __real_system_close(descriptor) : 0;
    for (int i = 0; i < 10; i++)
        catapults_yield();
    return closed || taken ? result : __real_system_close(descriptor);
}

static _Atomic bool go_on;

static void *read_late(void *descriptor) {
    char byte;
    while (!go_on)
        catapults_yield();
    require(catapults_read((int)(intptr_t)descriptor, &byte, 1) == -1 && errno == EBADF);
    return NULL;
}

static void *receive_late(void *descriptor) {
    char byte;
    while (!go_on)
        catapults_yield();
    require(catapults_recv_until((int)(intptr_t)descriptor, &byte, 1, 0, CATAPULTS_FOREVER) == -1 && errno == EBADF);
    return NULL;
}

static void *select_late(void *descriptor) {
    struct catapults_source source = catapults_source_descriptor((int)(intptr_t)descriptor, POLLIN);
    while (!go_on)
        catapults_yield();
    int count = catapults_select(&source, 1, CATAPULTS_FOREVER);
    require(count == 1 && source.happened == POLLNVAL);
    return NULL;
}

static void who_begins_to_wait_in_the_middle(void *(*start)(void *)) {
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    go_on = false;
    catapults_t thread = spawn(start, (void *)(intptr_t)ends[0]);
    catapults_yield();
    go_on = true;
    closing = ends[0];
    assert_int_equal(catapults_close(ends[0]), 0);
    assert_int_equal(closing, -1);
    assert_int_equal(catapults_join(thread, NULL), 0);
    catapults_close(ends[1]);
}

static void a_read(void **state) {
    (void)state;
    who_begins_to_wait_in_the_middle(read_late);
}

static void a_recv(void **state) {
    (void)state;
    who_begins_to_wait_in_the_middle(receive_late);
}

static void a_select(void **state) {
    (void)state;
    who_begins_to_wait_in_the_middle(select_late);
}

/* The number is another file's already: who waits for that one gets what is written to it. */
static int next_ends[2];

static void *read_the_next(void *number_) {
    int number = (int)(intptr_t)number_;
    char byte = 0;
    while (!go_on)
        catapults_yield();
    require(dup3(next_ends[0], number, O_CLOEXEC) == number);
    require(catapults_read(number, &byte, 1) == 1 && byte == 'x');
    return NULL;
}

static void the_next_file_of_that_number(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(pipe2(next_ends, O_CLOEXEC), 0);
    go_on = false;
    catapults_t thread = spawn(read_the_next, (void *)(intptr_t)ends[0]);
    catapults_yield();
    go_on = closed = true;
    closing = ends[0];
    assert_int_equal(catapults_close(ends[0]), 0);
    assert_int_equal(closing, -1);
    closed = false;
    for (int i = 0; i < 10; i++)
        catapults_yield();
    assert_int_equal(write(next_ends[1], "x", 1), 1);
    assert_int_equal(catapults_join(thread, NULL), 0);
    catapults_close(ends[0]);
    catapults_close(ends[1]);
    catapults_close(next_ends[0]);
    catapults_close(next_ends[1]);
}

/* What was found out of the file before its close is not true of the next one: it does not wait in the kernel. */
static int accepted = -1;

static void *accept_and_listen_anew(void *listener_) {
    int listener = (int)(intptr_t)listener_;
    struct sockaddr_in address;
    while (!go_on)
        catapults_yield();
    int first = catapults_accept(listener, NULL, NULL, SOCK_CLOEXEC); /* it has not been closed yet */
    require(first >= 0 && close(first) == 0 && close(listener) == 0);
    int next = listen_tcp(&address);
    require(next == listener);
    address_of_next = address;
    accepted = catapults_accept(next, NULL, NULL, SOCK_CLOEXEC);
    return NULL;
}

static void an_accept_by_the_number(void **state) {
    (void)state;
    struct sockaddr_in address;
    int listener = listen_tcp(&address), first = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), second;
    assert_int_equal(connect(first, (struct sockaddr *)&address, sizeof address), 0);
    go_on = false;
    catapults_t thread = spawn(accept_and_listen_anew, (void *)(intptr_t)listener);
    catapults_yield();
    go_on = taken = true;
    closing = listener;
    assert_int_equal(catapults_close(listener), 0);
    assert_int_equal(closing, -1);
    taken = false;
    second = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(second, (struct sockaddr *)&address_of_next, sizeof address_of_next), 0);
    assert_int_equal(catapults_join(thread, NULL), 0);
    assert_true(accepted >= 0);
    catapults_close(accepted);
    catapults_close(listener);
    catapults_close(first);
    catapults_close(second);
}

int main(void) {
    const struct CMUnitTest closing_in_the_middle[] = {
        cmocka_unit_test(a_read),
        cmocka_unit_test(a_recv),
        cmocka_unit_test(a_select),
        cmocka_unit_test(the_next_file_of_that_number),
        cmocka_unit_test(an_accept_by_the_number),
    };
    return run_with_both_drivers(closing_in_the_middle);
}
