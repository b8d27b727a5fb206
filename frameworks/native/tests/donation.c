/*
 * Donation: who waits for a thread lends it its turns. Under `urgency`, where the most urgent thread that is ready runs
 * at once.
 */
#include <errno.h>

#include "catapults.h"
#include "support/child.h"

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER, second = CATAPULTS_MUTEX_INITIALIZER,
                         third = CATAPULTS_MUTEX_INITIALIZER;
static char order[256];

struct task {
    catapults_int priority;
    const char *name;
    void (*run)(const char *name);
};

static void note(const char *what) { strcat(order, what); }

static void require_order(const char *expected) {
    if (strcmp(order, expected) == 0)
        return;
    fprintf(stderr, "order: %s, not %s\n", order, expected);
    _exit(CHILD_REQUIRE_FAILED);
}

/* The caller is less urgent than all others. */
static void begin(const char *policy) {
    static struct task least;
    require(catapults_init(&(struct catapults_options){.policy = policy}) == 0);
    alarm(HANGS);
    catapults_threadvar_register("priority", struct task, priority);
    catapults_set_object(catapults_self(), &least);
}

static void *run_task(void *task_) {
    const struct task *task = task_;
    task->run(task->name);
    return NULL;
}

static catapults_t spawn(int priority, const char *name, void (*run)(const char *)) {
    struct task *task = malloc(sizeof *task);
    *task = (struct task){priority, name, run};
    catapults_t thread;
    struct catapults_attributes attributes = {.name = name, .object = task};
    require(catapults_create(&thread, &attributes, run_task, task) == 0);
    return thread;
}

static void set_protocol(catapults_mutex_t *mutex, enum catapults_mutex_protocol protocol) {
    require(catapults_mutex_init(mutex, &(struct catapults_mutex_attributes){.protocol = protocol}) == 0);
}

/* ---- Priority inversion ------------------------------------------------------------------------------------------ */

