/*
 * Blocking calls on several processors, with both drivers: what one waits for another one may begin, end, time out,
 * cancel or close.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "catapults.h"
#include "support/child.h"

enum { MS = 1000000 };

static const char *driver;

static void begin(int processors) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .io = driver}) == 0);
}

static catapults_t spawn(void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, NULL, start, argument) == 0);
    return thread;
}

static void join_all(const catapults_t *threads, int count) {
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static __attribute__((noipa)) int error_here(void) { return errno; }

/* ---- Data -------------------------------------------------------------------------------------------------------- */

enum { PAIRS = 12, ROUNDS = 300 };
static int pairs[PAIRS][2];

static void *ask(void *argument) {
    int end = pairs[(intptr_t)argument][0];
    for (int i = 0; i < ROUNDS; i++) {
        int sent = i * PAIRS + (int)(intptr_t)argument, received = -1;
        require(catapults_send_until(end, &sent, sizeof sent, 0, CATAPULTS_FOREVER) == sizeof sent);
        require(catapults_recv_until(end, &received, sizeof received, MSG_WAITALL, CATAPULTS_FOREVER) ==
                sizeof received);
        require(received == sent + 1);
    }
    require(shutdown(end, SHUT_WR) == 0);
    return NULL;
}

static void *answer(void *argument) {
    int end = pairs[(intptr_t)argument][1], number;
    while (catapults_read(end, &number, sizeof number) == sizeof number) {
        number++;
        require(catapults_write(end, &number, sizeof number) == sizeof number);
    }
    return NULL;
}

static void talk(int processors) {
    begin(processors);
    catapults_t threads[2 * PAIRS];
    for (intptr_t i = 0; i < PAIRS; i++) {
        require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]) == 0);
        threads[2 * i] = spawn(ask, (void *)i);
        threads[2 * i + 1] = spawn(answer, (void *)i);
    }
    join_all(threads, 2 * PAIRS);
}

static void all_that_is_sent_is_received_on_two(void) { talk(2); }
static void all_that_is_sent_is_received_on_four(void) { talk(4); }

static int file;

static void *write_and_read_back(void *argument) {
    char written[600], back[600];
    off_t offset = (intptr_t)argument * 1000;
    for (int i = 0; i < 40; i++) {
        memset(written, i + (int)(intptr_t)argument, sizeof written);
        require(catapults_pwrite(file, written, sizeof written, offset) == sizeof written);
        if (i % 10 == 0)
            require(catapults_fsync(file) == 0);
        require(catapults_pread(file, back, sizeof back, offset) == sizeof back);
        require(memcmp(written, back, sizeof back) == 0);
    }
    return NULL;
}

static void files_are_written_and_read(void) {
    char path[] = "/tmp/catapults-io-XXXXXX";
    begin(2);
    require((file = mkstemp(path)) >= 0 && unlink(path) == 0);
    catapults_t threads[10];
    for (intptr_t i = 0; i < 10; i++)
        threads[i] = spawn(write_and_read_back, (void *)i);
    join_all(threads, 10);
}

enum { PAGE = 4096, PAGES = 2000, READERS = 20 };
static atomic_int seen[PAGES];

static void *read_pages(void *argument) {
    uint32_t page[PAGE / sizeof(uint32_t)];
    for (ssize_t size; (size = catapults_read(file, page, PAGE)) != 0;) {
        require(size == PAGE && page[0] < PAGES);
        atomic_fetch_add(&seen[page[0]], 1);
    }
    return argument;
}

