/*
 * Schedulers of random programs: a tree of them below the root, to which threads come and from which they go, while
 * policies are replaced.
 */
#include "processors_stress/processors_stress.h"

enum { SCHEDULERS_MOST = 5 };
static struct {
    catapults_scheduler_t scheduler;
    const char *policy;
} tree[SCHEDULERS_MOST]; /* below the root */
int tree_count;
int root_policy; /* its place in `policies` */

/* What adding a scheduler may say: nodes are for the root. */
static bool is_answer_to_add(int error, int policy) {
    if (with_nodes[policy])
        return error == ENOTSUP || error == ENOMEM;
    return error == 0 || error == EAGAIN || error == ENOMEM;
}

catapults_scheduler_t any_scheduler(struct worker *self) {
    int which = any(self, tree_count + 1);
    return which == tree_count ? NULL : tree[which].scheduler;
}

void grow_tree(struct worker *self) {
    for (int i = any(self, SCHEDULERS_MOST + 1); i > 0; i--) {
        char name[16];
        sprintf(name, "s%d", i);
        int which = any(self, policies_count);
        const char *policy = policies[which];
        struct catapults_scheduler_attributes attributes = {
            .name = name, .parent = any_scheduler(self), .policy = policy};
        int error = catapults_scheduler_add(&tree[tree_count].scheduler, &attributes);
        require(is_answer_to_add(error, which));
        if (error)
            continue;
        fprintf(stderr, "  %s: %s under %s\n", name, policy ? file_of(policy) : "built in",
                attributes.parent ? catapults_scheduler_name(attributes.parent) : "the root");
        tree[tree_count++].policy = policy;
    }
}

void change_scheduler(struct worker *self) {
    if (self->number >= WORKERS)
        return; /* it is under none */
    catapults_scheduler_t to = any_scheduler(self);
    int error = catapults_scheduler_attach(to ? to : catapults_scheduler_root());
    require(error == 0 || error == EAGAIN || error == ENOSPC || error == ENOMEM); /* the policy there may refuse it */
}

void use_scheduler(struct worker *self) {
    catapults_scheduler_t scheduler;
    struct catapults_scheduler_attributes attributes = {.name = "brief", .parent = any_scheduler(self)};
    int which = any(self, policies_count);
    attributes.policy = policies[which];
    int error = catapults_scheduler_add(&scheduler, &attributes);
    require(is_answer_to_add(error, which));
    if (error)
        return;
    catapults_t threads[3];
    int count = 0;
    while (count < 3 && error == 0)
        error = catapults_create(&threads[count++], &(struct catapults_attributes){.scheduler = scheduler}, come_and_go,
                                 (void *)(uintptr_t)(self->random | 1));
    for (int i = 0; i < count - (error != 0); i++) {
        require(catapults_join(threads[i], NULL) == 0);
        atomic_fetch_add(&children, 1);
    }
    require(catapults_scheduler_remove(scheduler) == 0);
}

void replace_one(struct worker *self) {
    catapults_scheduler_t scheduler = any_scheduler(self);
    int which = any(self, policies_count);
    int error = catapults_policy_replace(scheduler, policies[which]);
    if (scheduler ? with_nodes[which] : (with_nodes[which] || with_nodes[root_policy]) && tree_count > 0)
        require(error == ENOTSUP || error == ENOMEM);
    else
        require(error == 0 || error == EAGAIN || error == ENOSPC || error == ENOMEM);
    if (error == 0 && !scheduler)
        root_policy = which;
}

void check_tree(void) {
    for (int i = 0; i < tree_count; i++) {
        const char *name = catapults_scheduler_policy_name(tree[i].scheduler);
        require(strcmp(name, "fifo (built-in)") != 0 || !tree[i].policy);
    }
}
