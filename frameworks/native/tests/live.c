/*
 * What others ask of a program while it runs (process/live.h): by a child that the program has made before it starts
 * the runtime.
 */
#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#include "support/asks.h"
#include "support/program.h"

static bool checks;

/* What the asker sets it to. GCC's -fsanitize=bool reads a volatile variable once. */
static bool checked(void) { return __atomic_load_n(&checks, __ATOMIC_RELAXED); }

static int told[2]; /* a pipe: the asker writes to it when it is done */

static struct catapults_options options;

static void begin(const char *policy, void (*body)(int socket)) {
    pid_t process = getpid();
    int begun[2]; /* a pipe: until then, what is set would not be the variable that is registered here */
    char byte = 0;
    require(pipe(told) == 0 && pipe(begun) == 0);
    pid_t asker = fork();
    require(asker >= 0);
    if (asker == 0) {
        alarm(HANGS);
        close(begun[1]);
        require(read(begun[0], &byte, 1) == 1);
        body(asks_open(process, "catapults 1"));
        require(write(told[1], "", 1) == 1);
        _exit(EXIT_SUCCESS);
    }
    close(told[1]); /* so that it is noticed if the asker ends */
    options.policy = policy;
    require(catapults_init(&options) == 0);
    int error = catapults_schedvar_register_bool("checks", &checks);
    require(error == 0 || error == ENOENT); /* not every policy imports it */
    require(write(begun[1], &byte, 1) == 1);
}

static void expect(int socket, const char *request, const char *file, const char *part) {
    const char *answer = asks(socket, request, file);
    if (!strstr(answer, part))
        fprintf(stderr, "no \"%s\" in the answer to \"%s\": %s\n", part, request, answer);
    require(strstr(answer, part));
}

/* The asker has found all as it should be. */
static void end(void) {
    int status;
    char byte;
    ssize_t size = catapults_read(told[0], &byte, 1);
    require(size == 1);
    while (waitpid(-1, &status, WNOHANG) == 0)
        catapults_sleep(1000000);
    require(status == 0);
}

/* ---- Wherever its processors are --------------------------------------------------------------------------------- */

static void let_it_go_on(int socket) {
    expect(socket, "look", NULL, "thread 1 R");
    expect(socket, "set 1 0 1 checks", NULL, "done");
}

static void one_that_computes_answers(void) {
    begin(POLICIES "/keeps.so", let_it_go_on);
    while (!checked())
        ;
    end();
}

static void one_that_yields_answers(void) {
    begin(POLICIES "/keeps.so", let_it_go_on);
    while (!checked())
        catapults_yield();
    end();
}

static void look_at_a_sleeper(int socket) { expect(socket, "look", NULL, "\tto read\ndone"); }

static void one_that_sleeps_answers(void) {
    begin(NULL, look_at_a_sleeper);
    end();
}

static void look_only(int socket) { expect(socket, "look", NULL, "main"); }

static void one_in_a_call_of_the_kernel_answers(void) {
    begin(NULL, look_only);
    char byte;
    require(read(told[0], &byte, 1) == 1);
}

static void under(const struct catapults_options *these, void (*body)(void)) {
    options = *these;
    body();
}

static void with_several_processors(void) {
    static const struct catapults_options several = {.processors = 2};
    static void (*const bodies[])(void) = {one_that_computes_answers, one_that_yields_answers, one_that_sleeps_answers};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        pid_t child = fork();
        if (child == 0) {
            under(&several, bodies[i]);
            _exit(EXIT_SUCCESS);
        }
        int status;
        require(waitpid(child, &status, 0) == child && status == 0);
    }
}

/* ---- What is said ------------------------------------------------------------------------------------------------ */

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;

static void *lock(void *unused) {
    require(catapults_mutex_lock(&mutex) == 0);
    require(catapults_mutex_unlock(&mutex) == 0);
    return unused;
}

