/*
 * Random programs on several processors: threads that do everything, under policies that change, many of them in a tree
 * of schedulers that come and go, as processors do, preempted by time at short intervals. Each is a child, for which a
 * seed chooses everything but the instants; in half of them memory is refused and calls are interrupted. What must be
 * so: no thread runs twice, locks exclude each other, every thread ends, and every count agrees. A wake-up that is lost
 * is a deadlock, which the runtime reports, or a program that does not end.
 *
 *     processors_stress [SECONDS [SEED]]
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "catapults.h"
#include "catapults/policy.h"
#include "stress/faults.h"
#include "stress/require.h"

enum { US = 1000, MS = 1000000, WORKERS = 20, ROUNDS = 120, PIPES = 3, PATIENCE = 240 /* seconds for a program */ };

/* ThreadSanitizer does not follow activations. */
#if defined(__SANITIZE_THREAD__)
#define FOLLOWED false
#else
#define FOLLOWED true
#endif

static const char *file_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void not_so(const char *file, int line, const char *condition) {
    int error = errno;
    fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", file_of(file), line, condition, error);
    _exit(EXIT_FAILURE);
}

struct worker {
    /* For policies: whatever they import of this. */
    catapults_int priority, tickets, weight, nice, share, bytesleft;
    uint64_t random;
    int number;
    atomic_bool runs; /* it is in its own code */
    atomic_bool ended;
    catapults_t thread;
};

static struct worker workers[WORKERS];
static _Thread_local int here; /* of the kernel thread */
static catapults_key_t key;
static catapults_mutex_t gate = CATAPULTS_MUTEX_INITIALIZER;
static int pipes[PIPES][2];

static int any(struct worker *self, int below) { return (int)((next_random(&self->random) >> 20) % (unsigned)below); }

__attribute__((noipa)) static int error_here(void) { return errno; }
__attribute__((noipa)) static void set_error_here(int error) { errno = error; }

/* Around all that may run others. */
static void leave_own_code(struct worker *self) { require(atomic_exchange(&self->runs, false)); }
static void come_back(struct worker *self) {
    require(!atomic_exchange(&self->runs, true)); /* else it runs twice */
    require(catapults_self() == self->thread && catapults_getspecific(key) == self);
}

static void begin_own_code(struct worker *self) {
    faults_hold();
    require(catapults_setspecific(key, self) == 0);
    faults_release();
    require(catapults_mutex_lock(&gate) == 0); /* until all are there */
    require(catapults_mutex_unlock(&gate) == 0);
    atomic_store(&self->runs, true);
}

/* ---- Policies ---------------------------------------------------------------------------------------------------- */

enum { POLICIES_MOST = 64 };
static char *policies[POLICIES_MOST];
static int policies_count = 1; /* the first is the built-in one */
static bool with_nodes[POLICIES_MOST];

