/*
 * Random programs over the whole of catapults.h, with faults: memory that there is not, calls that are interrupted or
 * would block, descriptors that are closed, spare kernel threads that die; preempted at every n-th instruction, by
 * time, or not. Each is a child, for which a seed chooses everything but the instants. What must
 * be so in the end: every thread has ended, and every count agrees (stress/). A wake-up that is lost is a deadlock,
 * which the runtime reports, or a program that does not end.
 *
 *     stress [SECONDS [SEED]]       programs with seeds from SEED on, 1 unless it is given; SEED -1: by the clock
 *     stress SECONDS SEED only      that one program, again and again
 *
 * CATAPULTS_ACTIVATIONS=1: all of them on activations; 0: none; one in four, unless it is set, but under
 * ThreadSanitizer.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "stress/stress.h"

enum { PATIENCE = 240 }; /* seconds for a program */

struct totals *totals;
struct program program;

static const struct scene *const scenes[] = {&locks_scene,       &meetings_scene, &lives_scene,  &ports_scene,
                                             &descriptors_scene, &policies_scene, &kernel_scene, &jobs_scene};
enum { SCENES = sizeof scenes / sizeof *scenes };

void not_so(const char *file, int line, const char *condition) {
    int error = errno;
    fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", file, line, condition, error);
    _exit(EXIT_FAILURE);
}

catapults_t spawn(struct worker *self, struct catapults_attributes *attributes, void *(*start)(void *),
                  void *argument) {
    catapults_t thread = NULL;
    (void)next_random(&self->random);
    int error = catapults_create(&thread, attributes, start, argument);
    require(error == 0 || error == EAGAIN);
    if (error)
        return NULL;
    program.created++;
    totals->threads++;
    return thread;
}

void ends(void) { program.ended++; }

void join(catapults_t thread, void **result) { require(catapults_join(thread, result) == 0); }

/* Whether somebody else runs is seen by what the others do. */
static _Atomic int computing;

static void compute(struct worker *self) {
    int me = (int)self->random;
    computing = me;
    for (int i = any(self, program.stepped ? 50 : 20000); i > 0; i--)
        if (computing != me && !program.stepped) {
            totals->preemptions++;
            computing = me;
        }
}

void pause_somehow(struct worker *self) {
    switch (any(self, 5)) {
    case 0:
        catapults_sleep(any(self, 60) * program.unit);
        break;
    case 1:
        compute(self);
        break;
    case 2:
        catapults_preemption_hold();
        compute(self);
        catapults_preemption_release();
        break;
    default:
        for (int turns = any(self, 4); turns > 0; turns--)
            catapults_yield();
    }
}

/* ---- A program --------------------------------------------------------------------------------------------------- */

static struct worker workers[WORKERS_MOST + 1]; /* the first thread is the last */
static unsigned wanted;                         /* scenes, as bits */
static int acts;

static void *work(void *self_) {
    struct worker *self = self_;
    for (int i = 0; i < acts; i++) {
        int scene;
        do
            scene = any(self, SCENES);
        while (!(wanted & 1u << scene));
        steps_go_on();
        scenes[scene]->act(self);
        steps_end();
        totals->operations++;
    }
    ends();
    return self;
}

static void start(struct worker *self) {
    static const char *const policies[] = {NULL, POLICIES "/ticks.so", POLICIES "/urgency.so", POLICIES "/eager.so",
                                           POLICIES "/jobs.so"};
    static const char *const drivers[] = {NULL, "epoll", "io_uring"};
    struct catapults_options options = {.policy = NULL, .io = drivers[any(self, 3)]};
    const char *forced = getenv("CATAPULTS_ACTIVATIONS");
    program.activations = any(self, 4) == 0;
    int preemption = any(self, 3), every = 1 + any(self, any(self, 2) ? 400 : 20);
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || !defined(__x86_64__)
    preemption %= 2; /* the one puts off signals, and so traps; the other makes many more instructions */
#endif
    if (forced)
        program.activations = strcmp(forced, "1") == 0;
#if defined(__SANITIZE_THREAD__)
    program.activations = false; /* it cannot follow what is continued in the middle of a call */
#endif
    if (program.activations)
        options.io = NULL;
    options.activations = program.activations;
    program.stepped = preemption == 2 && !program.activations;
    options.policy = policies[any(self, program.stepped ? 2 : 5)];
    program.unit = program.stepped ? 200 * US : US;
    options.cooperative = preemption != 1;
    options.tick = (50 + any(self, 500)) * US;
    int error = catapults_init(&options);
    if (error == EINVAL || error == ENOSYS || error == EPERM) { /* no io_uring here */
        options.io = NULL;
        error = catapults_init(&options);
    }
    require(error == 0);
    if (program.stepped)
        steps_begin(every);
}

