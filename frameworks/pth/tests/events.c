/*
 * Each event of Pth, as the policy is told of it. Thread 1 is main, 2 and so on those that it spawns.
 */
#include <errno.h>
#include <signal.h>

#include "session.h"

static void *nothing(void *argument) { return argument; }

static void *yields(void *turns) {
    for (intptr_t left = (intptr_t)turns; left > 0; left--)
        pth_yield(NULL);
    return NULL;
}

static pth_t spawn(void *(*start)(void *), intptr_t argument) {
    pth_t thread = pth_spawn(PTH_ATTR_DEFAULT, start, (void *)argument);
    assert_non_null(thread);
    return thread;
}

/* `init` comes before all others, each time that Pth starts. */
static void beginning(void **state) {
    (void)state;
    for (int time = 0; time < 2; time++) {
        session_begin("begins");
        session_end("init; newthread 1; schedule -> 1");
    }
}

static void new_yield_join_exit(void **state) {
    (void)state;
    session_begin("fifo");
    pth_t a = spawn(yields, 1), b = spawn(nothing, 7);
    assert_true(pth_yield(NULL));
    void *value = NULL;
    assert_true(pth_join(b, &value));
    assert_int_equal((intptr_t)value, 7);
    assert_true(pth_join(a, NULL));
    session_end(
        "newthread 1; schedule -> 1; newthread 2; newthread 3; switch_out 1; schedule -> 2; switch_out 2; "
        "schedule -> 3; exit 3; schedule -> 1; block.join 1; schedule -> 2; exit 2; event_raised 1; schedule -> 1");
}

static void detached_thread_ends(void **state) {
    (void)state;
    session_begin("fifo");
    pth_attr_t attributes = pth_attr_new();
    pth_attr_set(attributes, PTH_ATTR_JOINABLE, FALSE);
    assert_non_null(pth_spawn(attributes, nothing, NULL));
    pth_attr_destroy(attributes);
    pth_yield(NULL);
    session_end("newthread 1; schedule -> 1; newthread 2; switch_out 1; schedule -> 2; exit 2; schedule -> 1");
}

static void yield_to_a_thread(void **state) {
    (void)state;
    session_begin("cow");
    pth_t a = spawn(nothing, 0), b = spawn(nothing, 0);
    assert_true(pth_yield(b));
    errno = 0;
    assert_false(pth_yield(b)); /* it has ended */
    assert_int_equal(errno, EINVAL);
    pth_join(b, NULL);
    pth_join(a, NULL);
    session_end("newthread 1; schedule -> 1; newthread 2; newthread 3; ask can_switch_to 3 -> true; set_next_thread 3; "
                "switch_out 1; schedule -> 3; exit 3; schedule -> 2; exit 2; schedule -> 1");
}

static void change_a_priority(void **state) {
    (void)state;
    session_begin("fixed_priority");
    pth_t a = spawn(nothing, 0), b = spawn(nothing, 0);
    pth_attr_t of_b = pth_attr_of(b), of_self = pth_attr_of(pth_self());
    assert_true(pth_attr_set(of_b, PTH_ATTR_PRIO, 0)); /* as it was */
    assert_true(pth_attr_set(of_b, PTH_ATTR_PRIO, 3)); /* it runs at once, and ends */
    assert_true(pth_sched_changed(a));                 /* nothing has */
    assert_true(pth_attr_set(of_self, PTH_ATTR_PRIO, -1));
    errno = 0;
    assert_false(pth_sched_changed(a));
    assert_int_equal(errno, ESRCH);
    assert_true(pth_attr_destroy(of_b) && pth_attr_destroy(of_self));
    pth_join(b, NULL);
    pth_join(a, NULL);
    session_end("newthread 1; schedule -> 1; newthread 2; newthread 3; set_thread_import 3 priority 3; changed 3; "
                "schedule -> 3; exit 3; schedule -> 1; changed 2; set_thread_import 1 priority -1; changed 1; "
                "schedule -> 2; exit 2; schedule -> 1");
}

