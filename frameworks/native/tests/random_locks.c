/*
 * Threads that lock at random, in any order, under several policies: no two have a mutex, none is lost, and each ring
 * of those who wait for one another is refused when it would close: a ring that is missed is a deadlock, which ends the
 * program.
 */
#include <errno.h>

#include "catapults.h"
#include "support/child.h"

enum { THREADS = 24, MUTEXES = 6, ROUNDS = 250, DEEP = 4 };

static catapults_mutex_t mutexes[MUTEXES];
static const void *owners[MUTEXES];       /* as the threads know it: to be compared with what the mutexes say */
static catapults_mutex_t *wants[THREADS]; /* that a thread waits for, for as long as it takes */
static int refused, timed_out, entered;
static catapults_t threads[THREADS];
static catapults_port_t port = CATAPULTS_PORT_INITIALIZER;

struct task {
    catapults_int priority;
    unsigned seed;
    int number;
    int64_t begun;
};
static struct task tasks[THREADS + 3];

static int any(struct task *task, int below) { return (int)(rand_r(&task->seed) % (unsigned)below); }

/* Whether the one who has `mutex` waits for another, and so on, until `self`. */
static bool is_ring(const catapults_mutex_t *mutex, const struct task *self) {
    for (int steps = 0; steps <= MUTEXES; steps++) {
        const struct task *owner = owners[mutex - mutexes];
        if (owner == self)
            return true;
        if (!owner || owner->number >= THREADS || !wants[owner->number])
            return false;
        mutex = wants[owner->number];
    }
    return false;
}

static void pause_at_random(struct task *self) {
    switch (any(self, 8)) {
    case 0:
        catapults_sleep(any(self, 20000));
        break;
    case 1:
        self->priority = any(self, 10);
        break;
    case 2: {
        struct catapults_message message = {0};
        require(catapults_port_call(&port, &message) == 0);
        break;
    }
    default:
        for (int turns = any(self, 4); turns; turns--)
            catapults_yield();
    }
}

/* Locks up to DEEP mutexes, each in the middle of having the one before. */
static void lock_some(struct task *self, int depth) {
    int i = any(self, MUTEXES);
    if (owners[i] == self)
        return;
    bool in_time = any(self, 5) == 0;
    int error;
    if (in_time) {
        error = catapults_mutex_lock_until(&mutexes[i], catapults_now() + any(self, 50000));
    } else {
        wants[self->number] = &mutexes[i];
        error = catapults_mutex_lock(&mutexes[i]);
        wants[self->number] = NULL;
    }
    if (error) {
        require(error == (in_time ? ETIMEDOUT : EDEADLK));
        if (error == EDEADLK)
            require(is_ring(&mutexes[i], self) && ++refused);
        else
            timed_out++;
        return;
    }
    require(owners[i] == NULL);
    owners[i] = self;
    entered++;
    if (any(self, 2))
        pause_at_random(self);
    if (depth < DEEP)
        lock_some(self, depth + 1);
    require(owners[i] == self);
    owners[i] = NULL;
    require(catapults_mutex_unlock(&mutexes[i]) == 0);
}

static void *lock_at_random(void *self_) {
    struct task *self = self_;
    for (int i = 0; i < ROUNDS; i++) {
        lock_some(self, 1);
        pause_at_random(self);
    }
    return self;
}

static void *serve(void *self_) {
    struct task *self = self_;
    struct catapults_message *message;
    while (catapults_port_receive(&port, &message) == 0) {
        if (any(self, 3) == 0)
            catapults_yield();
        require(catapults_port_reply(message) == 0);
    }
    return self;
}

/* ---- Some of them are scheduled by a thread ---------------------------------------------------------------------- */

enum { CLIENTS = THREADS / 6 };
static catapults_port_t client_port = CATAPULTS_PORT_INITIALIZER;

static void forget(catapults_t *ready, int *count, catapults_t thread) {
    for (int i = 0; i < *count; i++)
        if (ready[i] == thread)
            memmove(ready + i, ready + i + 1, (size_t)(--*count - i) * sizeof *ready);
}

static void *schedule_clients(void *self_) {
    struct task *self = self_;
    catapults_t ready[CLIENTS], current = NULL;
    int count = 0, exits = 0;
    struct catapults_message *message;
    while (exits < CLIENTS) {
        if (!current && count)
            forget(ready, &count, current = ready[any(self, count)]);
        if (current) {
            bool alone = count == 0;
            int error = catapults_schedule(
                current, &client_port, alone ? (enum catapults_sensitivity)any(self, 3) : CATAPULTS_WAKEUP_ON_BLOCK);
            require(error == 0);
        }
        /* What came may have been taken back since, by a client that is ready again. */
        for (bool waits = !current;
             (waits ? catapults_port_receive : catapults_port_tryreceive)(&client_port, &message) == 0; waits = false) {
            bool is_current = message->sender == current;
            switch (message->kind) {
            case CATAPULTS_NOTICE_READY:
                require(!is_current);
                ready[count++] = message->sender;
                break;
            case CATAPULTS_NOTICE_YIELDED:
                require(is_current);
                ready[count++] = current;
                current = NULL;
                break;
            case CATAPULTS_NOTICE_EXITED:
                exits++;
                /* fall through */
            default:
                forget(ready, &count, message->sender);
                if (is_current)
                    current = NULL;
            }
        }
    }
    return self;
}

