/*
 * Preemption without threads: two loops on stacks of their own that never give up the processor, and a handler that
 * switches between them.
 */
#include "preemption/preemption.h"
#include "process/own_code.h"

#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <sys/mman.h>
#include <time.h>

#include "contexts/context.h"
#include "support/child.h"

enum { LOOPS = 2, PERIOD = 200000 };

static struct context loops[LOOPS], home;
static int running, switches, wanted, refused;
static volatile int reading, *refused_reading; /* the latter for another process, too */

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

TOOLS_UNSEEN static bool take_turns(enum preemption_where where) {
    if (where != PREEMPTION_APPLICATION) {
        refused++;
        if (reading)
            ++*refused_reading;
        return true;
    }
    int left = running;
    if (++switches == wanted) {
        context_switch(&loops[left], &home);
    } else {
        running = (running + 1) % LOOPS;
        preemption_arm(now() + PERIOD);
        context_switch(&loops[left], &loops[running]);
    }
    return false;
}

/* Runs both loops until they have been interrupted so often. */
static void alternate(void (*first)(void *), void (*second)(void *), int often) {
    void (*const entries[LOOPS])(void *) = {first, second};
    for (int i = 0; i < LOOPS; i++) {
        struct stack *stack = stack_take(64 << 10);
        context_make(&loops[i], stack, stack, entries[i], (void *)(intptr_t)i);
    }
    require(own_code_start((const void *)(uintptr_t)context_swap) == 0);
    require(preemption_start(take_turns, own_code_has) == 0);
    require(preemption_attach() == 0);
    context_adopt(&home);
    wanted = often;
    preemption_arm(now() + PERIOD);
    context_switch(&home, &loops[0]);
    require(switches == often);
}

static volatile unsigned long progress[LOOPS];

static void count_on(void *argument) {
    for (;;)
        progress[(intptr_t)argument]++;
}

static void count(void *argument) {
    tools_begin();
    count_on(argument);
}

static void loops_that_never_yield_take_turns(void) {
    alternate(count, count, 20);
    require(progress[0] > 1000 && progress[1] > 1000);
}

/* ---- What a thread keeps ----------------------------------------------------------------------------------------- */

/* Fills vector registers, goes round until it has been interrupted, and compares. */
#if defined(__x86_64__)
#define ROUND(r)                                                                                                       \
    "movq %0, %%xmm" #r "\n\taddq $" #r ", %0\n\t"                                                                     \
    "punpcklqdq %%xmm" #r ", %%xmm" #r "\n\t"
#define COMPARE(r)                                                                                                     \
    "movq %%xmm" #r ", %%rdx\n\tsubq %0, %%rdx\n\torq %%rdx, %1\n\tpsrldq $8, %%xmm" #r "\n\t"                         \
    "movq %%xmm" #r ", %%rdx\n\tsubq %0, %%rdx\n\torq %%rdx, %1\n\taddq $" #r ", %0\n\t"