static void suspend_and_resume(void **state) {
    (void)state;
    session_begin("fifo");
    pth_t a = spawn(nothing, 0);
    assert_true(pth_suspend(a));
    assert_false(pth_suspend(a));
    assert_false(pth_suspend(pth_self()));
    pth_yield(NULL);
    assert_true(pth_resume(a));
    assert_false(pth_resume(a));
    pth_join(a, NULL);
    session_end(
        "newthread 1; schedule -> 1; newthread 2; suspend_thread 2; switch_out 1; schedule -> 1; resume_thread 2; "
        "block.join 1; schedule -> 2; exit 2; event_raised 1; schedule -> 1");
}

static int ends[2];

static void *reads(void *argument) {
    char byte;
    pth_read(ends[0], &byte, 1);
    return argument;
}

/* It waits until it is resumed and what it waits for has come; the policy is told once. */
static void suspended_while_it_waits(void **state) {
    (void)state;
    assert_int_equal(pipe(ends), 0);
    session_begin("fifo");
    pth_t a = spawn(reads, 0);
    pth_yield(NULL);
    assert_true(pth_suspend(a));
    assert_int_equal(write(ends[1], "x", 1), 1);
    pth_usleep(5000);
    assert_true(pth_resume(a));
    pth_join(a, NULL);
    close(ends[0]);
    close(ends[1]);
    session_end("newthread 1; schedule -> 1; newthread 2; switch_out 1; schedule -> 2; block.io.read 2; schedule -> 1; "
                "block.sleep 1; event_raised 1; schedule -> 1; block.join 1; event_raised 2; schedule -> 2; exit 2; "
                "event_raised 1; schedule -> 1");
}

static pth_mutex_t mutex = PTH_MUTEX_INIT;
static pth_cond_t condition = PTH_COND_INIT;
static pth_msgport_t port;

static int is_done(void *done) { return *(bool *)done; }

static void *waits(void *what) {
    static bool done;
    pth_event_t event;
    sigset_t signals;
    int signal;
    fd_set set;
    char byte;
    switch ((intptr_t)what) {
    case 'r':
        pth_read(ends[0], &byte, 1);
        break;
    case 's':
        FD_ZERO(&set);
        FD_SET(ends[0], &set);
        pth_select(ends[0] + 1, &set, NULL, NULL, NULL);
        break;
    case 'l':
        pth_mutex_acquire(&mutex, FALSE, NULL);
        pth_mutex_release(&mutex);
        break;
    case 'c':
        pth_mutex_acquire(&mutex, FALSE, NULL);
        pth_cond_await(&condition, &mutex, NULL);
        pth_mutex_release(&mutex);
        break;
    case 'm':
        event = pth_event(PTH_EVENT_MSG, port);
        pth_wait(event);
        pth_event_free(event, PTH_FREE_THIS);
        break;
    case 'g':
        sigemptyset(&signals);
        sigaddset(&signals, SIGUSR1);
        pth_sigwait(&signals, &signal);
        break;
    case 'f':
        done = false;
        event = pth_event(PTH_EVENT_FUNC, is_done, &done, pth_time(0, 1000));
        pth_wait(event);
        pth_event_free(event, PTH_FREE_THIS);
        break;
    case 'F':
        done = true;
        break;
    }
    return NULL;
}

static void write_byte(void) { assert_int_equal(write(ends[1], "x", 1), 1); }
static void notify(void) { pth_cond_notify(&condition, FALSE); }
static void put_message(void) {
    static pth_message_t message;
    pth_msgport_put(port, &message);
}
static void raise_process_signal(void) { kill(getpid(), SIGUSR1); }
static void finish(void) { waits((void *)'F'); }

