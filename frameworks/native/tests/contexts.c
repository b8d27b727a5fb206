/*
 * Stacks and the switch.
 */
#include <execinfo.h>

#include "contexts/context.h"
#include "support/child.h"
#include "support/registers.h"

enum { SIZE = 64 << 10 };

static struct context here, there;
static char order[64];

static void enter(void (*entry)(void *), void *argument) {
    struct stack *stack = stack_take(SIZE);
    assert_non_null(stack);
    context_adopt(&here);
    context_make(&there, stack, stack, entry, argument);
    context_switch(&here, &there);
}

static void take_turns(void *argument) {
    tools_begin();
    for (;;) {
        strcat(order, argument);
        context_switch(&there, &here);
    }
}

static void two_contexts_take_turns(void **state) {
    (void)state;
    order[0] = '\0';
    enter(take_turns, "b");
    strcat(order, "a");
    context_switch(&here, &there);
    strcat(order, "a");
    context_switch(&here, &there);
    assert_string_equal(order, "babab");
}

/* Each side fills the registers with its own values before it leaves, so what arrives is the other's unless it was
 * kept. */
static uint64_t lost_there;
static void fill_registers(void *argument) {
    (void)argument;
    for (uint64_t seed = 1000000;; seed += 1000)
        lost_there += registers_lost_by_swap(&there.stack_pointer, here.stack_pointer, seed);
}

static void the_switch_keeps_registers(void **state) {
    (void)state;
    struct stack *stack = stack_take(SIZE);
    context_make(&there, stack, stack, fill_registers, NULL);
    for (uint64_t seed = 1; seed < 1000; seed++)
        assert_int_equal(registers_lost_by_swap(&here.stack_pointer, there.stack_pointer, seed), 0);
    assert_int_equal(lost_there, 0);
}

static uintptr_t misaligned = 1;
static void look_at_alignment(void *argument) {
    tools_begin();
    (void)argument;
    volatile _Alignas(16) char block[16];
    misaligned = ((uintptr_t)block | (uintptr_t)__builtin_frame_address(0)) % 16;
    context_switch(&there, &here);
}

static void a_stack_is_aligned(void **state) {
    (void)state;
    enter(look_at_alignment, NULL);
    assert_int_equal(misaligned, 0);
}

static int frames;
static void count_frames(void *argument) {
    tools_begin();
    frames = backtrace(argument, 32);
    context_switch(&there, &here);
}

static void a_backtrace_ends_where_the_stack_does(void **state) {
    (void)state;
    void *addresses[32];
    enter(count_frames, addresses);
    assert_in_range(frames, 1, 3);
}

static void the_stack_given_back_last_is_taken_next(void **state) {
    (void)state;
    struct stack *a = stack_take(SIZE), *b = stack_take(SIZE), *small = stack_take(16 << 10);
    assert_true(a && b && small && a != b);
    stack_give(a);
    stack_give(small);
    stack_give(b);
    assert_ptr_equal(stack_take(SIZE), b);
    assert_ptr_equal(stack_take(SIZE), a);
    assert_ptr_equal(stack_take(16 << 10), small);
    assert_ptr_not_equal(stack_take(SIZE), a);
}

static void a_stack_is_as_large_as_asked_for(void **state) {
    (void)state;
    for (size_t size = 1000; size < 100 << 20; size = size * 5 / 2) {
        struct stack *stack = stack_take(size);
        assert_non_null(stack);
        assert_true(stack->size >= size);
        assert_true((char *)stack > stack->lowest && (char *)(stack + 1) <= stack->lowest + stack->size);
        assert_int_equal((uintptr_t)stack % 16, 0);
        *(volatile char *)stack->lowest = 1; /* the first and the last byte of it are there */
        *((volatile char *)stack - 1) = 1;
    }
}

static void many_stacks_do_not_overlap(void **state) {
    (void)state;
    enum { MANY = 1000 };
    static struct stack *stacks[MANY];
    for (int i = 0; i < MANY; i++) {
        stacks[i] = stack_take(SIZE);
        assert_non_null(stacks[i]);
        memset((char *)stacks[i] - 200, i, 200);
        memset(stacks[i]->lowest, i, 200);
    }
    for (int i = 0; i < MANY; i++) {
        for (int j = 1; j <= 200; j++)
            assert_int_equal(((unsigned char *)stacks[i])[-j], (unsigned char)i);
        for (int j = 0; j < 200; j++)
            assert_int_equal(((unsigned char *)stacks[i]->lowest)[j], (unsigned char)i);
    }
}

static void a_size_beyond_all_memory_is_refused(void **state) {
    (void)state;
    assert_null(stack_take((size_t)1 << 60));
    assert_null(stack_take(SIZE_MAX));
}

static void write_to_guard(void) {
    signal(SIGSEGV, SIG_DFL);
    ((volatile char *)stack_take(SIZE)->lowest)[-1] = 1;
}

static void below_a_stack_is_a_guard(void **state) {
    (void)state;
    struct child child = run_child(write_to_guard);
    assert_true(WIFSIGNALED(child.status));
    assert_int_equal(WTERMSIG(child.status), SIGSEGV);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_contexts_take_turns),
        cmocka_unit_test(the_switch_keeps_registers),
        cmocka_unit_test(a_stack_is_aligned),
        cmocka_unit_test(a_backtrace_ends_where_the_stack_does),
        cmocka_unit_test(the_stack_given_back_last_is_taken_next),
        cmocka_unit_test(a_stack_is_as_large_as_asked_for),
        cmocka_unit_test(many_stacks_do_not_overlap),
        cmocka_unit_test(a_size_beyond_all_memory_is_refused),
        cmocka_unit_test(below_a_stack_is_a_guard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