static void look_at_waits(int socket) {
    const char *answer;
    do
        answer = asks(socket, "look", NULL);
    while (!strstr(answer, "the locker") || !strstr(answer, "\tto read\n"));
    require(strstr(answer, "the locker\tfor a mutex of thread 1 (main)\n"));
    require(strstr(answer, "scheduler 0 0 \tkeeps\t"));
    require(strstr(answer, "import 0 global bool 0 0 checks\n") && strstr(answer, "import 0 thread int 0 0 mark\n"));
}

static void waits_are_told(void) {
    begin(POLICIES "/keeps.so", look_at_waits);
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_t locker = spawn_called(lock, "the locker");
    catapults_yield();
    end();
    require(catapults_mutex_unlock(&mutex) == 0);
    join(locker);
}

static void look_at_many(int socket) {
    const char *answer;
    do
        answer = asks(socket, "look", NULL);
    while (!strstr(answer, "thread 2001 "));
    unsigned count = 0;
    for (const char *line = answer; (line = strstr(line, "\nthread ")); line++)
        count++;
    require(count == 2001);
}

static void *wait_for(void *semaphore) {
    require(catapults_sem_wait(semaphore) == 0);
    return NULL;
}

static void thousands_are_told(void) {
    enum { THREADS = 2000 };
    static catapults_t threads[THREADS];
    catapults_sem_t semaphore;
    begin(NULL, look_at_many);
    require(catapults_sem_init(&semaphore, 0) == 0);
    for (int i = 0; i < THREADS; i++)
        threads[i] = spawn(wait_for, &semaphore);
    end();
    for (int i = 0; i < THREADS; i++)
        require(catapults_sem_post(&semaphore) == 0);
    for (int i = 0; i < THREADS; i++)
        join(threads[i]);
}

static void count_time(int socket) {
    long consumed = 0;
    expect(socket, "watch 1", NULL, "done");
    while (consumed == 0) {
        const char *line = strstr(asks(socket, "look", NULL), "thread 1 RUNNING 0 ");
        require(line);
        consumed = strtol(line + strlen("thread 1 RUNNING 0 "), NULL, 10);
    }
    expect(socket, "watch 0", NULL, "done");
    expect(socket, "look", NULL, "process 1 ");
    expect(socket, "set 1 0 1 checks", NULL, "done");
}

static void time_is_counted_while_somebody_looks_on(void) {
    begin(POLICIES "/keeps.so", count_time);
    while (!checked())
        ;
    end();
}

/* ---- What is changed --------------------------------------------------------------------------------------------- */

static void set_wrongly(int socket) {
    expect(socket, "set 1 0 1 nothing", NULL, "refused no policy there has the variable `nothing`");
    expect(socket, "set 0 0 1 checks", NULL, "refused `checks` is of the type bool");
    expect(socket, "set 0 77 1 mark", NULL, "refused there is no such thread any more");
    expect(socket, "set x", NULL, "refused it is not understood");
    expect(socket, "sing", NULL, "refused it is not understood");
    expect(socket, "look", NULL, "import 0 global bool 0 0 checks\n");
}

static void what_cannot_be_set_is_refused(void) {
    begin(POLICIES "/keeps.so", set_wrongly);
    end();
}

static int turns[2];

static void *count(void *turns) {
    while (!checked()) {
        ++*(int *)turns;
        catapults_yield();
    }
    return turns;
}

/* The first thread goes on when it is preferred to the one that counts. */
static void prefer(int socket) {
    while (!strstr(asks(socket, "look", NULL), "thread 2 "))
        ;
    expect(socket, "set 0 1 9 priority", NULL, "done");
}

static void a_change_decides_who_runs(void) {
    begin(POLICIES "/urgency.so", prefer);
    struct catapults_value priority = catapults_value_int("priority", 2);
    const struct catapults_attributes more = {.values = &priority, .values_count = 1};
    catapults_t thread;
    require(catapults_create(&thread, &more, count, &turns[0]) == 0); /* it runs until then */
    require(turns[0] > 0);
    checks = true;
    join(thread);
    end();
}

