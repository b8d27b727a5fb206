/*
 * Starting the activations: registration, the first upcall, switches between threads that need none, and a child of
 * fork, which has no activations.
 */
#include "activations_test.h"

/* Where sa_runs looks. */
#if defined(__x86_64__)
enum { TELLS = true };
#else
enum { TELLS = false };
#endif

static void starts_with_newproc(void) {
    require(sa_self() == NULL && !sa_runs());
    require(sa_yield() == -1 && errno == EPERM);
    require(sa_enable() == -1 && errno == EINVAL);
    require(sa_register(NULL, NULL, 0, -1) == -1 && errno == EINVAL);
    require(sa_register(small_upcall, NULL, 8, -1) == -1 && errno == EINVAL);
    sa_upcall_t before;
    require(sa_register(small_upcall, &before, SA_FLAG_PREEMPT, 0) == 0 && before == NULL);
    require(sa_stacks(1, &(stack_t){.ss_sp = &before, .ss_size = 8}) == -1 && errno == EINVAL);
    start(1);
    require(count(SA_UPCALL_NEWPROC) == 1);
    require(sa_self() && sa_self()->sa_id == 1 && sa_self()->sa_cpu == 0);
    sa_hold(); /* no standby takes it for blocked meanwhile */
    require(sa_runs() == TELLS);
    struct lwp *self = &sa_lwps[0];
    lwp_change(self, self->word, LWP_LOST);
    require(!sa_runs());
    require(sa_self() && sa_runs() == TELLS);
    sa_release();
    require(sa_enable() == -1 && errno == EBUSY);
    require(sa_preempt(0) == -1 && errno == ESRCH);
    require(sa_preempt(SA_ACTIVATIONS_MOST) == -1 && errno == ESRCH);
    require(sa_interrupt(-1) == -1 && errno == ESRCH);
    require(sa_interrupt(1) == -1 && errno == ESRCH);
    require(sa_alarm(SA_PROCESSORS_MOST, 1) == -1 && errno == ESRCH);
    sa_hold();
    sa_hold();
    sa_release();
    sa_release();
}

static void add_one(void *counter) {
    for (int i = 0; i < 100; i++) {
        ++*(_Atomic int *)counter;
        small_yield();
    }
}

static void switches_without_upcalls(void) {
    static _Atomic int counter;
    start(1);
    for (int i = 0; i < 10; i++)
        small_create(&threads[i], add_one, &counter);
    for (int i = 0; i < 10; i++)
        small_join(&threads[i]);
    require(counter == 1000);
    require(count(SA_UPCALL_NEWPROC) == 1);
}

static void child_of_fork(void) {
    start(1);
    pid_t pid = fork();
    if (pid == 0)
        _exit(sa_self() == NULL && !sa_runs() && sa_yield() == -1 ? 0 : 1);
    int status;
    require(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(starts_with_newproc),
        child_test(switches_without_upcalls),
        child_test(child_of_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
