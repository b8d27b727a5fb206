/*
 * What is recorded of who ran when, and why (CATAPULTS_TRACE), read back.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "catapults/trace.h"
#include "session.h"

static char path[64];

static void begin(const char *policy) {
    strcpy(path, "/tmp/catapults-pth-recording-XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    setenv("CATAPULTS_TRACE", path, 1);
    session_begin(policy);
}

/* Nothing is added to it from now on. */
static const struct trace_file *end(void) {
    unsetenv("CATAPULTS_TRACE");
    int descriptor = open(path, O_RDONLY);
    assert_true(descriptor >= 0);
    struct stat status;
    assert_int_equal(fstat(descriptor, &status), 0);
    const struct trace_file *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
    assert_ptr_not_equal(file, MAP_FAILED);
    close(descriptor);
    unlink(path);
    return file;
}

/* Its line in front. */
static const char *name(const struct trace_file *file, unsigned index) {
    const char *at = file->names;
    for (; index > 0; index--) {
        at += 4 + strlen(at + 4) + 1;
        at += strlen(at) + 1;
    }
    return at;
}

struct expected {
    uint32_t thread;
    enum trace_kind kind;
    uint8_t detail;
    uint16_t ready;
    const char *text; /* the event, or the name */
};

static void expect(const struct trace_file *file, const struct expected *expected, size_t count) {
    uint64_t time = file->start;
    for (size_t i = 0; i < count && i < file->written; i++) {
        const struct trace_record *record = &trace_records(file)[i];
        assert_int_equal(record->thread, expected[i].thread);
        assert_int_equal(record->kind, expected[i].kind);
        assert_int_equal(record->detail, expected[i].detail);
        assert_true(record->time >= time);
        time = record->time;
        if (record->kind == TRACE_NAMED) {
            assert_true(strncmp(record->name, expected[i].text, sizeof record->name) == 0);
        } else {
            assert_int_equal(record->ready, expected[i].ready);
            assert_string_equal(record->event ? name(file, record->event) + 4 : "", expected[i].text);
        }
    }
    assert_int_equal(file->written, count);
}
#define EXPECT(file, expected) expect(file, expected, sizeof expected / sizeof *expected)

enum { NO = TRACE_NOT_KNOWN };

static void *sleeps(void *argument) {
    pth_nap(pth_time(0, 500000)); /* nothing keeps the first thread from waiting for it by then */
    return argument;
}

static pth_t spawn_named(const char *text) {
    pth_attr_t attributes = pth_attr_new();
    pth_attr_set(attributes, PTH_ATTR_NAME, text);
    pth_t thread = pth_spawn(attributes, sleeps, NULL);
    pth_attr_destroy(attributes);
    return thread;
}

static void a_life_is_recorded(void **state) {
    (void)state;
    begin("fifo");
    pth_t thread = spawn_named("a name of 16 and");
    pth_yield(NULL);
    pth_suspend(thread); /* it waits: nothing to the policy */
    pth_resume(thread);
    pth_join(thread, NULL);
    pth_kill();
    const struct trace_file *file = end();
    assert_memory_equal(file->magic, "CATTRACE", 8);
    assert_int_equal(file->version, TRACE_VERSION);
    assert_string_equal(name(file, 0) + 4, "fifo");
    assert_string_equal(name(file, 2) + 4, "pth");
    static const struct expected expected[] = {
        {1, TRACE_NEW, 0, NO, "newthread"},
        {1, TRACE_NAMED, 0, NO, "main"},
        {1, TRACE_DISPATCHED, 0, 0, "schedule"},
        {2, TRACE_NEW, 0, NO, "newthread"},
        {2, TRACE_NAMED, 0, NO, "a name of 16 and"},
        {1, TRACE_SWITCHED_OUT, 0, NO, "switch_out"},
        {2, TRACE_DISPATCHED, 0, 1, "schedule"},
        {2, TRACE_BLOCKED, 8, 1, "block.sleep"},
        {1, TRACE_DISPATCHED, 0, 0, "schedule"},
        {1, TRACE_BLOCKED, 7, 0, "block.join"},
        {0, TRACE_IDLE, 0, 0, ""},
        {2, TRACE_RAISED, 0, NO, "event_raised"},
        {2, TRACE_DISPATCHED, 0, 0, "schedule"},
        {2, TRACE_EXITED, 0, NO, "exit"},
        {0, TRACE_IDLE, 0, 0, ""},
        {1, TRACE_RAISED, 0, NO, "event_raised"},
        {1, TRACE_DISPATCHED, 0, 0, "schedule"},
    };
    EXPECT(file, expected);
    assert_int_equal(*(const uint8_t *)name(file, trace_records(file)[2].event),
                     15); /* `event schedule` of fifo.sched */
    assert_true(trace_records(file)[11].time - trace_records(file)[10].time > 10000000);
}