/* A thread waits, main does what it waits for. */
static void block_event(intptr_t what, const char *name, void (*happen)(void)) {
    char expected[512];
    session_begin("fifo");
    pth_t a = spawn(waits, what);
    pth_yield(NULL);
    happen();
    if (happen != notify) /* which yields by itself */
        pth_yield(NULL);
    pth_yield(NULL);
    assert_true(pth_join(a, NULL));
    snprintf(expected, sizeof expected,
             "newthread 1; schedule -> 1; newthread 2; switch_out 1; schedule -> 2; %s 2; schedule -> 1; switch_out 1; "
             "event_raised 2; schedule -> 1; switch_out 1; schedule -> 2; exit 2; schedule -> 1",
             name);
    session_end(expected);
}

static void wait_to_read(void **state) {
    (void)state;
    assert_int_equal(pipe(ends), 0);
    block_event('r', "block.io.read", write_byte);
    block_event('s', "block.io.select", write_byte);
    close(ends[0]);
    close(ends[1]);
}

static void wait_for_condition(void **state) {
    (void)state;
    block_event('c', "block.condition", notify);
}

static void wait_for_message(void **state) {
    (void)state;
    session_begin(NULL);
    port = pth_msgport_create("events");
    pth_kill();
    block_event('m', "block.message", put_message);
}

static void wait_for_signal(void **state) {
    (void)state;
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, &before);
    block_event('g', "block.signal", raise_process_signal);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void wait_for_function(void **state) {
    (void)state;
    block_event('f', "block.function", finish);
}

static void wait_for_mutex(void **state) {
    (void)state;
    session_begin("fifo");
    pth_mutex_acquire(&mutex, FALSE, NULL);
    pth_t a = spawn(waits, 'l');
    pth_yield(NULL);
    pth_mutex_release(&mutex);
    pth_join(a, NULL);
    session_end("newthread 1; schedule -> 1; newthread 2; switch_out 1; schedule -> 2; block.lock 2; schedule -> 1; "
                "block.join 1; event_raised 2; schedule -> 2; exit 2; event_raised 1; schedule -> 1");
}

static void *fills(void *pipe_end) {
    static char block[1 << 20];
    pth_write((int)(intptr_t)pipe_end, block, sizeof block);
    return NULL;
}

static void wait_to_write(void **state) {
    (void)state;
    static char block[1 << 20];
    assert_int_equal(pipe(ends), 0);
    session_begin("fifo");
    pth_t a = spawn(fills, ends[1]);
    pth_yield(NULL);
    for (size_t all = 0; all < sizeof block;) {
        ssize_t got = pth_read(ends[0], block, sizeof block);
        assert_true(got > 0);
        all += (size_t)got;
    }
    pth_join(a, NULL);
    close(ends[0]);
    close(ends[1]);
    assert_true(pth_kill());
    FILE *file = fopen(session_trace, "r");
    char line[256];
    bool seen = false;
    while (fgets(line, sizeof line, file))
        seen |= strcmp(line, "block.io.write 2\n") == 0;
    fclose(file);
    assert_true(seen);
}

static volatile sig_atomic_t handled;
static void handle(int signal) {
    (void)signal;
    handled++;
}

static void signal_for_a_thread(void **state) {
    (void)state;
    signal(SIGUSR2, handle);
    session_begin("hazard");
    spawn(yields, 1);
    pth_t b = spawn(yields, 1);
    assert_true(pth_raise(b, SIGUSR2)); /* hazard prefers who has a signal */
    assert_int_equal(handled, 1);
    assert_int_equal(pth_sched_threads_suspended(), 1);
    session_end(
        "newthread 1; schedule -> 1; newthread 2; newthread 3; signal 3; ask can_switch_to 3 -> true; switch_out 1; "
        "schedule -> 3; switch_out 3; schedule -> 2; switch_out 2; schedule -> 1; "
        "ask threads_suspended -> 1; cancel 3; cancel 2");
    signal(SIGUSR2, SIG_DFL);
}

/* To Pth it is there until it is joined; to the policy it is gone. */
static void signal_for_an_ended_thread(void **state) {
    (void)state;
    signal(SIGUSR2, handle);
    handled = 0;
    session_begin("hazard");
    pth_t ended = spawn(nothing, 0);
    pth_yield(NULL);
    assert_true(pth_raise(ended, SIGUSR2));
    assert_int_equal(handled, 0);
    assert_true(pth_join(ended, NULL));
    session_end("newthread 1; schedule -> 1; newthread 2; switch_out 1; schedule -> 2; exit 2; schedule -> 1");
    signal(SIGUSR2, SIG_DFL);
}