static bool stop_suspending;
static void *suspend_at_random(void *self_) {
    struct task *self = self_;
    while (!stop_suspending) {
        catapults_t victim = threads[any(self, THREADS)];
        int error = catapults_suspend(victim);
        require(error == 0 || error == ESRCH);
        catapults_sleep(any(self, 10000));
        catapults_resume(victim);
        catapults_sleep(any(self, 30000));
    }
    return self;
}

static void run(const char *policy, bool under_schedulers) {
    require(catapults_init(&(struct catapults_options){.policy = policy}) == 0);
    alarm(HANGS);
    catapults_threadvar_register("priority", struct task, priority);
    catapults_scheduler_t schedulers[3] = {catapults_scheduler_root()};
    if (under_schedulers) {
        require(catapults_scheduler_add(&schedulers[1], &(struct catapults_scheduler_attributes){
                                                            .name = "a", .policy = POLICIES "/urgency.so"}) == 0);
        require(catapults_scheduler_add(&schedulers[2], &(struct catapults_scheduler_attributes){
                                                            .name = "b", .parent = schedulers[1]}) == 0);
    }
    for (int i = 0; i < MUTEXES; i++) {
        struct catapults_mutex_attributes attributes = {.protocol = i < 4 ? CATAPULTS_PROTOCOL_INHERIT
                                                                          : CATAPULTS_PROTOCOL_NONE};
        require(catapults_mutex_init(&mutexes[i], &attributes) == 0);
    }
    for (int i = 0; i < THREADS + 3; i++)
        tasks[i] = (struct task){.priority = i % 5 + 1, .seed = (unsigned)i + 1, .number = i};
    catapults_t server, suspender, scheduler;
    struct catapults_attributes attributes = {.object = &tasks[THREADS]};
    require(catapults_create(&server, &attributes, serve, &tasks[THREADS]) == 0);
    for (int i = 0; i < THREADS; i++) {
        attributes = (struct catapults_attributes){.object = &tasks[i],
                                                   .scheduler = under_schedulers ? schedulers[i % 3] : NULL,
                                                   .scheduled_by = i % 6 == 5 ? &client_port : NULL};
        require(catapults_create(&threads[i], &attributes, lock_at_random, &tasks[i]) == 0);
    }
    attributes = (struct catapults_attributes){.object = &tasks[THREADS + 2]};
    require(catapults_create(&scheduler, &attributes, schedule_clients, &tasks[THREADS + 2]) == 0);
    attributes = (struct catapults_attributes){.object = &tasks[THREADS + 1]};
    require(catapults_create(&suspender, &attributes, suspend_at_random, &tasks[THREADS + 1]) == 0);
    while (entered < THREADS * ROUNDS)
        catapults_sleep(1000000);
    stop_suspending = true;
    require(catapults_join(suspender, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        require(i % 2 ? catapults_join(threads[i], NULL) == 0 : catapults_join_donating(threads[i], NULL) == 0);
    require(catapults_join(scheduler, NULL) == 0 && catapults_port_destroy(&client_port) == 0);
    catapults_port_close(&port);
    require(catapults_join(server, NULL) == 0);
    for (int i = 0; i < MUTEXES; i++)
        require(mutexes[i].state == 0 && mutexes[i].waiters.first == NULL);
    require(refused > 0 && timed_out > 0);
    require(!policy ||
            strcmp(catapults_policy_name(), "fifo (built-in)") != 0); /* no event came that it did not expect */
}

static void under_the_built_in_fifo(void) { run(NULL, false); }
static void under_priorities(void) { run(POLICIES "/urgency.so", false); }
static void under_impatience(void) { run(POLICIES "/eager.so", false); }
static void under_a_sorted_policy(void) { run(POLICIES "/bytes.so", false); }
static void under_three_schedulers(void) { run(NULL, true); }
static void under_three_schedulers_with_priorities(void) { run(POLICIES "/urgency.so", true); }

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(under_the_built_in_fifo), child_test(under_priorities),
        child_test(under_impatience),        child_test(under_a_sorted_policy),
        child_test(under_three_schedulers),  child_test(under_three_schedulers_with_priorities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
