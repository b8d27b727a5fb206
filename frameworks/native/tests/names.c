/*
 * What names a thread names no other, however many threads come after it: a lock that a thread has left behind at its
 * end is nobody's.
 */
#include <errno.h>

#include "core/thread_record.h"
#include "dispatcher/dispatcher.h"
#include "support/program.h"
#include "threads/handle.h"

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static catapults_rwlock_t rwlock = CATAPULTS_RWLOCK_INITIALIZER;

static void *keep_both(void *argument) {
    require(catapults_mutex_lock(&mutex) == 0);
    require(catapults_rwlock_wrlock(&rwlock) == 0);
    return argument;
}

static void *unlock_in_vain(void *argument) {
    require(catapults_mutex_unlock(&mutex) == EPERM);
    require(catapults_mutex_trylock(&mutex) == EBUSY);
    require(catapults_rwlock_unlock(&rwlock) == EPERM);
    require(catapults_rwlock_trywrlock(&rwlock) == EBUSY);
    return argument;
}

/* A name had 16 bits for that once. */
static void locks_of_the_dead_are_nobodys(void) {
    enum { LATER = 70000 };
    begin_fifo();
    join(spawn(keep_both, NULL));
    for (int i = 0; i < LATER; i++)
        join(spawn(unlock_in_vain, NULL));
}

static void *rest(void *argument) {
    catapults_yield();
    return argument;
}

/* As if all generations but one had been used: the next thread on that stack has another place. */
static void places_are_given_up(void) {
    begin_fifo();
    catapults_t thread = spawn(rest, NULL);
    struct stack *stack = thread->member.stack;
    uintptr_t place = name_place(thread->member.word);
    join(thread);
    stack->name = -2 * NAME_NEXT | place << NAME_SHIFT | NAME_IN_TABLE;
    thread = spawn(keep_both, NULL);
    uintptr_t last = thread->member.word;
    require(thread->member.stack == stack);
    require(last == (-NAME_NEXT | place << NAME_SHIFT | NAME_IN_TABLE));
    join(thread);
    require(mutex.state == last);
    for (int i = 0; i < 3; i++) {
        thread = spawn(unlock_in_vain, NULL);
        require(thread->member.stack == stack);
        require(name_place(thread->member.word) != place);
        require(member_is_named(thread->member.word) && !member_is_named(last));
        join(thread);
    }
}

static int compare(const void *a, const void *b) {
    uintptr_t left = *(const uintptr_t *)a, right = *(const uintptr_t *)b;
    return left < right ? -1 : left > right;
}

/* Also those on stacks whose pages went back to the kernel in between. */
static void no_name_comes_again(void) {
    enum { AT_ONCE = 300, ROUNDS = 5, LARGE = 1 << 20 }; /* few large ones are enough for the kernel to get pages */
    static uintptr_t names[AT_ONCE * ROUNDS];
    static catapults_t threads[AT_ONCE];
    require(catapults_init(&(struct catapults_options){.stack_size = LARGE}) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < AT_ONCE; i++) {
            threads[i] = spawn(rest, NULL);
            names[round * AT_ONCE + i] = threads[i]->member.word;
        }
        for (int i = 0; i < AT_ONCE; i++)
            join(threads[i]);
        require(stack_excess);
        while (stack_cool())
            ;
    }
    qsort(names, AT_ONCE * ROUNDS, sizeof *names, compare);
    for (int i = 1; i < AT_ONCE * ROUNDS; i++)
        require(names[i] != names[i - 1] && (names[i] & NAME_IN_TABLE) && !(names[i] & NAME_OWN));
}

static void *end_at_once(void *argument) { return argument; }

static void *call(void *port) {
    struct catapults_message message = {0};
    require(catapults_port_call(port, &message) == 0);
    return NULL;
}

/* A port's server that has ended is lent to no more, nor who lies in its place. */
static void servers_that_have_ended(void) {
    begin_fifo();
    catapults_port_t port = CATAPULTS_PORT_INITIALIZER;
    catapults_t server = spawn(end_at_once, NULL);
    catapults_port_set_server(&port, server);
    join(server);
    catapults_t caller = spawn(call, &port), other = spawn(rest, NULL);
    while (catapults_port_count(&port) == 0)
        catapults_yield();
    struct catapults_message *message;
    require(catapults_port_receive(&port, &message) == 0);
    require(catapults_port_reply(message) == 0);
    join(caller);
    join(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(locks_of_the_dead_are_nobodys),
        child_test(places_are_given_up),
        child_test(no_name_comes_again),
        child_test(servers_that_have_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
