/*
 * Donation with several processors: who waits for a thread lends it its turns, wherever it stands, unless another
 * processor runs it already. Under `urgency`, where the most urgent thread that is ready runs.
 */
#include <errno.h>
#include <stdatomic.h>

#include "catapults.h"
#include "support/child.h"

enum { MS = 1000000 };

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER, second = CATAPULTS_MUTEX_INITIALIZER;
static catapults_port_t port = CATAPULTS_PORT_INITIALIZER;
static atomic_bool held, let_go, stop, waits;
static atomic_long steps; /* of the least urgent thread, which has the mutex */
static atomic_int high_done, spinning;

static catapults_t threads[16];
static int count;

struct task {
    catapults_int priority;
    void (*run)(void);
};

static void *run_task(void *task) {
    ((struct task *)task)->run();
    return NULL;
}

static catapults_t spawn(int priority, void (*run)(void)) {
    struct task *task = malloc(sizeof *task);
    *task = (struct task){priority, run};
    catapults_t thread;
    struct catapults_attributes attributes = {.object = task};
    require(catapults_create(&thread, &attributes, run_task, task) == 0);
    return threads[count++] = thread;
}

/* The caller is more urgent than all others, and sleeps nearly always. */
static void begin(int processors, const char *policy) {
    static struct task most = {100, NULL};
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = policy, .tick = MS}) == 0);
    catapults_account();
    catapults_threadvar_register("priority", struct task, priority);
    catapults_set_object(catapults_self(), &most);
}

