/*
 * Preemption: interrupts a processor, and says whether the code that was interrupted may be left where it stands.
 *
 *   code.c     which code is the application's
 *   signal.c   the handler: looks where the program counter is
 *   timer.c    what interrupts a kernel thread at an instant
 *
 * The kernel's signal frame, on the stack of the interrupted thread, keeps all of its registers, vectors included; the
 * handler calls back from there, and whoever is called back may switch to another context. A section of the runtime
 * that must not be interrupted pays nothing for that: it is known by where its code is (2002, §6, at its end).
 */
#ifndef CATAPULTS_PREEMPTION_H
#define CATAPULTS_PREEMPTION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Debuggers let it pass, and who gets one too many ignores it. */
#define PREEMPTION_SIGNAL SIGURG

enum preemption_where {
    PREEMPTION_ELSEWHERE,  /* in the runtime, in libc, in a handler of another signal: it must not be left now */
    PREEMPTION_APPLICATION /* in the application's own code: what is called back may switch to another context */
};

/* Called in the handler, with errno free to be changed. If it switches, it returns when somebody switches back, perhaps
 * on another kernel thread. True: call again shortly. */
typedef bool preemption_interrupted(enum preemption_where where);

/* Once, before the rest. Returns 0, or why there is none: EINVAL (`runtime` is an address of the runtime's code, and
 * was not linked with text.ld), ENOTSUP (the program is linked statically: its libc cannot be told from its own code).
 */
int preemption_start(preemption_interrupted *interrupted, const void *runtime);

/* The calling kernel thread can be interrupted from now on. Its signal mask is that of all threads that it runs:
 * whoever blocks more signals is not left. Returns 0 or an error number. */
int preemption_attach(void);

/* Interrupts the calling kernel thread at an instant of CLOCK_MONOTONIC, in nanoseconds; not at one that was asked for
 * before. Calls no libc function. */
void preemption_arm(int64_t instant);

/* As sigaction, for a signal that is not to be put off by tools that look on: it must come at any instruction. `flags`:
 * besides SA_SIGINFO and SA_RESTART. Returns 0 or an error number. */
int preemption_install(int signal, void (*handler)(int, siginfo_t *, void *), unsigned long flags);

/* ---- Which code is the application's ----------------------------------------------------------------------------- */

/* Whether the instruction belongs to the executable, but not to the runtime; or to an object that was registered. */
bool preemption_is_application(uintptr_t instruction);

/* Registers the object (a library, the executable) that the address is in: all its code may be left at any
 * instruction. ENOENT: there is no such object, ENOSPC: too many. */
int preemption_register(const void *address);

#endif
