/*
 * Threads that block in the kernel leave the processor, whatever they block on (catapults_options.activations).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "catapults.h"
#include "support/child.h"

#define MILLISECOND INT64_C(1000000)

static void start(void) {
    const struct catapults_options options = {.activations = true};
    require(catapults_init(&options) == 0);
}

static catapults_t create(void *(*body)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, NULL, body, argument) == 0);
    return thread;
}

static void join(catapults_t thread) { require(catapults_join(thread, NULL) == 0); }

static void sleep_in_kernel(int64_t nanoseconds) {
    struct timespec left = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    while (nanosleep(&left, &left) != 0)
        require(errno == EINTR);
}

static int ends[2];
static volatile bool done;

static void *read_pipe(void *unused) {
    char c;
    require(read(ends[0], &c, 1) == 1 && c == 'x'); /* the system call itself */
    done = true;
    return unused;
}

static void read_leaves_the_processor(void) {
    start();
    require(pipe(ends) == 0);
    for (int i = 0; i < 100; i++) {
        done = false;
        catapults_t thread = create(read_pipe, NULL);
        catapults_yield(); /* only by the upcall does the caller go on */
        require(!done && catapults_threads_suspended() == 1 && catapults_threads_total() == 2);
        require(write(ends[1], "x", 1) == 1);
        join(thread);
        require(done);
    }
}

static void *sleep_for(void *milliseconds) {
    sleep_in_kernel((intptr_t)milliseconds * MILLISECOND);
    return NULL;
}

/* Nobody is ready meanwhile: the processor waits, and no deadlock is reported. */
static void sleeps_overlap(void) {
    start();
    catapults_t threads[8];
    int64_t from = catapults_now();
    for (int i = 0; i < 8; i++)
        threads[i] = create(sleep_for, (void *)200);
    for (int i = 0; i < 8; i++)
        join(threads[i]);
    require(catapults_now() - from < 8 * 150 * MILLISECOND);
}

static volatile int turns;

static void *count(void *unused) {
    while (!done) {
        turns++;
        catapults_yield();
    }
    return unused;
}

/* One computes between calls, the first thread blocks. */
static void first_thread_blocks(void) {
    start();
    catapults_t thread = create(count, NULL);
    for (int i = 0; i < 20; i++) {
        int before = turns;
        for (int tries = 0; turns == before && tries < 100; tries++) /* others may have the CPU */
            sleep_in_kernel(20 * MILLISECOND);
        require(turns > before);
    }
    done = true;
    join(thread);
}

/* A compiler keeps the address of errno, within a function. */
__attribute__((noipa)) static void set_errno(int number) { errno = number; }
__attribute__((noipa)) static int get_errno(void) { return errno; }

static void *keep_errno(void *number) {
    for (int i = 0; i < 50; i++) {
        sleep_in_kernel(MILLISECOND / 2);
        set_errno((int)(intptr_t)number);
        catapults_yield();
        require(get_errno() == (int)(intptr_t)number);
        catapults_sleep(MILLISECOND / 10);
        require(get_errno() == (int)(intptr_t)number);
    }
    return NULL;
}

static void errno_is_the_threads_own(void) {
    start();
    catapults_t threads[8];
    for (int i = 0; i < 8; i++)
        threads[i] = create(keep_errno, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 8; i++)
        join(threads[i]);
}

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static int inside;

static void *lock_and_sleep(void *unused) {
    for (int i = 0; i < 5; i++) {
        require(catapults_mutex_lock(&mutex) == 0);
        require(inside++ == 0);
        sleep_in_kernel(2 * MILLISECOND);
        require(--inside == 0);
        require(catapults_mutex_unlock(&mutex) == 0);
        catapults_yield();
    }
    return unused;
}

/* Those who wait for the mutex lend their turns to one who cannot use them. */
static void owners_block(void) {
    start();
    catapults_t threads[6];
    for (int i = 0; i < 6; i++)
        threads[i] = create(lock_and_sleep, NULL);
    for (int i = 0; i < 6; i++)
        join(threads[i]);
}

static char *page;

static void *touch(void *unused) {
    require(*(volatile char *)page == 'u');
    done = true;
    return unused;
}

static void page_fault_leaves_the_processor(void) {
    start();
    int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    require(faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(page != MAP_FAILED);
    struct uffdio_register range = {.range = {(uintptr_t)page, 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    require(ioctl(faults, UFFDIO_REGISTER, &range) == 0);
    catapults_t thread = create(touch, NULL);
    catapults_yield();
    require(!done && catapults_threads_suspended() == 1);
    static char content[4096] = "u";
    struct uffdio_copy copy = {.dst = (uintptr_t)page, .src = (uintptr_t)content, .len = 4096};
    require(ioctl(faults, UFFDIO_COPY, &copy) == 0);
    join(thread);
    require(done);
}

static void *mixed(void *seed) {
    unsigned state = (unsigned)(intptr_t)seed;
    for (int i = 0; i < 100; i++) {
        state = state * 1103515245 + 12345;
        switch (state >> 16 & 7) {
        case 0:
            sleep_in_kernel((state >> 20 & 255) * 1000);
            break;
        case 1:
            catapults_sleep((state >> 20 & 255) * 1000);
            break;
        case 2:
            require(catapults_mutex_lock(&mutex) == 0);
            require(inside++ == 0);
            if (state & 1 << 28)
                sleep_in_kernel(50000);
            else
                catapults_yield();
            require(--inside == 0);
            require(catapults_mutex_unlock(&mutex) == 0);
            break;
        case 3:
            join(create(sleep_for, (void *)0));
            break;
        case 4:
            free(malloc(state >> 20));
            break;
        default:
            catapults_yield();
            break;
        }
    }
    return NULL;
}

static void all_at_once(void) {
    start();
    enum { MANY = 40 };
    catapults_t threads[MANY];
    for (int i = 0; i < MANY; i++)
        threads[i] = create(mixed, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < MANY; i++)
        join(threads[i]);
    require(catapults_threads_total() == 1);
}

static void asked_for_by_a_variable(void) {
    require(setenv("CATAPULTS_ACTIVATIONS", "1", 1) == 0);
    require(catapults_init(NULL) == 0);
    require(pipe(ends) == 0);
    catapults_t thread = create(read_pipe, NULL);
    catapults_yield();
    require(!done && write(ends[1], "x", 1) == 1);
    join(thread);
}

static void rings_do_not_go_with_it(void) {
    const struct catapults_options options = {.activations = true, .io = "io_uring"};
    require(catapults_init(&options) == EINVAL);
}

static void the_end(void) {
    start();
    create(read_pipe, NULL);
    require(pipe(ends) == 0);
    catapults_yield();
    exit(7);
}

static void ends_while_threads_are_blocked(void **state) {
    (void)state;
    struct child child = run_child(the_end);
    assert_exit(&child, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(read_leaves_the_processor),
        child_test(sleeps_overlap),
        child_test(first_thread_blocks),
        child_test(errno_is_the_threads_own),
        child_test(owners_block),
        child_test(page_fault_leaves_the_processor),
        child_test(all_at_once),
        child_test(asked_for_by_a_variable),
        child_test(rings_do_not_go_with_it),
        cmocka_unit_test(ends_while_threads_are_blocked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
