/* What is hard to reach from outside: limits of numbers, dates of all forms, kernels without openat2. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "date.h"
#include "path.h"
#include "ranges.h"
#include "request.h"
#include "resolve.h"

static void targets_become_names(void **state) {
    (void)state;
    static const struct {
        const char *target;
        enum path_result result;
        const char *name;
    } cases[] = {
        {"/", PATH_FOUND, ""},
        {"/a/b", PATH_FOUND, "a/b"},
        {"/a/b/", PATH_FOUND, "a/b/"},
        {"///a//b//", PATH_FOUND, "a/b/"},
        {"/a/./b/.", PATH_FOUND, "a/b/"},
        {"/a/../b", PATH_FOUND, "b"},
        {"/a/..", PATH_FOUND, ""},
        {"/a/b/..", PATH_FOUND, "a/"},
        {"/a/%2e%2e/b", PATH_FOUND, "b"},
        {"/.../..a/a..", PATH_FOUND, ".../..a/a.."},
        {"/a?/../../b", PATH_FOUND, "a"},
        {"/a%20b%C3%A4", PATH_FOUND, "a b\xc3\xa4"},
        {"http://h/a", PATH_FOUND, "a"},
        {"http://h", PATH_FOUND, ""},
        {"http://h?q", PATH_FOUND, ""},
        {"/..", PATH_MALFORMED, NULL},
        {"/a/../..", PATH_MALFORMED, NULL},
        {"/a/../../b", PATH_MALFORMED, NULL},
        {"/%00", PATH_MALFORMED, NULL},
        {"/%", PATH_MALFORMED, NULL},
        {"/%1", PATH_MALFORMED, NULL},
        {"/%g1", PATH_MALFORMED, NULL},
        {"a", PATH_MALFORMED, NULL},
        {"", PATH_MALFORMED, NULL},
        {"*", PATH_MALFORMED, NULL},
        {"http://", PATH_MALFORMED, NULL},
        {"/a%2fb", PATH_ABSENT, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[PATH_SIZE];
        size_t length;
        assert_int_equal(path_of_target(cases[i].target, strlen(cases[i].target), name, &length), cases[i].result);
        if (cases[i].result == PATH_FOUND) {
            assert_string_equal(name, cases[i].name);
            assert_int_equal(length, strlen(name));
        }
    }
}

static void long_targets_are_cut_nowhere(void **state) {
    (void)state;
    static char target[3 * PATH_SIZE];
    for (size_t size = PATH_SIZE - 8; size < PATH_SIZE + 8; size++) {
        char name[PATH_SIZE];
        size_t length;
        target[0] = '/';
        memset(target + 1, 'x', size);
        enum path_result result = path_of_target(target, size + 1, name, &length);
        assert_int_equal(result, size + 2 < PATH_SIZE + 1 ? PATH_FOUND : PATH_ABSENT);
        target[size] = '/';
        result = path_of_target(target, size + 1, name, &length);
        assert_true(result == PATH_ABSENT || (length == size && strlen(name) == size));
    }
}

static void dates_are_read_in_all_forms(void **state) {
    (void)state;
    static const struct {
        const char *text;
        time_t second; /* -1: it is no date */
    } cases[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Tue, 29 Feb 2000 23:59:60 GMT", 951868800},
        {"Fri, 31 Dec 9999 23:59:59 GMT", 253402300799},
        {"Tuesday, 19-Jan-38 03:14:08 GMT", 2147483648},
        {"Sun, 06 Nov 1994 08:49:37", -1},
        {"Sun, 06 Nov 1994 08:49:37 GMT+1", -1},
        {"Sun, 06 Nov 1994 24:49:37 GMT", -1},
        {"Sun, 00 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 06 Nom 1994 08:49:37 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:37 GMT and a good deal more", -1},
        {",", -1},
        {"", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        time_t second = -1;
        bool read = date_read(cases[i].text, strlen(cases[i].text), &second);
        assert_int_equal(read, cases[i].second >= 0);
        if (read)
            assert_int_equal(second, cases[i].second);
    }
}

static void dates_are_written_as_they_are_read(void **state) {
    (void)state;
    for (int64_t second = 0; second < 253402300799; second = second * 3 / 2 + 86399) {
        char text[DATE_LENGTH + 1];
        time_t again;
        date_http(second, text);
        assert_int_equal(strlen(text), DATE_LENGTH);
        assert_true(date_read(text, DATE_LENGTH, &again));
        assert_int_equal(again, second);
    }
    char text[DATE_LENGTH + 1];
    date_http(INT64_MAX, text);
    assert_string_equal(text, "Fri, 31 Dec 9999 23:59:59 GMT");
}

static void ranges_are_joined(void **state) {
    (void)state;
    struct range ranges[RANGES_MOST];
    size_t count;
    static const char overlapping[] = "bytes=10-19, 0-4,30-39,15-29";
    assert_int_equal(ranges_read(overlapping, strlen(overlapping), 1000, ranges, &count), RANGES_SOME);
    assert_int_equal(count, 2);
    assert_int_equal(ranges[0].first, 0);
    assert_int_equal(ranges[0].length, 5);
    assert_int_equal(ranges[1].first, 10);
    assert_int_equal(ranges[1].length, 30);

    static const char huge[] = "bytes=9223372036854775806-9223372036854775807,-9223372036854775808";
    assert_int_equal(ranges_read(huge, strlen(huge), INT64_MAX, ranges, &count), RANGES_SOME);
    assert_int_equal(count, 1);
    assert_int_equal(ranges[0].first, 0);
    assert_int_equal(ranges[0].length, INT64_MAX);
}