static void run(uint64_t seed) {
    int count, scene;
    struct worker *self = &workers[WORKERS_MOST];
    program.seed = seed;
    self->random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (int i = 0; i < 20; i++)
        next_random(&self->random);
    start(self);
    count = 2 + any(self, program.stepped ? 4 : WORKERS_MOST - 1);
    acts = program.stepped ? 1 + any(self, 5) : 5 + any(self, 60);
    wanted = any(self, 2) ? (1u << SCENES) - 1 : 1u + (unsigned)any(self, (1 << SCENES) - 1);
    for (scene = 0; scene < SCENES; scene++)
        if (wanted & 1u << scene)
            scenes[scene]->begin(self);
    faults_begin(next_random(&self->random));
    catapults_t threads[WORKERS_MOST];
    for (int i = 0; i < count; i++) {
        workers[i] = (struct worker){.random = next_random(&self->random) | 1, .number = i, .priority = any(self, 10)};
        struct catapults_attributes attributes = {.object = &workers[i], .name = "worker"};
        while ((threads[i] = spawn(self, &attributes, work, &workers[i])) == NULL)
            catapults_sleep(10 * US);
    }
    for (int i = 0; i < count; i++) {
        void *result;
        join(threads[i], &result);
        require(result == &workers[i]);
    }
    faults_hold();
    for (scene = 0; scene < SCENES; scene++)
        if (wanted & 1u << scene)
            scenes[scene]->end(self);
    while (program.ended != program.created) /* those that are detached */
        catapults_sleep(100 * US);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static void print(int descriptor) {
    char buffer[1024];
    ssize_t count;
    lseek(descriptor, 0, SEEK_SET);
    while ((count = read(descriptor, buffer, sizeof buffer)) > 0)
        fwrite(buffer, 1, (size_t)count, stderr);
}

/* False: it failed, which is told. */
static bool succeeds(uint64_t seed) {
    int said = memfd_create("said", MFD_CLOEXEC), status;
    pid_t child = fork();
    if (said < 0 || child < 0) {
        perror("stress");
        return false;
    }
    if (child == 0) {
        dup2(said, STDERR_FILENO);
        alarm(PATIENCE);
        run(seed);
        _exit(EXIT_SUCCESS);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    bool success = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
    if (!success) {
        print(said);
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
            fprintf(stderr, "stress: it did not end within %d s: a thread is lost\n", PATIENCE);
        else if (WIFSIGNALED(status))
            fprintf(stderr, "stress: killed by signal %d\n", WTERMSIG(status));
        fprintf(stderr, "stress: failed; the same program again: make stress SEED=%llu\n", (unsigned long long)seed);
    }
    close(said);
    totals->programs++;
    return success;
}

static int64_t seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

int main(int count, char **arguments) {
    int64_t end = seconds() + (count > 1 ? atoi(arguments[1]) : 3);
    long long seed = count > 2 ? atoll(arguments[2]) : 1;
    bool only = count > 3 && strcmp(arguments[3], "only") == 0;
    if (seed < 0)
        seed = (long long)time(NULL) * 1000000;
    totals = mmap(NULL, sizeof *totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (totals == MAP_FAILED) {
        perror("stress");
        return EXIT_FAILURE;
    }
    faults_counted = totals->faults;
    unsetenv("CATAPULTS_POLICY");
    do {
        if (!succeeds((uint64_t)seed))
            return EXIT_FAILURE;
        seed += !only;
    } while (seconds() < end);
    printf("stress: %ld programs, %ld threads, %ld operations, %ld preemptions, faults: %ld memory, %ld again, %ld "
           "interrupted, %ld closed, %ld spares\n",
           totals->programs, totals->threads, totals->operations, totals->preemptions, totals->faults[FAULT_MEMORY],
           totals->faults[FAULT_AGAIN], totals->faults[FAULT_INTERRUPTED], totals->faults[FAULT_CLOSED],
           totals->faults[FAULT_SPARE]);
    return EXIT_SUCCESS;
}
