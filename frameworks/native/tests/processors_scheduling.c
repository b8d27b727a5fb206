/*
 * Several processors, and threads that schedule threads (1996, §3.5): clients run on the turns of their schedulers, or
 * of who waits for them, whatever processor these are taken on.
 */
#include <errno.h>
#include <stdatomic.h>

#include "catapults.h"
#include "support/child.h"

enum { MS = 1000000, US = 1000, GROUPS = 3, CLIENTS = 6, ROUNDS = 150 };

struct group {
    catapults_port_t port;
    enum catapults_sensitivity alone, contended; /* with one client ready, and with more */
    int exits, clients;
    unsigned seed;
    catapults_t thread;
};

struct client {
    unsigned seed;
    atomic_bool runs; /* it is in its own code */
    catapults_t thread;
};

static struct group groups[GROUPS];
static struct client clients[GROUPS][CLIENTS];
static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static catapults_port_t port = CATAPULTS_PORT_INITIALIZER;
static catapults_sem_t semaphore = CATAPULTS_SEM_INITIALIZER(2);
static long counted;
static atomic_long expected;

static int any(unsigned *seed, int below) { return (int)(rand_r(seed) % (unsigned)below); }

static void begin(int processors, const char *policy) {
    alarm(HANGS);
    require(catapults_init(&(struct catapults_options){.processors = processors, .policy = policy, .tick = MS}) == 0);
}

/* First in, first out; until all clients have ended. */
static void *schedule_clients(void *group_) {
    struct group *group = group_;
    catapults_t ready[CLIENTS + 1], current = NULL;
    int count = 0;
    struct catapults_message *message;
    while (group->exits < group->clients) {
        if (!current && count) {
            current = ready[0];
            memmove(ready, ready + 1, (size_t)--count * sizeof *ready);
        }
        if (current) {
            int64_t instant = any(&group->seed, 3) ? CATAPULTS_FOREVER : catapults_now() + any(&group->seed, 300) * US;
            int error =
                catapults_schedule_until(current, &group->port, count ? group->contended : group->alone, instant);
            require(error == 0 || error == EAGAIN || error == ETIMEDOUT);
        }
        for (;;) { /* what was told may be taken back */
            bool waits = !current && !count;
            int error = (waits ? catapults_port_receive : catapults_port_tryreceive)(&group->port, &message);
            require(error == 0 || error == EAGAIN);
            if (error)
                break;
            switch (message->kind) {
            case CATAPULTS_NOTICE_READY:
                require(count <= CLIENTS);
                ready[count++] = message->sender;
                break;
            case CATAPULTS_NOTICE_EXITED:
                group->exits++;
                /* fall through */
            case CATAPULTS_NOTICE_BLOCKED:
                if (message->sender == current)
                    current = NULL;
                for (int i = 0; i < count; i++)
                    if (ready[i] == message->sender)
                        memmove(ready + i, ready + i + 1, (size_t)(--count - i) * sizeof *ready);
                break;
            case CATAPULTS_NOTICE_YIELDED:
                require(message->sender == current);
                ready[count++] = current;
                current = NULL;
                break;
            default:
                require(false);
            }
            if (group->exits == group->clients)
                break;
        }
    }
    return group;
}

static void leave_own_code(struct client *self) { require(atomic_exchange(&self->runs, false)); }
static void come_back(struct client *self) {
    require(!atomic_exchange(&self->runs, true)); /* else it runs twice */
    require(catapults_self() == self->thread);
}

static void do_something(struct client *self) {
    switch (any(&self->seed, 6)) {
    case 0:
        catapults_sleep(any(&self->seed, 100) * US);
        break;
    case 1:
        require(catapults_mutex_lock(&mutex) == 0);
        counted++;
        atomic_fetch_add(&expected, 1);
        if (any(&self->seed, 2))
            catapults_yield();
        require(catapults_mutex_unlock(&mutex) == 0);
        break;
    case 2: {
        struct catapults_message message = {.kind = 5};
        require(catapults_port_call(&port, &message) == 0 && message.kind == 6);
        break;
    }
    case 3:
        require(catapults_sem_wait(&semaphore) == 0);
        catapults_yield();
        require(catapults_sem_post(&semaphore) == 0);
        break;
    case 4:
        for (volatile int i = any(&self->seed, 20000); i > 0; i--)
            ;
        break;
    default:
        catapults_yield();
    }
}

static void *be_client(void *client) {
    struct client *self = client;
    require(catapults_mutex_lock(&mutex) == 0); /* until all are there */
    require(catapults_mutex_unlock(&mutex) == 0);
    atomic_store(&self->runs, true);
    for (int i = 0; i < ROUNDS; i++) {
        leave_own_code(self);
        do_something(self);
        come_back(self);
    }
    leave_own_code(self);
    return client;
}

static void *serve(void *argument) {
    struct catapults_message *message;
    while (catapults_port_receive(&port, &message) == 0) {
        message->kind++;
        require(catapults_port_reply(message) == 0);
    }
    return argument;
}

static atomic_bool over;

static void *suspend(void *argument) {
    unsigned seed = 3;
    while (!atomic_load(&over)) {
        catapults_t thread = clients[any(&seed, GROUPS)][any(&seed, CLIENTS)].thread;
        catapults_suspend(thread);
        catapults_sleep(any(&seed, 50) * US);
        catapults_resume(thread);
    }
    return argument;
}

