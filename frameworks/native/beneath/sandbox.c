#include "beneath/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "beneath/everywhere.h"
#include "beneath/thread.h"
#include "preemption/preemption.h"
#include "process/kernel_threads.h"
#include "process/report.h"

/* What the runtime calls. */
static const struct needed {
    const char *name;
    int number;
    int instead;           /* of this, which the program calls; 0: by itself */
    bool of_several;       /* only where there are several threads, or could be */
    uint64_t arguments[6]; /* as it usually has them; 0: an address or a number that no filter knows */
} needed[] = {
    {"rt_sigaction", SYS_rt_sigaction, 0, false, {0}},
    {"rt_sigprocmask", SYS_rt_sigprocmask, 0, false, {SIG_SETMASK}},
    {"rt_sigreturn", SYS_rt_sigreturn, 0, false, {0}},
    {"ppoll", SYS_ppoll, SYS_poll, false, {0}},
    {"ppoll", SYS_ppoll, SYS_select, false, {0}},
    {"ppoll", SYS_ppoll, SYS_epoll_wait, false, {0}},
    {"ppoll", SYS_ppoll, SYS_nanosleep, false, {0}},
    {"ppoll", SYS_ppoll, SYS_clock_nanosleep, false, {0}},
    {"ppoll", SYS_ppoll, 0, true, {0}},
    {"futex", SYS_futex, 0, true, {0, FUTEX_WAIT_PRIVATE}},
    {"futex", SYS_futex, 0, true, {0, FUTEX_WAKE_PRIVATE}},
    {"getpid", SYS_getpid, 0, true, {0}},
    {"gettid", SYS_gettid, 0, true, {0}},
    {"mmap", SYS_mmap, 0, true, {0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, UINT32_MAX, 0}},
    {"munmap", SYS_munmap, 0, true, {0}},
    {"rt_sigpending", SYS_rt_sigpending, 0, true, {0}},
    {"rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, 0, true, {0}},
    {"sched_yield", SYS_sched_yield, 0, true, {0}},
    {"sigaltstack", SYS_sigaltstack, 0, true, {0}},
    {"tgkill", SYS_tgkill, 0, true, {0, 0, PREEMPTION_SIGNAL}},
    {"timer_settime", SYS_timer_settime, 0, true, {0}},
    {"fstat", SYS_fstat, SYS_read, true, {0}},
    {"fcntl", SYS_fcntl, SYS_read, true, {0, F_GETFL}},
    {"recvfrom", SYS_recvfrom, SYS_read, true, {0, 0, 0, MSG_DONTWAIT}},
    {"sendto", SYS_sendto, SYS_write, true, {0, 0, 0, MSG_DONTWAIT}},
};

/* What a filter of the classic BPF says of a call. The kernel takes no other instructions than these, and jumps lead
 * forward only. A damaged one allows: the kernel refuses it. */
static uint32_t say(const struct sock_filter *code, uint32_t count, const struct seccomp_data *data) {
    uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = {0};
    for (uint32_t at = 0; at < count; at++) {
        const struct sock_filter *one = &code[at];
        uint32_t operand = BPF_SRC(one->code) == BPF_X ? x : one->k;
        bool holds;
        switch (BPF_CLASS(one->code)) {
        case BPF_LD:
        case BPF_LDX: {
            uint32_t value = one->k; /* BPF_IMM */
            if (BPF_MODE(one->code) == BPF_ABS && one->k <= sizeof *data - sizeof value)
                memcpy(&value, (const char *)data + one->k, sizeof value);
            else if (BPF_MODE(one->code) == BPF_LEN)
                value = sizeof *data;
            else if (BPF_MODE(one->code) == BPF_MEM)
                value = memory[one->k % BPF_MEMWORDS];
            *(BPF_CLASS(one->code) == BPF_LD ? &a : &x) = value;
            break;
        }
        case BPF_ST:
            memory[one->k % BPF_MEMWORDS] = a;
            break;
        case BPF_STX:
            memory[one->k % BPF_MEMWORDS] = x;
            break;
        case BPF_ALU:
            switch (BPF_OP(one->code)) {
            case BPF_ADD:
                a += operand;
                break;
            case BPF_SUB:
                a -= operand;
                break;
            case BPF_MUL:
                a *= operand;
                break;
            case BPF_DIV:
                a = operand ? a / operand : 0;
                break;
            case BPF_OR:
                a |= operand;
                break;
            case BPF_AND:
                a &= operand;
                break;
            case BPF_XOR:
                a ^= operand;
                break;
            case BPF_LSH:
                a <<= operand & 31;
                break;
            case BPF_RSH:
                a >>= operand & 31;
                break;
            case BPF_NEG:
                a = -a;
                break;
            }
            break;
        case BPF_JMP:
            switch (BPF_OP(one->code)) {
            case BPF_JEQ:
                holds = a == operand;
                break;
            case BPF_JGT:
                holds = a > operand;
                break;
            case BPF_JGE:
                holds = a >= operand;
                break;
            case BPF_JSET:
                holds = a & operand;
                break;
            default: /* BPF_JA */
                if (one->k >= count - at)
                    return SECCOMP_RET_ALLOW;
                at += one->k;
                continue;
            }
            at += holds ? one->jt : one->jf;
            break;
        case BPF_RET:
            return BPF_RVAL(one->code) == BPF_A ? a : one->k;
        case BPF_MISC:
            *(BPF_MISCOP(one->code) == BPF_TAX ? &x : &a) = BPF_MISCOP(one->code) == BPF_TAX ? a : x;
            break;
        }
    }
    return SECCOMP_RET_ALLOW;
}

static bool allows(const struct sock_fprog *filter, int number, const uint64_t *arguments) {
    struct seccomp_data data = {
        .nr = number, .arch = AUDIT_ARCH_X86_64, .instruction_pointer = (uintptr_t)&sandbox_seccomp};
    if (arguments)
        memcpy(data.args, arguments, sizeof data.args);
    switch (say(filter->filter, filter->len, &data) & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
    case SECCOMP_RET_TRACE:
    case SECCOMP_RET_USER_NOTIF: /* somebody else decides */
        return true;
    default:
        return false;
    }
}

static bool has_several(const struct sock_fprog *filter) {
    static const uint64_t thread[6] = {CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                                       CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID};
    return threads_are_many() || allows(filter, SYS_clone, thread) || allows(filter, SYS_clone3, NULL);
}

/* 0, or -EACCES: that was told. */
static long judge(const struct sock_fprog *filter) {
    bool several = has_several(filter);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const struct needed *call = &needed[i];
        if ((call->of_several && !several) || (call->instead && !allows(filter, call->instead, NULL)) ||
            allows(filter, call->number, call->arguments))
            continue;
        runtime_report("error[E0533]: a filter of seccomp is not installed, because it forbids %s, which the runtime "
                       "needs",
                       call->name);
        return -EACCES;
    }
    return 0;
}

static long judge_strict(void) {
    runtime_report(
        "error[E0533]: the strict mode of seccomp is not entered, because it forbids what the runtime needs");
    return -EACCES;
}

long sandbox_seccomp(const struct call *call) {
    struct call other = *call;
    if (call->first == SECCOMP_SET_MODE_STRICT)
        return judge_strict();
    if (call->first != SECCOMP_SET_MODE_FILTER)
        return call_kernel(call);
    long refused = call->third ? judge((const struct sock_fprog *)call->third) : 0;
    if (refused)
        return refused;
    if (dispatcher_guard.several)
        other.second |= SECCOMP_FILTER_FLAG_TSYNC;
    return call_kernel(&other);
}

long sandbox_property(const struct call *call) {
    if (call->second == SECCOMP_MODE_STRICT)
        return judge_strict();
    long refused =
        call->second == SECCOMP_MODE_FILTER && call->third ? judge((const struct sock_fprog *)call->third) : 0;
    return refused ? refused : everywhere_call(call);
}