static void find_policies(const char *folder) {
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

static void register_variables(void) {
    catapults_threadvar_register("priority", struct worker, priority);
    catapults_threadvar_register("tickets", struct worker, tickets);
    catapults_threadvar_register("weight", struct worker, weight);
    catapults_threadvar_register("nice", struct worker, nice);
    catapults_threadvar_register("share", struct worker, share);
    catapults_threadvar_register("bytesleft", struct worker, bytesleft);
}

static void become_another(struct worker *self) {
    __atomic_store_n(&self->priority, any(self, 5), __ATOMIC_RELAXED);
    __atomic_store_n(&self->tickets, any(self, 50), __ATOMIC_RELAXED);
    __atomic_store_n(&self->nice, any(self, 40) - 20, __ATOMIC_RELAXED);
    __atomic_store_n(&self->share, any(self, 30), __ATOMIC_RELAXED);
    __atomic_store_n(&self->bytesleft, any(self, 1000), __ATOMIC_RELAXED);
}

/* ---- Schedulers -------------------------------------------------------------------------------------------------- */

enum { SCHEDULERS_MOST = 5 };
static struct {
    catapults_scheduler_t scheduler;
    const char *policy;
} tree[SCHEDULERS_MOST]; /* below the root */
static int tree_count;
static int root_policy; /* its place in `policies` */

/* What adding a scheduler may say: nodes are for the root. */
static bool is_answer_to_add(int error, int policy) {
    if (with_nodes[policy])
        return error == ENOTSUP || error == ENOMEM;
    return error == 0 || error == EAGAIN || error == ENOMEM;
}

/* NULL: the root, or where threads go that say nothing. */
static catapults_scheduler_t any_scheduler(struct worker *self) {
    int which = any(self, tree_count + 1);
    return which == tree_count ? NULL : tree[which].scheduler;
}

static void grow_tree(struct worker *self) {
    for (int i = any(self, SCHEDULERS_MOST + 1); i > 0; i--) {
        char name[8];
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

/* ---- What is shared ---------------------------------------------------------------------------------------------- */

enum { MUTEXES = 3 };
static struct {
    catapults_mutex_t mutex;
    long counted;
    struct worker *owner;
} locks[MUTEXES];
static atomic_long locked[MUTEXES];

static catapults_cond_t cond = CATAPULTS_COND_INITIALIZER;
static int tokens;
static catapults_sem_t semaphore = CATAPULTS_SEM_INITIALIZER(3);
static atomic_int inside_semaphore, readers, writers;
static catapults_rwlock_t rwlock = CATAPULTS_RWLOCK_INITIALIZER;
static catapults_port_t port = CATAPULTS_PORT_INITIALIZER, passed_on = CATAPULTS_PORT_INITIALIZER;
static catapults_mutex_t leaf = CATAPULTS_MUTEX_INITIALIZER; /* nothing is waited for by who has it */
static long leaves;
static atomic_long leaves_taken;
static catapults_barrier_t barrier;
static atomic_int children, children_ended;
static atomic_long sent, taken;
static bool signals;

static void compute(struct worker *self) {
    for (volatile int i = any(self, 30000); i > 0; i--)
        ;
}

static void use_mutex(struct worker *self) {
    int which = any(self, MUTEXES);
    catapults_mutex_t *mutex = &locks[which].mutex;
    int way = any(self, 4), error = 0;
    if (way == 0)
        error = catapults_mutex_trylock(mutex);
    else if (way == 1)
        error = catapults_mutex_lock_until(mutex, catapults_now() + any(self, 300) * US);
    else
        require(catapults_mutex_lock(mutex) == 0);
    require(error == 0 || error == EBUSY || error == ETIMEDOUT);
    if (error)
        return;
    require(!locks[which].owner);
    locks[which].owner = self;
    if (any(self, 2))
        catapults_yield();
    else
        compute(self);
    require(locks[which].owner == self);
    locks[which].owner = NULL;
    locks[which].counted++;
    atomic_fetch_add(&locked[which], 1);
    require(catapults_mutex_unlock(mutex) == 0);
}

static void use_leaf(struct worker *self) {
    require(catapults_mutex_lock(&leaf) == 0);
    leaves++;
    atomic_fetch_add(&leaves_taken, 1);
    if (any(self, 2))
        catapults_yield();
    else
        compute(self);
    require(catapults_mutex_unlock(&leaf) == 0);
}

static void call(struct worker *self) {
    struct catapults_message message = {.kind = self->number};
    int error = any(self, 4) ? catapults_port_call(&port, &message)
                             : catapults_port_call_until(&port, &message, catapults_now() + any(self, 200) * US);
    require(error == 0 ? message.kind == self->number + 1 : error == ETIMEDOUT);
}

/* Mutexes in their order, with a server at the end, which may want the leaf. */
static void use_chain(struct worker *self) {
    int first = any(self, MUTEXES), last = first + any(self, MUTEXES - first);
    for (int i = first; i <= last; i++) {
        require(catapults_mutex_lock(&locks[i].mutex) == 0);
        require(!locks[i].owner);
        locks[i].owner = self;
        if (any(self, 3) == 0)
            catapults_yield();
    }
    if (any(self, 2))
        call(self);
    else
        use_leaf(self);
    for (int i = last; i >= first; i--) {
        require(locks[i].owner == self);
        locks[i].owner = NULL;
        locks[i].counted++;
        atomic_fetch_add(&locked[i], 1);
        require(catapults_mutex_unlock(&locks[i].mutex) == 0);
    }
}

/* Whoever takes a token brings one, sooner or later: nobody waits for ever. */
static void use_condition(struct worker *self) {
    require(catapults_mutex_lock(&gate) == 0);
    if (any(self, 2)) {
        tokens++;
        require((any(self, 3) ? catapults_cond_signal : catapults_cond_broadcast)(&cond) == 0);
    } else {
        int64_t until = catapults_now() + any(self, 400) * US;
        int error = 0;
        while (!tokens && !error)
            error = catapults_cond_wait_until(&cond, &gate, until);
        require(error == 0 || error == ETIMEDOUT);
        tokens -= tokens > 0;
    }
    require(catapults_mutex_unlock(&gate) == 0);
}

static void use_semaphore(struct worker *self) {
    int error = any(self, 2) ? catapults_sem_wait(&semaphore)
                             : catapults_sem_wait_until(&semaphore, catapults_now() + any(self, 200) * US);
    require(error == 0 || error == ETIMEDOUT);
    if (error)
        return;
    require(atomic_fetch_add(&inside_semaphore, 1) < 3);
    catapults_yield();
    atomic_fetch_sub(&inside_semaphore, 1);
    require(catapults_sem_post(&semaphore) == 0);
}

static void use_rwlock(struct worker *self) {
    if (any(self, 3)) {
        require(catapults_rwlock_rdlock(&rwlock) == 0);
        atomic_fetch_add(&readers, 1);
        require(atomic_load(&writers) == 0);
        catapults_yield();
        atomic_fetch_sub(&readers, 1);
    } else {
        require(catapults_rwlock_wrlock(&rwlock) == 0);
        require(atomic_fetch_add(&writers, 1) == 0 && atomic_load(&readers) == 0);
        catapults_yield();
        atomic_fetch_sub(&writers, 1);
    }
    require(catapults_rwlock_unlock(&rwlock) == 0);
}

/* ---- What threads do --------------------------------------------------------------------------------------------- */

static void *come_and_go(void *argument) {
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

/* Some requests are another server's. */
static void *serve(void *argument) {
    struct worker own = {.random = 12345};
    struct catapults_message *message;
    while (catapults_port_receive(&port, &message) == 0) {
        if (any(&own, 3) == 0) {
            require(catapults_port_send(&passed_on, message) == 0);
            continue;
        }
        if (any(&own, 3) == 0)
            use_leaf(&own);
        message->kind++;
        require(catapults_port_reply(message) == 0);
    }
    catapults_port_close(&passed_on);
    return argument;
}

static void *serve_further(void *argument) {
    struct worker own = {.random = 54321};
    struct catapults_message *message;
    while (catapults_port_receive(&passed_on, &message) == 0) {
        if (any(&own, 2))
            use_leaf(&own);
        message->kind++;
        require(catapults_port_reply(message) == 0);
    }
    return argument;
}

static void move(struct worker *self) {
    uint64_t masks[] = {0, 1, 2, 3}; /* these there are: two at least */
    require(catapults_setaffinity(catapults_self(), masks[any(self, 4)]) == 0);
}

static void change_scheduler(struct worker *self) {
    if (self->number >= WORKERS)
        return; /* it is under none */
    catapults_scheduler_t to = any_scheduler(self);
    int error = catapults_scheduler_attach(to ? to : catapults_scheduler_root());
    require(error == 0 || error == EAGAIN || error == ENOSPC || error == ENOMEM); /* the policy there may refuse it */
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

/* Each is taken once: they queue. What is sent to who has ended is not counted. */
static void take_signal(int number) {
    int error = error_here();
    if (catapults_now() % 3 == 0)
        catapults_yield();
    atomic_fetch_add(&taken, number == SIGRTMIN);
    set_error_here(error);
}

static void send_signals(struct worker *self) {
    for (int i = any(self, 4); i >= 0; i--) {
        catapults_t thread = workers[any(self, WORKERS)].thread;
        int error = catapults_sigqueue(thread, SIGRTMIN, (union sigval){0});
        require(error == 0 || error == ESRCH || error == EAGAIN);
        atomic_fetch_add(&sent, error == 0);
    }
    if (any(self, 3) == 0)
        kill(getpid(), SIGUSR1);
}

/* One of the thread's own that it blocks is there when it looks. */
static void wait_for_signal(struct worker *self) {
    sigset_t set, before;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    require(catapults_sigmask(SIG_BLOCK, &set, &before) == 0);
    if (any(self, 2)) {
        int error = catapults_kill(catapults_self(), SIGUSR2), number;
        require(error == 0 || error == EAGAIN);
        catapults_yield();
        require(error != 0 || (catapults_sigwait(&set, &number) == 0 && number == SIGUSR2));
    } else {
        int number = catapults_sigtimedwait(&set, &info, catapults_now() + any(self, 200) * US);
        require(number == -1 && (error_here() == EAGAIN || error_here() == EINTR));
    }
    require(catapults_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

static void use_signals(struct worker *self) {
    if (signals && any(self, 3) == 0)
        wait_for_signal(self);
    else if (signals)
        send_signals(self);
}

static void begin_signals(void) {
    struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART};
    require(catapults_sigaction(SIGRTMIN, &action, NULL) == 0);
    require(catapults_sigaction(SIGUSR1, &action, NULL) == 0);
}

static void do_something(struct worker *self) {
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

/* ---- Threads that threads schedule, and stand-ins ---------------------------------------------------------------- */

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

static void make_groups(struct worker *self) {
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

static void join_groups(void) {
    for (int i = 0; i < GROUPS; i++)
        for (int j = 0; j < CLIENTS; j++)
            require(catapults_join(groups[i].clients[j].thread, NULL) == 0);
    for (int i = GROUPS; i-- > 0;)
        require(catapults_join(groups[i].scheduler.thread, NULL) == 0);
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

/* A scheduler comes, has a thread, and goes. */
static void use_scheduler(struct worker *self) {
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

/* Whose records last until all are joined. */
static catapults_t any_thread(struct worker *self) {
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

static void replace_one(struct worker *self) {
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
    signals = any(&self, 2) && !options.activations && !getenv("CATAPULTS_ACTIVATIONS");
    fprintf(stderr, "seed %llu: %d processors, %s, tick %lld us, %s%s%s%s\n", (unsigned long long)seed,
            options.processors, policy ? file_of(policy) : "built in", (long long)options.tick / US, options.io,
            options.cooperative ? ", cooperative" : "", options.activations ? ", activations" : "",
            signals ? ", signals" : "");
    require(catapults_init(&options) == 0);
    if (signals)
        begin_signals();
    register_variables();
    if (any(&self, 3))
        grow_tree(&self);
    require(catapults_key_create(&key, NULL) == 0);
    require(catapults_barrier_init(&barrier, WORKERS) == 0);
    for (int i = 0; i < PIPES; i++)
        require(pipe2(pipes[i], O_NONBLOCK | O_CLOEXEC) == 0);
    for (int i = 0; i < MUTEXES; i++) {
        struct catapults_mutex_attributes attributes = {.type = (enum catapults_mutex_type)i,
                                                        .protocol = (enum catapults_mutex_protocol)any(&self, 2)};
        require(catapults_mutex_init(&locks[i].mutex, &attributes) == 0);
    }
    catapults_t server, further;
    require(catapults_create(&server, NULL, serve, NULL) == 0);
    require(catapults_create(&further, NULL, serve_further, NULL) == 0);
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
    catapults_port_close(&port);
    require(catapults_join(server, NULL) == 0);
    require(catapults_join(further, NULL) == 0);
    require(atomic_load(&taken) == atomic_load(&sent));
    require(leaf.state == 0 && leaves == atomic_load(&leaves_taken));
    while (atomic_load(&children_ended) < atomic_load(&children))
        catapults_sleep(50 * US);
    for (int i = 0; i < MUTEXES; i++)
        require(locks[i].mutex.state == 0 && locks[i].counted == atomic_load(&locked[i]));
    require(strcmp(catapults_policy_name(), "fifo (built-in)") != 0 || !policy || replaces);
    for (int i = 0; i < tree_count; i++) {
        const char *name = catapults_scheduler_policy_name(tree[i].scheduler);
        require(strcmp(name, "fifo (built-in)") != 0 || !tree[i].policy || replaces);
    }
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
    find_policies(POLICIES "/of_the_library");
    for (int i = 0; i < 3; i++) {
        static const char *const ours[] = {POLICIES "/urgency.so", POLICIES "/eager.so", POLICIES "/turns.so"};
        require(policies_count < POLICIES_MOST);
        policies[policies_count++] = strdup(ours[i]);
    }
    qsort(policies + 1, (size_t)policies_count - 1, sizeof *policies, compare);
    find_nodes();
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