/* The last group's scheduler is a client of the first one's, if they are nested. */
static void run(int processors, const char *policy, bool nested) {
    static const enum catapults_sensitivity sensitivities[][2] = {
        {CATAPULTS_WAKEUP_ON_BLOCK, CATAPULTS_WAKEUP_ON_BLOCK},
        {CATAPULTS_WAKEUP_ON_SWITCH, CATAPULTS_WAKEUP_ON_BLOCK},
        {CATAPULTS_WAKEUP_ON_CONFLICT, CATAPULTS_WAKEUP_ON_BLOCK},
    };
    begin(processors, policy);
    catapults_t server, suspender;
    require(catapults_create(&server, NULL, serve, NULL) == 0);
    require(catapults_mutex_lock(&mutex) == 0);
    for (int i = 0; i < GROUPS; i++) {
        struct group *group = &groups[i];
        group->alone = sensitivities[i][0];
        group->contended = sensitivities[i][1];
        group->seed = (unsigned)i + 1;
        group->clients = CLIENTS + (nested && i == 0);
        struct catapults_attributes attributes = {.scheduled_by = nested && i == GROUPS - 1 ? &groups[0].port : NULL};
        require(catapults_create(&group->thread, &attributes, schedule_clients, group) == 0);
        for (int j = 0; j < CLIENTS; j++) {
            struct client *client = &clients[i][j];
            *client = (struct client){.seed = (unsigned)(100 * i + j + 1)};
            attributes = (struct catapults_attributes){.scheduled_by = &group->port};
            require(catapults_create(&client->thread, &attributes, be_client, client) == 0);
        }
    }
    require(catapults_create(&suspender, NULL, suspend, NULL) == 0);
    require(catapults_mutex_unlock(&mutex) == 0);
    for (int i = 0; i < GROUPS; i++)
        require(catapults_join(groups[i].thread, NULL) == 0);
    atomic_store(&over, true);
    require(catapults_join(suspender, NULL) == 0);
    for (int i = 0; i < GROUPS; i++)
        for (int j = 0; j < CLIENTS; j++)
            require(catapults_join(clients[i][j].thread, NULL) == 0);
    catapults_port_close(&port);
    require(catapults_join(server, NULL) == 0);
    require(mutex.state == 0 && counted == atomic_load(&expected));
    require(!policy || strcmp(catapults_policy_name(), "fifo (built-in)") != 0);
}

static void on_two(void) { run(2, NULL, false); }
static void on_four(void) { run(4, NULL, false); }
static void nested_on_two(void) { run(2, NULL, true); }
static void nested_on_four(void) { run(4, POLICIES "/eager.so", true); }
static void in_turns(void) { run(3, POLICIES "/turns.so", true); }
static void on_nodes(void) { run(3, POLICIES "/per_processor_fifo.so", true); }

/* ---- Sensitivities ----------------------------------------------------------------------------------------------- */

static catapults_port_t box = CATAPULTS_PORT_INITIALIZER, clients_port = CATAPULTS_PORT_INITIALIZER;

static void *receive_ten(void *argument) {
    struct catapults_message *message;
    for (int i = 0; i < 10; i++) {
        require(catapults_port_receive(&box, &message) == 0);
        require(catapults_port_reply(message) == 0);
    }
    return argument;
}

struct outcome {
    catapults_t client;
    enum catapults_sensitivity sensitivity;
    int wakeups;
};

/* How often it wakes up while its only client blocks ten times. */
static void *count_wakeups(void *outcome_) {
    struct outcome *outcome = outcome_;
    struct catapults_message *message;
    bool exited = false;
    while (!exited) {
        int error = catapults_schedule(outcome->client, &clients_port, outcome->sensitivity);
        require(error == 0 || error == EAGAIN);
        outcome->wakeups++;
        /* What was told may be taken back; who is blocked is ready again some time. */
        if ((error ? catapults_port_receive : catapults_port_tryreceive)(&clients_port, &message) == 0)
            exited = message->kind == CATAPULTS_NOTICE_EXITED;
    }
    return outcome;
}

static void count(enum catapults_sensitivity sensitivity, int least, int most) {
    begin(2, NULL);
    struct outcome outcome = {.sensitivity = sensitivity};
    struct catapults_attributes attributes = {.scheduled_by = &clients_port};
    require(catapults_create(&outcome.client, &attributes, receive_ten, NULL) == 0);
    catapults_t scheduler;
    require(catapults_create(&scheduler, NULL, count_wakeups, &outcome) == 0);
    for (int i = 0; i < 10; i++) {
        struct catapults_message message = {.kind = 0};
        require(catapults_port_call(&box, &message) == 0);
        catapults_sleep(2 * MS);
    }
    require(catapults_join(scheduler, NULL) == 0 && catapults_join(outcome.client, NULL) == 0);
    require(outcome.wakeups >= least && outcome.wakeups <= most);
}

/* That it is ready, blocks, ... and has exited. */
static void on_block(void) { count(CATAPULTS_WAKEUP_ON_BLOCK, 10, 22); }
static void on_switch(void) { count(CATAPULTS_WAKEUP_ON_SWITCH, 1, 3); }
static void on_conflict(void) { count(CATAPULTS_WAKEUP_ON_CONFLICT, 1, 3); }

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(on_two),         child_test(on_four),   child_test(nested_on_two),
        child_test(nested_on_four), child_test(in_turns),  child_test(on_nodes),
        child_test(on_block),       child_test(on_switch), child_test(on_conflict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
