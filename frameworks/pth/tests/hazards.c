/*
 * Policies that break, that refuse, that preempt, that cannot be loaded; and none at all.
 */
#include <errno.h>

#include "session.h"

static bool empty, full, refuse;
static char order[256];

static void *notes(void *name) {
    strcat(order, name);
    return NULL;
}

static void *yields_noting(void *name) {
    strcat(order, name);
    pth_yield(NULL);
    strcat(order, name);
    return NULL;
}

static pth_t spawn(void *(*start)(void *), void *argument) {
    pth_t thread = pth_spawn(PTH_ATTR_DEFAULT, start, argument);
    assert_non_null(thread);
    return thread;
}

/* For so long that nothing keeps all others from being through by then. */
static void *waits_for_main(void *name) {
    pth_usleep(500000);
    return notes(name);
}

/* Every thread is somewhere else when the guard fails: ready, new, suspended, waiting, dead. All go on. */
static void lose_the_policy(void) {
    setenv("PTH_SCHED", POLICIES "/hazard", 1);
    pth_schedvar_register_bool("empty", &empty);
    pth_schedvar_register_bool("full", &full);
    pth_init();
    pth_t all[6];
    all[0] = spawn(yields_noting, "r");
    all[1] = spawn(notes, "d");
    all[2] = spawn(waits_for_main, "w");
    pth_yield(NULL);
    all[3] = spawn(notes, "s");
    pth_suspend(all[3]);
    empty = true;
    all[4] = spawn(notes, "n");
    pth_yield(NULL);
    if (pth_sched_name())
        _exit(10);
    all[5] = spawn(notes, "l");
    pth_resume(all[3]);
    for (int i = 0; i < 6; i++)
        if (!pth_join(all[i], NULL))
            _exit(11 + i);
    pth_kill();
    write(STDERR_FILENO, order, strlen(order));
}

static void a_guard_fails(void **state) {
    (void)state;
    char said[1024];
    assert_int_equal(session_child(lose_the_policy, said, sizeof said), 0);
    char *end = strchr(said, '\n');
    assert_non_null(end);
    *end++ = '\0';
    assert_string_equal(said,
                        "catapults: policy hazard: guard failed at hazard.sched:28: `aside` is empty in `aside => "
                        "current`; 5 threads continue under Pth's own scheduler");
    assert_int_equal(strlen(end), 7);
    for (const char *name = "rdwsnl"; *name; name++)
        assert_non_null(strchr(end, *name));
}

static void fill(void) {
    setenv("PTH_SCHED", POLICIES "/hazard", 1);
    pth_schedvar_register_bool("full", &full);
    full = true; /* before pth_init: the first thread goes there already */
    pth_init();
    pth_t a = spawn(notes, "a"), b = spawn(notes, "b");
    if (!pth_join(a, NULL) || !pth_join(b, NULL) || pth_sched_name())
        _exit(10);
}

static void a_guard_fails_for_a_new_thread(void **state) {
    (void)state;
    char said[1024];
    assert_int_equal(session_child(fill, said, sizeof said), 0);
    assert_string_equal(
        said,
        "catapults: policy hazard: guard failed at hazard.sched:21: `next` already holds a thread in `t => next`; "
        "3 threads continue under Pth's own scheduler\n");
}

static void refuse_main(void) {
    setenv("PTH_SCHED", POLICIES "/hazard", 1);
    pth_schedvar_register_bool("refuse", &refuse);
    refuse = true;
    errno = 0;
    _exit(!pth_init() && errno == EAGAIN ? 0 : 10);
}

static void the_first_thread_is_refused(void **state) {
    (void)state;
    char said[1024];
    assert_int_equal(session_child(refuse_main, said, sizeof said), 0);
    assert_non_null(strstr(said, "catapults: policy hazard refuses the first thread ("));
    assert_non_null(strstr(said, "no more threads"));
}

struct job {
    catapults_int priority;
};

static void *notes_and_ends(void *name) { return notes(name); }

/* A more urgent thread runs within the call that makes it ready. */
static void preemption(void **state) {
    (void)state;
    order[0] = '\0';
    struct job low = {1}, high = {5};
    pth_threadvar_register("priority", offsetof(struct job, priority));
    session_begin("fixed_priority");
    pth_threadvar_object(pth_self(), &low);
    pth_yield(NULL);
    pth_t a = pth_spawn_object(PTH_ATTR_DEFAULT, notes_and_ends, "a", &high);
    strcat(order, ".");
    pth_t b = pth_spawn_object(PTH_ATTR_DEFAULT, notes_and_ends, "b", NULL); /* 0: the default */
    pth_suspend(b);
    pth_threadvar_object(b, &high);
    pth_resume(b);
    strcat(order, ".");
    pth_join(a, NULL);
    pth_join(b, NULL);
    assert_string_equal(order, "a.b.");
    session_end("newthread 1; schedule -> 1; set_thread_import 1 priority 1; changed 1; switch_out 1; schedule -> 1; "
                "set_thread_import 2 priority 5; newthread 2; schedule -> 2; exit 2; schedule -> 1; newthread 3; "
                "suspend_thread 3; set_thread_import 3 priority 5; changed 3; resume_thread 3; schedule -> 3; exit 3; "
                "schedule -> 1");
}