/* What pth_fork drops in the child goes on in the parent. */
static void a_child_of_fork_records_nothing(void **state) {
    (void)state;
    begin("fifo");
    spawn_named("other");
    pid_t child = pth_fork();
    if (child == 0) {
        pth_yield(NULL);
        _exit(pth_sched_threads_total() == 1 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    const struct trace_file *file = end();
    static const struct expected expected[] = {
        {1, TRACE_NEW, 0, NO, "newthread"}, {1, TRACE_NAMED, 0, NO, "main"},  {1, TRACE_DISPATCHED, 0, 0, "schedule"},
        {2, TRACE_NEW, 0, NO, "newthread"}, {2, TRACE_NAMED, 0, NO, "other"},
    };
    EXPECT(file, expected);
    pth_kill();
}

/* Nothing is recorded of those that nobody names a file for. */
static void off_by_default(void **state) {
    (void)state;
    begin("fifo");
    pth_kill();
    const struct trace_file *file = end();
    uint64_t written = file->written;
    session_begin("fifo");
    pth_yield(NULL);
    pth_kill();
    assert_true(written > 0);
    assert_int_equal(file->written, written);
}

static bool refuse, empty;

static void who_is_refused_and_the_end_of_a_policy(void **state) {
    (void)state;
    pth_schedvar_register_bool("refuse", &refuse);
    pth_schedvar_register_bool("empty", &empty);
    begin("hazard");
    refuse = true;
    assert_null(pth_spawn(PTH_ATTR_DEFAULT, sleeps, NULL));
    refuse = false;
    empty = true;
    pth_yield(NULL); /* the guard of `aside => current` fails */
    pth_yield(NULL); /* and Pth's own scheduler decides */
    empty = false;
    pth_kill();
    const struct trace_file *file = end();
    static const struct expected expected[] = {
        {1, TRACE_NEW, 0, NO, "newthread"},     {1, TRACE_NAMED, 0, NO, "main"},
        {0, TRACE_VALUE, 1, 0, "empty"},        {0, TRACE_VALUE, 1, 0, "full"},
        {0, TRACE_VALUE, 1, 0, "refuse"},       {1, TRACE_DISPATCHED, 0, 0, "schedule"},
        {2, TRACE_REFUSED, 0, NO, "newthread"}, {1, TRACE_SWITCHED_OUT, 0, NO, "switch_out"},
        {0, TRACE_POLICY_OUT, 0, NO, ""},
    };
    EXPECT(file, expected);
    assert_int_equal(trace_records(file)[8].line, 28); /* of hazard.sched */
}

static void cannot_be_written(void) {
    setenv("CATAPULTS_TRACE", "/no/such/folder/trace", 1);
    session_begin("fifo");
}

static void a_file_that_cannot_be_written(void **state) {
    (void)state;
    char said[1024];
    assert_int_equal(session_child(cannot_be_written, said, sizeof said), EXIT_FAILURE);
    assert_string_equal(said, "catapults: cannot record a trace in /no/such/folder/trace: No such file or directory; "
                              "name a file that can be written\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_is_recorded),
        cmocka_unit_test(a_child_of_fork_records_nothing),
        cmocka_unit_test(off_by_default),
        cmocka_unit_test(who_is_refused_and_the_end_of_a_policy),
        cmocka_unit_test(a_file_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
