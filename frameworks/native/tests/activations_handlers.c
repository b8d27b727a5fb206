/*
 * Handlers on the stacks of interrupted threads, as a thread library has them for signals: sa_call and sa_forget of
 * <sa.h>. The library is support/small_threads.h, whose upcalls are answered here where a thread has a handler to run.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "support/child.h"
#include "support/small_threads.h"

enum { MILLISECOND = 1000000, RED_ZONE = 128 };

static struct small_thread threads[8];
static void (*handler)(ucontext_t *context);
static _Atomic int calls_it = SA_UPCALL_USER; /* the upcall that does; NONE: all upcalls are the library's */
enum { NONE = -1 };
static _Atomic int handled;
static _Atomic bool stop, done;
static int ends[2];

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* On the thread's stack; the upcall's hold is still there. */
static void begin_handler(void *context) {
    sa_release();
    handled++;
    (*handler)(context);
    sa_hold();
    sa_resume(context);
}

/* The upcall is answered here; its stack is given back with the next one there. */
static void book(int type, int cpu) {
    char here;
    small.upcalls[type]++;
    small.given--;
    small.idle[cpu] = 0;
    if (small.left[cpu])
        small_give_stack(small.left[cpu]);
    small.left[cpu] = (void *)((uintptr_t)&here / SMALL_STACK * SMALL_STACK);
}

static void upcall(int type, struct sa_t *sas[], int events, int interrupted, void *argument) {
    int cpu = sas[0]->sa_cpu;
    if (type != calls_it || events != 1 || !sas[1]->sa_context)
        small_upcall(type, sas, events, interrupted, argument);
    small_lock_held();
    struct small_thread **thread =
        type == SA_UPCALL_UNBLOCKED ? &small.blocked[sas[1]->sa_id] : &small.current[sas[1]->sa_cpu];
    if (!*thread || !(*thread)->stack) { /* not yet known as blocked, or `main`, whose stack is not the library's */
        atomic_flag_clear_explicit(&small.lock, memory_order_release);
        small_upcall(type, sas, events, interrupted, argument);
    }
    if (type == SA_UPCALL_UNBLOCKED) {
        if (interrupted)
            small_stopped(sas[2], true);
        small.current[cpu] = *thread;
        *thread = NULL;
    }
    book(type, cpu);
    atomic_flag_clear_explicit(&small.lock, memory_order_release);
    sa_call(sas[1]->sa_context, begin_handler, sas[1]->sa_context);
}

static void start(int processors) {
    alarm(HANGS);
    require(small_start(1) == 0 && sa_register(upcall, NULL, SA_FLAG_FIXED, -1) == 0);
    require(sa_setconcurrency(processors) == processors);
}

static bool on_stack_of(const struct small_thread *thread, const void *address) {
    return (size_t)((const char *)address - (const char *)thread->stack) < SMALL_STACK;
}

static uintptr_t stack_pointer(const ucontext_t *context) {
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP] - RED_ZONE;
#else
    return (uintptr_t)context->uc_mcontext.sp;
#endif
}

/* AddressSanitizer would take what a jump has left for what it was. */
static void forget_frames(void *from, void *to) {
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(from, (size_t)((char *)to - (char *)from) - 1024);
#else
    (void)from, (void)to;
#endif
}

/* Overwrites what is unused of the stack. */
static __attribute__((noinline)) void scribble(void) {
    volatile char below[24 << 10];
    for (size_t i = 0; i < sizeof below; i++)
        below[i] = (char)0xcc;
}

/* Whatever the interrupted code has in registers and on its stack must be as it was. */
static __attribute__((noinline)) uint64_t compute(void) {
    enum { ROUNDS = 20000 };
    uint64_t a = 1, b = 2, all[16] = {0};
    double x = 1, y = 3;
    for (int i = 0; i < ROUNDS; i++) {
        a = a * 6364136223846793005u + b;
        b ^= a >> 7;
        all[a % 16] += b;
        x = x * 0.999 + (double)(a >> 60);
        y = y * 0.5 + x;
    }
    for (int i = 0; i < 16; i++)
        a = a * 31 + all[i];
    return a ^ b ^ (uint64_t)(x * 1000) ^ (uint64_t)(y * 1000);
}

static uint64_t expected;

static void begin(int processors, void (*first)(ucontext_t *context)) {
    expected = compute();
    start(processors);
    require(pipe(ends) == 0);
    handler = first;
}

static int kernel_threads(void) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    require(tasks);
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count - 2;
}

