/*
 * Whoever lets go of a lock, a message or whatever else threads meet at, does not touch it afterwards: another
 * processor may have taken it, given it back, destroyed it, and freed its memory. So each lies on a page of its own,
 * and every instruction of the call traps (the trap flag of x86-64): as soon as another processor could have it, the
 * page is taken away, and what touches it then ends the program.
 *
 * With several processors that is when the lock of the dispatcher has been let go; a mutex that nobody waits for is
 * taken without it as soon as its state says so.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "contexts/tools.h"
#include "dispatcher/processor_here.h"
#include "support/program.h"
#include "threads/mutex.h"

static struct object {
    catapults_mutex_t mutex;
    catapults_rwlock_t rwlock;
    catapults_sem_t semaphore;
    catapults_cond_t cond;
    catapults_barrier_t barrier;
    catapults_once_t once;
    catapults_port_t port;
    struct catapults_message message;
} *object; /* on pages of its own */

/* Of what is stepped through. */
static volatile bool walks, gone, away, taken;
static const struct dispatcher_thread *walker;
static volatile uintptr_t state; /* of the mutex, when the call began or since it changed */
static bool waits;               /* others run meanwhile: only the mutex tells */

static size_t size(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (sizeof *object + page - 1) / page * page;
}

/* Another processor can have it from the next instruction on. */
static TOOLS_UNSEEN bool is_let_go(void) {
    uintptr_t now = *(volatile uintptr_t *)&object->mutex.state, before = state;
    state = now;
    if (waits)
        return now != before && !(now & MUTEX_MORE);
    if (now != before && now == 0)
        return true;
    if (!processor_here()->inside)
        return taken;
    taken = true;
    return false;
}

static TOOLS_UNSEEN void take_away(bool from_all) {
    if (away == from_all)
        return;
    away = from_all;
    if (mprotect(object, size(), from_all ? PROT_NONE : PROT_READ | PROT_WRITE) != 0)
        _exit(CHILD_REQUIRE_FAILED);
}

static TOOLS_UNSEEN void trapped(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info, (void)context;
    if (!walks)
        return;
    bool others = processor_here()->current != walker;
    gone = gone || (others ? !waits : is_let_go());
    take_away(gone && !others);
}

static inline void walk(void) {
    walker = processor_here()->current;
    taken = gone = false;
    state = object->mutex.state;
    walks = true;
    __asm__ volatile("subq $128, %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\taddq $128, %%rsp" ::
                         : "cc", "memory");
}

static inline void walk_freely(void) {
    __asm__ volatile("subq $128, %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\taddq $128, %%rsp" ::
                         : "cc", "memory");
    walks = false;
    require(gone);
    take_away(false);
}

/* The call, which must succeed, and is to let go of the object. */
#define step_through(call)                                                                                             \
    do {                                                                                                               \
        walk();                                                                                                        \
        int result_ = (call);                                                                                          \
        walk_freely();                                                                                                 \
        require(result_ == 0);                                                                                         \
    } while (0)

static catapults_t spawn_on(uint64_t processors, void *(*start)(void *)) {
    catapults_t thread;
    require(catapults_create(&thread, &(struct catapults_attributes){.processors = processors}, start, NULL) == 0);
    return thread;
}

/* Threads stay on the processor of who made them: nobody is served before that waits. */
static catapults_t spawn_here(void *(*start)(void *)) { return spawn_on(1, start); }

