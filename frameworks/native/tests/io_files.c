/* Files and pipes. */
#include "io_test.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#define SIZE (10 << 20)

static unsigned char *contents;
static char path[] = "/tmp/catapults-io-XXXXXX";

/* A file of SIZE bytes that has to be fetched from its disk, where there is one. */
static int make_file(void) {
    if (contents == NULL) {
        contents = malloc(SIZE);
        for (size_t i = 0; i < SIZE; i++)
            contents[i] = (unsigned char)(i * 31 + (i >> 12));
    }
    strcpy(path + sizeof path - 7, "XXXXXX");
    int file = mkstemp(path);
    require(file >= 0 && catapults_write(file, contents, SIZE) == SIZE && catapults_fsync(file) == 0);
    require(unlink(path) == 0 && posix_fadvise(file, 0, SIZE, POSIX_FADV_DONTNEED) == 0);
    return file;
}

static void reads_give_what_was_written(void **state) {
    (void)state;
    int file = make_file();
    unsigned char *buffer = malloc(SIZE + 100);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    for (size_t at = 0, size = 1; at < SIZE; at += size, size = size * 3 + 1) {
        ssize_t expected = (ssize_t)(SIZE - at < size ? SIZE - at : size);
        assert_int_equal(catapults_read(file, buffer, size), expected);
        assert_memory_equal(buffer, contents + at, (size_t)expected);
    }
    assert_int_equal(catapults_read(file, buffer, 1), 0);
    posix_fadvise(file, 0, SIZE, POSIX_FADV_DONTNEED);
    assert_int_equal(catapults_pread(file, buffer, SIZE + 100, 0), SIZE);
    assert_memory_equal(buffer, contents, SIZE);
    assert_int_equal(catapults_pread(file, buffer, 5000, SIZE - 100), 100);
    assert_memory_equal(buffer, contents + SIZE - 100, 100);
    assert_int_equal(catapults_pread(file, buffer, 1, -1), -1);
    assert_int_equal(errno, EINVAL);
    free(buffer);
    catapults_close(file);
}

static int shared_file;

static void *read_parts(void *argument) {
    unsigned seed = (unsigned)(intptr_t)argument;
    unsigned char *buffer = malloc(100000);
    for (int i = 0; i < 30; i++) {
        size_t size = (size_t)rand_r(&seed) % 100000, at = (size_t)rand_r(&seed) % (SIZE - size);
        require(catapults_pread(shared_file, buffer, size, (off_t)at) == (ssize_t)size);
        require(memcmp(buffer, contents + at, size) == 0);
    }
    free(buffer);
    return NULL;
}

static void many_threads_read_one_file(void **state) {
    (void)state;
    catapults_t threads[50];
    shared_file = make_file();
    for (int i = 0; i < 50; i++)
        threads[i] = spawn(read_parts, (void *)(intptr_t)i);
    for (int i = 0; i < 50; i++)
        assert_int_equal(catapults_join(threads[i], NULL), 0);
    catapults_close(shared_file);
}

static void *write_lines(void *argument) {
    char line[64];
    for (int i = 0; i < 20; i++) {
        memset(line, (int)(intptr_t)argument, sizeof line);
        line[63] = '\n';
        require(catapults_write(shared_file, line, sizeof line) == sizeof line);
    }
    return NULL;
}

static void writes_of_many_threads_do_not_overlap(void **state) {
    (void)state;
    catapults_t threads[20];
    strcpy(path + sizeof path - 7, "XXXXXX");
    shared_file = mkstemp(path);
    unlink(path);
    for (int i = 0; i < 20; i++)
        threads[i] = spawn(write_lines, (void *)(intptr_t)('a' + i));
    for (int i = 0; i < 20; i++)
        assert_int_equal(catapults_join(threads[i], NULL), 0);
    char buffer[64 * 400 + 1];
    int count[20] = {0};
    assert_int_equal(catapults_pread(shared_file, buffer, sizeof buffer, 0), 64 * 400);
    for (int line = 0; line < 400; line++) {
        for (int i = 1; i < 63; i++)
            assert_int_equal(buffer[line * 64 + i], buffer[line * 64]);
        count[buffer[line * 64] - 'a']++;
    }
    for (int i = 0; i < 20; i++)
        assert_int_equal(count[i], 20);
    catapults_close(shared_file);
}

#define PAGE 4096
#define PAGES 2000

