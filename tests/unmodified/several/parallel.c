/* Two threads that wait for each other without a call: each needs a processor. Then one changes whom the process acts
 * as, while the other computes: that holds for every kernel thread. */
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"

enum { TURNS = 1000, NOBODY = 65534 };

static atomic_int turn, computes, done;

static void *answer(void *unused) {
    for (int i = 0; i < TURNS; i++) {
        while (atomic_load(&turn) != 2 * i + 1)
            ;
        atomic_store(&turn, 2 * i + 2);
    }
    atomic_store(&computes, 1);
    while (!atomic_load(&done))
        ;
    return unused;
}

/* Of a kernel thread, its real one. */
static unsigned user_of(const char *task) {
    char path[300], line[256];
    unsigned user = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    FILE *file = fopen(path, "r");
    CHECK(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "Uid:", 4) == 0)
            user = (unsigned)strtoul(line + 4, NULL, 10);
    fclose(file);
    return user;
}

int main(void) {
    pthread_t other;
    CHECK(pthread_create(&other, NULL, answer, NULL) == 0);
    for (int i = 0; i < TURNS; i++) {
        atomic_store(&turn, 2 * i + 1);
        while (atomic_load(&turn) != 2 * i + 2)
            ;
    }
    while (!atomic_load(&computes))
        ;
    unsigned user = getuid() == 0 ? NOBODY : getuid(), kernel_threads = 0;
    CHECK(setresuid(user, user, user) == 0);
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks);
    for (struct dirent *task; (task = readdir(tasks));)
        if (task->d_name[0] != '.') {
            CHECK(user_of(task->d_name) == user);
            kernel_threads++;
        }
    CHECK(kernel_threads >= 2);
    closedir(tasks);
    atomic_store(&done, 1);
    CHECK(pthread_join(other, NULL) == 0);
}