static void begin(void) {
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    require(sigaction(SIGTRAP, &action, NULL) == 0);
    require(catapults_init(&(struct catapults_options){.processors = 2, .cooperative = true}) == 0);
    require(catapults_setaffinity(catapults_self(), 1) == 0);
    object = mmap(NULL, size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(object != MAP_FAILED);
}

static catapults_t let_wait(void *(*wait)(void *)) {
    catapults_t thread = spawn_here(wait);
    while (!((const struct catapults_handle *)thread)->waiting)
        catapults_yield();
    return thread;
}

/* ---- Mutexes ----------------------------------------------------------------------------------------------------- */

static void begin_mutex(const struct catapults_mutex_attributes *attributes) {
    begin();
    require(catapults_mutex_init(&object->mutex, attributes) == 0);
    require(catapults_mutex_lock(&object->mutex) == 0);
}

static void a_mutex(void) {
    begin_mutex(NULL);
    step_through(catapults_mutex_unlock(&object->mutex));
}

static void *try_in_vain(void *argument) {
    require(catapults_mutex_trylock(&object->mutex) == EBUSY);
    return argument;
}

/* It takes the long way, though nobody waits. */
static void a_mutex_that_was_tried(void) {
    begin_mutex(NULL);
    join(spawn_here(try_in_vain));
    require(object->mutex.state & MUTEX_MORE);
    step_through(catapults_mutex_unlock(&object->mutex));
}

static void a_recursive_mutex(void) {
    begin_mutex(&(struct catapults_mutex_attributes){.type = CATAPULTS_MUTEX_RECURSIVE});
    require(catapults_mutex_lock(&object->mutex) == 0);
    require(catapults_mutex_unlock(&object->mutex) == 0);
    step_through(catapults_mutex_unlock(&object->mutex));
}

static void a_robust_mutex(void) {
    begin_mutex(&(struct catapults_mutex_attributes){.robust = true});
    step_through(catapults_mutex_unlock(&object->mutex));
}

static void *lock_and_unlock(void *argument) {
    require(catapults_mutex_lock(&object->mutex) == 0);
    require(catapults_mutex_unlock(&object->mutex) == 0);
    return argument;
}

static void a_mutex_that_is_waited_for(void) {
    begin_mutex(NULL);
    catapults_t thread = let_wait(lock_and_unlock);
    step_through(catapults_mutex_unlock(&object->mutex));
    join(thread);
}

static volatile bool enough;

static void *have_it(void *argument) {
    require(catapults_mutex_lock(&object->mutex) == 0);
    while (!enough)
        catapults_yield();
    require(catapults_mutex_unlock(&object->mutex) == 0);
    return argument;
}

/* Who waits no longer, and was the last, leaves a mutex to its owner that is unlocked the short way. */
static void a_mutex_that_is_waited_for_no_longer(void) {
    begin_mutex(NULL);
    require(catapults_mutex_unlock(&object->mutex) == 0);
    catapults_t owner = spawn_here(have_it);
    while (!mutex_owner(&object->mutex))
        catapults_yield();
    waits = true;
    walk();
    int result = catapults_mutex_lock_until(&object->mutex, catapults_now());
    walk_freely();
    require(result == ETIMEDOUT);
    enough = true;
    join(owner);
}

static void *wait_for_the_condition(void *argument) {
    require(catapults_mutex_lock(&object->mutex) == 0);
    require(catapults_cond_wait(&object->cond, &object->mutex) == 0);
    require(catapults_mutex_unlock(&object->mutex) == 0);
    return argument;
}

/* ---- The others -------------------------------------------------------------------------------------------------- */

static void a_condition(void) {
    begin();
    catapults_t thread = let_wait(wait_for_the_condition);
    step_through(catapults_cond_signal(&object->cond));
    join(thread);
    thread = let_wait(wait_for_the_condition);
    step_through(catapults_cond_broadcast(&object->cond));
    join(thread);
}

static void *read_it(void *argument) {
    require(catapults_rwlock_rdlock(&object->rwlock) == 0);
    require(catapults_rwlock_unlock(&object->rwlock) == 0);
    return argument;
}

static void *write_it(void *argument) {
    require(catapults_rwlock_wrlock(&object->rwlock) == 0);
    require(catapults_rwlock_unlock(&object->rwlock) == 0);
    return argument;
}

static volatile int busy; /* as a bool, GCC reads it once under UndefinedBehaviorSanitizer */

static void *keep_busy(void *argument) {
    for (busy = true; busy;)
        continue;
    return argument;
}

/* In the last step the reader goes on waiting, now for the writer. A processor that decides may look whom the lock
 * belongs to then. So the other one is kept from deciding. */
static void a_read_write_lock(void) {
    void *(*const waits[])(void *) = {NULL, read_it, write_it};
    begin();
    for (int i = 0; i < 3; i++) {
        require(catapults_rwlock_wrlock(&object->rwlock) == 0);
        catapults_t thread = i > 0 ? let_wait(waits[i]) : NULL;
        step_through(catapults_rwlock_unlock(&object->rwlock));
        if (thread)
            join(thread);
    }
    require(catapults_rwlock_rdlock(&object->rwlock) == 0);
    catapults_t writer = let_wait(write_it), reader = let_wait(read_it), other = spawn_on(2, keep_busy);
    while (!busy)
        catapults_yield();
    step_through(catapults_rwlock_unlock(&object->rwlock));
    busy = false;
    join(other);
    join(writer);
    join(reader);
}

static void *wait_for_the_semaphore(void *argument) {
    require(catapults_sem_wait(&object->semaphore) == 0);
    return argument;
}

static void a_semaphore(void) {
    begin();
    step_through(catapults_sem_post(&object->semaphore));
    require(catapults_sem_wait(&object->semaphore) == 0);
    catapults_t thread = let_wait(wait_for_the_semaphore);
    step_through(catapults_sem_post(&object->semaphore));
    join(thread);
}

static void *wait_at_the_barrier(void *argument) {
    require(catapults_barrier_wait(&object->barrier) == 0);
    return argument;
}

static void a_barrier(void) {
    begin();
    require(catapults_barrier_init(&object->barrier, 2) == 0);
    catapults_t thread = let_wait(wait_at_the_barrier);
    walk();
    int result = catapults_barrier_wait(&object->barrier);
    walk_freely();
    require(result == CATAPULTS_BARRIER_SERIAL_THREAD);
    join(thread);
}

/* Nobody else waits for it. */
static void walk_on(void) { walk(); }

static void a_thing_done_once(void) {
    begin();
    require(catapults_once(&object->once, walk_on) == 0);
    walk_freely();
}

static void *receive(void *argument) {
    struct catapults_message *message;
    require(catapults_port_receive(&object->port, &message) == 0 && message == &object->message);
    return argument;
}

static void a_port(void) {
    begin();
    catapults_port_init(&object->port, "port", 0);
    step_through(catapults_port_send(&object->port, &object->message));
    receive(NULL);
    catapults_t thread = let_wait(receive);
    step_through(catapults_port_send(&object->port, &object->message));
    join(thread);
}

static void *ask(void *argument) {
    require(catapults_port_call(&object->port, &object->message) == 0);
    return argument;
}

static void a_reply(void) {
    begin();
    catapults_port_init(&object->port, "port", 0);
    catapults_t thread = spawn_here(ask);
    struct catapults_message *message;
    require(catapults_port_receive(&object->port, &message) == 0);
    step_through(catapults_port_reply(message));
    join(thread);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(a_mutex),
        child_test(a_mutex_that_was_tried),
        child_test(a_recursive_mutex),
        child_test(a_robust_mutex),
        child_test(a_mutex_that_is_waited_for),
        child_test(a_mutex_that_is_waited_for_no_longer),
        child_test(a_condition),
        child_test(a_read_write_lock),
        child_test(a_semaphore),
        child_test(a_barrier),
        child_test(a_thing_done_once),
        child_test(a_port),
        child_test(a_reply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