static void finish(void) {
    atomic_store(&let_go, true);
    atomic_store(&stop, true);
    for (int i = 0; i < count; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(mutex.state == 0 && second.state == 0);
    count = 0;
    held = let_go = stop = waits = false;
    high_done = spinning = 0;
}

static void await(atomic_bool *what) {
    while (!atomic_load(what))
        catapults_sleep(MS / 10);
}

/* Without a call of the runtime. */
static void spin(void) {
    atomic_fetch_add(&spinning, 1);
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        ;
}

static void hold_while_spinning(void) {
    require(catapults_mutex_lock(&mutex) == 0);
    atomic_store(&held, true);
    while (!atomic_load_explicit(&let_go, memory_order_relaxed))
        atomic_fetch_add_explicit(&steps, 1, memory_order_relaxed);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void lock_once(void) {
    require(catapults_mutex_lock(&mutex) == 0);
    atomic_fetch_add(&high_done, 1);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static bool goes_on_for(int milliseconds) {
    long before = atomic_load(&steps);
    catapults_sleep((int64_t)milliseconds * MS);
    return atomic_load(&steps) != before;
}

static void set_protocol(enum catapults_mutex_protocol protocol) {
    require(catapults_mutex_init(&mutex, &(struct catapults_mutex_attributes){.protocol = protocol}) == 0);
}

/* ---- Priority inversion ------------------------------------------------------------------------------------------ */

static void hold_and_yield(void) {
    require(catapults_mutex_lock(&mutex) == 0);
    atomic_store(&held, true);
    while (!atomic_load(&let_go)) {
        atomic_fetch_add(&steps, 1);
        catapults_yield();
    }
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void wait_and_lock_once(void) {
    await(&waits);
    lock_once();
}

static void spin_on_both(void) {
    spawn(5, spin);
    spawn(5, spin);
    while (atomic_load(&spinning) < 2)
        catapults_sleep(MS / 10);
}

/* Two spin on both processors, so that the one that has the mutex does not go on by itself. */
static void invert(void (*hold)(void)) {
    catapults_t low = spawn(1, hold);
    await(&held);
    require(catapults_suspend(low) == 0);
    spin_on_both();
    require(catapults_resume(low) == 0);
    require(!goes_on_for(5));
}

static void inherit(void (*hold)(void)) {
    begin(2, POLICIES "/urgency.so");
    for (int i = 0; i < 10; i++) {
        invert(hold);
        spawn(9, lock_once);
        while (!goes_on_for(1))
            ;
        require(!atomic_load(&high_done));
        atomic_store(&let_go, true);
        while (!atomic_load(&high_done)) /* though the others spin */
            catapults_sleep(MS);
        require(!atomic_load(&stop));
        finish();
    }
}

static void who_has_yielded_runs_on_a_loan(void) { inherit(hold_and_yield); }

/* It can go on only where it stands, where another spins. */
static void who_was_interrupted_runs_on_a_loan(void) { inherit(hold_while_spinning); }

static void or_not(void) {
    begin(2, POLICIES "/urgency.so");
    set_protocol(CATAPULTS_PROTOCOL_NONE);
    invert(hold_and_yield);
    spawn(9, lock_once);
    atomic_store(&let_go, true);
    require(!goes_on_for(30) && !atomic_load(&high_done));
    finish();
}

/* The donor is blocked as long as the other runs; then its turn is of use. */
static void who_loses_its_processor_goes_on_on_a_loan(void) {
    begin(2, POLICIES "/urgency.so");
    for (int i = 0; i < 10; i++) {
        catapults_t low = spawn(1, hold_while_spinning);
        await(&held);
        spawn(9, lock_once);
        spawn(5, spin);
        while (atomic_load(&spinning) < 1) /* on the other processor, which the donor has left */
            catapults_sleep(MS / 10);
        while (!goes_on_for(1))
            ;
        spawn(5, spin);
        require(catapults_suspend(low) == 0);
        while (goes_on_for(1)) /* until its processor has been interrupted */
            ;
        while (atomic_load(&spinning) < 2)
            catapults_sleep(MS / 10);
        require(!goes_on_for(5));
        require(catapults_resume(low) == 0);
        while (!goes_on_for(1))
            ;
        atomic_store(&let_go, true);
        while (!atomic_load(&high_done))
            catapults_sleep(MS);
        finish();
    }
}

/* ---- Chains ------------------------------------------------------------------------------------------------------ */

static void serve(void) {
    struct catapults_message *message;
    require(catapults_port_receive(&port, &message) == 0);
    require(catapults_mutex_lock(&mutex) == 0);
    require(catapults_mutex_unlock(&mutex) == 0);
    require(catapults_port_reply(message) == 0);
}

static void call_with_the_second(void) {
    struct catapults_message message = {0};
    require(catapults_mutex_lock(&second) == 0);
    atomic_store(&waits, true);
    require(catapults_port_call(&port, &message) == 0);
    require(catapults_mutex_unlock(&second) == 0);
}

static void lock_the_second(void) {
    require(catapults_mutex_lock(&second) == 0);
    atomic_fetch_add(&high_done, 1);
    require(catapults_mutex_unlock(&second) == 0);
}

/* high ─second─► caller ─reply─► server ─mutex─► low */
static void turns_go_along_chains(void) {
    begin(2, POLICIES "/urgency.so");
    for (int i = 0; i < 10; i++) {
        catapults_t low = spawn(1, i % 2 ? hold_while_spinning : hold_and_yield);
        await(&held);
        require(catapults_suspend(low) == 0);
        spawn(2, serve);
        spawn(3, call_with_the_second);
        await(&waits);
        catapults_sleep(MS);
        spin_on_both();
        require(catapults_resume(low) == 0);
        require(!goes_on_for(5));
        spawn(9, lock_the_second);
        while (!goes_on_for(1))
            ;
        atomic_store(&let_go, true);
        while (!atomic_load(&high_done))
            catapults_sleep(MS);
        finish();
    }
}

/* ---- Ends of loans ----------------------------------------------------------------------------------------------- */

static void lock_for_a_while(void) {
    int64_t instant = catapults_now() + 20 * MS;
    require(catapults_mutex_lock_until(&mutex, instant) == ETIMEDOUT); /* else for ever */
    atomic_fetch_add(&high_done, 1);
}

/* Its turn is run on by one that makes no call. */
static void a_donor_has_its_turn_back_at_its_instant(void) {
    begin(2, POLICIES "/urgency.so");
    for (int i = 0; i < 10; i++) {
        invert(hold_while_spinning);
        spawn(9, lock_for_a_while);
        while (!atomic_load(&high_done))
            catapults_sleep(MS);
        require(!goes_on_for(5)); /* it has no turn any more */
        finish();
    }
}

static void a_borrower_can_be_suspended(void) {
    begin(2, POLICIES "/urgency.so");
    for (int i = 0; i < 10; i++) {
        invert(i % 2 ? hold_while_spinning : hold_and_yield);
        catapults_t low = threads[0];
        spawn(9, lock_once);
        while (!goes_on_for(1))
            ;
        require(catapults_suspend(low) == 0);
        while (goes_on_for(3))
            ;
        require(catapults_resume(low) == 0);
        while (!goes_on_for(1))
            ;
        atomic_store(&let_go, true);
        while (!atomic_load(&high_done))
            catapults_sleep(MS);
        finish();
    }
}

static void hold_and_sleep(void) {
    require(catapults_mutex_lock(&mutex) == 0);
    atomic_store(&held, true);
    while (!atomic_load(&let_go)) {
        atomic_fetch_add(&steps, 1);
        catapults_sleep(MS / 5);
    }
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void a_borrower_can_block(void) {
    begin(2, POLICIES "/urgency.so");
    for (int i = 0; i < 10; i++) {
        invert(hold_and_sleep);
        spawn(9, lock_once);
        spawn(9, lock_once);
        for (int j = 0; j < 10; j++)
            while (!goes_on_for(1))
                ;
        atomic_store(&let_go, true);
        while (atomic_load(&high_done) < 2)
            catapults_sleep(MS);
        finish();
    }
}

/* Only one of them can lend at a time; all are served in the end. */
static void there_may_be_many_donors(const char *policy, int processors) {
    begin(processors, policy);
    for (int i = 0; i < 5; i++) {
        spawn(1, i % 2 ? hold_while_spinning : hold_and_yield);
        await(&held);
        for (int j = 0; j < 8; j++)
            spawn(4 + j % 3, j % 2 ? lock_once : wait_and_lock_once);
        atomic_store(&waits, true);
        while (!goes_on_for(5))
            ;
        atomic_store(&let_go, true);
        while (atomic_load(&high_done) < 8)
            catapults_sleep(MS / 10);
        finish();
    }
}

static void many_lend_to_one_on_two(void) { there_may_be_many_donors(POLICIES "/urgency.so", 2); }
static void many_lend_to_one_on_four(void) { there_may_be_many_donors(POLICIES "/eager.so", 4); }
static void many_lend_to_one_in_turns(void) { there_may_be_many_donors(POLICIES "/turns.so", 2); }
static void many_lend_to_one_on_three_nodes(void) { there_may_be_many_donors(POLICIES "/per_processor_fifo.so", 3); }

/* ---- Stand-ins --------------------------------------------------------------------------------------------------- */

static void a_stand_in_lends_all_its_turns(void) {
    static struct task high = {9, NULL};
    begin(2, POLICIES "/urgency.so");
    for (int i = 0; i < 10; i++) {
        invert(i % 2 ? hold_while_spinning : hold_and_yield);
        require(catapults_stand_in(threads[0], &(struct catapults_attributes){.object = &high}) == 0);
        for (int j = 0; j < 5; j++)
            while (!goes_on_for(1))
                ;
        finish();
    }
}

/* ---- Charging ---------------------------------------------------------------------------------------------------- */

static void donors_are_charged(void) {
    begin(2, POLICIES "/urgency.so");
    invert(hold_while_spinning);
    catapults_t low = threads[0], high = spawn(9, lock_once);
    while (catapults_consumed(high) < 5 * MS) /* its turns are lent by then */
        goes_on_for(1);
    int64_t before = catapults_consumed(low);
    while (catapults_consumed(high) < 25 * MS)
        goes_on_for(1);
    require(catapults_consumed(low) - before < 5 * MS);
    finish();
}

/* ---- Deadlocks --------------------------------------------------------------------------------------------------- */

static catapults_mutex_t checked;
static atomic_int arrived;

static void *lock_second_then_checked(void *argument) {
    require(catapults_mutex_lock(&second) == 0);
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < 2)
        ;
    int error = catapults_mutex_lock(&checked);
    require(error == 0 || error == EDEADLK);
    if (!error)
        require(catapults_mutex_unlock(&checked) == 0);
    require(catapults_mutex_unlock(&second) == 0);
    return (char *)argument + error;
}

static void a_cycle_is_refused(void) {
    begin(2, NULL);
    struct catapults_mutex_attributes attributes = {.type = CATAPULTS_MUTEX_ERRORCHECK};
    require(catapults_mutex_init(&checked, &attributes) == 0);
    require(catapults_mutex_init(&second, &attributes) == 0);
    require(catapults_mutex_lock(&checked) == 0);
    catapults_t thread;
    void *theirs;
    require(catapults_create(&thread, NULL, lock_second_then_checked, NULL) == 0);
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < 2)
        ;
    int mine = catapults_mutex_lock(&second);
    require(mine == 0 || mine == EDEADLK);
    if (!mine)
        require(catapults_mutex_unlock(&second) == 0);
    require(catapults_mutex_unlock(&checked) == 0);
    require(catapults_join(thread, &theirs) == 0);
    require((mine == EDEADLK) != ((intptr_t)theirs == EDEADLK));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(who_has_yielded_runs_on_a_loan),
        child_test(who_was_interrupted_runs_on_a_loan),
        child_test(or_not),
        child_test(who_loses_its_processor_goes_on_on_a_loan),
        child_test(turns_go_along_chains),
        child_test(a_donor_has_its_turn_back_at_its_instant),
        child_test(a_borrower_can_be_suspended),
        child_test(a_borrower_can_block),
        child_test(many_lend_to_one_on_two),
        child_test(many_lend_to_one_on_four),
        child_test(many_lend_to_one_in_turns),
        child_test(many_lend_to_one_on_three_nodes),
        child_test(a_stand_in_lends_all_its_turns),
        child_test(donors_are_charged),
        child_test(a_cycle_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
