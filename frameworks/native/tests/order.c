/*
 * Who waits first is served first: threads begin to wait one after the other, and others that come later try to get in
 * between. A mutex may be taken once by such a thread before all that wait; everything else goes straight to the first.
 */
#include "dispatcher/dispatcher.h"
#include "support/program.h"

#ifndef PROCESSORS
#define PROCESSORS 1
#endif
#ifndef ACTIVATED
#define ACTIVATED false
#endif

enum { WAITERS = 30, LATER = 2, LATECOMER = -1 };

static catapults_mutex_t mutex;
static catapults_mutex_t served_mutex = CATAPULTS_MUTEX_INITIALIZER;
static catapults_rwlock_t rwlock = CATAPULTS_RWLOCK_INITIALIZER;
static catapults_sem_t semaphore = CATAPULTS_SEM_INITIALIZER(0);
static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER, served_cond = CATAPULTS_COND_INITIALIZER;
static catapults_port_t port = CATAPULTS_PORT_INITIALIZER;

/* Who has been served, in order; as often as there is room. */
static int log_[1000], logged, waiters_served;

static void note(int number) {
    require(catapults_mutex_lock(&served_mutex) == 0);
    if (logged < (int)(sizeof log_ / sizeof *log_))
        log_[logged++] = number;
    waiters_served += number != LATECOMER;
    require(catapults_cond_broadcast(&served_cond) == 0 && catapults_mutex_unlock(&served_mutex) == 0);
}

static bool are_all_served(void) {
    require(catapults_mutex_lock(&served_mutex) == 0);
    bool all = waiters_served == WAITERS;
    require(catapults_mutex_unlock(&served_mutex) == 0);
    return all;
}

static void await_served(int count) {
    require(catapults_mutex_lock(&served_mutex) == 0);
    while (waiters_served < count)
        require(catapults_cond_wait(&served_cond, &served_mutex) == 0);
    require(catapults_mutex_unlock(&served_mutex) == 0);
}

/* ---- The threads ------------------------------------------------------------------------------------------------- */

struct task {
    catapults_int priority;
    int number;
    struct catapults_message message;
};
static struct task tasks[WAITERS + LATER], first = {.priority = 50};
static catapults_t threads[WAITERS + LATER];

/* How `urgency` ranks the threads: as they come, the other way round, or all alike. */
enum rank { AS_THEY_COME, THE_OTHER_WAY_ROUND, ALIKE };

static const struct {
    const char *policy;
    enum rank rank;
} under[] = {{NULL, ALIKE},
             {POLICIES "/eager.so", ALIKE},
             {POLICIES "/urgency.so", AS_THEY_COME},
             {POLICIES "/urgency.so", THE_OTHER_WAY_ROUND},
             {POLICIES "/urgency.so", ALIKE}};
enum { UNDER = sizeof under / sizeof *under };

static void begin(const char *policy) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){
                .policy = policy, .processors = PROCESSORS, .activations = ACTIVATED}) == 0);
    catapults_threadvar_register("priority", struct task, priority);
    catapults_set_object(catapults_self(), &first);
}

static void start(int i, int number, void *(*run)(void *), enum rank rank) {
    int rise = rank == AS_THEY_COME ? -1 : rank == THE_OTHER_WAY_ROUND ? 1 : 0;
    tasks[i] = (struct task){.priority = 50 + rise * i, .number = number};
    require(catapults_create(&threads[i], &(struct catapults_attributes){.object = &tasks[i]}, run, &tasks[i]) == 0);
}

/* The thread is the last of those who wait. */
static void await_in(const struct catapults_waiters *waiters, catapults_t thread) {
    for (bool waits = false; !waits;) {
        catapults_preemption_hold(); /* the lock of the dispatcher is held by a test here */
        dispatcher_enter();
        waits = waiters->last == thread;
        dispatcher_leave();
        catapults_preemption_release();
        if (!waits)
            catapults_sleep(1000); /* whoever is less urgent is to come, too */
    }
}

static void begin_to_wait(const struct catapults_waiters *waiters, void *(*run)(void *), enum rank rank) {
    for (int i = 0; i < WAITERS; i++) {
        start(i, i, run, rank);
        await_in(waiters, threads[i]);
    }
}

static void begin_to_come_later(void *(*run)(void *), enum rank rank) {
    for (int i = WAITERS; i < WAITERS + LATER; i++)
        start(i, LATECOMER, run, rank);
}

static void finish(void) {
    for (int i = 0; i < WAITERS + LATER; i++)
        require(catapults_join(threads[i], NULL) == 0);
}

/* The waiters in their order, and before the last of them at most `most` others. */
static void require_order(int most) {
    int next = 0, others = 0;
    for (int i = 0; i < logged && next < WAITERS; i++) {
        others += log_[i] == LATECOMER;
        require(log_[i] == LATECOMER || log_[i] == next);
        next += log_[i] != LATECOMER;
    }
    require(next == WAITERS && others <= most);
}

