/*
 * Threads of random programs that threads schedule, in groups, of which one may be scheduled by the other.
 */
#include "processors_stress/processors_stress.h"

enum { GROUPS = 2, CLIENTS = 3, CLIENT_ROUNDS = 60 };
static struct group {
    catapults_port_t port;
    struct worker scheduler, clients[CLIENTS];
    int clients_count; /* with the scheduler of the other one, if that is one of them */
} groups[GROUPS];

/* First in, first out, for a while each: whatever its sensitivity, it wakes up. */
static void *schedule_clients(void *argument) {
    struct group *group = argument;
    struct worker *self = &group->scheduler;
    catapults_t ready[CLIENTS + 1], current = NULL;
    int count = 0, exits = 0;
    while (exits < group->clients_count) {
        if (!current && count) {
            current = ready[0];
            memmove(ready, ready + 1, (size_t)--count * sizeof *ready);
        }
        if (current) {
            int error = catapults_schedule_until(current, &group->port, (enum catapults_sensitivity)any(self, 3),
                                                 catapults_now() + any(self, 500) * US);
            require(error == 0 || error == EAGAIN || error == ETIMEDOUT);
            if (error == ETIMEDOUT && count) {
                ready[count++] = current;
                current = NULL;
            }
        }
        struct catapults_message *message; /* which may be taken back */
        int error = (current || count ? catapults_port_tryreceive : catapults_port_receive)(&group->port, &message);
        require(error == 0 || error == EAGAIN);
        if (error)
            continue;
        if (message->kind == CATAPULTS_NOTICE_READY) {
            if (message->sender != current) {
                require(count <= CLIENTS);
                ready[count++] = message->sender;
            }
            continue;
        }
        exits += message->kind == CATAPULTS_NOTICE_EXITED;
        catapults_t gone = message->sender;
        if (gone == current)
            current = NULL;
        for (int i = 0; i < count; i++)
            if (ready[i] == gone)
                memmove(ready + i, ready + i + 1, (size_t)(--count - i) * sizeof *ready);
        if (message->kind == CATAPULTS_NOTICE_YIELDED)
            ready[count++] = gone;
    }
    return argument;
}

static void *be_client(void *argument) {
    struct worker *self = argument;
    begin_own_code(self);
    for (int i = 0; i < CLIENT_ROUNDS; i++) {
        leave_own_code(self);
        if (any(self, 2))
            catapults_yield();
        else
            do_something(self);
        come_back(self);
    }
    leave_own_code(self);
    atomic_store(&self->ended, true);
    return argument;
}

void make_groups(struct worker *self) {
    bool nested = any(self, 2);
    for (int i = 0; i < GROUPS; i++) {
        struct group *group = &groups[i];
        catapults_port_init(&group->port, NULL, 0);
        struct worker *scheduler = &group->scheduler;
        scheduler->random = self->random + (unsigned)i;
        become_another(scheduler);
        group->clients_count = CLIENTS + (nested && i == 0);
        struct catapults_attributes attributes = {.object = scheduler, .scheduler = any_scheduler(self)};
        if (nested && i > 0)
            attributes = (struct catapults_attributes){.scheduled_by = &groups[0].port};
        require(catapults_create(&scheduler->thread, &attributes, schedule_clients, group) == 0);
        attributes = (struct catapults_attributes){.scheduled_by = &group->port};
        for (int j = 0; j < CLIENTS; j++) {
            struct worker *client = &group->clients[j];
            client->number = WORKERS + i * CLIENTS + j;
            client->random = self->random * 31 + (unsigned)client->number;
            require(catapults_create(&client->thread, &attributes, be_client, client) == 0);
        }
    }
}

void join_groups(void) {
    for (int i = 0; i < GROUPS; i++)
        for (int j = 0; j < CLIENTS; j++)
            require(catapults_join(groups[i].clients[j].thread, NULL) == 0);
    for (int i = GROUPS; i-- > 0;)
        require(catapults_join(groups[i].scheduler.thread, NULL) == 0);
}

/* Whose records last until all are joined. */
catapults_t any_thread(struct worker *self) {
    const struct group *group = &groups[any(self, GROUPS)];
    switch (any(self, 3)) {
    case 0:
        return group->clients[any(self, CLIENTS)].thread;
    case 1:
        if (any(self, 4) == 0)
            return group->scheduler.thread;
        /* fall through */
    default:
        return workers[any(self, WORKERS)].thread;
    }
}
