/* Filters of seccomp: one that forbids what the runtime needs is not installed, and the program goes on; another is. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int install(unsigned forbidden, int by_prctl) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};
    if (by_prctl)
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
}

static void *sleeps(void *argument) {
    usleep(1000);
    return argument;
}

int main(void) {
    pthread_t thread;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return 1;
    if (install(SYS_ppoll, 0) != -1 || errno != EACCES)
        return 2;
    if (install(SYS_rt_sigprocmask, 1) != -1 || errno != EACCES)
        return 3;
    if (install(SYS_mkdir, 0) != 0)
        return 4;
    if (syscall(SYS_mkdir, "never", 0700) != -1 || errno != EXDEV)
        return 5;
    if (pthread_create(&thread, NULL, sleeps, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 6;
    return puts("goes on") < 0;
}