#define ALL(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
static void keep_vectors(void *argument) {
    tools_begin();
    for (uint64_t seed = 1000 * (1 + (uint64_t)(intptr_t)argument);; seed += 7) {
        uint64_t value = seed, difference = 0;
        __asm__ volatile(ALL(ROUND) "movl $50000, %%ecx\n1:\tdecl %%ecx\n\tjnz 1b\n\tmovq %2, %0\n\t" ALL(COMPARE)
                         : "+r"(value), "+r"(difference)
                         : "m"(seed)
                         : "rcx", "rdx", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                           "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
        require(difference == 0);
        progress[(intptr_t)argument]++;
    }
}
#else
static void keep_vectors(void *argument) {
    tools_begin();
    for (double seed = 1 + (double)(intptr_t)argument;; seed += 1) {
        volatile double whole = 0;
        double parts[16];
        for (int i = 0; i < 16; i++)
            parts[i] = seed * i;
        for (int i = 0; i < 1000; i++)
            for (int part = 0; part < 16; part++)
                parts[part] += 1;
        for (int i = 0; i < 16; i++)
            whole += parts[i] - 1000 - seed * i;
        require(whole == 0);
        progress[(intptr_t)argument]++;
    }
}
#endif

static void vector_registers_are_kept(void) {
    alternate(keep_vectors, keep_vectors, 50);
    require(progress[0] > 5 && progress[1] > 5);
}

/* The leaf's variables are in the red zone, below the stack pointer. */
__attribute__((noinline)) static unsigned long leaf(unsigned long seed) {
    volatile unsigned long below[12];
    for (int i = 0; i < 12; i++)
        below[i] = seed + (unsigned)i;
    for (volatile int i = 0; i < 1000; i++)
        ;
    unsigned long sum = 0;
    for (int i = 0; i < 12; i++)
        sum += below[i];
    return sum;
}

static void sum_in_leaves(void *argument) {
    tools_begin();
    for (unsigned long seed = 0;; seed++) {
        require(leaf(seed) == 12 * seed + 66);
        progress[(intptr_t)argument]++;
    }
}

static void the_red_zone_is_kept(void) {
    alternate(sum_in_leaves, sum_in_leaves, 50);
    require(progress[0] > 5 && progress[1] > 5);
}

/* A handler begins with rounding to nearest, and so would the thread that it switches to. */
static void expect_upward(void *argument) {
    tools_begin();
    for (;;) {
        volatile double one = 1, three = 3;
        require(one / three == 0.33333333333333337);
        progress[(intptr_t)argument]++;
    }
}

static void rounding_stays_that_of_the_process(void) {
    require(fesetround(FE_UPWARD) == 0);
    alternate(expect_upward, expect_upward, 20);
    require(fegetround() == FE_UPWARD);
}

/* ---- What must not be left --------------------------------------------------------------------------------------- */

static char *large;
enum { LARGE = 1 << 20 };

static void fill(void *argument) {
    tools_begin();
    for (;;) {
        memset(large, (int)(intptr_t)argument, LARGE); /* in libc, nearly always */
        require(large[0] == (char)(intptr_t)argument && large[LARGE - 1] == (char)(intptr_t)argument);
        progress[(intptr_t)argument]++;
    }
}

static void a_call_into_libc_is_finished(void) {
    large = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(large != MAP_FAILED);
    alternate(fill, count, 4);
    require(refused > 0 && progress[1] > 0);
}

static int64_t read_for;
enum { MANY_TURNS = 40 }; /* however many pass before it reads: a busy machine is slow to fork */

static void read_a_pipe(void *argument) {
    tools_begin();
    int ends[2];
    char byte;
    require(pipe(ends) == 0);
    pid_t parent = getpid();
    if (fork() == 0) {
        while (*refused_reading <= 5 && getppid() == parent)
            usleep(5000);
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    int64_t begun = now();
    reading = 1;
    require(read(ends[0], &byte, 1) == 1 && byte == 'x'); /* no EINTR */
    reading = 0;
    read_for = now() - begun;
    count_on(argument);
}

static void a_system_call_goes_on(void) {
    refused_reading = mmap(NULL, sizeof *refused_reading, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(refused_reading != MAP_FAILED);
    alternate(read_a_pipe, count, MANY_TURNS);
    require(*refused_reading > 5 && *refused_reading < 20 + read_for / 2000000); /* every 4 ms in the end */
}

static volatile int handling, handled;

static void be_slow(int signal) {
    (void)signal;
    handling = 1;
    for (int64_t end = now() + 5000000; now() < end;)
        ;
    for (volatile unsigned long i = 0; i < 20000000; i++)
        ;
    handling = 0;
    handled = 1;
}

static void raise_and_count(void *argument) {
    tools_begin();
    raise(SIGUSR1);
    count_on(argument);
}

static void never_handling(void *argument) {
    tools_begin();
    for (;;) {
        require(!handling);
        progress[(intptr_t)argument]++;
    }
}

static void a_handler_of_the_application_is_finished(void) {
    signal(SIGUSR1, be_slow);
    alternate(raise_and_count, never_handling, 4);
    require(handled && refused > 0);
}

static int passed_on;

static void own_handler(int signal) { passed_on += signal == PREEMPTION_SIGNAL; }

static void the_signal_s_other_users_get_theirs(void) {
    signal(PREEMPTION_SIGNAL, own_handler);
    require(own_code_start((const void *)(uintptr_t)context_swap) == 0);
    require(preemption_start(take_turns, own_code_has) == 0);
    require(preemption_attach() == 0);
    union sigval value = {0};
    require(sigqueue(getpid(), PREEMPTION_SIGNAL, value) == 0);
    require(passed_on == 1 && refused == 0);
}

/* ---- Whose code it is -------------------------------------------------------------------------------------------- */

static bool is_application(const void *address) { return own_code_has((uintptr_t)address); }

static void code_is_told_apart(void) {
    require(own_code_start((const void *)(uintptr_t)code_is_told_apart) == EINVAL);
    require(own_code_start((const void *)(uintptr_t)context_swap) == 0);
    require(is_application((const void *)(uintptr_t)code_is_told_apart));
    require(!is_application((const void *)(uintptr_t)context_swap));
    require(!is_application((const void *)(uintptr_t)preemption_start));
    const void *in_libc = dlsym(RTLD_DEFAULT, "fork");
    require(in_libc && !is_application(in_libc));
    require(!is_application(&running));
    require(own_code_register(in_libc) == 0 && is_application(in_libc));
    require(own_code_register(in_libc) == 0);
    require(own_code_register((const void *)16) == ENOENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(loops_that_never_yield_take_turns),
        child_test(vector_registers_are_kept),
        child_test(the_red_zone_is_kept),
        child_test(rounding_stays_that_of_the_process),
        child_test(a_call_into_libc_is_finished),
        child_test(a_system_call_goes_on),
        child_test(a_handler_of_the_application_is_finished),
        child_test(the_signal_s_other_users_get_theirs),
        child_test(code_is_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
