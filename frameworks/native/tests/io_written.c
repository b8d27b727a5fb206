/* What the kernel writes into buffers without a system call is known to be written: debuggers.sh runs this under
 * Valgrind, too. */
#include <fcntl.h>

#include "io_test.h"

static void *send_later(void *socket) {
    catapults_sleep(MILLISECONDS);
    require(catapults_send_until((int)(intptr_t)socket, "abc", 3, 0, CATAPULTS_FOREVER) == 3);
    return NULL;
}

static void a_branch_may_depend_on_it(void **state) {
    (void)state;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    char *buffer = malloc(8);
    catapults_t sender = spawn(send_later, (void *)(intptr_t)pair[0]);
    assert_int_equal(catapults_recv_until(pair[1], buffer, 8, 0, CATAPULTS_FOREVER), 3);
    assert_true(buffer[0] == 'a' && buffer[2] == 'c');
    assert_int_equal(catapults_join(sender, NULL), 0);
    free(buffer);

    char name[] = "/tmp/catapults-written-XXXXXX";
    int file = mkostemp(name, O_CLOEXEC);
    assert_true(file >= 0 && unlink(name) == 0);
    assert_int_equal(catapults_write(file, "abc", 3), 3);
    assert_int_equal(catapults_fsync(file), 0);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    buffer = malloc(8);
    assert_int_equal(catapults_pread(file, buffer, 8, 0), 3);
    assert_true(buffer[0] == 'a' && buffer[2] == 'c');
    free(buffer);
    catapults_close(file);
    catapults_close(pair[0]);
    catapults_close(pair[1]);
}

int main(void) {
    const struct CMUnitTest written[] = {cmocka_unit_test(a_branch_may_depend_on_it)};
    return run_with_both_drivers(written);
}