static void replace(int socket) {
    expect(socket, "replace", POLICIES "/urgency.so", "done");
    expect(socket, "look", NULL, "\turgency\t");
    expect(socket, "replace", POLICIES "/other_magic.so", "refused its `catapults_policy` does not describe a policy");
    expect(socket, "replace", POLICIES "/other_contract.so", "refused it was built for version");
    expect(socket, "replace", POLICIES "/other_framework.so", "refused it was built for another framework");
    expect(socket, "replace", POLICIES "/no_policy.so", "refused it has no symbol `catapults_policy`");
    expect(socket, "replace", POLICIES "/hierarchy.so", "refused it is a hierarchy");
    expect(socket, "replace", POLICIES "/large.so", "refused its threads need more room");
    expect(socket, "replace", POLICIES "/urgency.c", "refused it is no shared object");
    expect(socket, "replace", NULL, "refused it is no shared object");
    expect(socket, "look", NULL, "\turgency\t");
    for (int i = 0; i < 20; i++)
        expect(socket, "replace", i % 2 ? POLICIES "/urgency.so" : POLICIES "/keeps.so", "done");
    expect(socket, "set 0 1 9 priority", NULL, "done");
}

static void a_policy_is_replaced(void) {
    begin(POLICIES "/keeps.so", replace);
    catapults_t threads[2] = {spawn(count, &turns[0]), spawn(count, &turns[1])};
    end();
    int before = turns[0];
    while (turns[0] == before)
        catapults_sleep(100000);
    checks = true;
    for (int i = 0; i < 2; i++)
        join(threads[i]);
}

static void a_policy_is_replaced_on_several_processors(void) {
    options.processors = 2;
    a_policy_is_replaced();
}

/* ---- Who is asked ------------------------------------------------------------------------------------------------ */

static void look_often(int socket) {
    for (int i = 0; i < 300; i++)
        expect(socket, "look", NULL, "thread 1 ");
    expect(socket, "set 1 0 1 checks", NULL, "done");
}

/* Each child has the memory of a process that is being asked. */
static void children_are_not_meant(void) {
    begin(POLICIES "/keeps.so", look_often);
    int status;
    do {
        pid_t child = catapults_fork();
        require(child >= 0);
        if (child == 0) {
            for (int i = 0; i < 10; i++)
                catapults_yield();
            _exit(checks ? 2 : EXIT_SUCCESS);
        }
        require(waitpid(child, &status, 0) == child && (status == 0 || checks));
    } while (!checked());
    end();
}

/* Nor is anything of the program's touched. */
static void descriptors_stay(void) {
    begin(POLICIES "/keeps.so", let_it_go_on);
    int before = dup(0);
    close(before);
    while (!checked())
        ;
    int after = dup(0);
    require(before == after);
    close(after);
    end();
}

static void do_nothing(int socket) { (void)socket; }

static void signals_without_the_mark_are_others(void) {
    begin(NULL, do_nothing);
    union sigval value = {.sival_int = 5};
    for (int i = 0; i < 100; i++)
        require(sigqueue(getpid(), SIGURG, value) == 0);
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(one_that_computes_answers),
        child_test(one_that_yields_answers),
        child_test(one_that_sleeps_answers),
        child_test(one_in_a_call_of_the_kernel_answers),
        child_test(with_several_processors),
        child_test(waits_are_told),
        child_test(thousands_are_told),
        child_test(time_is_counted_while_somebody_looks_on),
        child_test(what_cannot_be_set_is_refused),
        child_test(a_change_decides_who_runs),
        child_test(a_policy_is_replaced),
        child_test(a_policy_is_replaced_on_several_processors),
        child_test(children_are_not_meant),
        child_test(descriptors_stay),
        child_test(signals_without_the_mark_are_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