/* Some find their page in memory, others have the disk fetch it. */
static void reads_of_one_file_do_not_overlap(void) {
    static uint32_t pages[PAGES][PAGE / sizeof(uint32_t)];
    char path[] = "/tmp/catapults-io-XXXXXX";
    begin(2);
    require((file = mkstemp(path)) >= 0 && unlink(path) == 0);
    for (uint32_t i = 0; i < PAGES; i++)
        pages[i][0] = i;
    require(catapults_pwrite(file, pages, sizeof pages, 0) == sizeof pages);
    require(catapults_fsync(file) == 0);
    require(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
    require(posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM) == 0); /* each page is fetched by itself */
    catapults_t threads[READERS];
    for (int i = 0; i < READERS; i++)
        threads[i] = spawn(read_pages, NULL);
    join_all(threads, READERS);
    for (int i = 0; i < PAGES; i++)
        require(atomic_load(&seen[i]) == 1);
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

static atomic_int timeouts, bytes;
static atomic_bool over;

static void *read_impatiently(void *argument) {
    int end = pairs[0][0];
    for (unsigned seed = (unsigned)(intptr_t)argument; !atomic_load(&over);) {
        char byte;
        int64_t instant = catapults_now() + rand_r(&seed) % 200000;
        ssize_t length = catapults_recv_until(end, &byte, 1, 0, instant);
        require(length == 1 || (length < 0 && error_here() == ETIMEDOUT));
        atomic_fetch_add(length == 1 ? &bytes : &timeouts, 1);
    }
    return NULL;
}

/* What has been read by nobody is still there. */
static void instants_and_data_at_once(void) {
    begin(3);
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[0]) == 0);
    catapults_t threads[6];
    for (intptr_t i = 0; i < 6; i++)
        threads[i] = spawn(read_impatiently, (void *)(i + 1));
    for (int i = 0; i < 1000; i++) {
        require(catapults_write(pairs[0][1], "x", 1) == 1);
        if (i % 5 == 0)
            catapults_sleep(100000);
    }
    for (int64_t end = catapults_now() + 10000 * (int64_t)MS; atomic_load(&bytes) < 1000 && catapults_now() < end;)
        catapults_sleep(MS);
    atomic_store(&over, true);
    join_all(threads, 6);
    require(atomic_load(&bytes) == 1000 && atomic_load(&timeouts) > 0);
}

static void *read_until_closed(void *argument) {
    char byte;
    require(catapults_read(*(int *)argument, &byte, 1) == -1 && error_here() == EBADF);
    return NULL;
}

static void *read_until_cancelled(void *argument) {
    char byte;
    catapults_read(*(int *)argument, &byte, 1);
    return NULL;
}

static void waits_are_ended_from_anywhere(void) {
    begin(3);
    for (int round = 0; round < 50; round++) {
        int ends[2];
        require(pipe2(ends, O_CLOEXEC) == 0);
        catapults_t closed[] = {spawn(read_until_closed, &ends[0]), spawn(read_until_closed, &ends[0])};
        catapults_t cancelled = spawn(read_until_cancelled, &ends[0]);
        catapults_sleep(round % 2 ? 0 : 200000);
        void *result;
        require(catapults_cancel(cancelled) == 0);
        require(catapults_join(cancelled, &result) == 0 && result == CATAPULTS_CANCELED);
        if (round % 2)
            catapults_sleep(MS);
#if defined(__SANITIZE_THREAD__) /* to it whoever looks at a descriptor that another closes is in a race */
        for (int i = 0; i < 10000 && catapults_threads_suspended() < 2; i++)
            catapults_sleep(MS);
#endif
        require(catapults_close(ends[0]) == 0);
        join_all(closed, 2);
        close(ends[1]);
    }
}

/* ---- Who looks outside --------------------------------------------------------------------------------------------
 */

static void *sleep_a_while(void *argument) {
    catapults_sleep(300 * (int64_t)MS);
    return argument;
}

