/*
 * Several processors: threads run at the same time, none of them twice, none is lost; whatever policy decides, and
 * whatever they do.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "catapults.h"
#include "support/child.h"
#include "support/cpus.h"

enum { MS = 1000000 };

static catapults_t spawn(void *(*start)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.object = argument}, start, argument) == 0);
    return thread;
}

static void begin(int processors, const char *policy) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = policy}) == 0);
}

/* ---- At the same time -------------------------------------------------------------------------------------------- */

static atomic_int there;

/* None of them lets another run. */
static void *meet(void *argument) {
    int expected = (int)(intptr_t)argument;
    atomic_fetch_add(&there, 1);
    while (atomic_load(&there) < expected)
        ;
    return NULL;
}

static void threads_run_at_once(void) {
    begin(3, NULL);
    catapults_t threads[] = {spawn(meet, (void *)3), spawn(meet, (void *)3)};
    meet((void *)3);
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static void *sleep_a_while(void *argument) {
    catapults_sleep(20 * MS);
    return argument;
}

static void who_has_nothing_to_do_sleeps(void) {
    begin(4, NULL);
    catapults_t threads[] = {spawn(sleep_a_while, NULL), spawn(sleep_a_while, NULL)};
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    int64_t began = catapults_now();
    catapults_sleep(200 * MS);
    int64_t passed = catapults_now() - began;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    require(passed >= 200 * MS);
    require((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec < passed / 4);
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* ---- At random --------------------------------------------------------------------------------------------------- */

enum { THREADS = 24, ROUNDS = 300, PIPES = 4 };

struct task {
    catapults_int priority;
    unsigned seed;
    int number;
    atomic_bool runs; /* it is in its own code */
    catapults_t thread;
};

static struct task tasks[THREADS];
static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER, other = CATAPULTS_MUTEX_INITIALIZER;
static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static catapults_sem_t semaphore = CATAPULTS_SEM_INITIALIZER(2);
static catapults_rwlock_t rwlock = CATAPULTS_RWLOCK_INITIALIZER;
static catapults_port_t port = CATAPULTS_PORT_INITIALIZER;
static catapults_key_t key;
static int pipes[PIPES][2], counted, written, read_twice, finished;

static int any(struct task *task, int below) { return (int)(rand_r(&task->seed) % (unsigned)below); }

__attribute__((noipa)) static int error_here(void) { return errno; }
__attribute__((noipa)) static void set_error_here(int error) { errno = error; }

/* Around all that may run others. */
static void leave_own_code(struct task *self) { require(atomic_exchange(&self->runs, false)); }
static void come_back(struct task *self) {
    require(!atomic_exchange(&self->runs, true)); /* else it runs twice */
    require(catapults_self() == self->thread && catapults_getspecific(key) == self);
}

static void *come_and_go(void *argument) {
    catapults_yield();
    return argument;
}

static void wait_for_a_condition(struct task *self) {
    require(catapults_mutex_lock(&mutex) == 0);
    if (any(self, 2))
        catapults_cond_wait_until(&cond, &mutex, catapults_now() + any(self, 200) * 1000);
    else if (any(self, 2))
        catapults_cond_broadcast(&cond);
    else
        catapults_cond_signal(&cond);
    counted++;
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void read_and_write(struct task *self) {
    char byte = 'b';
    int *ends = pipes[any(self, PIPES)];
    require(catapults_write(ends[1], &byte, 1) == 1);
    require(catapults_read(ends[0], &byte, 1) == 1 && byte == 'b');
}

static void do_something(struct task *self) {
    switch (any(self, 13)) {
    case 0:
        catapults_sleep(any(self, 20000));
        break;
    case 1:
        catapults_mutex_lock(&other);
        written++;
        catapults_yield();
        require(catapults_mutex_unlock(&other) == 0);
        break;
    case 2:
        wait_for_a_condition(self);
        break;
    case 3:
        require(catapults_sem_wait(&semaphore) == 0);
        catapults_yield();
        require(catapults_sem_post(&semaphore) == 0);
        break;
    case 4:
        require(catapults_rwlock_rdlock(&rwlock) == 0);
        catapults_yield();
        require(catapults_rwlock_unlock(&rwlock) == 0);
        break;
    case 5:
        require(catapults_rwlock_wrlock(&rwlock) == 0);
        read_twice++;
        catapults_yield();
        require(catapults_rwlock_unlock(&rwlock) == 0);
        break;
    case 6: {
        void *result;
        catapults_t child = spawn(come_and_go, self);
        require(catapults_join(child, &result) == 0 && result == self);
        break;
    }
    case 7:
        read_and_write(self);
        break;
    case 8: {
        struct catapults_message message = {.kind = self->number};
        require(catapults_port_call(&port, &message) == 0 && message.kind == self->number + 1);
        break;
    }
    case 9:
        catapults_yield_to(tasks[any(self, THREADS)].thread);
        break;
    default:
        catapults_mutex_lock(&other);
        written++;
        require(catapults_mutex_unlock(&other) == 0);
        set_error_here(self->number);
        catapults_yield();
        require(error_here() == self->number);
    }
}

static void *work(void *argument) {
    struct task *self = argument;
    require(catapults_setspecific(key, self) == 0);
    require(catapults_mutex_lock(&mutex) == 0); /* until all are there */
    require(catapults_mutex_unlock(&mutex) == 0);
    atomic_store(&self->runs, true);
    for (int i = 0; i < ROUNDS; i++) {
        __atomic_store_n(&self->priority, any(self, 5), __ATOMIC_RELAXED); /* policies read it at any time */
        leave_own_code(self);
        do_something(self);
        come_back(self);
    }
    catapults_mutex_lock(&mutex);
    finished++;
    catapults_mutex_unlock(&mutex);
    return self;
}

/* Threads are looked at by their numbers while all are there: they are joined last. */
static atomic_bool stop;

static void *suspend(void *argument) {
    unsigned seed = 7;
    (void)argument;
    while (!atomic_load(&stop)) {
        catapults_t thread = tasks[(unsigned)rand_r(&seed) % THREADS].thread;
        catapults_suspend(thread);
        catapults_sleep(rand_r(&seed) % 50000);
        catapults_resume(thread);
    }
    return NULL;
}

static void *serve(void *argument) {
    struct catapults_message *message;
    while (catapults_port_receive(&port, &message) == 0) {
        message->kind++;
        require(catapults_port_reply(message) == 0);
    }
    return argument;
}

static void run(int processors, const char *policy) {
    begin(processors, policy);
    catapults_threadvar_register("priority", struct task, priority);
    require(catapults_key_create(&key, NULL) == 0);
    for (int i = 0; i < PIPES; i++)
        require(pipe2(pipes[i], 04000) == 0); /* O_NONBLOCK */
    catapults_t server = spawn(serve, &tasks[0]);
    require(catapults_mutex_lock(&mutex) == 0);
    for (int i = 0; i < THREADS; i++) {
        tasks[i].number = i;
        tasks[i].seed = (unsigned)i + 1;
    }
    for (int i = 0; i < THREADS; i++)
        require(catapults_create(&tasks[i].thread, &(struct catapults_attributes){.object = &tasks[i]}, work,
                                 &tasks[i]) == 0);
    require(catapults_mutex_unlock(&mutex) == 0);
    catapults_t suspender = spawn(suspend, &tasks[0]);
    for (bool all = false; !all;) {
        catapults_sleep(MS);
        catapults_mutex_lock(&mutex);
        all = finished == THREADS;
        catapults_mutex_unlock(&mutex);
    }
    atomic_store(&stop, true);
    require(catapults_join(suspender, NULL) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        require(catapults_join(tasks[i].thread, &result) == 0 && result == &tasks[i]);
    }
    catapults_port_close(&port);
    require(catapults_join(server, NULL) == 0);
    require(mutex.state == 0 && other.state == 0 && (policy || catapults_threads_total() == 1));
    require(!policy || strcmp(catapults_policy_name(), "fifo (built-in)") != 0);
}

static void at_random_on_two(void) { run(2, NULL); }
static void at_random_on_four(void) { run(4, NULL); }
static void with_priorities_on_two(void) { run(2, POLICIES "/urgency.so"); }
static void with_priorities_on_four(void) { run(4, POLICIES "/urgency.so"); }
static void impatiently_on_two(void) { run(2, POLICIES "/eager.so"); }
static void impatiently_on_four(void) { run(4, POLICIES "/eager.so"); }
static void with_turns_on_three(void) { run(3, POLICIES "/turns.so"); }
static void with_nodes_on_two(void) { run(2, POLICIES "/least_loaded.so"); }
static void with_nodes_on_four(void) { run(4, POLICIES "/per_processor_fifo.so"); }
static void with_nodes_and_turns_on_three(void) { run(3, POLICIES "/places.so"); }

/* ---- Preemption -------------------------------------------------------------------------------------------------- */

static atomic_int spun[6];
static atomic_bool spin_on = true;

/* Without any call of the runtime. */
static void *spin(void *argument) {
    while (atomic_load_explicit(&spin_on, memory_order_relaxed))
        atomic_fetch_add_explicit((atomic_int *)argument, 1, memory_order_relaxed);
    return NULL;
}

static void threads_are_preempted_on_all(void) {
    begin(2, POLICIES "/turns.so");
    catapults_t threads[6];
    for (int i = 0; i < 6; i++)
        threads[i] = spawn(spin, &spun[i]);
    bool all = false;
    while (!all) {
        catapults_sleep(5 * MS);
        all = true;
        for (int i = 0; i < 6; i++)
            all = all && atomic_load(&spun[i]) > 0;
    }
    atomic_store(&spin_on, false);
    for (int i = 0; i < 6; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* It stops, though it makes no call. */
static void who_spins_elsewhere_can_be_suspended(void) {
    begin(2, NULL);
    catapults_t thread = spawn(spin, &spun[0]);
    while (atomic_load(&spun[0]) == 0)
        ;
    require(catapults_suspend(thread) == 0);
    int before;
    do {
        before = atomic_load(&spun[0]);
        catapults_sleep(20 * MS);
    } while (before != atomic_load(&spun[0]));
    require(catapults_resume(thread) == 0);
    while (before == atomic_load(&spun[0]))
        catapults_yield();
    atomic_store(&spin_on, false);
    require(catapults_join(thread, NULL) == 0);
}

/* ---- Affinity, and how many there are -----------------------------------------------------------------------------
 */

__attribute__((noipa)) static pid_t kernel_thread(void) { return (pid_t)syscall(SYS_gettid); }

static void *stay(void *argument) {
    pid_t mine = kernel_thread();
    for (int i = 0; i < 500; i++) {
        if (i % 10 == 0)
            catapults_sleep(1000);
        else
            catapults_yield();
        require(kernel_thread() == mine);
    }
    *(pid_t *)argument = mine;
    return NULL;
}

static void threads_stay_where_they_are_bound_to(void) {
    begin(3, NULL);
    catapults_t threads[9];
    pid_t places[9];
    for (int i = 0; i < 9; i++)
        require(catapults_create(&threads[i], &(struct catapults_attributes){.processors = 1u << i % 3}, stay,
                                 &places[i]) == 0);
    uint64_t processors;
    require(catapults_setaffinity(catapults_self(), 6) == 0);
    require(catapults_getaffinity(catapults_self(), &processors) == 0 && processors == 6);
    require(catapults_create(NULL, &(struct catapults_attributes){.processors = 8}, stay, NULL) == EINVAL);
    require(catapults_setaffinity(catapults_self(), 8) == EINVAL);
    for (int i = 0; i < 9; i++)
        require(catapults_join(threads[i], NULL) == 0);
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            require((places[i] == places[j]) == (i % 3 == j % 3));
    for (int i = 0; i < 20; i++) {
        require(catapults_setaffinity(catapults_self(), 1u << i % 3) == 0);
        require(kernel_thread() == places[i % 3]);
    }
}

/* Far more of them than turns can wait: who may run anywhere comes still, and lets them go. */
static atomic_bool let_go;
static atomic_int came;

static void *keep(void *argument) {
    while (!atomic_load(&let_go))
        ;
    return argument;
}

static void *come(void *argument) {
    atomic_fetch_add(&came, 1);
    return argument;
}

static void *let_them_go(void *argument) {
    require(atomic_load(&came) == 0);
    atomic_store(&let_go, true);
    return argument;
}

static void very_many_wait_for_one_that_is_kept(void) {
    enum { MANY = 200 };
    begin(2, NULL);
    require(catapults_setaffinity(catapults_self(), 2) == 0);
    for (int round = 0; round < 5; round++) {
        static catapults_t threads[MANY + 2];
        struct catapults_attributes first = {.processors = 1};
        atomic_store(&let_go, false);
        atomic_store(&came, 0);
        for (int i = 0; i <= MANY; i++)
            require(catapults_create(&threads[i], &first, i ? come : keep, NULL) == 0);
        threads[MANY + 1] = spawn(let_them_go, NULL);
        for (int i = MANY + 1; i >= 0; i--)
            require(catapults_join(threads[i], NULL) == 0);
        require(atomic_load(&came) == MANY);
    }
}

static void *turn(void *argument);

static void processors_come_and_go(void) {
    begin(2, NULL);
    for (int round = 0; round < 30; round++) {
        int processors = round * 7 % 5 + 1;
        catapults_t threads[8];
        for (int i = 0; i < 8; i++)
            threads[i] = spawn(turn, NULL);
        require(catapults_set_processors(processors) == 0 && catapults_processors() == processors);
        catapults_sleep(50000);
        for (int i = 0; i < 8; i++)
            require(catapults_join(threads[i], NULL) == 0);
    }
    require(catapults_set_processors(0) == EINVAL && catapults_set_processors(1000) == EINVAL);
}

/* In its own code: it makes no call of the runtime. */
static void compute_until(atomic_bool *flag, int64_t most) {
    for (int64_t end = catapults_now() + most; !atomic_load(flag) && catapults_now() < end;)
        for (int i = 0; i < 1000 && !atomic_load_explicit(flag, memory_order_relaxed); i++)
            ;
}

static void compute(int64_t duration) {
    atomic_bool never = false;
    compute_until(&never, duration);
}

static void await_processors(int count) {
    for (int64_t end = catapults_now() + 20000 * (int64_t)MS; catapults_processors() != count && catapults_now() < end;)
        catapults_sleep(MS);
    require(catapults_processors() == count);
}

static cpu_set_t allowed;

static void *check_cpus(void *argument) {
    cpu_set_t mine;
    require(sched_getaffinity(0, sizeof mine, &mine) == 0);
    require(CPU_EQUAL(&mine, &allowed) || getenv("CATAPULTS_ACTIVATIONS")); /* these are told later */
    return argument;
}

/* Only the first kernel thread is told from outside. */
static void cpus_come_and_go(void) {
    cpu_set_t all, one;
    cpus_find(&all, &one);
    begin(CATAPULTS_PROCESSORS_ALL, NULL);
    int most = catapults_processors();
    require(most == (CPU_COUNT(&all) < 128 ? CPU_COUNT(&all) : 128));
    for (int round = 0; round < 6; round++) {
        allowed = round % 2 ? all : one;
        cpus_allow(&allowed);
        await_processors(round % 2 ? most : 1);
        catapults_t threads[8];
        for (int i = 0; i < 8; i++)
            threads[i] = spawn(check_cpus, NULL);
        for (int i = 0; i < 8; i++)
            require(catapults_join(threads[i], NULL) == 0);
    }
    require(catapults_set_processors(2) == 0); /* from now on a number is a number */
    cpus_allow(&one);
    catapults_sleep(100 * MS);
    require(catapults_processors() == 2);
    require(catapults_set_processors(CATAPULTS_PROCESSORS_ALL) == 0);
    await_processors(1);
}

static atomic_bool gone;

static void *shrink(void *set) {
    compute(20 * MS);
    cpus_allow(set);
    return NULL;
}

/* Nobody calls the runtime, nor has it anything to do at first. */
static void cpus_go_while_threads_compute(void) {
    cpu_set_t all, one;
    cpus_find(&all, &one);
    begin(CATAPULTS_PROCESSORS_ALL, POLICIES "/turns.so");
    catapults_t shrinks = spawn(shrink, &one), sleeps = spawn(sleep_a_while, NULL);
    compute_until(&gone, 200 * (int64_t)MS);
    await_processors(1);
    require(catapults_join(shrinks, NULL) == 0 && catapults_join(sleeps, NULL) == 0);
}

static atomic_bool woke, go_on;

static void *sleep_and_say_so(void *argument) {
    atomic_store(&there, 1);
    catapults_sleep(20 * MS);
    atomic_store(&woke, true);
    return argument;
}

/* The second processor sleeps in the driver for all until it is given up. */
static void who_is_left_looks_outside(void) {
    begin(2, POLICIES "/eager.so");
    catapults_t thread = spawn(sleep_and_say_so, NULL);
    while (atomic_load(&there) == 0)
        ;
    compute(5 * MS);
    require(catapults_set_processors(1) == 0);
    compute_until(&woke, 20000 * (int64_t)MS);
    require(atomic_load(&woke));
    require(catapults_join(thread, NULL) == 0);
}

static void *await_and_say_so(void *semaphore) {
    atomic_store(&there, 1);
    require(catapults_sem_wait(semaphore) == 0);
    atomic_store(&woke, true);
    return semaphore;
}

/* The second processor is idle when the thread wakes, so that nobody loses the first one; and given up before it comes.
 */
static void who_counts_on_a_processor_that_goes_runs(void) {
    begin(2, POLICIES "/eager.so");
    catapults_sem_t semaphore;
    require(catapults_sem_init(&semaphore, 0) == 0);
    for (int i = 0; i < 10; i++) {
        atomic_store(&there, 0);
        atomic_store(&woke, false);
        catapults_t thread = spawn(await_and_say_so, &semaphore);
        while (atomic_load(&there) == 0)
            ;
        compute(5 * MS);
        require(catapults_sem_post(&semaphore) == 0);
        require(catapults_set_processors(1) == 0);
        compute_until(&woke, 10000 * (int64_t)MS);
        require(atomic_load(&woke));
        require(catapults_join(thread, NULL) == 0);
        require(catapults_set_processors(2) == 0);
    }
}

static void *compute_and_yield(void *argument) {
    atomic_store(&there, 1);
    while (!atomic_load(&go_on))
        ;
    catapults_yield();
    atomic_store(&woke, true);
    return argument;
}

/* Whose turn had no end, because nobody waited. */
static void who_is_left_takes_turns_with_those_that_come(void) {
    begin(2, POLICIES "/turns.so");
    catapults_t thread = spawn(compute_and_yield, NULL);
    while (atomic_load(&there) == 0)
        ;
    require(catapults_set_processors(1) == 0);
    atomic_store(&go_on, true);
    compute_until(&woke, 20000 * (int64_t)MS);
    require(atomic_load(&woke));
    require(catapults_join(thread, NULL) == 0);
}

static void *say_so(void *argument) {
    atomic_fetch_add(&there, 1);
    return argument;
}

static void *compute_for_long(void *argument) {
    atomic_store(&there, 1);
    while (!atomic_load(&go_on))
        ;
    return argument;
}

static void turns_that_wait_leave_room_for_processors(void) {
    enum { MANY = 250 };
    begin(3, NULL);
    struct catapults_attributes last = {.processors = 4};
    catapults_t one, threads[MANY];
    require(catapults_create(&one, &last, compute_for_long, NULL) == 0);
    while (atomic_load(&there) == 0)
        ;
    for (int i = 0; i < MANY; i++)
        require(catapults_create(&threads[i], &last, say_so, NULL) == 0);
    compute(20 * MS); /* the second processor, which is idle, decides that they run on the third */
    require(catapults_set_processors(30) == 0);
    compute(20 * MS);
    atomic_store(&go_on, true);
    require(catapults_join(one, NULL) == 0);
    for (int i = 0; i < MANY; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(atomic_load(&there) == MANY + 1);
    for (int i = 0; i < 40; i++)
        threads[i] = spawn(turn, NULL);
    for (int i = 0; i < 40; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(catapults_threads_total() == 1);
}

static void one_stays_one(void) {
    begin(1, NULL);
    require(catapults_set_processors(1) == 0 && catapults_set_processors(2) == ENOTSUP && catapults_processors() == 1);
    require(catapults_setaffinity(catapults_self(), 1) == 0 && catapults_setaffinity(catapults_self(), 2) == EINVAL);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void *exit_last(void *argument) {
    catapults_sleep(2 * MS);
    return argument;
}

static void it_ends_with_the_last_thread(void) {
    begin(2, NULL);
    for (int i = 0; i < 5; i++)
        require(catapults_detach(spawn(exit_last, NULL)) == 0);
    catapults_exit(NULL);
}

static void *lock_for_ever(void *argument) {
    catapults_mutex_lock(argument);
    catapults_port_t nobody = CATAPULTS_PORT_INITIALIZER;
    struct catapults_message *message;
    catapults_port_receive(&nobody, &message);
    return NULL;
}

static void wait_for_each_other(void) {
    begin(3, NULL);
    catapults_t thread = spawn(lock_for_ever, &mutex);
    catapults_join(thread, NULL);
}

static void a_deadlock_is_reported(void **state) {
    (void)state;
    struct child child = run_child(wait_for_each_other);
    assert_exit(&child, EXIT_FAILURE);
    assert_reported(&child, "deadlock");
}

/* ---- Other ways on ----------------------------------------------------------------------------------------------- */

static void *turn(void *argument) {
    for (int i = 0; i < 2000; i++)
        catapults_yield();
    return argument;
}

static void a_child_has_one(void) {
    begin(2, NULL);
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(turn, NULL);
    for (int i = 0; i < 5; i++) {
        pid_t pid = catapults_fork();
        require(pid >= 0);
        if (pid == 0) {
            catapults_t child = spawn(turn, NULL);
            catapults_yield();
            require(catapults_join(child, NULL) == 0);
            _exit(7);
        }
        int status;
        require(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    for (int i = 0; i < 4; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static void *yield_on(void *argument) {
    while (!atomic_load(&go_on))
        catapults_yield();
    return argument;
}

static catapults_int connections;

static void await_built_in(void) {
    for (int64_t end = catapults_now() + 20000 * (int64_t)MS; catapults_now() < end;) {
        compute(MS);
        if (strcmp(catapults_policy_name(), "fifo (built-in)") == 0)
            return;
    }
    require(!"the policy is out");
}

/* They yield until it is. */
static void a_policy_that_breaks_its_guard_is_out(void) {
    begin(3, POLICIES "/bytes.so");
    require(catapults_schedvar_register("connections", &connections) == 0);
    catapults_t threads[8];
    for (int i = 0; i < 8; i++)
        threads[i] = spawn(yield_on, NULL);
    __atomic_store_n(&connections, 13, __ATOMIC_RELAXED);
    await_built_in();
    atomic_store(&go_on, true);
    for (int i = 0; i < 8; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

static void policies_are_replaced(void) {
    static const char *const policies[] = {POLICIES "/turns.so", POLICIES "/eager.so", NULL};
    begin(3, NULL);
    catapults_t threads[8];
    for (int i = 0; i < 8; i++)
        threads[i] = spawn(turn, NULL);
    for (int i = 0; i < 30; i++) {
        require(catapults_policy_replace(NULL, policies[i % 3]) == 0);
        catapults_yield();
    }
    for (int i = 0; i < 8; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* There were several, and there may be again. */
static void policies_are_replaced_while_there_is_one(void) {
    begin(3, POLICIES "/eager.so");
    require(catapults_set_processors(1) == 0);
    require(catapults_policy_replace(NULL, POLICIES "/turns.so") == 0);
    require(catapults_set_processors(4) == 0);
    catapults_t threads[8];
    for (int i = 0; i < 8; i++)
        threads[i] = spawn(turn, NULL);
    for (int i = 0; i < 8; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(strcmp(catapults_policy_name(), "turns") == 0);
}

#if !defined(ACTIVATED)
static catapults_int endless;

/* The processor that has put it in force decides nothing meanwhile. */
static void handlers_are_watched_on_all(void) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = 3, .handler_limit = 20 * MS}) == 0);
    catapults_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(turn, NULL);
    require(catapults_policy_replace(NULL, POLICIES "/endless.so") == 0);
    require(catapults_schedvar_register("endless", &endless) == 0);
    for (int i = 0; i < 4; i++)
        require(catapults_join(threads[i], NULL) == 0);
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(yield_on, NULL);
    __atomic_store_n(&endless, 2, __ATOMIC_RELAXED); /* `switch_out` */
    await_built_in();
    atomic_store(&go_on, true);
    for (int i = 0; i < 4; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

__attribute__((noipa)) static int recurse(int depth) {
    volatile char space[2000];
    space[0] = (char)depth;
    return depth == 1 << 20 ? space[0] : recurse(depth + 1) + space[0];
}

static void *overflow(void *argument) { return (char *)argument + recurse(0); }

static void overflow_on_another(void) {
    begin(2, NULL);
    require(catapults_setaffinity(catapults_self(), 1) == 0);
    catapults_t thread;
    struct catapults_attributes attributes = {.name = "deep", .processors = 2};
    require(catapults_create(&thread, &attributes, overflow, NULL) == 0);
    catapults_join(thread, NULL);
}

static void an_overflow_is_reported_on_all(void **state) {
    (void)state;
    struct child child = run_child(overflow_on_another);
    assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGSEGV);
    assert_reported(&child, "(deep) overflowed its stack of 64 KiB");
}

/* ---- What does not go -------------------------------------------------------------------------------------------- */

static void ask_for_too_much(void) {
    require(catapults_init(&(struct catapults_options){.processors = 65, .activations = true}) == EINVAL);
    require(catapults_init(&(struct catapults_options){.processors = 1000}) == EINVAL);
    require(catapults_init(&(struct catapults_options){.processors = -2}) == EINVAL);
    setenv("CATAPULTS_PROCESSORS", "many", 1);
    require(catapults_init(NULL) == EINVAL);
    setenv("CATAPULTS_PROCESSORS", "-1", 1); /* what stands for all of them in C is no number of them */
    require(catapults_init(NULL) == EINVAL);
    setenv("CATAPULTS_PROCESSORS", "all", 1);
    require(catapults_init(NULL) == 0);
}

static void what_does_not_go_is_said(void **state) {
    (void)state;
    struct child child = run_child(ask_for_too_much);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "with activations there are at most 64 processors");
    assert_reported(&child, "the option `processors` is 1000: it must be from 1 to 128");
    assert_reported(&child, "CATAPULTS_PROCESSORS is \"many\": it must be a number from 1 to 128, or \"all\"");
    assert_reported(&child, "CATAPULTS_PROCESSORS is \"-1\": it must be a number from 1 to 128, or \"all\"");
}

/* ---- Accounting -------------------------------------------------------------------------------------------------- */

static int64_t own_processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void *use_processor(void *milliseconds) {
    for (int64_t before = own_processor_time(); own_processor_time() < before + (intptr_t)milliseconds * MS;)
        ;
    return (void *)(intptr_t)(catapults_consumed(catapults_self()) / MS);
}

/* Whose kernel threads are two. Where other processes have the CPU, too, the kernel finds late that ticks have passed:
 * it is measured again then. */
static void samples_are_taken_on_all(void) {
    alarm(HANGS);
    require(catapults_init(
                &(struct catapults_options){.processors = 2, .accounting = CATAPULTS_ACCOUNTING_STATISTICAL}) == 0);
    catapults_account();
    bool found;
    do {
        catapults_t threads[] = {spawn(use_processor, (void *)200), spawn(use_processor, (void *)400)};
        found = true;
        for (intptr_t i = 0; i < 2; i++) {
            void *consumed;
            require(catapults_join(threads[i], &consumed) == 0);
            found &= (intptr_t)consumed >= 100 * (i + 1) && (intptr_t)consumed <= 300 * (i + 1);
        }
    } while (!found);
    require(catapults_consumed(catapults_self()) <= 40 * MS);
}

#endif

/* ---- All ----------------------------------------------------------------------------------------------------------
 */

int main(void) {
#if defined(ACTIVATED) /* see processors_activated.c */
    setenv("CATAPULTS_ACTIVATIONS", "1", 1);
#endif
    const struct CMUnitTest tests[] = {
        child_test(threads_run_at_once),
        child_test(who_has_nothing_to_do_sleeps),
        child_test(at_random_on_two),
        child_test(at_random_on_four),
        child_test(with_priorities_on_two),
        child_test(with_priorities_on_four),
        child_test(impatiently_on_two),
        child_test(impatiently_on_four),
        child_test(with_turns_on_three),
        child_test(with_nodes_on_two),
        child_test(with_nodes_on_four),
        child_test(with_nodes_and_turns_on_three),
        child_test(who_spins_elsewhere_can_be_suspended),
        child_test(threads_stay_where_they_are_bound_to),
        child_test(very_many_wait_for_one_that_is_kept),
        child_test(processors_come_and_go),
        child_test(cpus_come_and_go),
        child_test(turns_that_wait_leave_room_for_processors),
        child_test(it_ends_with_the_last_thread),
        cmocka_unit_test(a_deadlock_is_reported),
        child_test(a_child_has_one),
        child_test(a_policy_that_breaks_its_guard_is_out),
        child_test(policies_are_replaced),
        child_test(policies_are_replaced_while_there_is_one),
        child_test(threads_are_preempted_on_all),
        child_test(cpus_go_while_threads_compute),
        child_test(who_is_left_looks_outside),
        child_test(who_counts_on_a_processor_that_goes_runs),
        child_test(who_is_left_takes_turns_with_those_that_come),
        child_test(one_stays_one),
#if !defined(ACTIVATED)
        child_test(samples_are_taken_on_all),
        child_test(handlers_are_watched_on_all),
        cmocka_unit_test(an_overflow_is_reported_on_all),
        cmocka_unit_test(what_does_not_go_is_said),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