/* ---- Where it runs ----------------------------------------------------------------------------------------------- */

static void look_where(ucontext_t *context) {
    char here;
    require(on_stack_of(small_self(), &here) && (uintptr_t)&here < stack_pointer(context));
    require(sa_self() && sa_self()->sa_cpu == 0); /* it has the processor, on another activation */
    scribble();
}

static void compute_interrupted(void *times) {
    for (int i = 0; i < (int)(intptr_t)times; i++) {
        require(sa_alarm(0, now() + MILLISECOND / 5) == 0);
        while (handled == i)
            require(compute() == expected);
    }
}

static void on_the_stack_of_what_was_interrupted(void) {
    begin(1, look_where);
    small_create(&threads[0], compute_interrupted, (void *)200);
    small_join(&threads[0]);
    require(handled == 200 && kernel_threads() < 100);
}

/* ---- One within the other ---------------------------------------------------------------------------------------- */

enum { DEEP = 12 };
static _Atomic int deepest, left;
static uintptr_t depths[DEEP + 1];

static void interrupt_again(ucontext_t *context) {
    char here;
    int mine = ++deepest;
    depths[mine] = (uintptr_t)&here;
    require(on_stack_of(small_self(), &here) && depths[mine] < stack_pointer(context));
    require(mine == 1 || depths[mine] < depths[mine - 1]);
    if (mine < DEEP) {
        require(sa_interrupt(0) == 0);
        while (left != DEEP - mine)
            require(compute() == expected);
    }
    left++;
}

static void be_interrupted(void *unused) {
    (void)unused;
    require(sa_interrupt(0) == 0);
    while (left < DEEP)
        require(compute() == expected);
}

static void one_within_the_other(void) {
    begin(1, interrupt_again);
    for (int i = 0; i < 20; i++) {
        deepest = left = 0;
        small_create(&threads[0], be_interrupted, NULL);
        small_join(&threads[0]);
        require(deepest == DEEP && left == DEEP);
    }
}

/* ---- It blocks, and gives way ------------------------------------------------------------------------------------ */

static void read_in_handler(ucontext_t *context) {
    (void)context;
    char c = 0;
    calls_it = NONE;
    require(read(ends[0], &c, 1) == 1 && c == 'x');
    done = true;
}

static void be_interrupted_once(void *unused) {
    (void)unused;
    require(sa_interrupt(0) == 0);
    while (!done)
        require(compute() == expected);
}

static void a_handler_blocks(void) {
    begin(1, read_in_handler);
    for (int i = 0; i < 50; i++) {
        done = false;
        calls_it = SA_UPCALL_USER;
        small_create(&threads[0], be_interrupted_once, NULL);
        small_yield(); /* back by BLOCKED */
        require(!done && handled == i + 1 && small.upcalls[SA_UPCALL_BLOCKED] > i);
        require(write(ends[1], "x", 1) == 1);
        small_join(&threads[0]);
        require(done);
    }
}

/* The library switches it out, and it ends on whichever processor. */
static void yield_in_handler(ucontext_t *context) {
    (void)context;
    for (int i = 0; i < 5; i++) {
        require(compute() == expected);
        small_yield();
    }
}

static void compute_until_stopped(void *unused) {
    (void)unused;
    while (!stop) {
        require(compute() == expected);
        small_yield();
    }
}

static void handlers_go_on_elsewhere(void) {
    begin(2, yield_in_handler);
    for (int i = 0; i < 6; i++)
        small_create(&threads[i], compute_until_stopped, NULL);
    int64_t limit = now() + INT64_C(20000) * MILLISECOND;
    while (handled < 300 && now() < limit) {
        sa_interrupt(0);
        sa_interrupt(1);
        small_yield();
    }
    calls_it = NONE;
    stop = true;
    for (int i = 0; i < 6; i++)
        small_join(&threads[i]);
    require(handled >= 300);
}

/* ---- What came back from the kernel ------------------------------------------------------------------------------ */

static _Atomic bool returned;

static void before_it_goes_on(ucontext_t *context) {
    char here;
    (void)context;
    require(!returned && on_stack_of(small_self(), &here));
    scribble();
}

static void read_one(void *unused) {
    (void)unused;
    char c = 0;
    require(read(ends[0], &c, 1) == 1 && c == 'x');
    returned = true;
}

