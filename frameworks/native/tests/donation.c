/*
 * Donation: who waits for a thread lends it its turns, for a mutex, a read-write lock, a condition, the answer to a
 * call, or its end.
 */
#include <errno.h>

#include "donation_test.h"

static catapults_mutex_t second = CATAPULTS_MUTEX_INITIALIZER;

/* ---- Mutexes ----------------------------------------------------------------------------------------------------- */

static void hold_while_others_come(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    spawn(9, "high ", urgent);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
    note("rest ");
}

static void inversion(enum catapults_mutex_protocol protocol) {
    begin(POLICIES "/urgency.so");
    set_protocol(&mutex, protocol);
    spawn(1, "low ", hold_while_others_come);
}

static void a_lock_is_inherited(void) {
    inversion(CATAPULTS_PROTOCOL_INHERIT);
    require_order("low high medium rest ");
}

static void or_not(void) {
    inversion(CATAPULTS_PROTOCOL_NONE);
    require_order("medium low high rest ");
}

/* ---- Read-write locks -------------------------------------------------------------------------------------------- */

static catapults_rwlock_t rwlock;
static bool writes;

static void take_rwlock_and_note(const char *name) {
    require((writes ? catapults_rwlock_wrlock : catapults_rwlock_rdlock)(&rwlock) == 0);
    note(name);
    require(catapults_rwlock_unlock(&rwlock) == 0);
}

static void urgent_at_rwlock(const char *name) {
    spawn(5, "medium ", note);
    take_rwlock_and_note(name);
}

static void write_while_others_come(const char *name) {
    require(catapults_rwlock_wrlock(&rwlock) == 0);
    spawn(9, "high ", urgent_at_rwlock);
    note(name);
    require(catapults_rwlock_unlock(&rwlock) == 0);
    note("rest ");
}

static void who_waits_to_read_lends_to_the_writer(void) {
    begin(POLICIES "/urgency.so");
    spawn(1, "low ", write_while_others_come);
    require_order("low high medium rest ");
}

static void who_waits_to_write_lends_to_the_writer(void) {
    writes = true;
    who_waits_to_read_lends_to_the_writer();
}

static void write_and_note(const char *name) {
    require(catapults_rwlock_wrlock(&rwlock) == 0);
    note(name);
    spawn(5, "medium ", note);
    note("writes ");
    require(catapults_rwlock_unlock(&rwlock) == 0);
    note("rest ");
}

static void take_turns_with_readers(const char *name) {
    note(name);
    require(catapults_rwlock_rdlock(&rwlock) == 0);
    spawn(8, "writer ", write_and_note);
    spawn(9, "high ", take_rwlock_and_note); /* behind the writer */
    note("reads ");
    require(catapults_rwlock_unlock(&rwlock) == 0);
    note("over ");
}

