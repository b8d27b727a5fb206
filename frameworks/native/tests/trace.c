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

/* Of a name, behind its line. */
static const char *name(const struct trace_file *file, unsigned index) {
    const char *at = file->names;
    for (unsigned i = 0; i < index; i++) {
        at += 4;
        at += strlen(at) + 1;
        at += strlen(at) + 1;
    }
    return at + 4;
}

static const char *event_of(const struct trace_file *file, const struct trace_record *record) {
    const char *event = record->event ? name(file, record->event) : "";
    if (record->kind != TRACE_BLOCKED)
        return event;
    assert_string_equal(event, record->detail == 7 ? "block.join" : "block.sleep");
    return "block";
}

static void a_life_is_recorded(void **state) {
    (void)state;
    const struct trace_file *file = recorded(live);
    assert_memory_equal(file->magic, "CATTRACE", 8);
    assert_int_equal(file->version, TRACE_VERSION);
    assert_int_equal(file->seed, 1);
    assert_int_equal(file->record_bytes, 32);
    assert_string_equal(file->names + 4, "fifo (built-in)");
    static const struct {
        uint32_t thread;
        enum trace_kind kind;
        uint8_t detail;
        const char *name;
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
    /* That of a blocked thread depends on what it waits for. */
    static const char *const events[] = {[TRACE_NEW] = "newthread",
                                         [TRACE_DISPATCHED] = "schedule",
                                         [TRACE_SWITCHED_OUT] = "switch_out",
                                         [TRACE_BLOCKED] = "block",
                                         [TRACE_RAISED] = "event_raised",
                                         [TRACE_EXITED] = "exit",
                                         [TRACE_SUSPENDED] = "suspend_thread",
                                         [TRACE_RESUMED] = "resume_thread",
                                         [TRACE_IDLE] = ""};
    uint64_t time = file->start;
    int at_once = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct trace_record *record = &trace_records(file)[i];
        assert_int_equal(record->kind, expected[i].kind);
        assert_int_equal(record->thread, expected[i].thread);
        assert_int_equal(record->detail, expected[i].detail);
        if (record->kind != TRACE_NAMED)
            assert_string_equal(event_of(file, record), events[record->kind]);
        assert_true(record->time >= time);
        /* The end of a turn and what follows it are of one instant; whoever is woken has one of its own. */
        if (i > 0 && (expected[i - 1].kind == TRACE_BLOCKED || expected[i - 1].kind == TRACE_SWITCHED_OUT)) {
            assert_int_equal(record->time, time);
            at_once++;
        } else if (i > 0 && expected[i - 1].kind == TRACE_IDLE) {
            assert_true(record->time > time);
        }
        assert_true(strncmp(record->kind == TRACE_NAMED ? record->name : "", expected[i].name, sizeof record->name) ==
                    0);
        time = record->time;
    }
    assert_int_equal(file->written, sizeof expected / sizeof *expected);
    assert_int_equal(at_once, 4);
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
        if (trace_records(file)[i].thread == 2)
            assert_int_equal(trace_records(file)[i].kind, expected[found++]);
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
    assert_true(trace_records(file)[last].time > trace_records(file)[(last + 1) % file->capacity].time);
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
    assert_string_equal(file->names + 4, "bytes");
    int found = 0;
    for (uint64_t i = 0; i < file->written; i++)
        if (trace_records(file)[i].kind == TRACE_POLICY_OUT) {
            assert_int_equal(trace_records(file)[i].line, 51);
            found++;
        }
    assert_int_equal(found, 1);
}

struct task {
    catapults_int priority;
};

static void be_preempted(void) {
    require(catapults_init(&(struct catapults_options){.trace = path, .policy = POLICIES "/urgency.so"}) == 0);
    catapults_threadvar_register("priority", struct task, priority);
    static struct task urgent = {9}, least = {1};
    catapults_set_object(catapults_self(), &least);
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.object = &urgent}, yield_once, NULL) == 0);
    catapults_yield();
    require(catapults_join(thread, NULL) == 0);
}

/* Of a policy that has its twin. */
static void the_statement_that_decided_is_recorded(void **state) {
    (void)state;
    const struct trace_file *file = recorded(be_preempted);
    static const struct {
        enum trace_kind kind;
        uint32_t thread, line; /* of urgency.sched */
    } expected[] = {
        {TRACE_NEW, 1, 30},        {TRACE_DISPATCHED, 1, 49},   {TRACE_NEW, 2, 30},        {TRACE_PREEMPTED, 1, 30},
        {TRACE_DISPATCHED, 2, 49}, {TRACE_SWITCHED_OUT, 2, 32}, {TRACE_DISPATCHED, 2, 49}, {TRACE_EXITED, 2, 0},
        {TRACE_DISPATCHED, 1, 44}, {TRACE_SWITCHED_OUT, 1, 32}, {TRACE_DISPATCHED, 1, 49},
    };
    size_t found = 0;
    for (uint64_t i = 0; i < file->written; i++) {
        const struct trace_record *record = &trace_records(file)[i];
        if (record->kind == TRACE_NAMED || record->kind == TRACE_VALUE)
            continue;
        assert_true(found < sizeof expected / sizeof *expected);
        assert_int_equal(record->kind, expected[found].kind);
        assert_int_equal(record->thread, expected[found].thread);
        assert_int_equal(record->line, expected[found].line);
        found++;
    }
    assert_int_equal(found, sizeof expected / sizeof *expected);
}

static void record_over_the_policy(void) {
    require(symlink(POLICIES "/turns.so", path) == 0);
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/turns.so", .trace = path}) == EINVAL);
}

/* It is mapped: what is written to it runs. */
static void the_policy_is_not_recorded_over(void **state) {
    (void)state;
    struct stat before, after;
    assert_int_equal(stat(POLICIES "/turns.so", &before), 0);
    memcpy(path + sizeof path - sizeof "XXXXXX", "XXXXXX", sizeof "XXXXXX");
    close(mkstemp(path));
    unlink(path);
    struct child child = run_child(record_over_the_policy);
    unlink(path);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "it is the policy; name another file");
    assert_int_equal(stat(POLICIES "/turns.so", &after), 0);
    assert_int_equal(before.st_size, after.st_size);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_is_recorded),
        cmocka_unit_test(a_thread_is_named_before_it_runs),
        cmocka_unit_test(the_oldest_records_make_room),
        cmocka_unit_test(the_end_of_a_policy_is_recorded),
        cmocka_unit_test(the_statement_that_decided_is_recorded),
        cmocka_unit_test(the_policy_is_not_recorded_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