static unsigned char seen[PAGES];

static void *read_pages(void *argument) {
    uint32_t page[PAGE / sizeof(uint32_t)];
    (void)argument;
    for (ssize_t size; (size = catapults_read(shared_file, page, PAGE)) != 0;) {
        require(size == PAGE && page[0] < PAGES);
        seen[page[0]]++;
    }
    return NULL;
}

static void reads_of_many_threads_do_not_overlap(void **state) {
    (void)state;
    static uint32_t pages[PAGES][PAGE / sizeof(uint32_t)];
    catapults_t threads[20];
    strcpy(path + sizeof path - 7, "XXXXXX");
    shared_file = mkstemp(path);
    unlink(path);
    for (uint32_t i = 0; i < PAGES; i++)
        pages[i][0] = i;
    assert_int_equal(catapults_pwrite(shared_file, pages, sizeof pages, 0), sizeof pages);
    assert_int_equal(catapults_fsync(shared_file), 0);
    assert_int_equal(posix_fadvise(shared_file, 0, 0, POSIX_FADV_DONTNEED), 0);
    assert_int_equal(posix_fadvise(shared_file, 0, 0, POSIX_FADV_RANDOM), 0); /* each page is fetched by itself */
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 20; i++)
        threads[i] = spawn(read_pages, NULL);
    for (int i = 0; i < 20; i++)
        assert_int_equal(catapults_join(threads[i], NULL), 0);
    for (int i = 0; i < PAGES; i++)
        assert_int_equal(seen[i], 1);
    catapults_close(shared_file);
}

static void *write_block(void *argument) {
    static char block[300000];
    ssize_t written = catapults_write((int)(intptr_t)argument, block, sizeof block);
    return (void *)(intptr_t)(written == sizeof block || (written < 0 && errno == EBADF));
}

/* Whoever waits for the disk, or for its turn at the position, does not go on with the next file of that number. */
static void close_ends_waits_for_files(void **state) {
    (void)state;
    for (int turns = 0; turns < 10; turns++) {
        catapults_t threads[8];
        struct stat status;
        strcpy(path + sizeof path - 7, "XXXXXX");
        int file = mkstemp(path);
        unlink(path);
        for (int i = 0; i < 8; i++)
            threads[i] = spawn(write_block, (void *)(intptr_t)file);
        catapults_yield(); /* all have begun */
        for (int i = 0; i < turns; i++)
            catapults_sleep(MILLISECONDS / 10); /* and some are through */
        assert_int_equal(catapults_close(file), 0);
        strcpy(path + sizeof path - 7, "XXXXXX");
        assert_int_equal(mkstemp(path), file);
        unlink(path);
        for (int i = 0; i < 8; i++) {
            void *right;
            assert_int_equal(catapults_join(threads[i], &right), 0);
            assert_true(right);
        }
        assert_int_equal(fstat(file, &status), 0);
        assert_int_equal(status.st_size, 0);
        catapults_close(file);
    }
}

static void *receive_slowly(void *argument) {
    static unsigned char buffer[65536];
    size_t total = 0;
    ssize_t size;
    for (int i = 0;
         (size = catapults_recv_until((int)(intptr_t)argument, buffer, sizeof buffer, 0, CATAPULTS_FOREVER)) > 0; i++) {
        require(memcmp(buffer, contents + total, (size_t)size) == 0);
        total += (size_t)size;
        if (i % 50 == 0)
            catapults_sleep(1 * MILLISECONDS);
    }
    require(size == 0);
    return (void *)total;
}

static void sendfile_into_a_slow_socket(void **state) {
    (void)state;
    for (int with_offset = 0; with_offset < 2; with_offset++) {
        int ends[2], file = make_file();
        off_t offset = 0;
        connect_tcp(ends);
        lseek(file, 0, SEEK_SET);
        catapults_t receiver = spawn(receive_slowly, (void *)(intptr_t)ends[1]);
        size_t total = 0;
        for (ssize_t sent; total < SIZE; total += (size_t)sent) {
            sent = catapults_sendfile_until(ends[0], file, with_offset ? &offset : NULL, SIZE,
                                            after(10000 * MILLISECONDS));
            assert_true(sent > 0);
        }
        assert_int_equal(catapults_sendfile_until(ends[0], file, with_offset ? &offset : NULL, 10, CATAPULTS_FOREVER),
                         0);
        catapults_close(ends[0]);
        void *received;
        assert_int_equal(catapults_join(receiver, &received), 0);
        assert_int_equal((size_t)received, SIZE);
        catapults_close(ends[1]);
        catapults_close(file);
    }
}

