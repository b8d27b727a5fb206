#include "contexts/system.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* else see tools.c */
int system_sigaction(int signal, const struct sigaction *action, struct sigaction *before) {
    struct kernel_action now, old;
    if (action) {
        now = (struct kernel_action){.flags = (unsigned)action->sa_flags};
        now.inform = action->sa_sigaction;
        now.mask = signal_word(&action->sa_mask);
    }
    int result = system_rt_sigaction(signal, action ? &now : NULL, before ? &old : NULL);
    if (result == 0 && before) {
        *before = (struct sigaction){.sa_flags = (int)old.flags, .sa_restorer = old.restorer};
        before->sa_sigaction = old.inform;
        signal_set_word(&before->sa_mask, old.mask);
    }
    return result;
}
#endif

int system_signal(int signal, void (*disposition)(int)) {
    return system_sigaction(signal, &(struct sigaction){.sa_handler = disposition, .sa_flags = SA_RESTART}, NULL);
}

/* Not by what compilers have for it: that is a call of their library on some machines. */
int cpus_count(const struct cpus *cpus) {
    int count = 0;
    for (size_t i = 0; i < sizeof cpus->words * 8; i++)
        count += cpus->words[i / 64] >> i % 64 & 1;
    return count;
}

bool cpus_equal(const struct cpus *one, const struct cpus *other) {
    bool equal = true;
    for (int i = 0; i < CPUS_WORDS; i++)
        equal &= one->words[i] == other->words[i];
    return equal;
}
