/*
 * Threads at random on several processors: none of them runs twice at a time, none is lost; whatever the policy
 * decides, and whatever they do.
 */
#include <errno.h>

#include "processors_test.h"

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

int main(void) {
#if defined(ACTIVATED) /* see processors_random_activated.c */
    setenv("CATAPULTS_ACTIVATIONS", "1", 1);
#endif
    const struct CMUnitTest tests[] = {
        child_test(at_random_on_two),       child_test(at_random_on_four),
        child_test(with_priorities_on_two), child_test(with_priorities_on_four),
        child_test(impatiently_on_two),     child_test(impatiently_on_four),
        child_test(with_turns_on_three),    child_test(with_nodes_on_two),
        child_test(with_nodes_on_four),     child_test(with_nodes_and_turns_on_three),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