/* ---- Mutexes ----------------------------------------------------------------------------------------------------- */

static void *lock_once(void *task) {
    require(catapults_mutex_lock(&mutex) == 0);
    note(((struct task *)task)->number);
    catapults_yield();
    require(catapults_mutex_unlock(&mutex) == 0);
    return NULL;
}

/* Never waits while it does not have it. */
static void *lock_often(void *task) {
    while (!are_all_served()) {
        require(catapults_mutex_lock(&mutex) == 0);
        note(((struct task *)task)->number);
        require(catapults_mutex_unlock(&mutex) == 0);
    }
    return NULL;
}

static void *try_often(void *task) {
    while (!are_all_served()) {
        if (catapults_mutex_trylock(&mutex) == 0) {
            note(((struct task *)task)->number);
            require(catapults_mutex_unlock(&mutex) == 0);
        }
        catapults_sleep(1000);
    }
    return NULL;
}

static struct {
    struct catapults_mutex_attributes attributes;
    const char *policy;
    enum rank rank;
    bool sleeps; /* who has it sleeps before it unlocks, and unlocks on the turn of a waiter, if those lend it theirs */
    void *(*later)(void *);
} how;

static void a_mutex(void) {
    begin(how.policy);
    require(catapults_mutex_init(&mutex, &how.attributes) == 0);
    require(catapults_mutex_lock(&mutex) == 0);
    begin_to_wait(&mutex.waiters, lock_once, how.rank);
    if (how.sleeps)
        catapults_sleep(1000000);
    begin_to_come_later(how.later, how.rank);
    require(logged == 0);
    require(catapults_mutex_unlock(&mutex) == 0);
    finish();
    require_order(1);
    require(catapults_mutex_destroy(&mutex) == 0);
}

static void mutexes(void **state) {
    (void)state;
    static void *(*const later[])(void *) = {lock_often, try_often};
    for (unsigned i = 0; i < UNDER * 2 * 2 * 3; i++) {
        unsigned kind = i / UNDER / 4;
        how.policy = under[i % UNDER].policy;
        how.rank = under[i % UNDER].rank;
        how.sleeps = i / UNDER % 2;
        how.later = later[i / UNDER / 2 % 2];
        how.attributes = (struct catapults_mutex_attributes){
            .protocol = kind == 1 ? CATAPULTS_PROTOCOL_NONE : CATAPULTS_PROTOCOL_INHERIT, .robust = kind == 2};
        struct child child = run_child(a_mutex);
        if (child.status != 0)
            fail_msg("mutex %u: status %x, report: %s", i, child.status, child.report);
    }
}

/* Some threads wait, and others are on their way, when it is given back. */
static int waiting = 1; /* when it is given back */

static void a_mutex_of_some(void) {
    begin(how.policy);
    require(catapults_mutex_lock(&mutex) == 0);
    for (int i = 0; i < waiting; i++) {
        start(i, i, lock_once, how.rank);
        await_in(&mutex.waiters, threads[i]);
    }
    for (int i = waiting; i < WAITERS + LATER; i++)
        start(i, i, lock_once, how.rank);
    if (how.sleeps)
        catapults_sleep(1000);
    require(catapults_mutex_unlock(&mutex) == 0);
    finish();
    int next = 0, others = 0;
    for (int i = 0; i < logged && next < waiting; i++) {
        others += log_[i] >= waiting;
        require(log_[i] >= waiting || log_[i] == next);
        next += log_[i] < waiting;
    }
    require(next == waiting && others <= 1);
}

static void mutexes_that_many_come_to(void **state) {
    (void)state;
    for (unsigned i = 0; i < UNDER * 2 * 4; i++) {
        how.policy = under[i % UNDER].policy;
        how.rank = under[i % UNDER].rank;
        how.sleeps = i / UNDER % 2;
        waiting = 1 + (int)(i / UNDER / 2) * 8;
        struct child child = run_child(a_mutex_of_some);
        if (child.status != 0)
            fail_msg("mutex %u: status %x, report: %s", i, child.status, child.report);
    }
}

/* ---- What is handed over ----------------------------------------------------------------------------------------- */

static void *write_once(void *task) {
    require(catapults_rwlock_wrlock(&rwlock) == 0);
    note(((struct task *)task)->number);
    catapults_yield();
    require(catapults_rwlock_unlock(&rwlock) == 0);
    return NULL;
}

static void *write_often(void *task) {
    while (!are_all_served()) {
        require(catapults_rwlock_wrlock(&rwlock) == 0);
        note(((struct task *)task)->number);
        require(catapults_rwlock_unlock(&rwlock) == 0);
    }
    return NULL;
}

/* Those that read come in between, once for each that writes. */
static void *read_often(void *unused) {
    while (!are_all_served()) {
        require(catapults_rwlock_rdlock(&rwlock) == 0);
        catapults_yield();
        require(catapults_rwlock_unlock(&rwlock) == 0);
    }
    return unused;
}