static void who_waits_uses_no_time(void) {
    begin(4);
    int ends[2];
    require(pipe2(ends, O_CLOEXEC) == 0);
    catapults_t waiting = spawn(read_until_cancelled, &ends[0]), sleeping = spawn(sleep_a_while, NULL);
    struct timespec before, after;
    catapults_sleep(20 * MS);
    int64_t began = catapults_now();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    require(catapults_join(sleeping, NULL) == 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    int64_t used = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    require(used < 10 * MS + (catapults_now() - began) / 6); /* if it was late, nearly nothing has passed */
    require(catapults_cancel(waiting) == 0 && catapults_join(waiting, NULL) == 0);
}

static atomic_bool came;

static void *compute(void *argument) {
    while (!atomic_load_explicit(&came, memory_order_relaxed))
        ;
    return argument;
}

static void *read_one(void *argument) {
    char byte;
    require(catapults_read(*(int *)argument, &byte, 1) == 1);
    atomic_store(&came, true);
    return NULL;
}

/* One processor computes and makes no call, the other sleeps in the driver; who has begun the wait is the first. */
static void a_wait_that_is_begun_while_another_sleeps_there(void) {
    begin(2);
    for (int i = 0; i < 20; i++) {
        int ends[2];
        atomic_store(&came, false);
        require(pipe2(ends, O_CLOEXEC) == 0);
        pid_t pid = fork();
        require(pid >= 0);
        if (pid == 0) {
            usleep(5000);
            _exit(write(ends[1], "x", 1) != 1);
        }
        catapults_t threads[] = {spawn(read_one, &ends[0]), spawn(compute, NULL)};
        join_all(threads, 2);
        int status;
        require(waitpid(pid, &status, 0) == pid && status == 0);
        require(catapults_close(ends[0]) == 0 && catapults_close(ends[1]) == 0);
    }
}

/* ---- Closing ----------------------------------------------------------------------------------------------------- */

static int closing = -1, next_ends[2];
static _Atomic int number; /* that is closed, and is the next file's then */
static _Atomic int looks;  /* in vain, at that one */
static _Atomic bool closed, looked, go_on;

int __real_system_close(int descriptor);
int __wrap_system_close(int descriptor);
ssize_t __real_system_recvfrom(int descriptor, void *buffer, size_t size, int flags, struct sockaddr *from,
                               socklen_t *length);
ssize_t __wrap_system_recvfrom(int descriptor, void *buffer, size_t size, int flags, struct sockaddr *from,
                               socklen_t *length);

/* Once it is closed, and before the runtime gets to forgetting what it knows of that number, another uses it. */
int __wrap_system_close(int descriptor) {
    int result = __real_system_close(descriptor);
    if (descriptor != closing)
        return result;
    closing = -1;
    closed = true;
    while (looks < 1)
        catapults_sleep(MS);
    require(write(next_ends[1], "a", 1) == 1);
    while (!looked)
        catapults_sleep(MS);
    require(write(next_ends[1], "b", 1) == 1);
    catapults_sleep(20 * MS); /* who has nothing to do finds that, and nobody waits for it */
    return result;
}

/* The second time it finds nothing the next byte comes before it says that it waits. */
ssize_t __wrap_system_recvfrom(int descriptor, void *buffer, size_t size, int flags, struct sockaddr *from,
                               socklen_t *length) {
    ssize_t received = __real_system_recvfrom(descriptor, buffer, size, flags, from, length);
    if (descriptor != number || received >= 0 || ++looks != 2)
        return received;
    looked = true;
    while (!go_on)
        ;
    return -EAGAIN;
}

static void *receive_from_the_next(void *unused) {
    char byte = 0;
    while (!closed)
        catapults_sleep(MS);
    require(dup3(next_ends[0], number, O_CLOEXEC) == number);
    require(catapults_recv_until(number, &byte, 1, 0, CATAPULTS_FOREVER) == 1 && byte == 'a');
    require(catapults_recv_until(number, &byte, 1, 0, CATAPULTS_FOREVER) == 1 && byte == 'b');
    return unused;
}

static void what_comes_for_the_next_file_of_a_number_is_not_forgotten(void) {
    begin(2);
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[0]) == 0);
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, next_ends) == 0);
    number = pairs[0][0];
    catapults_t thread = spawn(receive_from_the_next, NULL);
    closing = number;
    require(catapults_close(number) == 0 && closing == -1);
    go_on = true;
    require(catapults_join(thread, NULL) == 0);
}

/* ---- Fork -------------------------------------------------------------------------------------------------------- */

static void a_child_begins_anew(void) {
    begin(2);
    catapults_t threads[2];
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[0]) == 0);
    threads[0] = spawn(ask, (void *)0);
    threads[1] = spawn(answer, (void *)0);
    for (int i = 0; i < 5; i++) {
        pid_t pid = catapults_fork();
        require(pid >= 0);
        if (pid == 0) {
            require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[1]) == 0);
            catapults_t own[] = {spawn(ask, (void *)1), spawn(answer, (void *)1)};
            join_all(own, 2);
            _exit(7);
        }
        int status;
        require(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    join_all(threads, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(all_that_is_sent_is_received_on_two),
        child_test(all_that_is_sent_is_received_on_four),
        child_test(files_are_written_and_read),
        child_test(reads_of_one_file_do_not_overlap),
        child_test(instants_and_data_at_once),
        child_test(waits_are_ended_from_anywhere),
        child_test(who_waits_uses_no_time),
        child_test(a_wait_that_is_begun_while_another_sleeps_there),
        child_test(what_comes_for_the_next_file_of_a_number_is_not_forgotten),
        child_test(a_child_begins_anew),
    };
    driver = "io_uring";
    int failed = cmocka_run_group_tests_name("io_uring", tests, NULL, NULL);
    driver = "epoll";
    return failed + cmocka_run_group_tests_name("epoll", tests, NULL, NULL);
}
