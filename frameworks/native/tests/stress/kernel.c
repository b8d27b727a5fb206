/*
 * What blocks in the kernel itself; children; and, on activations, spare kernel threads that die.
 */
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "activations/activation.h"
#include "stress/stress.h"

static int ends_of_pipe[2];
static _Atomic long written, read_back;

static void begin(struct worker *self) {
    (void)self;
    require(pipe(ends_of_pipe) == 0);
}

static void sleep_in_kernel(struct worker *self) {
    struct timespec time = {0, any(self, 300) * program.unit};
    require(nanosleep(&time, NULL) == 0 || errno == EINTR);
}

/* A pipe, read by the system call itself: somebody has written first. */
static void use_pipe(struct worker *self) {
    char buffer[64] = "";
    int count = 1 + any(self, 64);
    require(write(ends_of_pipe[1], buffer, (size_t)count) == count);
    written += count;
    while (count > 0) {
        ssize_t got = read(ends_of_pipe[0], buffer, (size_t)count);
        require(got > 0 || errno == EINTR);
        if (got > 0) {
            read_back += got;
            count -= (int)got;
        }
    }
}

static void *live_in_child(void *argument) {
    catapults_yield();
    return argument;
}

static void fork_child(struct worker *self) {
    faults_hold();
    pid_t child = catapults_fork();
    if (child == 0) {
        catapults_t thread;
        void *result = NULL;
        bool lives = catapults_create(&thread, NULL, live_in_child, self) == 0 &&
                     catapults_join(thread, &result) == 0 && result == self;
        _exit(lives ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    bool refused = child < 0 && errno == EAGAIN; /* somebody has lost the processor in the middle of libc */
    faults_release();
    require(child > 0 || refused);
    if (refused)
        return;
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR))
        catapults_sleep(100 * US);
    require(ended == child && status == 0);
}

/* A spare whose kernel thread is gone, and whose record does not know. Not the process's first: it stays as a zombie.
 */
static void kill_spare(void) {
    for (int i = 1; i < activations.lwps; i++) {
        uint32_t word = sa_lwps[i].word;
        if ((word & LWP_STATE) != LWP_SPARE || !lwp_change(&sa_lwps[i], word, LWP_QUITS))
            continue;
        syscall(SYS_futex, &sa_lwps[i].word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        while (syscall(SYS_tgkill, getpid(), sa_lwps[i].tid, 0) == 0)
            sched_yield();
        sa_lwps[i].word = LWP_SPARE;
        count_fault(FAULT_SPARE);
        return;
    }
}

static void act(struct worker *self) {
    int what = any(self, 12);
    if (what == 0)
        fork_child(self);
    else if (what == 1 && program.activations && any(self, 4) == 0)
        kill_spare();
    else if (what < 8)
        use_pipe(self);
    else
        sleep_in_kernel(self);
}

static void end(struct worker *self) {
    (void)self;
    require(read_back == written);
    require(close(ends_of_pipe[0]) == 0 && close(ends_of_pipe[1]) == 0);
}

const struct scene kernel_scene = {"kernel", begin, act, end};
