/*
 * Words and numbers without libc, against libc's.
 */
#include "contexts/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "support/child.h"

/* Both, in room for any number of bytes. */
#define FORMATTED_ALIKE(...)                                                                                           \
    do {                                                                                                               \
        for (size_t room = 0; room < 80; room++) {                                                                     \
            char ours[80], libcs[80];                                                                                  \
            memset(ours, '~', sizeof ours);                                                                            \
            memset(libcs, '~', sizeof libcs);                                                                          \
            assert_int_equal(text_format(ours, room, __VA_ARGS__), snprintf(libcs, room, __VA_ARGS__));                \
            assert_true(memcmp(ours, libcs, sizeof ours) == 0);                                                        \
        }                                                                                                              \
    } while (0)

static void formats(void **state) {
    (void)state;
    FORMATTED_ALIKE("%s", "");
    FORMATTED_ALIKE("nothing");
    FORMATTED_ALIKE("%s%s: %d %%", "thread", " (main)", 0);
    FORMATTED_ALIKE("%d %d %u %u", INT_MIN, INT_MAX, 0, UINT_MAX);
    FORMATTED_ALIKE("%ld|%ld|%lu", LONG_MIN, LONG_MAX, ULONG_MAX);
    FORMATTED_ALIKE("%zu %" PRIu32 " %" PRId64 " %" PRIu64, SIZE_MAX, UINT32_MAX, INT64_MIN, UINT64_MAX);
}

static void numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t most, number;
        bool is_one;
    } cases[] = {
        {"0", 0, 0, true},
        {"7", 7, 7, true},
        {"8", 7, 0, false},
        {"10", 7, 0, false},
        {" \t+0042", 42, 42, true},
        {"18446744073709551615", UINT64_MAX, UINT64_MAX, true},
        {"18446744073709551616", UINT64_MAX, 0, false},
        {"99999999999999999999", UINT64_MAX, 0, false},
        {"9223372036854775808", INT64_MAX, 0, false},
        {"", 9, 0, false},
        {" ", 9, 0, false},
        {"+", 9, 0, false},
        {"-1", 9, 0, false},
        {"1 ", 9, 0, false},
        {"1x", 9, 0, false},
        {"all", 9, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t number = 0;
        assert_int_equal(text_number(cases[i].text, cases[i].most, &number), cases[i].is_one);
        if (cases[i].is_one)
            assert_true(number == cases[i].number);
    }
}

static void words(void **state) {
    (void)state;
    static const char *const texts[] = {"", "a", "ab", "abc", "abd", "b"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(text_length(texts[i]), strlen(texts[i]));
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            assert_int_equal(text_equal(texts[i], texts[j]), i == j);
    }
}

static void errors(void **state) {
    (void)state;
    for (int error = 1; error < 200; error++) {
        bool has_name = strncmp(strerror(error), "Unknown error", strlen("Unknown error")) != 0;
        assert_true(text_equal(text_of_error(error), has_name ? strerror(error) : "an error without a name"));
    }
    assert_true(text_equal(text_of_error(-1), text_of_error(1000)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),
        cmocka_unit_test(numbers),
        cmocka_unit_test(words),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
