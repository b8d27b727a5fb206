/*
 * Who is served, by whatever it has waited for, does not touch that any more: the one that has served it may free the
 * memory at once. So each lies on a page of its own, which is taken away as soon as nobody may need it.
 */
#include <errno.h>
#include <sys/mman.h>

#include "support/program.h"

enum { WAITERS = 3 };

static void *object; /* on a page of its own */
static int served;

static void *place(void) {
    object = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(object != MAP_FAILED);
    return object;
}

static void take_away(void) { require(munmap(object, (size_t)sysconf(_SC_PAGESIZE)) == 0); }

static void begin_waiting(void *(*wait)(void *), catapults_t *threads) {
    for (int i = 0; i < WAITERS; i++)
        threads[i] = spawn(wait, NULL);
    catapults_yield(); /* under the built-in policy all of them wait now */
}

static void end_waiting(const catapults_t *threads) {
    require(served == 0);
    for (int i = 0; i < WAITERS; i++)
        join(threads[i]);
    require(served == WAITERS);
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

static catapults_mutex_t lock = CATAPULTS_MUTEX_INITIALIZER;

static void *wait_for_condition(void *argument) {
    require(catapults_mutex_lock(&lock) == 0);
    require(catapults_cond_wait(object, &lock) == 0);
    served++;
    require(catapults_mutex_unlock(&lock) == 0);
    return argument;
}

/* As POSIX has it: it may be destroyed as soon as all have been woken. */
static void a_condition(void) {
    begin_fifo();
    catapults_cond_t *cond = place();
    catapults_cond_init(cond);
    catapults_t threads[WAITERS];
    begin_waiting(wait_for_condition, threads);
    catapults_cond_set_owner(cond, catapults_self()); /* which they lend their turns to */
    require(catapults_cond_destroy(cond) == EBUSY);
    require(catapults_cond_broadcast(cond) == 0);
    require(catapults_cond_destroy(cond) == 0);
    take_away();
    end_waiting(threads);
}

/* ---- Barriers ---------------------------------------------------------------------------------------------------- */

static void *wait_at_barrier(void *argument) {
    require(catapults_barrier_wait(object) == 0);
    served++;
    return argument;
}

static void a_barrier(void) {
    begin_fifo();
    catapults_barrier_t *barrier = place();
    require(catapults_barrier_init(barrier, WAITERS + 1) == 0);
    catapults_t threads[WAITERS];
    begin_waiting(wait_at_barrier, threads);
    require(catapults_barrier_destroy(barrier) == EBUSY);
    require(catapults_barrier_wait(barrier) == CATAPULTS_BARRIER_SERIAL_THREAD);
    require(catapults_barrier_destroy(barrier) == 0);
    take_away();
    end_waiting(threads);
}

/* ---- Semaphores -------------------------------------------------------------------------------------------------- */

static void *wait_for_semaphore(void *argument) {
    require(catapults_sem_wait(object) == 0);
    served++;
    return argument;
}

static void a_semaphore(void) {
    begin_fifo();
    catapults_sem_t *semaphore = place();
    require(catapults_sem_init(semaphore, 0) == 0);
    catapults_t threads[WAITERS];
    begin_waiting(wait_for_semaphore, threads);
    require(catapults_sem_destroy(semaphore) == EBUSY);
    for (int i = 0; i < WAITERS; i++)
        require(catapults_sem_post(semaphore) == 0);
    require(catapults_sem_destroy(semaphore) == 0);
    take_away();
    end_waiting(threads);
}

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

static struct catapults_message messages[WAITERS];

static void *receive_one(void *argument) {
    struct catapults_message *message;
    require(catapults_port_receive(object, &message) == 0 && message == &messages[served]);
    served++;
    return argument;
}

static void a_port_of_receivers(void) {
    begin_fifo();
    catapults_port_t *port = place();
    catapults_port_init(port, "port", 0);
    catapults_t threads[WAITERS];
    begin_waiting(receive_one, threads);
    require(catapults_port_destroy(port) == EBUSY);
    for (int i = 0; i < WAITERS; i++)
        require(catapults_port_send(port, &messages[i]) == 0);
    require(catapults_port_destroy(port) == 0);
    take_away();
    end_waiting(threads);
}

static void *send_one(void *argument) {
    static int next;
    require(catapults_port_send(object, &messages[next++]) == 0);
    served++;
    return argument;
}

static void a_port_of_senders(void) {
    begin_fifo();
    catapults_port_t *port = place();
    catapults_port_init(port, "port", 1);
    struct catapults_message first = {0}, *message;
    require(catapults_port_send(port, &first) == 0);
    catapults_t threads[WAITERS];
    begin_waiting(send_one, threads);
    require(catapults_port_destroy(port) == EBUSY);
    for (int i = 0; i <= WAITERS; i++)
        require(catapults_port_receive(port, &message) == 0);
    require(catapults_port_destroy(port) == 0);
    take_away();
    end_waiting(threads);
}

/* Who asks has its message and the port on the page; the reply is the last that the server does with either. */
static void *ask(void *argument) {
    struct {
        catapults_port_t port;
        struct catapults_message message;
    } *own = object;
    require(catapults_port_call(&own->port, &own->message) == 0);
    require(catapults_port_destroy(&own->port) == 0);
    take_away();
    served++;
    return argument;
}

static void a_message(void) {
    begin_fifo();
    catapults_port_t *port = place();
    catapults_port_init(port, "port", 0);
    catapults_t thread = spawn(ask, NULL);
    struct catapults_message *message;
    require(catapults_port_receive(port, &message) == 0);
    require(catapults_port_reply(message) == 0);
    join(thread);
    require(served == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(a_condition),         child_test(a_barrier),         child_test(a_semaphore),
        child_test(a_port_of_receivers), child_test(a_port_of_senders), child_test(a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
