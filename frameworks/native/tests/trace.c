/*
 * Recordings of who ran when, read back as `catapults trace export` reads them.
 */
#include <errno.h>

#include "catapults.h"
#include "support/recorded.h"

static void *sleep_shortly(void *argument) {
    catapults_sleep(1000000);
    return argument;
}

static void *yield_once(void *argument) {
    catapults_yield();
    return argument;
}

static void live(void) {
    require(catapults_init(&(struct catapults_options){.trace = path}) == 0);
    catapults_t thread;
    struct catapults_attributes attributes = {.name = "a name of more than 16"};
    require(catapults_create(&thread, &attributes, sleep_shortly, NULL) == 0);
    require(catapults_join(thread, NULL) == 0);
    require(catapults_create(&thread, NULL, yield_once, NULL) == 0);
    require(catapults_suspend(thread) == 0 && catapults_resume(thread) == 0);
    require(catapults_join(thread, NULL) == 0);
}

static void a_life_is_recorded(void **state) {
    (void)state;
    const struct trace_file *file = recorded(live);
    assert_memory_equal(file->magic, "CATTRACE", 8);
    assert_int_equal(file->version, 1);
    assert_int_equal(file->record_bytes, 32);
    assert_string_equal(file->policy, "fifo (built-in)");
    static const struct {
        uint32_t thread;
        enum trace_kind kind;
        uint16_t detail;
        const char *payload;
    } expected[] = {
        {1, TRACE_NEW, 0, ""},
        {1, TRACE_NAMED, 0, "main"},
        {1, TRACE_DISPATCHED, 0, ""},
        {2, TRACE_NEW, 0, ""},
        {2, TRACE_NAMED, 0, "a name of more t"},
        {2, TRACE_NAMED, 1, "han 16"},
        {1, TRACE_BLOCKED, 7, ""},
        {2, TRACE_DISPATCHED, 0, ""},
        {2, TRACE_BLOCKED, 8, ""},
        {0, TRACE_IDLE, 0, ""},
        {2, TRACE_RAISED, 0, ""},
        {2, TRACE_DISPATCHED, 0, ""},
        {2, TRACE_EXITED, 0, ""},
        {1, TRACE_RAISED, 0, ""},
        {1, TRACE_DISPATCHED, 0, ""},
        {3, TRACE_NEW, 0, ""},
        {3, TRACE_SUSPENDED, 0, ""},
        {3, TRACE_RESUMED, 0, ""},
        {1, TRACE_BLOCKED, 7, ""},
        {3, TRACE_DISPATCHED, 0, ""},
        {3, TRACE_SWITCHED_OUT, 0, ""},
        {3, TRACE_DISPATCHED, 0, ""},
        {3, TRACE_EXITED, 0, ""},
        {1, TRACE_RAISED, 0, ""},
        {1, TRACE_DISPATCHED, 0, ""},
    };
    uint64_t time = file->start;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct trace_record *record = &file->records[i];
        assert_int_equal(record->kind, expected[i].kind);
        assert_int_equal(record->thread, expected[i].thread);
        assert_int_equal(record->detail, expected[i].detail);
        assert_true(record->time >= time);
        assert_true(strncmp(record->payload, expected[i].payload, sizeof record->payload) == 0);
        time = record->time;
    }
    assert_int_equal(file->written, sizeof expected / sizeof *expected);
}

static void *end(void *argument) { return argument; }

static void live_shortly(void) {
    require(catapults_init(&(struct catapults_options){.trace = path, .policy = POLICIES "/eager.so"}) == 0);
    require(catapults_create(NULL, &(struct catapults_attributes){.name = "brief", .detached = true}, end, NULL) == 0);
}

/* It has run and given its stack back when catapults_create returns. */
static void a_thread_is_named_before_it_runs(void **state) {
    (void)state;
    const struct trace_file *file = recorded(live_shortly);
    static const enum trace_kind expected[] = {TRACE_NEW, TRACE_NAMED, TRACE_DISPATCHED, TRACE_EXITED};
    int found = 0;
    for (uint64_t i = 0; i < file->written; i++)
        if (file->records[i].thread == 2)
            assert_int_equal(file->records[i].kind, expected[found++]);
    assert_int_equal(found, 4);
}

static void fill_the_ring(void) {
    require(catapults_init(&(struct catapults_options){.trace = path}) == 0);
    for (uint64_t i = 0; i < dispatcher_trace->capacity + 1000; i++)
        catapults_yield();
}

static void the_oldest_records_make_room(void **state) {
    (void)state;
    const struct trace_file *file = recorded(fill_the_ring);
    assert_true(file->written > 2 * file->capacity);
    uint64_t last = (file->written - 1) % file->capacity;
    assert_true(file->records[last].time > file->records[(last + 1) % file->capacity].time);
}

static void policy_out(void) {
    static catapults_int connections = 13;
    require(catapults_init(&(struct catapults_options){.trace = path, .policy = POLICIES "/bytes.so"}) == 0);
    require(catapults_schedvar_register("connections", &connections) == 0);
    catapults_yield();
}

static void the_end_of_a_policy_is_recorded(void **state) {
    (void)state;
    const struct trace_file *file = recorded(policy_out);
    assert_string_equal(file->policy, "bytes");
    int found = 0;
    for (uint64_t i = 0; i < file->written; i++)
        if (file->records[i].kind == TRACE_POLICY_OUT) {
            assert_int_equal(file->records[i].detail, 51);
            found++;
        }
    assert_int_equal(found, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_is_recorded),
        cmocka_unit_test(a_thread_is_named_before_it_runs),
        cmocka_unit_test(the_oldest_records_make_room),
        cmocka_unit_test(the_end_of_a_policy_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
