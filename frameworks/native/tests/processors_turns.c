/*
 * Several processors: who can go on only on its own kernel thread waits there for the end of the turn of whoever runs,
 * if the policy limits turns. Else turns would be cut short, and who gives the processor up early had less than its
 * share.
 */
#include <stdatomic.h>

#include "catapults.h"
#include "support/recorded.h"

enum { MS = 1000000, QUANTUM = 10 * MS, COMPUTING = 4, ROUNDS = 20 }; /* the quantum is the policy's */
enum { RESTS = 1 + COMPUTING + 1 };                                   /* its number */

static atomic_bool stop;

/* It is interrupted in its own code whenever its turn ends, and can go on only there. */
static void *compute(void *argument) {
    while (!atomic_load(&stop))
        ;
    return argument;
}

/* After each rest a turn that it does not need all of. */
static void *rest(void *argument) {
    for (int i = 0; i < ROUNDS; i++) {
        require(catapults_sleep(37 * MS) == 0);
        for (int64_t end = catapults_now() + QUANTUM * 9 / 10; catapults_now() < end;)
            ;
    }
    atomic_store(&stop, true);
    return argument;
}

static void one_rests_beside_four_that_compute(void) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){
                .processors = 2, .trace = path, .policy = POLICIES "/of_the_library/round_robin.so"}) == 0);
    catapults_t threads[COMPUTING + 1];
    for (int i = 0; i <= COMPUTING; i++)
        require(catapults_create(&threads[i], NULL, i < COMPUTING ? compute : rest, NULL) == 0);
    for (int i = 0; i <= COMPUTING; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* Of the turns that it had first after a rest, which began when it was dispatched: how many ended before the policy's
 * time. None of these can end so, however late this program is given a CPU. */
static void turns_are_not_cut_short(void **state) {
    (void)state;
    const struct trace_file *file = recorded(one_rests_beside_four_that_compute);
    assert_true(file->written < file->capacity);
    uint64_t began = 0;
    int rounds = 0, cut = 0;
    bool rested = false;
    for (uint64_t i = 0; i < file->written; i++) {
        const struct trace_record *record = &trace_records(file)[i];
        if (record->thread != RESTS)
            continue;
        if (record->kind == TRACE_RAISED) {
            rested = true;
        } else if (record->kind == TRACE_DISPATCHED && rested) {
            began = record->time;
            rounds++;
        } else if (record->kind == TRACE_SWITCHED_OUT || record->kind == TRACE_PREEMPTED) {
            cut += rested && record->time - began < QUANTUM * 9 / 10;
            rested = false;
        } else if (record->kind == TRACE_BLOCKED) {
            rested = false;
        }
    }
    assert_int_equal(rounds, ROUNDS);
    assert_true(cut <= ROUNDS / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(turns_are_not_cut_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