static void lock_and_note(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void urgent(const char *name) {
    spawn(5, "medium ", note);
    lock_and_note(name);
}

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

static catapults_scheduler_t place;

static void remove_in_vain(const char *name) {
    require(catapults_scheduler_remove(place) == EBUSY);
    note(name);
}

static void go_over_on_a_loan(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    spawn(9, "high ", lock_and_note);
    spawn(5, "medium ", remove_in_vain); /* runs as soon as the loan ends, while the caller waits for its own turn */
    require(catapults_scheduler_attach(place) == 0);
    require(catapults_scheduler_self() == place);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void where_a_thread_is_about_to_go_over_stays(void) {
    begin(POLICIES "/urgency.so");
    require(catapults_scheduler_add(&place, &(struct catapults_scheduler_attributes){.name = "place"}) == 0);
    require(catapults_join(spawn(1, "low ", go_over_on_a_loan), NULL) == 0);
    require_order("medium low high ");
    require(catapults_scheduler_remove(place) == 0);
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

/* ---- Between policies -------------------------------------------------------------------------------------------- */

/*
 * As in 1996, §5.5: the root is `urgency`; the one that is urgent is right under it, the other two are under schedulers
 * of other policies, of which one is more urgent than the other.
 */
static catapults_scheduler_t add_scheduler(const char *name, const char *policy, int priority) {
    struct catapults_hierarchy_parameter *parameter = malloc(sizeof *parameter);
    *parameter = (struct catapults_hierarchy_parameter){
        .name = "priority", .type = CATAPULTS_IMPORT_INT, .value.integer = priority, .at_parent = true};
    struct catapults_scheduler_attributes attributes = {
        .name = name, .policy = policy, .parameters = parameter, .parameters_count = 1};
    catapults_scheduler_t scheduler;
    require(catapults_scheduler_add(&scheduler, &attributes) == 0);
    return scheduler;
}

static catapults_t spawn_under(catapults_scheduler_t scheduler, const char *name, void (*run)(const char *)) {
    struct task *task = malloc(sizeof *task);
    *task = (struct task){0, name, run};
    catapults_t thread;
    struct catapults_attributes attributes = {.name = name, .scheduler = scheduler};
    require(catapults_create(&thread, &attributes, run_task, task) == 0);
    return thread;
}

static void urgent_at_the_root(const char *name) {
    spawn_under(catapults_scheduler_find("timesharing"), "medium ", note);
    lock_and_note(name);
}

static void hold_in_the_background(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    struct task *task = malloc(sizeof *task);
    *task = (struct task){9, "high ", urgent_at_the_root};
    struct catapults_attributes attributes = {.object = task, .scheduler = catapults_scheduler_root()};
    require(catapults_create(NULL, &attributes, run_task, task) == 0);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
    note("rest ");
}

static void inversion_between_policies(enum catapults_mutex_protocol protocol) {
    begin(POLICIES "/urgency.so");
    set_protocol(&mutex, protocol);
    add_scheduler("timesharing", POLICIES "/eager.so", 5);
    catapults_scheduler_t background = add_scheduler("background", NULL, 1);
    require(catapults_join(spawn_under(background, "low ", hold_in_the_background), NULL) == 0);
}

static void a_lock_is_inherited_between_policies(void) {
    inversion_between_policies(CATAPULTS_PROTOCOL_INHERIT);
    require_order("low high medium rest ");
}

static void or_not_between_policies(void) {
    inversion_between_policies(CATAPULTS_PROTOCOL_NONE);
    require_order("medium low high rest ");
}

/* The end of the chain blocks, under its policy, on a turn of another. */
static void sleep_in_the_background(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    struct task *task = malloc(sizeof *task);
    *task = (struct task){9, "high ", urgent_at_the_root};
    struct catapults_attributes attributes = {.object = task, .scheduler = catapults_scheduler_root()};
    require(catapults_create(NULL, &attributes, run_task, task) == 0);
    note("falls asleep ");
    while (!strstr(order, "medium ")) /* however slow the machine is: its turn comes while this one sleeps */
        catapults_sleep(1000000);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
    note("rest ");
}

static void a_loan_ends_in_sleep_between_policies(void) {
    begin(POLICIES "/urgency.so");
    add_scheduler("timesharing", POLICIES "/eager.so", 5);
    catapults_scheduler_t background = add_scheduler("background", NULL, 1);
    spawn_under(background, "idle ", note);
    require(catapults_join(spawn_under(background, "low ", sleep_in_the_background), NULL) == 0);
    require_order("idle falls asleep medium low high rest ");
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

/* ---- Under two policies ------------------------------------------------------------------------------------------ */

static int rounds;
static void go_round(const char *name) {
    for (int i = 0; i < rounds; i++) {
        note(name);
        catapults_yield();
    }
}

static void sleep_until_others_ran(const char *name) {
    note(name);
    while (!strstr(order, "medium ")) /* however slow the machine is */
        catapults_sleep(1000000);
    note(name);
}

/* It is the least urgent by itself, and runs before all others because of its stand-in. */
static void a_thread_is_under_two_policies(void) {
    begin(POLICIES "/urgency.so");
    static struct task most = {100, NULL, NULL};
    catapults_set_object(catapults_self(), &most);
    add_scheduler("background", NULL, 1);
    rounds = 3;
    catapults_t twice = spawn_under(catapults_scheduler_find("background"), "twice ", go_round);
    spawn(5, "medium ", note);
    static struct task urgent_task = {9, NULL, NULL};
    struct catapults_attributes attributes = {.object = &urgent_task, .stack_size = 16 << 10};
    require(catapults_stand_in(twice, &attributes) == 0);
    require(catapults_join(twice, NULL) == 0);
    require_order("twice twice twice medium ");
    /* While it sleeps its stand-in does, too; who ends first does not matter. */
    order[0] = '\0';
    twice = spawn_under(catapults_scheduler_find("background"), "sleepy ", sleep_until_others_ran);
    require(catapults_stand_in(twice, &attributes) == 0 && catapults_stand_in(twice, &attributes) == 0);
    spawn(5, "medium ", note);
    require(catapults_join(twice, NULL) == 0);
    require_order("sleepy medium sleepy ");
    /* With no attributes: as threads are that say nothing. */
    order[0] = '\0';
    twice = spawn_under(catapults_scheduler_find("background"), "plain ", note);
    require(catapults_stand_in(twice, NULL) == 0);
    require(catapults_join(twice, NULL) == 0);
    require_order("plain ");
    most.priority = 0;
    catapults_yield();
    require(catapults_threads_total() >= 0);
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

/* ---- A policy that has to go meanwhile --------------------------------------------------------------------------- */

static bool policy_gone;
static void hold_until_the_policy_goes(const char *name) {
    require(catapults_mutex_lock(&mutex) == 0);
    while (!policy_gone)
        catapults_yield();
    catapults_sleep(1000000);
    note(name);
    require(catapults_mutex_unlock(&mutex) == 0);
}

static void donors_outlive_the_policy(void) {
    static catapults_int connections;
    begin(POLICIES "/bytes.so");
    require(catapults_schedvar_register("connections", &connections) == 0);
    catapults_t threads[] = {spawn(0, "held ", hold_until_the_policy_goes), spawn(0, "a ", lock_and_note),
                             spawn(0, "b ", lock_and_note)};
    for (int i = 0; i < 5; i++)
        catapults_yield();
    require_order("");
    connections = 13;
    catapults_yield();
    require(strcmp(catapults_policy_name(), "fifo (built-in)") == 0);
    policy_gone = true;
    for (int i = 0; i < 3; i++)
        require(catapults_join(threads[i], NULL) == 0);
    require(strncmp(order, "held ", 5) == 0 && strlen(order) == 9 && catapults_threads_total() == 1);
    require(catapults_threads_suspended() == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(a_lock_is_inherited),
        child_test(or_not),
        child_test(where_a_thread_is_about_to_go_over_stays),
        child_test(who_waits_to_read_lends_to_the_writer),
        child_test(who_waits_to_write_lends_to_the_writer),
        child_test(a_writer_that_comes_later_is_lent_to),
        child_test(who_waits_lends_to_who_signals),
        child_test(or_does_not_know_it),
        child_test(who_waits_already_is_told),
        child_test(a_ring_with_a_condition_is_no_deadlock),
        child_test(a_lock_is_inherited_between_policies),
        child_test(or_not_between_policies),
        child_test(a_loan_ends_in_sleep_between_policies),
        child_test(a_call_is_inherited),
        child_test(who_serves_a_port_may_be_known_before),
        child_test(a_loan_follows_the_request),
        child_test(chains_are_followed),
        child_test(many_lend_to_one),
        child_test(donors_sleep_and_wake_with_it),
        child_test(a_donor_gives_up_in_time),
        child_test(a_chain_breaks_in_the_middle),
        child_test(who_borrows_may_be_suspended),
        child_test(who_lends_may_be_suspended),
        child_test(a_join_may_lend),
        child_test(a_thread_is_under_two_policies),
        child_test(who_ends_on_a_loan_keeps_its_stack),
        child_test(a_ring_of_two_is_refused),
        child_test(a_ring_of_inherited_locks_is_refused),
        child_test(a_ring_of_other_locks_is_refused),
        child_test(joins_in_a_ring_are_refused),
        child_test(donors_outlive_the_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
