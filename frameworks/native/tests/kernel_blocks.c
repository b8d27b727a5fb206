/*
 * Threads that block in the kernel leave the processor, whatever they block on (catapults_options.activations).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "activations/activation.h"
#include "catapults.h"
#include "support/beats.h"
#include "support/child.h"

#define MILLISECOND INT64_C(1000000)

static void start_several(int processors) {
    alarm(HANGS);
    const struct catapults_options options = {.activations = true, .processors = processors};
    require(catapults_init(&options) == 0);
}

static void start(void) { start_several(1); }

static catapults_t create(void *(*body)(void *), void *argument) {
    catapults_t thread;
    require(catapults_create(&thread, NULL, body, argument) == 0);
    return thread;
}

static void join(catapults_t thread) { require(catapults_join(thread, NULL) == 0); }

static void sleep_in_kernel(int64_t nanoseconds) {
    struct timespec left = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    while (nanosleep(&left, &left) != 0)
        require(errno == EINTR);
}

static int ends[2];
static volatile bool done;

static void *read_pipe(void *unused) {
    char c;
    require(read(ends[0], &c, 1) == 1 && c == 'x'); /* the system call itself */
    done = true;
    return unused;
}

static void read_leaves_the_processor(void) {
    start();
    require(pipe(ends) == 0);
    for (int i = 0; i < 100; i++) {
        done = false;
        catapults_t thread = create(read_pipe, NULL);
        catapults_yield(); /* only by the upcall does the caller go on */
        require(!done && catapults_threads_suspended() == 1 && catapults_threads_total() == 2);
        require(write(ends[1], "x", 1) == 1);
        join(thread);
        require(done);
    }
}

/* All of them block, and some have to keep the processor then. */
static void block_by_many(int processors) {
    enum { MANY = SA_BLOCKED_MOST + 100 };
    static char all[MANY];
    static catapults_t threads[MANY];
    require(pipe(ends) == 0);
    pid_t writer = fork();
    require(writer >= 0);
    if (writer == 0) {
        usleep(1000000);
        memset(all, 'x', sizeof all);
        _exit(write(ends[1], all, sizeof all) == sizeof all ? 0 : 1);
    }
    start_several(processors);
    for (int i = 0; i < MANY; i++)
        threads[i] = create(read_pipe, NULL);
    for (int i = 0; i < MANY; i++)
        join(threads[i]);
    require(waitpid(writer, NULL, 0) == writer);
}
static void more_block_than_can_leave(void) { block_by_many(1); }
static void more_block_than_can_leave_on_two(void) { block_by_many(2); }

static volatile int handled;

static void handle(int signal) { handled += signal; }

/* Who is in its last call of the kernel gets them before it ends. */
static void signals_come_before_the_end(void) {
    start();
    require(pipe(ends) == 0);
    require(catapults_sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle}, NULL) == 0);
    catapults_t thread = create(read_pipe, NULL);
    catapults_yield();
    require(catapults_kill(thread, SIGUSR1) == 0);
    catapults_sleep(2 * MILLISECOND);
    require(handled == 0 && write(ends[1], "x", 1) == 1);
    join(thread);
    require(handled == SIGUSR1);
}

static _Atomic int asleep_at_once, most_at_once;

static void *sleep_for(void *milliseconds) {
    int others = asleep_at_once++;
    if (others >= most_at_once)
        most_at_once = others + 1;
    sleep_in_kernel((intptr_t)milliseconds * MILLISECOND);
    asleep_at_once--;
    return NULL;
}

/* Nobody is ready meanwhile: the processor waits, and no deadlock is reported. On a machine that has other things to do
 * the first may wake before the last has its turn, if it does not sleep for longer. */
static void sleep_at_once(int processors) {
    start_several(processors);
    for (intptr_t milliseconds = 200; most_at_once < 8; milliseconds *= 2) {
        require(milliseconds < 10000);
        catapults_t threads[8];
        for (int i = 0; i < 8; i++)
            threads[i] = create(sleep_for, (void *)milliseconds);
        for (int i = 0; i < 8; i++)
            join(threads[i]);
    }
}
static void sleeps_overlap(void) { sleep_at_once(1); }
static void sleeps_overlap_on_two(void) { sleep_at_once(2); }

static volatile int turns;

static void *count(void *unused) {
    while (!done) {
        turns++;
        catapults_yield();
    }
    return unused;
}

