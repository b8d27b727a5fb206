/*
 * Random programs on several processors: threads that do everything, under policies that change, many of them in a tree
 * of schedulers that come and go, as processors do, preempted by time at short intervals. Each is a child, for which a
 * seed chooses everything but the instants; in half of them memory is refused and calls are interrupted. What must be
 * so: no thread runs twice, locks exclude each other, every thread ends, and every count agrees. A wake-up that is lost
 * is a deadlock, which the runtime reports, or a program that does not end.
 *
 *     processors_stress [SECONDS [SEED]]
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "processors_stress/processors_stress.h"

enum { ROUNDS = 120, PIPES = 3, PATIENCE = 240 /* seconds for a program */ };

/* ThreadSanitizer does not follow activations. */
#if defined(__SANITIZE_THREAD__)
#define FOLLOWED false
#else
#define FOLLOWED true
#endif

const char *file_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void not_so(const char *file, int line, const char *condition) {
    int error = errno;
    fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", file_of(file), line, condition, error);
    _exit(EXIT_FAILURE);
}

struct worker workers[WORKERS];
static _Thread_local int here; /* of the kernel thread */
catapults_key_t key;
catapults_mutex_t gate = CATAPULTS_MUTEX_INITIALIZER;
static catapults_barrier_t barrier;
static int pipes[PIPES][2];

__attribute__((noipa)) int error_here(void) { return errno; }
__attribute__((noipa)) void set_error_here(int error) { errno = error; }

void begin_own_code(struct worker *self) {
    faults_hold();
    require(catapults_setspecific(key, self) == 0);
    faults_release();
    require(catapults_mutex_lock(&gate) == 0); /* until all are there */
    require(catapults_mutex_unlock(&gate) == 0);
    atomic_store(&self->runs, true);
}

/* ---- What threads do --------------------------------------------------------------------------------------------- */

atomic_int children;
static atomic_int children_ended;

void *come_and_go(void *argument) {
    struct worker own = {.random = (uintptr_t)argument | 1};
    for (int i = any(&own, 3); i > 0; i--)
        catapults_yield();
    if (any(&own, 2))
        catapults_sleep(any(&own, 100) * US);
    atomic_fetch_add(&children_ended, 1);
    return argument;
}

static void *wait_to_be_cancelled(void *argument) {
    for (;;)
        catapults_sleep(MS);
    return argument;
}

static void use_child(struct worker *self) {
    bool detached = any(self, 3) == 0, cancelled = !detached && any(self, 3) == 0;
    void *argument = (void *)(uintptr_t)(self->random | 1), *result;
    catapults_t thread;
    struct catapults_attributes attributes = {.detached = detached, .object = self, .scheduler = any_scheduler(self)};
    if (any(self, 4) == 0)
        attributes.processors = 1u << any(self, 2); /* these there are */
    int error = catapults_create(&thread, &attributes, cancelled ? wait_to_be_cancelled : come_and_go, argument);
    require(error == 0 || error == EAGAIN); /* the policy may refuse it */
    if (error)
        return;
    if (!cancelled)
        atomic_fetch_add(&children, 1);
    if (cancelled) {
        if (any(self, 2))
            catapults_yield();
        require(catapults_cancel(thread) == 0);
    }
    if (detached)
        return;
    if (any(self, 2)) {
        error = catapults_join_until(thread, &result, catapults_now() + any(self, 100) * US);
        require(error == 0 || error == ETIMEDOUT);
    } else {
        error = ETIMEDOUT;
    }
    if (error)
        require(catapults_join(thread, &result) == 0);
    require(result == (cancelled ? CATAPULTS_CANCELED : argument));
}

static void use_pipe(struct worker *self) {
    char byte = 'b';
    int *ends = pipes[any(self, PIPES)];
    ssize_t count;
    while ((count = catapults_write(ends[1], &byte, 1)) < 0 && error_here() == ENOMEM)
        ;
    require(count == 1);
    while ((count = catapults_read(ends[0], &byte, 1)) < 0 && error_here() == ENOMEM)
        ;
    require(count == 1 && byte == 'b');
}

static void move(struct worker *self) {
    uint64_t masks[] = {0, 1, 2, 3}; /* these there are: two at least */
    require(catapults_setaffinity(catapults_self(), masks[any(self, 4)]) == 0);
}

static void stay_put(struct worker *self) {
    catapults_preemption_hold();
    here = self->number; /* nobody else on this kernel thread meanwhile */
    compute(self);
    require(here == self->number);
    catapults_preemption_release();
}

