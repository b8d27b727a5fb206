/*
 * What blocks in the kernel, and what does not: the upcalls BLOCKED and UNBLOCKED, and that no more threads run than
 * there are processors when some return from the kernel.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "activations_test.h"

/* ---- Blocking in the kernel -------------------------------------------------------------------------------------- */

static void read_blocks_only_its_thread(void) {
    start(1);
    read_then_write(200);
}

/* Where the kernel does not lead what returns to the trap. */
static void read_without_trap(void) {
    start(1);
    activations.traps = false;
    read_then_write(50);
}

static _Atomic uint32_t futex_word;

static void block_somehow(void *way) {
    begun = true;
    switch ((intptr_t)way) {
    case 0: {
        struct timespec t = {0, 100 * MILLISECOND};
        require(nanosleep(&t, NULL) == 0);
        break;
    }
    case 1:
        while (futex_word == 0)
            syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, NULL, NULL, 0);
        break;
    case 2: {
        pid_t pid = fork();
        if (pid == 0) {
            usleep(100000);
            _exit(0);
        }
        require(waitpid(pid, NULL, 0) == pid);
        break;
    }
    }
    done = true;
}

static void blocks_by(intptr_t way) {
    start(1);
    small_create(&threads[0], block_somehow, (void *)way);
    small_yield();
    require(begun && !done && count(SA_UPCALL_BLOCKED) >= 1);
    futex_word = 1;
    syscall(SYS_futex, &futex_word, FUTEX_WAKE, 1, NULL, NULL, 0);
    require(eventually(count(SA_UPCALL_UNBLOCKED) == count(SA_UPCALL_BLOCKED)));
    small_join(&threads[0]);
    require(done);
}
static void nanosleep_blocks(void) { blocks_by(0); }
static void futex_blocks(void) { blocks_by(1); }
static void waitpid_blocks(void) { blocks_by(2); }

static char *page;
static int faults;

static void touch(void *unused) {
    (void)unused;
    begun = true;
    require(*(volatile char *)page == 'u');
    done = true;
}

/* As a page of a file that a disk has to be waited for; this one is brought by the test. */
static void page_fault_blocks(void) {
    start(1);
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    require(faults >= 0);
    struct uffdio_api api = {.api = UFFD_API};
    require(ioctl(faults, UFFDIO_API, &api) == 0);
    static char content[4096];
    content[0] = 'u';
    for (int i = 0; i < 20; i++) {
        done = begun = false;
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        require(page != MAP_FAILED);
        struct uffdio_register range = {.range = {(uintptr_t)page, 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
        require(ioctl(faults, UFFDIO_REGISTER, &range) == 0);
        small_create(&threads[0], touch, NULL);
        small_yield();
        require(begun && !done && count(SA_UPCALL_BLOCKED) >= i + 1);
        struct uffdio_copy copy = {.dst = (uintptr_t)page, .src = (uintptr_t)content, .len = 4096};
        require(ioctl(faults, UFFDIO_COPY, &copy) == 0);
        require(eventually(count(SA_UPCALL_UNBLOCKED) == count(SA_UPCALL_BLOCKED)));
        small_join(&threads[0]);
        require(done);
    }
}

/* A file whose pages are not in memory. Where the disk is too fast to be seen, or is memory, it just works. */
static void cold_file(void) {
    start(1);
    char name[] = "/var/tmp/catapults-cold-XXXXXX";
    int file = mkstemp(name);
    require(file >= 0);
    unlink(name);
    static char block[1 << 20];
    memset(block, 'c', sizeof block);
    require(write(file, block, sizeof block) == sizeof block && fsync(file) == 0);
    for (int i = 0; i < 50; i++) {
        require(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
        require(pread(file, block, sizeof block, 0) == sizeof block);
        char *map = mmap(NULL, sizeof block, PROT_READ, MAP_SHARED, file, 0);
        require(map != MAP_FAILED);
        require(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
        for (size_t at = 0; at < sizeof block; at += 65536)
            require(map[at] == 'c');
        munmap(map, sizeof block);
    }
    require(eventually(count(SA_UPCALL_UNBLOCKED) == count(SA_UPCALL_BLOCKED)));
}

static void many_blocked(void) {
    enum { MANY = 200 };
    start(1);
    require(pipe(ends) == 0);
    for (int i = 0; i < MANY; i++)
        small_create(&threads[i], read_one, NULL);
    small_yield();
    int64_t limit = now() + 2000 * MILLISECOND;
    while (count(SA_UPCALL_BLOCKED) < MANY && now() < limit)
        small_yield();
    require(count(SA_UPCALL_BLOCKED) >= MANY && readers == 0);
    static char all[MANY];
    require(write(ends[1], all, MANY) == MANY);
    for (int i = 0; i < MANY; i++)
        small_join(&threads[i]);
    require(readers == MANY);
}

/* ---- What is not blocked ----------------------------------------------------------------------------------------- */

/* Another process takes its CPU from a thread that never blocks. */
static void preemption_is_not_blocking(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    require(sched_setaffinity(0, sizeof one, &one) == 0);
    pid_t pid = fork();
    if (pid == 0)
        for (int64_t limit = now() + 500 * MILLISECOND;;)
            if (now() > limit)
                _exit(0);
    start(1);
    for (int64_t limit = now() + 400 * MILLISECOND; now() < limit;)
        getppid();
    require(count(SA_UPCALL_BLOCKED) == 0);
    require(waitpid(pid, NULL, 0) == pid);
}

static void held_is_not_blocked(void) {
    start(1);
    struct timespec t = {0, 20 * MILLISECOND};
    sa_hold();
    require(nanosleep(&t, NULL) == 0);
    sa_release();
    require(count(SA_UPCALL_BLOCKED) == 0);
    t.tv_nsec = 100 * MILLISECOND;
    require(nanosleep(&t, NULL) == 0);
    require(count(SA_UPCALL_BLOCKED) >= 1); /* the standby has been waked */
}

/* ---- As many as there are processors ----------------------------------------------------------------------------- */

static void read_and_spin(void *unused) {
    (void)unused;
    char c;
    require(read(ends[0], &c, 1) == 1);
    while (!stop)
        ;
    done = true;
}

static void returns_are_caught(void) {
    start(1);
    sleepers();
    require(!activations.traps || unnoticed * 10 < returns);
}

/* By the tick of its CPU time. */
static void returns_are_caught_by_ticks(void) {
    start(1);
    activations.traps = false;
    require(pipe(ends) == 0);
    small_create(&threads[0], read_and_spin, NULL);
    small_yield();
    require(count(SA_UPCALL_BLOCKED) >= 1 && write(ends[1], "x", 1) == 1);
    require(eventually(count(SA_UPCALL_UNBLOCKED) == count(SA_UPCALL_BLOCKED)));
    require(!done);
    stop = true;
    small_join(&threads[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(read_blocks_only_its_thread),
        child_test(read_without_trap),
        child_test(nanosleep_blocks),
        child_test(futex_blocks),
        child_test(waitpid_blocks),
        child_test(page_fault_blocks),
        child_test(cold_file),
        child_test(many_blocked),
        child_test(preemption_is_not_blocking),
        child_test(held_is_not_blocked),
        child_test(returns_are_caught),
        child_test(returns_are_caught_by_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