/* One computes between calls, the first thread blocks. */
static void first_thread_blocks(void) {
    start();
    catapults_t thread = create(count, NULL);
    for (int i = 0; i < 20; i++) {
        int before = turns;
        for (int tries = 0; turns == before && tries < 100; tries++) /* others may have the CPU */
            sleep_in_kernel(20 * MILLISECOND);
        require(turns > before);
    }
    done = true;
    join(thread);
}

/* A compiler keeps the address of errno, within a function. */
__attribute__((noipa)) static void set_errno(int number) { errno = number; }
__attribute__((noipa)) static int get_errno(void) { return errno; }

static void *keep_errno(void *number) {
    for (int i = 0; i < 50; i++) {
        sleep_in_kernel(MILLISECOND / 2);
        set_errno((int)(intptr_t)number);
        catapults_yield();
        require(get_errno() == (int)(intptr_t)number);
        catapults_sleep(MILLISECOND / 10);
        require(get_errno() == (int)(intptr_t)number);
    }
    return NULL;
}

static void keep_errnos(int processors) {
    start_several(processors);
    catapults_t threads[8];
    for (int i = 0; i < 8; i++)
        threads[i] = create(keep_errno, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 8; i++)
        join(threads[i]);
}
static void errno_is_the_threads_own(void) { keep_errnos(1); }
static void errno_is_the_threads_own_on_three(void) { keep_errnos(3); }

static catapults_mutex_t mutex = CATAPULTS_MUTEX_INITIALIZER;
static int inside;

static void *lock_and_sleep(void *unused) {
    for (int i = 0; i < 5; i++) {
        require(catapults_mutex_lock(&mutex) == 0);
        require(inside++ == 0);
        sleep_in_kernel(2 * MILLISECOND);
        require(--inside == 0);
        require(catapults_mutex_unlock(&mutex) == 0);
        catapults_yield();
    }
    return unused;
}

/* Those who wait for the mutex lend their turns to one who cannot use them. */
static void block_as_owners(int processors) {
    start_several(processors);
    catapults_t threads[6];
    for (int i = 0; i < 6; i++)
        threads[i] = create(lock_and_sleep, NULL);
    for (int i = 0; i < 6; i++)
        join(threads[i]);
}
static void owners_block(void) { block_as_owners(1); }
static void owners_block_on_two(void) { block_as_owners(2); }

static char *page;

static void *touch(void *unused) {
    require(*(volatile char *)page == 'u');
    done = true;
    return unused;
}

