/*
 * Donation where there are several policies: between threads of different ones, to a thread that goes over, under a
 * stand-in, and while a policy has to go.
 */
#include <errno.h>

#include "donation_test.h"

/* ---- To another scheduler ---------------------------------------------------------------------------------------- */

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
        child_test(where_a_thread_is_about_to_go_over_stays),
        child_test(a_lock_is_inherited_between_policies),
        child_test(or_not_between_policies),
        child_test(a_loan_ends_in_sleep_between_policies),
        child_test(a_thread_is_under_two_policies),
        child_test(donors_outlive_the_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