static void below_what_came_back(void) {
    calls_it = SA_UPCALL_UNBLOCKED;
    begin(1, before_it_goes_on);
    for (int i = 0; i < 50; i++) {
        returned = false;
        small_create(&threads[0], read_one, NULL);
        small_yield();
        require(!returned && write(ends[1], "x", 1) == 1);
        small_join(&threads[0]);
        require(returned);
    }
    require(handled > 25); /* the others were back before they were known to be away */
}

/* ---- Forgetting -------------------------------------------------------------------------------------------------- */

static ucontext_t before[8];

/* Interrupts whoever calls it, wherever that runs; if there is no activation for it, somewhat later. */
static void interrupt_self(void) {
    sa_hold();
    require(sa_interrupt(sa_self()->sa_cpu) == 0);
    sa_release();
}

/* As siglongjmp out of a handler: the frames in between are gone, and their memory is used anew at once. */
static void jump_out(ucontext_t *context) {
    int self = (int)(small_self() - threads);
    sa_forget(context);
    setcontext(&before[self]);
}

static void be_jumped_out_of(void *times) {
    volatile int jumped = -1;
    int self = (int)(small_self() - threads);
    getcontext(&before[self]);
    forget_frames(threads[self].stack, __builtin_frame_address(0));
    scribble();
    if (++jumped == (int)(intptr_t)times)
        return;
    interrupt_self();
    for (;;)
        require(compute() == expected);
}

static void what_is_forgotten_does_not_go_on(void) {
    begin(1, jump_out);
    small_create(&threads[0], be_jumped_out_of, (void *)(2 * SA_ACTIVATIONS_MOST));
    small_join(&threads[0]);
    require(handled == 2 * SA_ACTIVATIONS_MOST && kernel_threads() < 100); /* activations are used anew */
}

static void on_several_processors(void) {
    begin(2, jump_out);
    for (int i = 0; i < 4; i++)
        small_create(&threads[i], be_jumped_out_of, (void *)200);
    for (int i = 0; i < 4; i++)
        small_join(&threads[i]);
    require(handled >= 800 && kernel_threads() < 100);
}

/* Several at once, the innermost first; where they waited is written over before the next is forgotten. */
static ucontext_t *waiting[DEEP + 1];

static void forget_all(ucontext_t *context) {
    waiting[++deepest] = context;
    if (deepest < DEEP) {
        interrupt_self();
        for (;;)
            require(compute() == expected);
    }
    while (deepest > 0)
        sa_forget(waiting[deepest--]);
    setcontext(&before[0]);
}

static void one_within_the_other_is_forgotten(void) {
    begin(1, forget_all);
    small_create(&threads[0], be_jumped_out_of, (void *)20);
    small_join(&threads[0]);
    require(handled == 20 * DEEP && kernel_threads() < 100);
}

/* A thread that ends in its handler: nothing of its stack is used when nobody is on it any more. */
static void end_in_handler(ucontext_t *context) {
    sa_forget(context);
    small_lock();
    struct small_thread *self = small_self();
    self->ended = true;
    small_leave(self, false);
}

static void spin(void *unused) {
    (void)unused;
    interrupt_self();
    for (;;)
        ;
}

static void a_thread_ends_in_its_handler(int processors) {
    begin(processors, end_in_handler);
    for (int i = 0; i < 50; i++) {
        for (int k = 0; k < 4; k++)
            small_create(&threads[k], spin, NULL);
        for (int k = 0; k < 4; k++) {
            small_join(&threads[k]);
            small_unpoison(threads[k].stack);
            require(munmap(threads[k].stack, SMALL_STACK) == 0);
        }
    }
    require(handled == 200);
}
static void its_stack_is_not_used_any_more(void) { a_thread_ends_in_its_handler(1); }
static void nor_on_two(void) { a_thread_ends_in_its_handler(2); }