static void *sleeps_long(void *argument) {
    pth_sleep(100);
    return argument;
}

static void *cancellable(void *argument) {
    pth_cancel_state(PTH_CANCEL_ENABLE | PTH_CANCEL_ASYNCHRONOUS, NULL);
    return argument ? sleeps_long(argument) : yields((void *)100);
}

static void cancel_at_any_moment(void **state) {
    (void)state;
    session_begin("fifo");
    pth_t ready = spawn(cancellable, 0), waiting = spawn(cancellable, 1);
    pth_yield(NULL);
    assert_true(pth_cancel(ready));
    assert_true(pth_abort(waiting));
    void *value;
    assert_true(pth_join(ready, &value));
    assert_ptr_equal(value, PTH_CANCELED);
    session_end("newthread 1; schedule -> 1; newthread 2; newthread 3; switch_out 1; schedule -> 2; switch_out 2; "
                "schedule -> 3; block.sleep 3; schedule -> 1; cancel 2; cancel 3");
}

static void cancel_when_it_can(void **state) {
    (void)state;
    session_begin("fifo");
    pth_t a = spawn(sleeps_long, 0);
    pth_yield(NULL);
    assert_true(pth_cancel(a));
    void *value;
    assert_true(pth_join(a, &value));
    assert_ptr_equal(value, PTH_CANCELED);
    session_end("newthread 1; schedule -> 1; newthread 2; switch_out 1; schedule -> 2; block.sleep 2; schedule -> 1; "
                "block.join 1; event_raised 2; schedule -> 2; exit 2; event_raised 1; schedule -> 1");
}

static bool refuse;

static void refused(void **state) {
    (void)state;
    pth_schedvar_register_bool("refuse", &refuse);
    session_begin("hazard");
    refuse = true;
    errno = 0;
    assert_null(pth_spawn(PTH_ATTR_DEFAULT, nothing, NULL));
    assert_int_equal(errno, EAGAIN);
    assert_string_equal(pth_sched_refusal(), "no more threads");
    refuse = false;
    pth_join(spawn(nothing, 0), NULL);
    session_end(
        "newthread 1; schedule -> 1; set_import refuse true; newthread 2 -> fail no more threads; "
        "set_import refuse false; newthread 3; block.join 1; schedule -> 3; exit 3; event_raised 1; schedule -> 1");
}

/* In the child of a fork its caller is alone. */
static void fork_leaves_one(void **state) {
    (void)state;
    session_begin("fifo");
    spawn(nothing, 0);
    pid_t child = pth_fork();
    if (child == 0) {
        pth_yield(NULL);
        _exit(pth_sched_threads_total() == 1 && pth_sched_name() ? 0 : 1);
    }
    int status;
    assert_int_equal(pth_waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    pth_kill();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beginning),
        cmocka_unit_test(new_yield_join_exit),
        cmocka_unit_test(detached_thread_ends),
        cmocka_unit_test(yield_to_a_thread),
        cmocka_unit_test(change_a_priority),
        cmocka_unit_test(suspend_and_resume),
        cmocka_unit_test(suspended_while_it_waits),
        cmocka_unit_test(wait_to_read),
        cmocka_unit_test(wait_to_write),
        cmocka_unit_test(wait_for_condition),
        cmocka_unit_test(wait_for_message),
        cmocka_unit_test(wait_for_signal),
        cmocka_unit_test(wait_for_function),
        cmocka_unit_test(wait_for_mutex),
        cmocka_unit_test(signal_for_a_thread),
        cmocka_unit_test(signal_for_an_ended_thread),
        cmocka_unit_test(cancel_at_any_moment),
        cmocka_unit_test(cancel_when_it_can),
        cmocka_unit_test(refused),
        cmocka_unit_test(fork_leaves_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
