/*
 * Memory of the runtime's own. The Makefile has the linker send system_mmap and system_munmap here.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "contexts/memory.h"

static bool maps_fail;
static size_t mapped;

void *__real_system_mmap(void *address, size_t size, long protection, long flags, long descriptor, off_t offset);
void *__wrap_system_mmap(void *address, size_t size, long protection, long flags, long descriptor, off_t offset);
void *__wrap_system_mmap(void *address, size_t size, long protection, long flags, long descriptor, off_t offset) {
    if (maps_fail)
        return (void *)-ENOMEM;
    mapped += size;
    return __real_system_mmap(address, size, protection, flags, descriptor, offset);
}

int __real_system_munmap(void *address, size_t size);
int __wrap_system_munmap(void *address, size_t size);
int __wrap_system_munmap(void *address, size_t size) {
    mapped -= size;
    return __real_system_munmap(address, size);
}

static bool is_zero(const char *block, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (block[i] != 0)
            return false;
    return true;
}

enum { BLOCKS = 500, LARGEST = 200000 };

static size_t size_of(int number) { return (size_t)number * 7919 % (number % 10 ? 3000 : LARGEST); }

static void blocks_are_zero_apart_and_aligned(void **state) {
    (void)state;
    static char *blocks[BLOCKS];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            size_t size = size_of(i);
            blocks[i] = memory_take(size);
            assert_non_null(blocks[i]);
            assert_int_equal((uintptr_t)blocks[i] % (size >= 64 ? 64 : 16), 0);
            assert_true(is_zero(blocks[i], size));
            memset(blocks[i], i % 255 + 1, size);
        }
        for (int i = 0; i < BLOCKS; i++)
            for (size_t at = 0; at < size_of(i); at++)
                assert_int_equal((unsigned char)blocks[i][at], i % 255 + 1);
        for (int i = 0; i < BLOCKS; i++)
            memory_give(blocks[i * 7 % BLOCKS]);
    }
}

static void what_is_given_back_is_taken_next(void **state) {
    (void)state;
    memory_give(NULL);
    char *small = memory_take(100);
    memset(small, 1, 100);
    memory_give(small);
    assert_ptr_equal(memory_take(128), small);
    assert_true(is_zero(small, 128));
    memory_give(small);
}

static void large_ones_go_back_to_the_kernel(void **state) {
    (void)state;
    memory_give(memory_take(1 << 14));
    size_t before = mapped;
    char *block = memory_take((1 << 14) + 1), *larger = memory_take(1 << 20);
    block[1 << 14] = larger[(1 << 20) - 1] = 1;
    assert_true(mapped >= before + (1 << 20) + (1 << 14) && mapped < before + (1 << 20) + (1 << 18));
    memory_give(block);
    memory_give(larger);
    assert_int_equal(mapped, before);
}

static void there_may_be_no_memory(void **state) {
    (void)state;
    maps_fail = true;
    assert_null(memory_take(1 << 20));
    int taken = 0;
    while (taken < 1000 && memory_take(8000))
        taken++;
    assert_true(taken < 1000);
    maps_fail = false;
    assert_null(memory_take(SIZE_MAX - 64));
    assert_non_null(memory_take(8000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zero_apart_and_aligned),
        cmocka_unit_test(what_is_given_back_is_taken_next),
        cmocka_unit_test(large_ones_go_back_to_the_kernel),
        cmocka_unit_test(there_may_be_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