static void page_fault_leaves_the_processor(void) {
    start();
    int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    require(faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(page != MAP_FAILED);
    struct uffdio_register range = {.range = {(uintptr_t)page, 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    require(ioctl(faults, UFFDIO_REGISTER, &range) == 0);
    catapults_t thread = create(touch, NULL);
    catapults_yield();
    require(!done && catapults_threads_suspended() == 1);
    static char content[4096] = "u";
    struct uffdio_copy copy = {.dst = (uintptr_t)page, .src = (uintptr_t)content, .len = 4096};
    require(ioctl(faults, UFFDIO_COPY, &copy) == 0);
    join(thread);
    require(done);
}

static void *mixed(void *seed) {
    unsigned state = (unsigned)(intptr_t)seed;
    for (int i = 0; i < 100; i++) {
        state = state * 1103515245 + 12345;
        switch (state >> 16 & 7) {
        case 0:
            sleep_in_kernel((state >> 20 & 255) * 1000);
            break;
        case 1:
            catapults_sleep((state >> 20 & 255) * 1000);
            break;
        case 2:
            require(catapults_mutex_lock(&mutex) == 0);
            require(inside++ == 0);
            if (state & 1 << 28)
                sleep_in_kernel(50000);
            else
                catapults_yield();
            require(--inside == 0);
            require(catapults_mutex_unlock(&mutex) == 0);
            break;
        case 3:
            join(create(sleep_for, (void *)0));
            break;
        case 4:
            free(malloc(state >> 20));
            break;
        default:
            catapults_yield();
            break;
        }
    }
    return NULL;
}

static void do_all_at_once(int processors) {
    start_several(processors);
    enum { MANY = 40 };
    catapults_t threads[MANY];
    for (int i = 0; i < MANY; i++)
        threads[i] = create(mixed, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < MANY; i++)
        join(threads[i]);
    require(catapults_threads_total() == 1);
}

static void all_at_once(void) { do_all_at_once(1); }
static void all_at_once_on_two(void) { do_all_at_once(2); }
static void all_at_once_on_four(void) { do_all_at_once(4); }

/* ---- Several processors ------------------------------------------------------------------------------------------ */

static _Atomic int met, reading;
static _Atomic bool enough;

static void *read_long(void *unused) {
    char c;
    reading++;
    require(read(ends[0], &c, 1) == 1);
    return unused;
}

/* None of them lets another run: each has a processor of its own. */
static void *meet(void *expected) {
    met++;
    while (met < (intptr_t)expected)
        ;
    return NULL;
}

/* More threads are blocked than there are processors, and all of these run others. */
static void those_that_block_leave_all_processors(void) {
    enum { PROCESSORS = 2, READERS = 6 };
    start_several(PROCESSORS);
    require(pipe(ends) == 0);
    for (int round = 0; round < 20; round++) {
        catapults_t readers[READERS], others[PROCESSORS - 1];
        reading = met = 0;
        for (int i = 0; i < READERS; i++)
            readers[i] = create(read_long, NULL);
        /* One may be blocked before it reads, for a page. */
        bool all = false;
        for (int64_t end = catapults_now() + 20000 * MILLISECOND; !all && catapults_now() < end;) {
            catapults_yield();
            all = reading == READERS && catapults_threads_suspended() == READERS;
        }
        require(all);
        for (int i = 0; i < PROCESSORS - 1; i++)
            others[i] = create(meet, (void *)(intptr_t)PROCESSORS);
        meet((void *)(intptr_t)PROCESSORS);
        for (int i = 0; i < PROCESSORS - 1; i++)
            join(others[i]);
        require(write(ends[1], "xxxxxx", READERS) == READERS);
        for (int i = 0; i < READERS; i++)
            join(readers[i]);
        require(catapults_threads_total() == 1);
    }
}

static void *spin(void *unused) {
    while (!enough)
        ;
    return unused;
}

/* It is told to a processor that computes, and does not come back before another has nothing to do. */
static void who_comes_back_goes_on_where_there_is_room(void) {
    start_several(3);
    require(pipe(ends) == 0);
    catapults_t spinning = create(spin, NULL), reader;
    for (int i = 0; i < 50; i++) {
        reader = create(read_long, NULL);
        sleep_in_kernel(MILLISECOND / 2);
        require(write(ends[1], "x", 1) == 1);
        join(reader);
    }
    enough = true;
    join(spinning);
}

static void *write_now_and_then(void *unused) {
    while (!enough) {
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        require(write(ends[1], "x", 1) == 1);
    }
    return unused;
}

/* These make no call, and come in the way of whoever is back. */
static void come_back_to_the_less_urgent(int processors) {
    alarm(HANGS);
    require(pipe(ends) == 0);
    pthread_t writer;
    require(pthread_create(&writer, NULL, write_now_and_then, NULL) == 0);
    const struct catapults_options options = {
        .policy = POLICIES "/urgency.so", .activations = true, .processors = processors};
    require(catapults_init(&options) == 0);
    struct catapults_value most = catapults_value_int("priority", 9);
    require(catapults_set_values(catapults_self(), &most, 1) == 0);
    catapults_t spinning[4];
    for (int i = 0; i < processors; i++)
        spinning[i] = create(spin, NULL);
    for (int i = 0; i < 50; i++) {
        char c;
        require(read(ends[0], &c, 1) == 1);
    }
    enough = true;
    for (int i = 0; i < processors; i++)
        join(spinning[i]);
    pthread_join(writer, NULL);
}
static void who_comes_back_takes_a_place(void) { come_back_to_the_less_urgent(1); }
static void who_comes_back_takes_a_place_on_two(void) { come_back_to_the_less_urgent(2); }
static void who_comes_back_takes_a_place_on_four(void) { come_back_to_the_less_urgent(4); }

static void *beat(void *number) {
    for (int i = 0; i < 2; i++)
        beats_take_turn((int)(intptr_t)number);
    return NULL;
}

static void no_more_run_than_there_are_processors(void) {
    start_several(2);
    require(beats_start(2) == 0);
    catapults_t threads[BEATS];
    for (int i = 0; i < BEATS; i++)
        threads[i] = create(beat, (void *)(intptr_t)i);
    for (int i = 0; i < BEATS; i++)
        join(threads[i]);
    beats_stop();
    require(beats.windows > 0 && beats.exceeded == 0);
}

/* All wait in the kernel, then for descriptors: nobody sleeps for ever, and it is no deadlock. */
static void *wait_both_ways(void *unused) {
    for (int i = 0; i < 30; i++) {
        sleep_in_kernel(300000);
        catapults_sleep(300000);
    }
    return unused;
}

static void idle_processors_are_told(void) {
    start_several(4);
    catapults_t threads[10];
    for (int i = 0; i < 10; i++)
        threads[i] = create(wait_both_ways, NULL);
    for (int i = 0; i < 10; i++)
        join(threads[i]);
}

static void fork_while_some_are_blocked(void) {
    start_several(3);
    require(pipe(ends) == 0);
    catapults_t reader = create(read_long, NULL);
    for (int i = 0; i < 10; i++) {
        pid_t pid = catapults_fork();
        require(pid >= 0);
        if (pid == 0) {
            enough = true;
            join(create(spin, NULL));
            _exit(7);
        }
        int status;
        while (waitpid(pid, &status, 0) != pid)
            require(errno == EINTR);
        require(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    require(write(ends[1], "x", 1) == 1);
    join(reader);
}

/* libc tells every kernel thread of it by a signal of its own, and waits until all have heard. */
static void set_user(int processors) {
    start_several(processors);
    require(pipe(ends) == 0);
    catapults_t blocked = create(read_pipe, NULL);
    catapults_yield();
    for (int i = 0; i < 10; i++)
        require(setuid(getuid()) == 0);
    require(write(ends[1], "x", 1) == 1);
    join(blocked);
    require(done);
}

static void user_is_set_while_some_are_blocked(void) { set_user(1); }
static void user_is_set_while_some_are_blocked_on_two(void) { set_user(2); }

static void asked_for_by_a_variable(void) {
    require(setenv("CATAPULTS_ACTIVATIONS", "1", 1) == 0);
    require(catapults_init(NULL) == 0);
    require(pipe(ends) == 0);
    catapults_t thread = create(read_pipe, NULL);
    catapults_yield();
    require(!done && write(ends[1], "x", 1) == 1);
    join(thread);
}

static void rings_do_not_go_with_it(void) {
    const struct catapults_options options = {.activations = true, .io = "io_uring"};
    require(catapults_init(&options) == EINVAL);
}

static void the_end(void) {
    start();
    create(read_pipe, NULL);
    require(pipe(ends) == 0);
    catapults_yield();
    exit(7);
}

static void ends_while_threads_are_blocked(void **state) {
    (void)state;
    struct child child = run_child(the_end);
    assert_exit(&child, 7);
}

/* Each call asks for the processor first, however short it is. */
static void who_may_have_lost_the_processor_asks(void) {
    start();
    catapults_mutex_t mutex;
    struct lwp *self = &sa_lwps[sa_self()->sa_id - 1];
#define REQUIRE_ASKS(call)                                                                                             \
    do {                                                                                                               \
        lwp_change(self, self->word, LWP_LOST);                                                                        \
        call;                                                                                                          \
        require(lwp_state(self) == LWP_RUNNING);                                                                       \
    } while (0)
    REQUIRE_ASKS(require(catapults_self() != NULL));
    require(catapults_mutex_init(&mutex, NULL) == 0);
    for (int i = 0; i < 100; i++) {
        REQUIRE_ASKS(require(catapults_mutex_lock(&mutex) == 0));
        REQUIRE_ASKS(require(catapults_mutex_unlock(&mutex) == 0));
        REQUIRE_ASKS(require(catapults_mutex_trylock(&mutex) == 0));
        REQUIRE_ASKS(require(catapults_mutex_trylock(&mutex) == EBUSY));
        REQUIRE_ASKS(require(catapults_mutex_unlock(&mutex) == 0));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(read_leaves_the_processor),
        child_test(more_block_than_can_leave),
        child_test(more_block_than_can_leave_on_two),
        child_test(signals_come_before_the_end),
        child_test(sleeps_overlap),
        child_test(first_thread_blocks),
        child_test(errno_is_the_threads_own),
        child_test(owners_block),
        child_test(page_fault_leaves_the_processor),
        child_test(all_at_once),
        child_test(sleeps_overlap_on_two),
        child_test(errno_is_the_threads_own_on_three),
        child_test(owners_block_on_two),
        child_test(all_at_once_on_two),
        child_test(all_at_once_on_four),
        child_test(those_that_block_leave_all_processors),
        child_test(who_comes_back_goes_on_where_there_is_room),
        child_test(who_comes_back_takes_a_place),
        child_test(who_comes_back_takes_a_place_on_two),
        child_test(who_comes_back_takes_a_place_on_four),
        child_test(no_more_run_than_there_are_processors),
        child_test(idle_processors_are_told),
        child_test(fork_while_some_are_blocked),
        child_test(user_is_set_while_some_are_blocked),
        child_test(user_is_set_while_some_are_blocked_on_two),
        child_test(asked_for_by_a_variable),
        child_test(rings_do_not_go_with_it),
        child_test(who_may_have_lost_the_processor_asks),
        cmocka_unit_test(ends_while_threads_are_blocked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