struct response {
    catapults_int bytesleft;
    bool responding;
};

/* §5.2: what is registered is what the policy sees, from the first event on or from then on. */
static void imports(void **state) {
    (void)state;
    static catapults_int connections = 3;
    struct response longer = {.bytesleft = 100}, shorter = {.bytesleft = 10};
    assert_true(pth_schedvar_register("connections", &connections)); /* not known yet whether there is one */
    session_begin("cow");
    assert_true(pth_threadvar_register("bytesleft", offsetof(struct response, bytesleft)));
    errno = 0;
    assert_false(pth_threadvar_register("no_such", 0));
    assert_int_equal(errno, ENOENT);
    assert_false(pth_schedvar_register_bool("connections", &empty));
    assert_int_equal(errno, EINVAL);
    assert_true(pth_schedvar_register("connections", &connections));
    order[0] = '\0';
    pth_t a = pth_spawn_object(PTH_ATTR_DEFAULT, yields_noting, "l", &longer);
    pth_t b = pth_spawn_object(PTH_ATTR_DEFAULT, yields_noting, "s", &shorter);
    assert_true(pth_join(a, NULL));
    assert_true(pth_join(b, NULL));
    assert_string_equal(order, "lssl");
    pth_kill();
}

static void strict(void) {
    setenv("PTH_SCHED", POLICIES "/fifo", 1);
    setenv("PTH_SCHED_STRICT", "1", 1);
    pth_init();
    pth_schedvar_register("connections", &(catapults_int){0});
    _exit(10);
}

static void strict_in_other_words(void) {
    setenv("PTH_SCHED", POLICIES "/fifo", 1);
    setenv("PTH_SCHED_STRICT", "yes", 1);
    pth_init();
    pth_schedvar_register("connections", &(catapults_int){0});
    _exit(10);
}

static void strict_imports(void **state) {
    (void)state;
    char said[1024];
    assert_int_equal(session_child(strict, said, sizeof said), EXIT_FAILURE);
    assert_non_null(strstr(said, "catapults: the policy fifo has no import `"));
    assert_int_equal(session_child(strict_in_other_words, said, sizeof said), 10);
    assert_non_null(strstr(said, "catapults: PTH_SCHED_STRICT is \"yes\": it must be 0 or 1"));
}

static const char *to_load;

static void load_one(void) {
    setenv("PTH_SCHED", to_load, 1);
    pth_init();
    _exit(pth_sched_name() ? 10 : 11);
}

/* As by a copy that was interrupted. */
static const char *cut_off(void) {
    static char name[] = "/tmp/catapults-pth-cut-XXXXXX.so", object[8192];
    FILE *whole = fopen(POLICIES "/fifo.so", "r");
    int descriptor = mkstemps(name, 3);
    assert_true(whole && descriptor >= 0);
    assert_int_equal(fread(object, 1, sizeof object, whole), sizeof object);
    assert_int_equal(write(descriptor, object, sizeof object), sizeof object);
    fclose(whole);
    close(descriptor);
    return name;
}

static void loading(void **state) {
    (void)state;
    char said[1024];
    to_load = POLICIES "/fifo.so"; /* the ending may be there already */
    assert_int_equal(session_child(load_one, said, sizeof said), 10);
    to_load = "";
    assert_int_equal(session_child(load_one, said, sizeof said), 11);
    to_load = cut_off();
    assert_int_equal(session_child(load_one, said, sizeof said), EXIT_FAILURE);
    assert_non_null(strstr(said, "its end is missing"));
    unlink(to_load);
    to_load = "no_such_policy";
    assert_int_equal(session_child(load_one, said, sizeof said), EXIT_FAILURE);
    assert_non_null(strstr(said, "no_such_policy.so"));
    to_load = "libpth";
    assert_int_equal(session_child(load_one, said, sizeof said), EXIT_FAILURE);
    assert_non_null(strstr(said, "libpth.so"));
}

/* Pth's own order, with its priorities, as without the shim. */
static void no_policy(void **state) {
    (void)state;
    session_begin(NULL);
    assert_null(pth_sched_name());
    assert_int_equal(pth_sched_threads_ready(), -1);
    assert_true(pth_schedvar_register("connections", &(catapults_int){0}));
    order[0] = '\0';
    pth_attr_t attributes = pth_attr_new();
    pth_t all[3];
    static const char *const names[] = {"0", "1", "2"};
    for (int i = 0; i < 3; i++) {
        pth_attr_set(attributes, PTH_ATTR_PRIO, i);
        all[i] = pth_spawn(attributes, yields_noting, (void *)names[i]);
    }
    pth_attr_destroy(attributes);
    for (int i = 0; i < 3; i++)
        assert_true(pth_join(all[i], NULL));
    assert_int_equal(strlen(order), 6);
    pth_kill();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guard_fails),
        cmocka_unit_test(a_guard_fails_for_a_new_thread),
        cmocka_unit_test(the_first_thread_is_refused),
        cmocka_unit_test(preemption),
        cmocka_unit_test(imports),
        cmocka_unit_test(strict_imports),
        cmocka_unit_test(loading),
        cmocka_unit_test(no_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