static void writers(void *(*later)(void *), bool reads) {
    begin(how.policy);
    require((reads ? catapults_rwlock_rdlock(&rwlock) : catapults_rwlock_wrlock(&rwlock)) == 0);
    begin_to_wait(&rwlock.waiting_writers, write_once, how.rank);
    begin_to_come_later(later, how.rank);
    require(catapults_rwlock_unlock(&rwlock) == 0);
    finish();
    require_order(0);
}

static void who_wrote_leaves_to_writers(void) { writers(write_often, false); }
static void who_read_leaves_to_writers(void) { writers(write_often, true); }
static void writers_among_readers(void) { writers(read_often, true); }

static void *wait_once(void *task) {
    require(catapults_sem_wait(&semaphore) == 0);
    note(((struct task *)task)->number);
    catapults_yield();
    require(catapults_sem_post(&semaphore) == 0);
    return NULL;
}

static void *wait_often(void *task) {
    while (!are_all_served()) {
        require(catapults_sem_wait(&semaphore) == 0);
        note(((struct task *)task)->number);
        require(catapults_sem_post(&semaphore) == 0);
    }
    return NULL;
}

static void semaphores(void) {
    begin(how.policy);
    begin_to_wait(&semaphore.waiters, wait_once, how.rank);
    begin_to_come_later(wait_often, how.rank);
    require(catapults_sem_post(&semaphore) == 0);
    finish();
    require_order(0);
}

static bool over;

static void *await_signal(void *task) {
    require(catapults_mutex_lock(&mutex) == 0);
    require(catapults_cond_wait(&cond, &mutex) == 0);
    note(((struct task *)task)->number);
    require(catapults_mutex_unlock(&mutex) == 0);
    return NULL;
}

static void *await_signals(void *task) {
    require(catapults_mutex_lock(&mutex) == 0);
    while (!over) {
        require(catapults_cond_wait(&cond, &mutex) == 0);
        note(((struct task *)task)->number);
    }
    require(catapults_mutex_unlock(&mutex) == 0);
    return NULL;
}

static void conditions(void) {
    begin(how.policy);
    begin_to_wait(&cond.waiters, await_signal, how.rank);
    begin_to_come_later(await_signals, how.rank);
    for (int i = 1; i <= WAITERS; i++) {
        require(catapults_cond_signal(&cond) == 0);
        await_served(i);
    }
    require(catapults_mutex_lock(&mutex) == 0);
    over = true;
    require(catapults_cond_broadcast(&cond) == 0 && catapults_mutex_unlock(&mutex) == 0);
    finish();
    require_order(0);
}

/* What it is sent last ends it. */
static void *receive_once(void *task_) {
    struct task *task = task_;
    struct catapults_message *message;
    require(catapults_port_receive(&port, &message) == 0);
    require(task->number == LATECOMER || message->kind == task->number);
    note(task->number);
    return NULL;
}

static void receivers(void) {
    begin(how.policy);
    begin_to_wait(&port.receivers, receive_once, how.rank);
    begin_to_come_later(receive_once, how.rank);
    static struct catapults_message messages[WAITERS + LATER];
    for (int i = 0; i < WAITERS + LATER; i++) {
        messages[i].kind = i;
        require(catapults_port_send(&port, &messages[i]) == 0);
    }
    finish();
}

static void *send_once(void *task_) {
    struct task *task = task_;
    task->message.kind = task->number == LATECOMER ? WAITERS : task->number;
    require(catapults_port_send(&port, &task->message) == 0);
    return NULL;
}

static void senders(void) {
    begin(how.policy);
    port.capacity = 1;
    static struct catapults_message full;
    require(catapults_port_send(&port, &full) == 0);
    begin_to_wait(&port.senders, send_once, how.rank);
    begin_to_come_later(send_once, how.rank);
    struct catapults_message *message;
    require(catapults_port_receive(&port, &message) == 0 && message == &full);
    for (int i = 0; i < WAITERS + LATER; i++)
        require(catapults_port_receive(&port, &message) == 0 && message->kind == (i < WAITERS ? i : WAITERS));
    finish();
}

static void what_is_handed_over(void **state) {
    for (unsigned i = 0; i < UNDER; i++) {
        how.policy = under[i].policy;
        how.rank = under[i].rank;
        struct child child = run_child((void (*)(void))*state);
        if (child.status != 0)
            fail_msg("way %u: status %x, report: %s", i, child.status, child.report);
    }
}

#define handed_over(body) {#body, what_is_handed_over, NULL, NULL, (void *)(body)}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutexes),
        cmocka_unit_test(mutexes_that_many_come_to),
        handed_over(who_wrote_leaves_to_writers),
        handed_over(who_read_leaves_to_writers),
        handed_over(writers_among_readers),
        handed_over(semaphores),
        handed_over(conditions),
        handed_over(receivers),
        handed_over(senders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