static void fork_child(void) {
    pid_t pid = catapults_fork();
    require(pid >= 0 || error_here() == ENOMEM || error_here() == EAGAIN);
    if (pid < 0)
        return;
    if (pid == 0) {
        catapults_t thread;
        int error = catapults_create(&thread, NULL, come_and_go, (void *)1);
        if (error == 0)
            require(catapults_join(thread, NULL) == 0);
        _exit(7);
    }
    int status;
    pid_t ended;
    while ((ended = waitpid(pid, &status, 0)) < 0 && error_here() == EINTR)
        ;
    require(ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* The system call itself: ThreadSanitizer does not follow handlers within its own. By a call that is not wrapped: the
 * processor waits, too, unless there are activations. */
static void wait_in_the_kernel(struct worker *self) {
    struct timespec left = {0, any(self, 100) * US};
    while (syscall(SYS_nanosleep, &left, &left) != 0)
        require(error_here() == EINTR);
}

void do_something(struct worker *self) {
    switch (any(self, 20)) {
    case 18:
        use_signals(self);
        break;
    case 0:
        catapults_sleep(any(self, 100) * US);
        break;
    case 15:
    case 16:
        use_chain(self);
        break;
    case 1:
    case 2:
        use_mutex(self);
        break;
    case 3:
    case 4:
        use_condition(self);
        break;
    case 5:
        use_semaphore(self);
        break;
    case 6:
        use_rwlock(self);
        break;
    case 7:
        use_child(self);
        break;
    case 8:
        use_pipe(self);
        break;
    case 9:
        call(self);
        break;
    case 10:
        catapults_yield_to(workers[any(self, WORKERS)].thread);
        break;
    case 11:
        compute(self);
        break;
    case 12:
        move(self);
        break;
    case 13:
        stay_put(self);
        break;
    case 14:
        if (tree_count)
            change_scheduler(self);
        break;
    case 17:
        wait_in_the_kernel(self);
        break;
    default:
        set_error_here(self->number + 1);
        catapults_yield();
        require(error_here() == self->number + 1);
    }
}

/* ---- One program ------------------------------------------------------------------------------------------------- */

static void *work(void *argument) {
    struct worker *self = argument;
    begin_own_code(self);
    for (int i = 0; i < ROUNDS; i++) {
        become_another(self);
        leave_own_code(self);
        do_something(self);
        come_back(self);
    }
    leave_own_code(self);
    catapults_barrier_wait(&barrier);
    catapults_testcancel(); /* takes what has been sent until then */
    atomic_store(&self->ended, true);
    return self;
}

static void disturb(struct worker *self, bool replaces, bool forks) {
    switch (any(self, forks ? 13 : 12)) {
    case 0:
    case 1: {
        int error = catapults_set_processors(2 + any(self, 4));
        require(error == 0 || error == EAGAIN || error == ENOMEM);
        break;
    }
    case 2:
        if (replaces)
            replace_one(self);
        break;
    case 3:
    case 4:
    case 5: {
        catapults_t thread = any_thread(self);
        int error = catapults_suspend(thread);
        require(error == 0 || error == ESRCH);
        catapults_sleep(any(self, 60) * US);
        error = catapults_resume(thread);
        require(error == 0 || error == EINVAL); /* it has ended, or was resumed by another */
        break;
    }
    case 6: { /* two processors at least are there */
        int error = catapults_setaffinity(any_thread(self), (uint64_t)any(self, 4));
        require(error == 0 || error == ESRCH);
        break;
    }
    case 7:
        if (tree_count)
            use_scheduler(self);
        break;
    case 8: /* whom those who wait are to lend their turns to */
        catapults_cond_set_owner(&cond, any(self, 3) ? workers[any(self, WORKERS)].thread : NULL);
        break;
    case 9: {
        struct catapults_attributes attributes = {.scheduler = any_scheduler(self)};
        int error = catapults_stand_in(any_thread(self), &attributes);
        require(error == 0 || error == EAGAIN || error == ESRCH);
        break;
    }
    case 12:
        fork_child();
        break;
    default:
        catapults_sleep(any(self, 500) * US);
    }
}

static bool all_ended(void) {
    for (int i = 0; i < WORKERS; i++)
        if (!atomic_load(&workers[i].ended))
            return false;
    return true;
}

static void lost(int number) {
    (void)number;
    abort();
}

static void run(uint64_t seed) {
    struct worker self = {.random = seed * 2654435761u + 88172645463325252u};
    signal(SIGALRM, lost);
    alarm(PATIENCE);
    root_policy = any(&self, policies_count);
    for (bool nodes = any(&self, 4) == 0; nodes && !with_nodes[root_policy];) /* few have them */
        root_policy = any(&self, policies_count);
    const char *policy = policies[root_policy];
    struct catapults_options options = {.processors = 2 + any(&self, 4),
                                        .policy = policy,
                                        .tick = (20 + any(&self, 400)) * US,
                                        .cooperative = any(&self, 6) == 0,
                                        .activations = any(&self, 3) == 0 && FOLLOWED,
                                        .io = any(&self, 2) ? "io_uring" : "epoll"};
    if (options.activations || getenv("CATAPULTS_ACTIVATIONS"))
        options.io = "epoll";
    bool replaces = any(&self, 2), forks = any(&self, 4) == 0;
    with_signals = any(&self, 2) && !options.activations && !getenv("CATAPULTS_ACTIVATIONS");
    fprintf(stderr, "seed %llu: %d processors, %s, tick %lld us, %s%s%s%s\n", (unsigned long long)seed,
            options.processors, policy ? file_of(policy) : "built in", (long long)options.tick / US, options.io,
            options.cooperative ? ", cooperative" : "", options.activations ? ", activations" : "",
            with_signals ? ", signals" : "");
    require(catapults_init(&options) == 0);
    if (with_signals)
        begin_signals();
    register_variables();
    if (any(&self, 3))
        grow_tree(&self);
    require(catapults_key_create(&key, NULL) == 0);
    require(catapults_barrier_init(&barrier, WORKERS) == 0);
    for (int i = 0; i < PIPES; i++)
        require(pipe2(pipes[i], O_NONBLOCK | O_CLOEXEC) == 0);
    begin_shared(&self);
    require(catapults_mutex_lock(&gate) == 0);
    for (int i = 0; i < WORKERS; i++) {
        workers[i].number = i;
        workers[i].random = seed * 31 + (unsigned)i + 1;
        become_another(&workers[i]);
        struct catapults_attributes attributes = {.object = &workers[i], .scheduler = any_scheduler(&self)};
        require(catapults_create(&workers[i].thread, &attributes, work, &workers[i]) == 0);
    }
    make_groups(&self);
    if (any(&self, 2))
        faults_begin(next_random(&self.random));
    require(catapults_mutex_unlock(&gate) == 0);
    while (!all_ended())
        disturb(&self, replaces, forks);
    faults_hold();
    for (int i = 0; i < WORKERS; i++) {
        void *result;
        require(catapults_join(workers[i].thread, &result) == 0 && result == &workers[i]);
    }
    join_groups();
    end_shared();
    end_signals();
    while (atomic_load(&children_ended) < atomic_load(&children))
        catapults_sleep(50 * US);
    require(strcmp(catapults_policy_name(), "fifo (built-in)") != 0 || !policy || replaces);
    if (!replaces)
        check_tree();
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static bool succeeds(uint64_t seed) {
    char path[] = "/tmp/processors_stress-XXXXXX";
    int said = mkstemp(path);
    require(said >= 0);
    unlink(path);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        dup2(said, STDERR_FILENO);
        run(seed);
        _exit(EXIT_SUCCESS);
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    bool success = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
    char text[4096];
    lseek(said, 0, SEEK_SET);
    for (ssize_t length; !success && (length = read(said, text, sizeof text)) > 0;)
        fwrite(text, 1, (size_t)length, stderr);
    close(said);
    if (!success)
        fprintf(stderr, "processors_stress: status %x%s; the same program again: processors_stress 0 %llu\n", status,
                WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? " (it did not end: a thread is lost)" : "",
                (unsigned long long)seed);
    return success;
}

int main(int count, char **arguments) {
    time_t end = time(NULL) + (count > 1 ? atoi(arguments[1]) : 3);
    long long seed = count > 2 ? atoll(arguments[2]) : 1;
    if (seed < 0)
        seed = (long long)time(NULL) * 1000000;
    size_t size = FAULTS * sizeof *faults_counted;
    faults_counted = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(faults_counted != MAP_FAILED);
    unsetenv("CATAPULTS_POLICY");
    find_policies();
    long programs = 0;
    do {
        if (!succeeds((uint64_t)seed++))
            return EXIT_FAILURE;
        programs++;
    } while (time(NULL) < end);
    printf("processors_stress: %ld programs, faults: %ld memory, %ld again, %ld interrupted\n", programs,
           faults_counted[FAULT_MEMORY], faults_counted[FAULT_AGAIN], faults_counted[FAULT_INTERRUPTED]);
    return EXIT_SUCCESS;
}
