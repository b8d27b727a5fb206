/*
 * Recordings of what several processors run.
 */
#include <stdatomic.h>

#include "catapults.h"
#include "support/recorded.h"

enum { PROCESSORS = 3, THREADS = 6, TURNS = 200 };

static void *take_turns(void *argument) {
    for (int i = 0; i < TURNS; i++) {
        if (i % 8 == 0)
            catapults_sleep(20000);
        else
            catapults_yield();
    }
    return argument;
}

static atomic_bool there, stop;

static void *spin(void *argument) {
    atomic_store(&there, true);
    while (!atomic_load(&stop))
        ;
    return argument;
}

static void live_on_three(void) {
    require(catapults_init(&(struct catapults_options){.trace = path, .processors = 3}) == 0);
    catapults_t threads[THREADS], spinning;
    for (int i = 0; i < THREADS; i++) {
        struct catapults_attributes bound = {.processors = i < PROCESSORS ? 1u << i : 0};
        require(catapults_create(&threads[i], &bound, take_turns, NULL) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(catapults_create(&spinning, NULL, spin, NULL) == 0);
    while (!atomic_load(&there))
        ;
    require(catapults_suspend(spinning) == 0 && catapults_resume(spinning) == 0);
    atomic_store(&stop, true);
    require(catapults_join(spinning, NULL) == 0);
}

enum { NOWHERE = -1, WAITING = -2, MOST = 1 + 1 + THREADS + 1 };

/* What each record says must go with those before it: a thread is dispatched when it is ready, on a processor where
 * nothing runs, and so on. */
static void each_thread_runs_on_one_at_a_time(void **state) {
    (void)state;
    const struct trace_file *file = recorded(live_on_three);
    int where[MOST], used = 0;
    uint32_t runs[PROCESSORS] = {0};
    uint64_t time = 0;
    assert_true(file->written < file->capacity);
    for (uint64_t i = 0; i < file->written; i++) {
        const struct trace_record *record = &trace_records(file)[i];
        uint32_t thread = record->thread;
        assert_true(record->time >= time && record->processor < PROCESSORS && thread < MOST);
        time = record->time;
        used |= 1 << record->processor;
        switch ((enum trace_kind)record->kind) {
        case TRACE_NEW:
            where[thread] = NOWHERE;
            break;
        case TRACE_DISPATCHED:
            assert_int_equal(where[thread], NOWHERE);
            assert_int_equal(runs[record->processor], 0);
            where[thread] = record->processor;
            runs[record->processor] = thread;
            break;
        case TRACE_SUSPENDED:
            if (where[thread] == NOWHERE) {
                where[thread] = WAITING;
                break;
            }
            /* fall through */
        case TRACE_SWITCHED_OUT:
        case TRACE_PREEMPTED:
        case TRACE_BLOCKED:
        case TRACE_EXITED:
            assert_true(where[thread] >= 0);
            assert_int_equal(runs[where[thread]], thread);
            runs[where[thread]] = 0;
            where[thread] = record->kind == TRACE_SWITCHED_OUT || record->kind == TRACE_PREEMPTED ? NOWHERE : WAITING;
            break;
        case TRACE_RAISED:
        case TRACE_RESUMED:
            assert_int_equal(where[thread], WAITING);
            where[thread] = NOWHERE;
            break;
        case TRACE_IDLE:
            assert_int_equal(runs[record->processor], 0);
            break;
        case TRACE_NAMED:
        case TRACE_POLICY_OUT:
        case TRACE_VALUE:
        case TRACE_REFUSED:
        case TRACE_LENT:
            break;
        }
    }
    assert_int_equal(used, (1 << PROCESSORS) - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_thread_runs_on_one_at_a_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
