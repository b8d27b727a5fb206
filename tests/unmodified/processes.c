/* Threads start other programs, in four ways, and wait for them while other threads run. */
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern char **environ;

static char *const nothing[] = {(char *)"true", NULL};

static void *return_seven(void *result) {
    *(int *)result = 7;
    return NULL;
}

/* A child can have threads of its own. */
static int in_child(void) {
    pthread_t thread;
    int result = 0;
    CHECK(pthread_create(&thread, NULL, return_seven, &result) == 0 && pthread_join(thread, NULL) == 0);
    return result;
}

static void *start_some(void *number) {
    int status;
    char said[16] = "";
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(in_child());
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
    CHECK(posix_spawnp(&child, "true", NULL, NULL, nothing, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    child = vfork();
    if (child == 0) {
        execvp("true", nothing);
        _exit(127);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(WEXITSTATUS(system("exit 3")) == 3);
    FILE *output = popen("echo said", "r");
    CHECK(output && fgets(said, sizeof said, output) && strcmp(said, "said\n") == 0);
    CHECK(pclose(output) == 0);
    return number;
}

int main(void) { in_threads(4, start_some); }