/* A request is understood alike, however it is cut into pieces. */
static void requests_in_pieces(void **state) {
    (void)state;
    static const char text[] = "\r\nGET /a HTTP/1.1\r\nHost: h\r\nX-Long:  some value \t\r\nEmpty:\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nTrailer: t\r\n\r\n"
                               "HEAD /b HTTP/1.0\r\n\r\n";
    static struct request request;
    static char buffer[1024 + REQUEST_BODY_SPACE];
    for (size_t piece = 1; piece <= sizeof text - 1; piece++) {
        request_start(&request, buffer, 1024, 100);
        size_t given = 0;
        for (int number = 0; number < 2; number++) {
            while (request.state != REQUEST_COMPLETE) {
                size_t room, size = sizeof text - 1 - given < piece ? sizeof text - 1 - given : piece;
                char *space = request_space(&request, &room);
                assert_true(size > 0 && room >= size && request.state != REQUEST_REFUSED);
                memcpy(space, text + given, size);
                given += size;
                request_received(&request, size);
            }
            size_t index = 0;
            const struct field *field = request_field(&request, "x-long", &index);
            if (number == 0) {
                assert_true(span_is(request.method, "GET") && span_is(request.target, "/a"));
                assert_true(span_is(request.line, "GET /a HTTP/1.1"));
                assert_true(request.keep_alive && request.body_bytes == 3);
                assert_true(field != NULL && span_is(field->value, "some value"));
                index = 0;
                field = request_field(&request, "empty", &index);
                assert_true(field != NULL && field->value.length == 0);
                index = 0;
                assert_null(request_field(&request, "trailer", &index));
            } else {
                assert_true(span_is(request.method, "HEAD") && span_is(request.target, "/b") && field == NULL);
                assert_true(!request.keep_alive && request.minor == 0);
            }
            request_next(&request);
        }
        assert_int_equal(given, sizeof text - 1);
    }
}

/* What is read of a body takes the place of what was read before, but not of a field, even one without a value. */
static void body_after_empty_field(void **state) {
    (void)state;
    static struct request request;
    static char buffer[1024 + REQUEST_BODY_SPACE];
    static const char header[] = "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 40\r\nX-Empty:\r\n\r\n";
    request_start(&request, buffer, 1024, 100);
    size_t room;
    memcpy(request_space(&request, &room), header, sizeof header - 1);
    request_received(&request, sizeof header - 1);
    assert_int_equal(request.state, REQUEST_BODY);
    memset(request_space(&request, &room), 'b', 40);
    request_received(&request, 40);
    assert_int_equal(request.state, REQUEST_COMPLETE);
    size_t index = 0;
    assert_non_null(request_field(&request, "x-empty", &index));
}

/* ---- The root -----------------------------------------------------------------------------------------------------
 */

static char outside[] = "/tmp/cow-XXXXXX";

static int make_root(void **state) {
    (void)state;
    if (mkdtemp(outside) == NULL || chdir(outside) != 0 || mkdir("root", 0700) != 0 || mkdir("root/in", 0700) != 0)
        return -1;
    return symlink("../secret", "root/out") != 0 || symlink("in", "root/link") != 0 ||
                   close(open("secret", O_CREAT | O_WRONLY, 0600)) != 0 ||
                   close(open("root/in/file", O_CREAT | O_WRONLY, 0600)) != 0
               ? -1
               : 0;
}

static int remove_root(void **state) {
    (void)state;
    static const char *const names[] = {"root/in/file", "root/in", "root/out", "root/link", "root", "secret", outside};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (remove(names[i]) != 0)
            return -1;
    }
    return 0;
}

static void nothing_beyond_the_root_is_opened(void **state) {
    (void)state;
    int root = open("root", O_RDONLY | O_DIRECTORY);
    assert_true(root >= 0);
    static const struct {
        const char *path;
        int flags, with_openat2, without; /* error numbers; 0: it opens */
    } cases[] = {
        {"in/file", 0, 0, 0},
        {"in//file", 0, 0, 0},
        {"", O_DIRECTORY, 0, 0},
        {"in/", O_DIRECTORY, 0, 0},
        {"in/file/", 0, ENOTDIR, ENOTDIR},
        {"in/none", 0, ENOENT, ENOENT},
        {"none/file", 0, ENOENT, ENOENT},
        {"out", 0, EXDEV, ELOOP},
        {"link/file", 0, 0, ENOTDIR}, /* no link at all without openat2 */
        {"../secret", 0, EXDEV, EXDEV},
        {"in/../../secret", 0, EXDEV, EXDEV},
        {"..", O_DIRECTORY, EXDEV, EXDEV},
        {"/etc/passwd", 0, EXDEV, EXDEV},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int without = 0; without < 2; without++) {
            errno = 0;
            int opened = (without ? resolve_by_segment : resolve)(root, cases[i].path, cases[i].flags);
            int expected = without ? cases[i].without : cases[i].with_openat2;
            if (opened >= 0)
                assert_int_equal(close(opened), 0);
            if ((opened < 0 ? errno : 0) != expected)
                fail_msg("%s: %s", cases[i].path, strerror(errno));
        }
    }
    /* Whatever was opened on the way is closed. */
    int next = dup(root);
    assert_int_equal(next, root + 1);
    close(next);
    close(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_become_names),
        cmocka_unit_test(long_targets_are_cut_nowhere),
        cmocka_unit_test(dates_are_read_in_all_forms),
        cmocka_unit_test(dates_are_written_as_they_are_read),
        cmocka_unit_test(ranges_are_joined),
        cmocka_unit_test(requests_in_pieces),
        cmocka_unit_test(body_after_empty_field),
        cmocka_unit_test_setup_teardown(nothing_beyond_the_root_is_opened, make_root, remove_root),
    };
    return cmocka_run_group_tests_name("cow parts", tests, NULL, NULL);
}