/* Who came while others read lends to the writer as soon as there is one. */
static void a_writer_that_comes_later_is_lent_to(void) {
    begin(POLICIES "/urgency.so");
    spawn(1, "low ", take_turns_with_readers);
    require_order("low reads writer writes high rest medium over ");
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static bool ready;

static void wait_and_note(const char *name) {
    spawn(5, "medium ", note);
    require(catapults_mutex_lock(&mutex) == 0);
    while (!ready)
        require(catapults_cond_wait(&cond, &mutex) == 0);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void produce(void) {
    require(catapults_mutex_lock(&mutex) == 0);
    ready = true;
    require(catapults_cond_signal(&cond) == 0);
    require(catapults_mutex_unlock(&mutex) == 0);
    note("rest ");
}

static void own_and_produce(const char *name) {
    catapults_cond_set_owner(&cond, catapults_self());
    spawn(9, "high ", wait_and_note);
    note(name);
    produce();
}

static void who_waits_lends_to_who_signals(void) {
    begin(POLICIES "/urgency.so");
    spawn(1, "low ", own_and_produce);
    require_order("low high medium rest ");
}

static void produce_without(const char *name) {
    spawn(9, "high ", wait_and_note);
    note(name);
    produce();
}

static void or_does_not_know_it(void) {
    begin(POLICIES "/urgency.so");
    spawn(1, "low ", produce_without);
    require_order("medium low high rest ");
}

static catapults_t owner;

static void make_owner(const char *name) {
    (void)name;
    note("a ");
    catapults_cond_set_owner(&cond, owner);
    note("b ");
}

static void produce_at_last(const char *name) {
    owner = catapults_self();
    spawn(9, "high ", wait_and_note); /* blocks: nobody is known */
    note(name);
    spawn(7, "", make_owner);
    catapults_cond_set_owner(&cond, NULL);
    spawn(4, "other ", note); /* more urgent than this one, which nobody lends to now */
    catapults_cond_set_owner(&cond, owner);
    produce();
}

static void who_waits_already_is_told(void) {
    begin(POLICIES "/urgency.so");
    spawn(1, "low ", produce_at_last);
    require_order("medium low a b other high rest ");
}

static void for_each_other(const char *name) {
    owner = catapults_self();
    require(catapults_mutex_lock(&second) == 0);
    require(catapults_mutex_lock(&mutex) == 0);
    require(catapults_cond_wait_until(&cond, &mutex, catapults_now() + 20000000) == ETIMEDOUT);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0 && catapults_mutex_unlock(&second) == 0);
}

/* The owner waits for a mutex of who waits for it: nobody lends in a ring, and somebody else may signal. */
static void a_ring_with_a_condition_is_no_deadlock(void) {
    begin(POLICIES "/urgency.so");
    catapults_cond_set_owner(&cond, catapults_self());
    spawn(1, "waiter ", for_each_other);
    require(catapults_mutex_lock(&second) == 0);
    note("main ");
    require(catapults_mutex_unlock(&second) == 0);
    require_order("waiter main ");
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static catapults_port_t port = CATAPULTS_PORT_INITIALIZER;
static int serves;

static void serve(const char *name) {
    struct catapults_message *message;
    for (int i = 0; i < serves; i++) {
        require(catapults_port_receive(&port, &message) == 0);
        catapults_yield();
        note(name);
        require(catapults_port_reply(message) == 0);
        note("replied ");
    }
}

static void call(const char *name) {
    struct catapults_message message = {0};
    spawn(5, "medium ", note);
    require(catapults_port_call(&port, &message) == 0);
    note(name);
}

static void a_call_is_inherited(void) {
    begin(POLICIES "/urgency.so");
    serves = 2;
    spawn(1, "server ", serve);
    spawn(9, "high ", call);
    require_order("server high medium replied ");
    order[0] = '\0';
    spawn(9, "high ", call);
    require_order("server high medium replied ");
}

static void busy_server(const char *name) {
    spawn(9, "high ", call);
    note("busy ");
    serve(name);
}

static void who_serves_a_port_may_be_known_before(void) {
    begin(POLICIES "/urgency.so");
    serves = 1;
    spawn(1, "server ", busy_server);
    require_order("medium busy server high replied ");
    order[0] = '\0';
    static struct task most = {100, NULL, NULL};
    catapults_set_object(catapults_self(), &most);
    catapults_t server = spawn(1, "server ", busy_server);
    catapults_port_set_server(&port, server);
    most.priority = 0;
    catapults_yield();
    require_order("busy server high medium replied ");
}

static catapults_port_t other_port = CATAPULTS_PORT_INITIALIZER;
static void pass_on(const char *name) {
    struct catapults_message *message;
    require(catapults_port_receive(&port, &message) == 0);
    note(name);
    require(catapults_port_send(&other_port, message) == 0);
}

static void serve_other(const char *name) {
    struct catapults_message *message;
    require(catapults_port_receive(&other_port, &message) == 0);
    note(name);
    require(catapults_port_reply(message) == 0);
}

static void a_loan_follows_the_request(void) {
    begin(POLICIES "/urgency.so");
    spawn(1, "first ", pass_on);
    spawn(2, "second ", serve_other);
    spawn(9, "high ", call);
    require_order("first second high medium ");
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

static void end(const char *name) {
    catapults_yield();
    note(name);
}

static void join_low(const char *name) {
    catapults_t low = spawn(1, "low ", end);
    spawn(5, "medium ", note);
    require(catapults_join_donating(low, NULL) == 0);
    note(name);
}

static void join_low_only(const char *name) {
    catapults_t low = spawn(1, "low ", end);
    spawn(5, "medium ", note);
    require(catapults_join(low, NULL) == 0);
    note(name);
}

/* Its last event is one of its own turn: what comes after its function is not hastened. */
static void a_join_may_lend(void) {
    begin(POLICIES "/urgency.so");
    spawn(9, "high ", join_low_only);
    require_order("medium low high ");
    order[0] = '\0';
    spawn(9, "high ", join_low);
    require_order("low medium high ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(a_lock_is_inherited),
        child_test(or_not),
        child_test(who_waits_to_read_lends_to_the_writer),
        child_test(who_waits_to_write_lends_to_the_writer),
        child_test(a_writer_that_comes_later_is_lent_to),
        child_test(who_waits_lends_to_who_signals),
        child_test(or_does_not_know_it),
        child_test(who_waits_already_is_told),
        child_test(a_ring_with_a_condition_is_no_deadlock),
        child_test(a_call_is_inherited),
        child_test(who_serves_a_port_may_be_known_before),
        child_test(a_loan_follows_the_request),
        child_test(a_join_may_lend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
