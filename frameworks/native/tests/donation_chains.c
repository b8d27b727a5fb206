/*
 * Donation through several threads: chains of those that wait for each other are followed, whatever the last of them
 * does meanwhile: it may sleep, be suspended, or end. Rings are deadlocks, and refused.
 */
#include <errno.h>

#include "donation_test.h"

static catapults_mutex_t second = CATAPULTS_MUTEX_INITIALIZER, third = CATAPULTS_MUTEX_INITIALIZER;

/* ---- Chains ------------------------------------------------------------------------------------------------------ */

static void wait_through_three(const char *name) {
    spawn(5, "medium ", note);
    lock_and_note(name);
}

static void hold_first_want_second(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_yield();
    require(catapults_mutex_lock(&second) == 0);
    note(name);
    catapults_mutex_unlock(&second);
    catapults_mutex_unlock(&mutex);
}

static void hold_second_want_third(const char *name) {
    require(catapults_mutex_lock(&second) == 0);
    catapults_yield();
    require(catapults_mutex_lock(&third) == 0);
    note(name);
    catapults_mutex_unlock(&third);
    catapults_mutex_unlock(&second);
}

static void hold_third(const char *name) {
    require(catapults_mutex_lock(&third) == 0);
    catapults_yield();
    spawn(9, "high ", wait_through_three);
    note(name);
    catapults_mutex_unlock(&third);
    note("rest ");
}

static void chains_are_followed(void) {
    begin(POLICIES "/urgency.so");
    catapults_mutex_lock(&mutex); /* keeps the urgent ones from running yet */
    static struct task most = {100, NULL, NULL};
    catapults_set_object(catapults_self(), &most);
    catapults_mutex_unlock(&mutex);
    spawn(1, "a ", hold_first_want_second);
    spawn(1, "b ", hold_second_want_third);
    spawn(1, "c ", hold_third);
    most.priority = 0;
    catapults_yield();
    require_order("c b a high medium rest ");
}

static int donors_done;
static void donor(const char *name) {
    lock_and_note(name);
    donors_done++;
}

static void hold_for_many(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    spawn(3, "3 ", donor);
    spawn(4, "4 ", donor);
    spawn(9, "9 ", donor);
    spawn(5, "medium ", note);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
    note("rest ");
}

/* It is handed to the one that came first, and so on: whose turn it is lends it to each of them. */
static void many_lend_to_one(void) {
    begin(POLICIES "/urgency.so");
    spawn(1, "low ", hold_for_many);
    require(donors_done == 3);
    require_order("low 3 4 9 medium rest ");
}

/* ---- The end of the chain cannot run ----------------------------------------------------------------------------- */

static void sleep_and_hold(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    spawn(9, "high ", urgent);
    note("falls asleep ");
    while (!strstr(order, "medium ")) /* however slow the machine is */
        catapults_sleep(1000000);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
    note("rest ");
}

static bool served;
static void busy_medium(const char *name) {
    note(name);
    while (!served)
        catapults_yield();
    note("idle ");
}

static void urgent_beside_busy(const char *name) {
    spawn(5, "medium ", busy_medium);
    lock_and_note(name);
    served = true;
}

