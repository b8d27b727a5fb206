/*
 * The part of cmocka that the tests use, for machines that are emulated and for which there is no package of it. On all
 * others the tests use cmocka itself.
 */
#ifndef CATAPULTS_CMOCKA_H
#define CATAPULTS_CMOCKA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    int (*setup)(void **state);
    int (*teardown)(void **state);
    void *initial_state;
};

#define cmocka_unit_test(test) {#test, test, NULL, NULL, NULL}
#define cmocka_unit_test_setup_teardown(test, setup, teardown) {#test, test, setup, teardown, NULL}

static jmp_buf cmocka_failed;

#define fail_msg(...)                                                                                                  \
    (printf("%s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), printf("\n"), longjmp(cmocka_failed, 1))
#define assert_true(condition)                                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            fail_msg("not so: %s", #condition);                                                                        \
    } while (0)
#define assert_false(condition) assert_true(!(condition))
#define assert_null(pointer) assert_true((pointer) == NULL)
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_int_equal(a, b) assert_true((long long)(a) == (long long)(b))
#define assert_int_not_equal(a, b) assert_true((long long)(a) != (long long)(b))
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b) assert_true((const void *)(a) != (const void *)(b))
#define assert_string_equal(a, b) assert_true(strcmp(a, b) == 0)
#define assert_memory_equal(a, b, size) assert_true(memcmp(a, b, size) == 0)
#define assert_in_range(value, least, most) assert_true((value) >= (least) && (value) <= (most))

#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run(tests, sizeof tests / sizeof *tests, setup, teardown)

typedef int cmocka_fixture(void **state);

static inline int cmocka_run(const struct CMUnitTest *tests, size_t count, cmocka_fixture *setup,
                             cmocka_fixture *teardown) {
    void *group = NULL;
    volatile int failed = setup && setup(&group) != 0;
    for (volatile size_t i = 0; i < count; i++) {
        void *state = tests[i].initial_state ? tests[i].initial_state : group;
        printf("[ RUN      ] %s\n", tests[i].name);
        if (setjmp(cmocka_failed) == 0 && (!tests[i].setup || tests[i].setup(&state) == 0)) {
            tests[i].test(&state);
            printf("[       OK ] %s\n", tests[i].name);
        } else {
            printf("[  FAILED  ] %s\n", tests[i].name);
            failed++;
        }
        if (tests[i].teardown && tests[i].teardown(&state) != 0)
            failed++;
    }
    if (teardown && teardown(&group) != 0)
        failed++;
    printf("[==========] %zu tests run, %d failed\n", count, failed);
    return failed;
}

#endif
