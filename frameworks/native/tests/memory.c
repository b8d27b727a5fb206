/*
 * No memory: the Makefile has the linker send mmap, madvise and mprotect here, which fail when told to.
 */
#include <errno.h>
#include <sys/mman.h>

#include "catapults.h"
#include "support/child.h"

static bool maps_fail, guards_fail, no_light_guards;
static int mprotects;

void *__real_mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset);
int __real_madvise(void *address, size_t size, int advice);
int __real_mprotect(void *address, size_t size, int protection);

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
    if (maps_fail) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(address, size, protection, flags, descriptor, offset);
}

int __wrap_madvise(void *address, size_t size, int advice) {
    if (advice == 102 && (no_light_guards || guards_fail)) {
        errno = guards_fail ? ENOMEM : EINVAL;
        return -1;
    }
    return __real_madvise(address, size, advice);
}

int __wrap_mprotect(void *address, size_t size, int protection) {
    if (guards_fail) {
        errno = ENOMEM;
        return -1;
    }
    mprotects++;
    return __real_mprotect(address, size, protection);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(no_memory_to_start),
        child_test(creation_fails_and_recovers),
        child_test(no_stack_without_a_guard),
        child_test(guards_of_old_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