static void hold_and_sleep_beside_busy(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    spawn(9, "high ", urgent_beside_busy);
    note("falls asleep ");
    while (!strstr(order, "medium "))
        catapults_sleep(1000000);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void donors_sleep_and_wake_with_it(void) {
    begin(POLICIES "/urgency.so");
    catapults_t low = spawn(1, "low ", sleep_and_hold);
    catapults_join(low, NULL);
    require_order("falls asleep medium low high rest ");
    order[0] = '\0';
    catapults_join(spawn(1, "low ", hold_and_sleep_beside_busy), NULL);
    require_order("falls asleep medium low high idle ");
}

/* The same, seen by who waits with an instant. */
static bool gave_up;
static void want_until(const char *name) {
    require(catapults_mutex_lock_until(&mutex, catapults_now() + 2000000) == ETIMEDOUT);
    note(name);
    gave_up = true;
}

static void hold_for_long(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    spawn(9, "high ", want_until);
    while (!gave_up)
        catapults_yield();
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void hold_asleep(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    spawn(9, "high ", want_until);
    catapults_sleep(5000000);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void a_donor_gives_up_in_time(void) {
    begin(POLICIES "/urgency.so");
    catapults_join(spawn(1, "low ", hold_for_long), NULL);
    catapults_join(spawn(1, "asleep ", hold_asleep), NULL);
    require_order("high low high asleep ");
    require(mutex.state == 0 && mutex.waiters.first == NULL);
}

/* A donor in the middle of a chain gives up while the end cannot run: a donor that was blocked behind it goes on. */
static void relay(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    require(catapults_mutex_lock_until(&second, catapults_now() + 2000000) == ETIMEDOUT);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void hold_second_asleep(const char *name) {
    require(catapults_mutex_lock(&second) == 0);
    spawn(5, "relay ", relay);
    spawn(9, "high ", lock_and_note);
    while (!strstr(order, "high "))
        catapults_sleep(10000000);
    note(name);
    require(catapults_mutex_unlock(&second) == 0);
}

static void a_chain_breaks_in_the_middle(void) {
    begin(POLICIES "/urgency.so");
    catapults_join(spawn(1, "low ", hold_second_asleep), NULL);
    require_order("relay high low ");
}

/* ---- Suspended --------------------------------------------------------------------------------------------------- */

static void suspend_itself(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    spawn(9, "high ", urgent);
    note("suspends ");
    require(catapults_suspend(catapults_self()) == 0);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void who_borrows_may_be_suspended(void) {
    begin(POLICIES "/urgency.so");
    catapults_t low = spawn(1, "low ", suspend_itself);
    require_order("suspends medium ");
    require(catapults_resume(low) == 0);
    require_order("suspends medium low high ");
}

static catapults_t high;
static void suspend_the_donor(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    high = spawn(9, "high ", lock_and_note);
    require(catapults_suspend(high) == 0);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
    note("rest ");
}

static void who_lends_may_be_suspended(void) {
    begin(POLICIES "/urgency.so");
    spawn(1, "low ", suspend_the_donor);
    require_order("low rest ");
    require(catapults_resume(high) == 0);
    require_order("low rest high ");
}

static void end_with_the_lock(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    spawn(9, "high ", urgent);
    note(name);
    require(catapults_detach(catapults_self()) == 0);
}

static void fill_the_stack(const char *name) {
    volatile char frame[30000];
    for (size_t i = 0; i < sizeof frame; i++)
        frame[i] = (char)0xa5;
    catapults_yield();
    note(name);
}

static void start_others(const char *name) {
    for (int i = 0; i < 5; i++)
        spawn(2, "x", fill_the_stack);
    note(name);
}

/* Who waits for it is blocked, and others run, until it has a turn of its own: until then it needs its stack. */
static void who_ends_on_a_loan_keeps_its_stack(void) {
    begin(POLICIES "/urgency.so");
    static struct task most = {100, NULL, NULL};
    catapults_set_object(catapults_self(), &most);
    spawn(1, "low ", end_with_the_lock);
    spawn(8, "others ", start_others);
    most.priority = 0;
    catapults_yield();
    require_order("others xxxxxlow medium ");
}

/* ---- Deadlocks --------------------------------------------------------------------------------------------------- */

static int results[3];

static void lock_second_then_first(const char *name) {
    require(catapults_mutex_lock(&second) == 0);
    results[1] = catapults_mutex_lock(&mutex);
    if (results[1] == 0)
        catapults_mutex_unlock(&mutex);
    note(name);
    require(catapults_mutex_unlock(&second) == 0);
}

static void a_ring_of_two_is_refused(void) {
    begin(NULL);
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_t other = spawn(0, "other", lock_second_then_first);
    catapults_yield();
    require(catapults_mutex_lock(&second) == EDEADLK && catapults_mutex_trylock(&second) == EBUSY);
    require(catapults_mutex_lock_until(&second, catapults_now() + 1000000) == ETIMEDOUT);
    require(catapults_mutex_unlock(&mutex) == 0);
    require(catapults_join(other, NULL) == 0 && results[1] == 0);
}

static void lock_third_then_second(const char *name) {
    require(catapults_mutex_lock(&third) == 0);
    results[2] = catapults_mutex_lock(&second);
    if (results[2] == 0)
        catapults_mutex_unlock(&second);
    note(name);
    require(catapults_mutex_unlock(&third) == 0);
}

static void a_ring_of_three_is_refused(enum catapults_mutex_protocol protocol) {
    begin(NULL);
    set_protocol(&mutex, protocol);
    set_protocol(&second, protocol);
    set_protocol(&third, protocol);
    require(catapults_mutex_lock(&mutex) == 0);
    catapults_t threads[] = {spawn(0, "b", lock_second_then_first), spawn(0, "c", lock_third_then_second)};
    catapults_yield();
    catapults_yield();
    require(catapults_mutex_lock(&third) == EDEADLK);
    require(catapults_join(threads[1], NULL) == EDEADLK);
    require(catapults_mutex_unlock(&mutex) == 0);
    for (int i = 0; i < 2; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require_order("bc");
}

static void a_ring_of_inherited_locks_is_refused(void) { a_ring_of_three_is_refused(CATAPULTS_PROTOCOL_INHERIT); }
static void a_ring_of_other_locks_is_refused(void) { a_ring_of_three_is_refused(CATAPULTS_PROTOCOL_NONE); }

static void *join_first(void *first) {
    results[0] = catapults_join(*(catapults_t *)first, NULL);
    return NULL;
}

static void joins_in_a_ring_are_refused(void) {
    begin(NULL);
    static catapults_t threads[3];
    for (int i = 0; i < 3; i++)
        require(catapults_create(&threads[i], NULL, join_first, &threads[(i + 1) % 3]) == 0);
    catapults_yield();
    require(results[0] == EDEADLK || results[0] == 0);
    require(catapults_join(threads[2], NULL) == EINVAL || results[0] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(chains_are_followed),
        child_test(many_lend_to_one),
        child_test(donors_sleep_and_wake_with_it),
        child_test(a_donor_gives_up_in_time),
        child_test(a_chain_breaks_in_the_middle),
        child_test(who_borrows_may_be_suspended),
        child_test(who_lends_may_be_suspended),
        child_test(who_ends_on_a_loan_keeps_its_stack),
        child_test(a_ring_of_two_is_refused),
        child_test(a_ring_of_inherited_locks_is_refused),
        child_test(a_ring_of_other_locks_is_refused),
        child_test(joins_in_a_ring_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
