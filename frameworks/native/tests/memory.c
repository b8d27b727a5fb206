/*
 * Memory, and what happens without it: the Makefile has the linker send the system calls mmap, madvise, process_madvise
 * and mprotect here, which fail when told to.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "catapults.h"
#include "support/child.h"
#include "threads/handle.h"

static bool maps_fail, guards_fail, no_light_guards, no_batches;
static int mprotects, batches;

void *__real_system_mmap(void *address, size_t size, long protection, long flags, long descriptor, off_t offset);
int __real_system_madvise(void *address, size_t size, int advice);
int __real_system_mprotect(void *address, size_t size, long protection);
ssize_t __real_system_process_madvise(int process, const struct iovec *ranges, size_t count, int advice,
                                      unsigned flags);

void *__wrap_system_mmap(void *address, size_t size, long protection, long flags, long descriptor, off_t offset) {
    if (maps_fail)
        return (void *)-ENOMEM;
    return __real_system_mmap(address, size, protection, flags, descriptor, offset);
}

int __wrap_system_madvise(void *address, size_t size, int advice) {
    if (advice == 102 && (no_light_guards || guards_fail))
        return guards_fail ? -ENOMEM : -EINVAL;
    return __real_system_madvise(address, size, advice);
}

ssize_t __wrap_system_process_madvise(int process, const struct iovec *ranges, size_t count, int advice,
                                      unsigned flags) {
    if (no_batches || (advice == 102 && (no_light_guards || guards_fail)))
        return guards_fail ? -ENOMEM : -EINVAL;
    batches++;
    return __real_system_process_madvise(process, ranges, count, advice, flags);
}

int __wrap_system_mprotect(void *address, size_t size, long protection) {
    if (guards_fail)
        return -ENOMEM;
    mprotects++;
    return __real_system_mprotect(address, size, protection);
}

static void *nothing(void *argument) { return argument; }

static void no_memory_to_start(void) {
    maps_fail = true;
    require(catapults_init(NULL) == ENOMEM);
    maps_fail = false;
    require(catapults_init(NULL) == 0);
}

/* Threads until there is no more memory; then none; then again some. */
static void creation_fails_and_recovers(void) {
    require(catapults_init(NULL) == 0);
    enum { MOST = 1000 };
    static catapults_t threads[MOST];
    maps_fail = true;
    int count = 0;
    while (count < MOST && catapults_create(&threads[count], NULL, nothing, &threads[count]) == 0)
        count++;
    require(count < MOST);
    require(catapults_create(&threads[count], NULL, nothing, NULL) == EAGAIN && catapults_refusal() == NULL);
    require(catapults_threads_ready() == count);
    void *result;
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], &result) == 0 && result == &threads[i]);
    for (int round = 0; round < 3; round++) { /* what was given back is enough for as many again */
        for (int i = 0; i < count; i++)
            require(catapults_create(&threads[i], NULL, nothing, NULL) == 0);
        for (int i = 0; i < count; i++)
            require(catapults_join(threads[i], NULL) == 0);
    }
    maps_fail = false;
    for (int i = 0; i <= count; i++)
        require(catapults_create(&threads[i], NULL, nothing, NULL) == 0);
}

static void no_stack_without_a_guard(void) {
    require(catapults_init(NULL) == 0);
    catapults_t thread;
    guards_fail = true;
    require(catapults_create(&thread, NULL, nothing, NULL) == EAGAIN);
    guards_fail = false;
    require(catapults_create(&thread, NULL, nothing, NULL) == 0 && catapults_join(thread, NULL) == 0);
}

static void guards_of_old_kernels(void) {
    no_light_guards = true;
    require(catapults_init(NULL) == 0);
    catapults_t thread;
    require(catapults_create(&thread, NULL, nothing, NULL) == 0);
    require(mprotects == 2); /* of the first thread's record, and of this stack */
    require(catapults_join(thread, NULL) == 0);
}

/* Kilobytes that the kernel says of this process. */
static long kilobytes(const char *what) {
    char line[256];
    long found = -1;
    FILE *file = fopen("/proc/self/status", "r");
    require(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, what, strlen(what)) == 0)
            found = strtol(line + strlen(what), NULL, 10);
    fclose(file);
    return found;
}

/* ThreadSanitizer has at most 8,128 fibers; and what a sanitizer or an emulator (of aarch64) needs itself is not told
 * apart from what the threads need. */
#if defined(__SANITIZE_THREAD__)
enum { MANY = 1500, MEASURED = false };
#elif defined(__SANITIZE_ADDRESS__) || !defined(__x86_64__)
enum { MANY = 20000, MEASURED = false };
#else
enum { MANY = 20000, MEASURED = true };
#endif
static catapults_t many[MANY];
static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static bool released;
static int waiting;

static void *wait_for_release(void *argument) {
    catapults_mutex_lock(&mutex);
    waiting++;
    while (!released)
        catapults_cond_wait(&cond, &mutex);
    catapults_mutex_unlock(&mutex);
    return argument;
}

/* All of them wait, and then end. Returns what they need while they wait, in kilobytes. */
static long many_wait_and_end(void) {
    long before = kilobytes("VmRSS:");
    released = false;
    waiting = 0;
    for (int i = 0; i < MANY; i++)
        require(catapults_create(&many[i], NULL, wait_for_release, &many[i]) == 0);
    while (waiting < MANY)
        catapults_yield();
    long needed = kilobytes("VmRSS:") - before;
    released = true;
    require(catapults_cond_broadcast(&cond) == 0);
    void *result;
    for (int i = 0; i < MANY; i++)
        require(catapults_join(many[i], &result) == 0 && result == &many[i]);
    return needed;
}

/* More are idle than may keep their pages, which come back when nothing else is to be done; and are taken again. */
static void memory_comes_back(void) {
    require(catapults_init(NULL) == 0);
    long before = kilobytes("VmRSS:");
    for (int round = 0; round < 3; round++) {
        long needed = many_wait_and_end();
        require(!MEASURED || needed < MANY * 4200L / 1024);
        require(!MEASURED || round > 0 || needed > MANY * 4L); /* later some are at hand */
        for (int i = 0; MEASURED && i < 200 && kilobytes("VmRSS:") - before >= 3000 * 4L; i++)
            catapults_sleep(10000000);
        require(!MEASURED || kilobytes("VmRSS:") - before < 3000 * 4L);
    }
    require(no_batches || !MEASURED || batches > 0);
}

/* Of stacks whose neighbours' pages went back with theirs. */
static void guards_outlast_this(void) {
    memory_comes_back();
    if (!MEASURED)
        return;
    for (int i = 0; i < MANY; i++)
        require(catapults_create(&many[i], NULL, nothing, NULL) == 0);
    char byte;
    for (int i = 0; i < MANY; i++) {
        struct iovec to = {&byte, 1}, from = {many[i]->member.stack->base, 1};
        require(process_vm_readv(getpid(), &to, 1, &from, 1, 0) == -1 && errno == EFAULT);
    }
}

static void memory_comes_back_one_by_one(void) {
    no_batches = true;
    memory_comes_back();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(no_memory_to_start),       child_test(creation_fails_and_recovers),
        child_test(no_stack_without_a_guard), child_test(guards_of_old_kernels),
        child_test(memory_comes_back),        child_test(memory_comes_back_one_by_one),
        child_test(guards_outlast_this),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
