/*
 * Which policies there are for random programs, what they import of a thread, and which of them have nodes.
 */
#include <dirent.h>
#include <dlfcn.h>

#include "catapults/policy.h"
#include "processors_stress/processors_stress.h"

char *policies[POLICIES_MOST];
int policies_count = 1; /* the first is the built-in one */
bool with_nodes[POLICIES_MOST];

static void find_in(const char *folder) {
    DIR *directory = opendir(folder);
    require(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 3, ".so") != 0)
            continue;
        require(policies_count < POLICIES_MOST);
        char *path = malloc(strlen(folder) + length + 2);
        require(path);
        sprintf(path, "%s/%s", folder, entry->d_name);
        policies[policies_count++] = path;
    }
    closedir(directory);
}

static void find_nodes(void) {
    for (int i = 1; i < policies_count; i++) {
        void *object = dlopen(policies[i], RTLD_NOW | RTLD_LOCAL);
        require(object);
        const struct catapults_policy *policy = dlsym(object, "catapults_policy");
        require(policy);
        with_nodes[i] = policy->shared_size != 0;
        dlclose(object);
    }
}

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

void find_policies(void) {
    find_in(POLICIES "/of_the_library");
    for (int i = 0; i < 3; i++) {
        static const char *const ours[] = {POLICIES "/urgency.so", POLICIES "/eager.so", POLICIES "/turns.so"};
        require(policies_count < POLICIES_MOST);
        policies[policies_count++] = strdup(ours[i]);
    }
    qsort(policies + 1, (size_t)policies_count - 1, sizeof *policies, compare);
    find_nodes();
}

void register_variables(void) {
    catapults_threadvar_register("priority", struct worker, priority);
    catapults_threadvar_register("tickets", struct worker, tickets);
    catapults_threadvar_register("weight", struct worker, weight);
    catapults_threadvar_register("nice", struct worker, nice);
    catapults_threadvar_register("share", struct worker, share);
    catapults_threadvar_register("bytesleft", struct worker, bytesleft);
}

void become_another(struct worker *self) {
    __atomic_store_n(&self->priority, any(self, 5), __ATOMIC_RELAXED);
    __atomic_store_n(&self->tickets, any(self, 50), __ATOMIC_RELAXED);
    __atomic_store_n(&self->nice, any(self, 40) - 20, __ATOMIC_RELAXED);
    __atomic_store_n(&self->share, any(self, 30), __ATOMIC_RELAXED);
    __atomic_store_n(&self->bytesleft, any(self, 1000), __ATOMIC_RELAXED);
}