static void sendfile_says_why_not(void **state) {
    (void)state;
    int ends[2], file = make_file();
    off_t offset = 0;
    connect_tcp(ends);
    ssize_t sent;
    while ((sent = catapults_sendfile_until(ends[0], file, &offset, SIZE, after(5 * MILLISECONDS))) > 0)
        offset %= SIZE;
    assert_int_equal(errno, ETIMEDOUT);
    catapults_close(ends[1]);
    do
        sent = catapults_sendfile_until(ends[0], file, &offset, SIZE, after(5000 * MILLISECONDS));
    while (sent > 0);
    assert_true(errno == EPIPE || errno == ECONNRESET);
    assert_int_equal(catapults_sendfile_until(ends[0], file, &offset, SIZE, CATAPULTS_FOREVER),
                     -1); /* and no SIGPIPE */
    assert_int_equal(errno, EPIPE);
    catapults_close(ends[0]);
    assert_int_equal(catapults_sendfile_until(ends[0], file, &offset, SIZE, CATAPULTS_FOREVER), -1);
    assert_int_equal(errno, EBADF);
    catapults_close(file);
}

static void *write_late(void *argument) {
    catapults_sleep(3 * MILLISECONDS);
    require(catapults_write((int)(intptr_t)argument, "12345678", 8) == 8);
    return NULL;
}

static void pipes_and_event_counters_are_waited_for(void **state) {
    (void)state;
    int ends[2];
    char buffer[100];
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        assert_int_equal(pipe2(ends, nonblocking ? O_NONBLOCK : 0), 0);
        catapults_t writer = spawn(write_late, (void *)(intptr_t)ends[1]);
        assert_int_equal(catapults_read(ends[0], buffer, sizeof buffer), 8); /* a pipe gives what it has */
        catapults_join(writer, NULL);
        catapults_close(ends[1]);
        assert_int_equal(catapults_read(ends[0], buffer, sizeof buffer), 0);
        catapults_close(ends[0]);
        int counter = eventfd(0, nonblocking ? EFD_NONBLOCK : 0);
        writer = spawn(write_late, (void *)(intptr_t)counter);
        assert_int_equal(catapults_read(counter, buffer, 8), 8);
        assert_memory_equal(buffer, "12345678", 8);
        catapults_join(writer, NULL);
        catapults_close(counter);
    }
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(catapults_pread(ends[0], buffer, 1, 0), -1);
    assert_int_equal(errno, ESPIPE);
    catapults_close(ends[0]);
    assert_int_equal(catapults_write(ends[1], "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    catapults_close(ends[1]);
}

static void errors_are_those_of_the_calls(void **state) {
    (void)state;
    char byte = 0;
    int folder = open("/", O_RDONLY | O_DIRECTORY), full = open("/dev/full", O_WRONLY),
        zero = open("/dev/zero", O_RDONLY);
    assert_int_equal(catapults_read(folder, &byte, 1), -1);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(catapults_write(folder, &byte, 1), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(catapults_write(full, &byte, 1), -1);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(catapults_read(zero, &byte, 1), 1);
    assert_int_equal(catapults_read(zero, NULL, 1), -1);
    assert_int_equal(errno, EFAULT);
    assert_int_equal(catapults_read(-1, &byte, 1), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(catapults_fsync(-1), -1);
    assert_int_equal(errno, EBADF);
    catapults_close(folder);
    catapults_close(full);
    catapults_close(zero);
}

int main(void) {
    const struct CMUnitTest files[] = {
        cmocka_unit_test(reads_give_what_was_written),
        cmocka_unit_test(many_threads_read_one_file),
        cmocka_unit_test(writes_of_many_threads_do_not_overlap),
        cmocka_unit_test(reads_of_many_threads_do_not_overlap),
        cmocka_unit_test(close_ends_waits_for_files),
        cmocka_unit_test(sendfile_into_a_slow_socket),
        cmocka_unit_test(sendfile_says_why_not),
        cmocka_unit_test(pipes_and_event_counters_are_waited_for),
        cmocka_unit_test(errors_are_those_of_the_calls),
    };
    return run_with_both_drivers(files);
}