static void what_came_back_is_forgotten(void) {
    calls_it = SA_UPCALL_UNBLOCKED;
    begin(1, end_in_handler);
    char c;
    for (int i = 0; i < 50; i++) {
        returned = false;
        small_create(&threads[0], read_one, NULL);
        small_yield();
        require(write(ends[1], "x", 1) == 1);
        small_join(&threads[0]);
        small_unpoison(threads[0].stack);
        require(munmap(threads[0].stack, SMALL_STACK) == 0);
    }
    require(handled > 25 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    require(read(ends[0], &c, 1) == -1); /* it has been read by them all */
}

/* What is in the kernel cannot be: it is refused, and the thread comes back as ever. */
static _Atomic int refused;

static void forget_what_blocked(int type, struct sa_t *sas[], int events, int interrupted, void *argument) {
    if (type == SA_UPCALL_BLOCKED) {
        errno = 0;
        require(sa_forget(sas[1]->sa_context) == -1 && errno == EBUSY);
        refused++;
    }
    small_upcall(type, sas, events, interrupted, argument);
}

static void what_is_blocked_is_not_forgotten(int processors) {
    begin(processors, NULL);
    require(sa_register(forget_what_blocked, NULL, SA_FLAG_FIXED, -1) == 0);
    for (int i = 0; i < 50; i++) {
        returned = false;
        small_create(&threads[0], read_one, NULL);
        for (int before = refused; refused == before;)
            small_yield();
        require(!returned && write(ends[1], "x", 1) == 1);
        small_join(&threads[0]);
        require(returned);
    }
}
static void what_is_blocked_is_refused(void) { what_is_blocked_is_not_forgotten(1); }
static void on_two_as_well(void) { what_is_blocked_is_not_forgotten(2); }

/* By another thread than its own, on another processor. */
static ucontext_t *_Atomic left_behind;

static void leave_behind(ucontext_t *context) {
    small_lock();
    left_behind = context;
    small_leave(small_self(), false);
}

static void another_thread_forgets_it(void) {
    begin(2, leave_behind);
    for (int i = 0; i < 200; i++) {
        small_create(&threads[0], spin, NULL);
        while (!left_behind)
            small_yield();
        sa_forget(left_behind);
        left_behind = NULL;
        small_lock(); /* it has left */
        small_unlock();
        small_unpoison(threads[0].stack);
        require(munmap(threads[0].stack, SMALL_STACK) == 0);
    }
    require(handled == 200 && kernel_threads() < 100);
}

/* ---- In a child of fork ------------------------------------------------------------------------------------------ */

/* The child has no activations, and goes on with what its thread was interrupted in. */
static pid_t parent;

static void fork_in_handler(ucontext_t *context) {
    calls_it = NONE;
    parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        sa_resume(context);
    int status;
    while (waitpid(pid, &status, 0) == -1)
        require(errno == EINTR);
    require(status == 0);
    done = true;
}

static void exit_if_child(void *unused) {
    (void)unused;
    require(sa_alarm(0, now() + MILLISECOND) == 0); /* by a signal */
    while (!done) {
        require(compute() == expected);
        if (parent && getpid() != parent) {
            require(!sa_self());
            sa_forget(NULL); /* does nothing there */
            _exit(0);
        }
    }
}

static void a_child_goes_on(void) {
    begin(1, fork_in_handler);
    for (int i = 0; i < 10; i++) {
        done = false;
        parent = 0;
        calls_it = SA_UPCALL_USER;
        small_create(&threads[0], exit_if_child, NULL);
        small_join(&threads[0]);
        require(done);
    }
}

/* ---- The first activation, which waits in sa_enable -------------------------------------------------------------- */

static char *above; /* a frame of the caller of sa_enable */

static void note_where(ucontext_t *context) {
    char here;
    (void)context;
    require(&here < above && (size_t)(above - &here) < SMALL_STACK);
}

static void first_upcall(int type, struct sa_t *sas[], int events, int interrupted, void *argument) {
    if (type != SA_UPCALL_NEWPROC || events != 1)
        small_upcall(type, sas, events, interrupted, argument);
    small_lock_held();
    small.current[sas[1]->sa_cpu] = &small.main;
    book(type, sas[0]->sa_cpu);
    atomic_flag_clear_explicit(&small.lock, memory_order_release);
    sa_call(sas[1]->sa_context, begin_handler, sas[1]->sa_context);
}

static void on_the_stack_of_who_enables(void) {
    char here;
    alarm(HANGS);
    above = &here;
    handler = note_where;
    require(small_start_with(first_upcall, 1) == 0);
    require(handled == 1);
    small_create(&threads[0], exit_if_child, NULL);
    done = true;
    small_join(&threads[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(on_the_stack_of_who_enables),
        child_test(on_the_stack_of_what_was_interrupted),
        child_test(one_within_the_other),
        child_test(a_handler_blocks),
        child_test(handlers_go_on_elsewhere),
        child_test(below_what_came_back),
        child_test(what_is_forgotten_does_not_go_on),
        child_test(on_several_processors),
        child_test(one_within_the_other_is_forgotten),
        child_test(its_stack_is_not_used_any_more),
        child_test(nor_on_two),
        child_test(what_came_back_is_forgotten),
        child_test(what_is_blocked_is_refused),
        child_test(on_two_as_well),
        child_test(another_thread_forgets_it),
        child_test(a_child_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
