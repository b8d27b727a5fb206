/* Signals among I/O: EINTR never comes, a signal can be waited for, SIGPIPE does not end the program. */
#include "io_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/time.h>

static volatile sig_atomic_t alarms;

static void count_alarm(int number) {
    (void)number;
    alarms++;
}

static void *pass_on(void *argument) {
    int *ends = argument;
    char buffer[1000];
    ssize_t size;
    while ((size = catapults_read(ends[0], buffer, sizeof buffer)) > 0) {
        require(catapults_send_until(ends[1], buffer, (size_t)size, 0, CATAPULTS_FOREVER) == size);
        catapults_sleep(20000);
    }
    require(size == 0);
    catapults_close(ends[0]);
    catapults_close(ends[1]);
    return NULL;
}

static void a_storm_of_signals_is_not_seen(void **state) {
    (void)state;
    struct sigaction action = {.sa_handler = count_alarm}; /* no SA_RESTART */
    struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
    int in[2], out[2], file = open("/proc/self/exe", O_RDONLY);
    connect_tcp(in);
    connect_tcp(out);
    catapults_t passer = spawn(pass_on, (int[]){in[1], out[0]});
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    int64_t until = after(300 * MILLISECONDS);
    int rounds = 0;
    while (catapults_now() < until || alarms < 50) {
        char said[3000], heard[3000];
        off_t offset = rounds;
        memset(said, rounds++, sizeof said);
        require(catapults_write(in[0], said, sizeof said) == sizeof said);
        require(catapults_recv_until(out[1], heard, sizeof heard, MSG_WAITALL, CATAPULTS_FOREVER) == sizeof heard);
        require(memcmp(said, heard, sizeof said) == 0);
        require(catapults_pread(file, said, 1000, rounds) == 1000);
        require(catapults_sendfile_until(in[0], file, &offset, 1000, CATAPULTS_FOREVER) == 1000);
        require(catapults_recv_until(out[1], heard, 1000, MSG_WAITALL, CATAPULTS_FOREVER) == 1000);
        require(catapults_recv_until(out[1], heard, 1, 0, after(100000)) == -1 && errno == ETIMEDOUT);
        errno = rounds;
        catapults_sleep(300000); /* as EINTR comes to whoever polls */
        require(errno == rounds);
    }
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    signal(SIGALRM, SIG_DFL);
    catapults_close(in[0]);
    catapults_join(passer, NULL);
    catapults_close(out[1]);
    catapults_close(file);
}

static void *read_signal(void *argument) {
    struct signalfd_siginfo information;
    require(catapults_read((int)(intptr_t)argument, &information, sizeof information) == sizeof information);
    return (void *)(intptr_t)information.ssi_signo;
}

static void a_thread_waits_for_a_signal(void **state) {
    (void)state;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
    for (int flags = 0; flags <= SFD_NONBLOCK; flags += SFD_NONBLOCK) {
        int descriptor = signalfd(-1, &set, flags);
        catapults_t reader = spawn(read_signal, (void *)(intptr_t)descriptor);
        catapults_sleep(2 * MILLISECONDS);
        kill(getpid(), SIGTERM);
        void *number;
        assert_int_equal(catapults_join(reader, &number), 0);
        assert_int_equal((intptr_t)number, SIGTERM);
        catapults_close(descriptor);
    }
    assert_int_equal(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
}

static void sigpipe_is_ignored(void **state) {
    (void)state;
    struct sigaction action;
    assert_int_equal(sigaction(SIGPIPE, NULL, &action), 0);
    assert_ptr_equal(action.sa_handler, SIG_IGN);
}

int main(void) {
    const struct CMUnitTest signals[] = {
        cmocka_unit_test(a_storm_of_signals_is_not_seen),
        cmocka_unit_test(a_thread_waits_for_a_signal),
        cmocka_unit_test(sigpipe_is_ignored),
    };
    return run_with_both_drivers(signals);
}
