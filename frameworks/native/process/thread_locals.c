/*
 * A program has its thread_local variables in one segment (PT_TLS), of which each kernel thread has a copy. If each
 * thread is to have its own, the values are exchanged at each switch, and the addresses stay. So nothing that libc
 * keeps for the kernel thread is touched, and nothing need be known of how it does. In the segment:
 *
 *     the application's │ the runtime's (contexts/here.h), which stay │ the application's
 *     0                 first                                   behind              size
 *
 * It is the executable's segment only. Libraries, libc among them, have others.
 */
#include "process/thread_locals.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include "catapults.h"
#include "contexts/libc.h"
#include "contexts/text.h"
#include "process/report.h"
#include "process/runtime.h"

static struct {
    const char *image; /* what a kernel thread's copy begins as: `given` bytes, and zeros */
    size_t given, size, first, behind;
    ptrdiff_t at; /* where the copy is, from the kernel thread's pointer */
    bool found, linked_statically;
} segment;

static char *copy_here(void) { return (char *)__builtin_thread_pointer() + segment.at; }

/* Behind the policy's part. */
static char *kept_of(struct member *thread) { return (char *)&thread->dispatched.policy + thread->dispatched.room; }

/* Most programs have few: a call would take longer. */
static inline void copy_part(char *to, const char *from, size_t size) {
    enum { FEW = 128, WORD = 8 };
    if (size > FEW) {
        memcpy(to, from, size);
        return;
    }
    if (size < WORD) {
        for (size_t at = 0; at < size; at++)
            to[at] = from[at];
        return;
    }
    for (size_t at = 0; at < size - WORD; at += WORD)
        __builtin_memcpy(to + at, from + at, WORD);
    __builtin_memcpy(to + size - WORD, from + size - WORD, WORD); /* some for the second time */
}

static void copy(char *to, const char *from) {
    copy_part(to, from, segment.first);
    copy_part(to + segment.behind, from + segment.behind, segment.size - segment.behind);
}

/* Called in the dispatcher, between two threads; NULL: none. */
static void exchange(struct dispatcher_thread *from, struct dispatcher_thread *to) {
    char *here = copy_here();
    if (from)
        copy(kept_of(member_of(from)), here);
    if (to)
        copy(here, kept_of(member_of(to)));
}

void thread_locals_begin(struct member *thread) {
    char *kept = kept_of(thread);
    memcpy(kept, segment.image, segment.given);
    memset(kept + segment.given, 0, segment.size - segment.given);
    thread->dispatched.excepted = true;
}

/* Looks at the first object, which is the executable. */
static int find(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    segment.linked_statically = true;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        segment.linked_statically &= part->p_type != PT_INTERP;
        if (part->p_type != PT_TLS || !object->dlpi_tls_data)
            continue;
        segment.image = (const char *)(object->dlpi_addr + part->p_vaddr);
        segment.given = part->p_filesz;
        segment.size = part->p_memsz;
        segment.at = (char *)object->dlpi_tls_data - (char *)__builtin_thread_pointer();
        segment.first = (size_t)((char *)here() - copy_here());
        segment.behind = segment.first + sizeof(struct here);
        segment.found = segment.behind <= segment.size; /* else the runtime is in a library */
    }
    return 1;
}

static bool is_wanted(const struct catapults_options *options) {
    const char *text = libc_environment("CATAPULTS_THREAD_LOCAL");
    bool wanted = options->own_thread_locals || (text && text_equal(text, "own"));
    if (!wanted && text && *text && !text_equal(text, "shared"))
        runtime_report("CATAPULTS_THREAD_LOCAL is \"%s\": it must be \"own\" or \"shared\"", text);
    return wanted;
}

int thread_locals_prepare(const struct catapults_options *options, struct dispatcher_host *host) {
    if (!is_wanted(options))
        return 0;
    if (runtime.activations) {
        runtime_report("thread_local variables cannot be each thread's own with activations: a thread that is blocked "
                       "in the kernel keeps those of its kernel thread; do without one of the two");
        return EINVAL;
    }
    dl_iterate_phdr(find, NULL);
    if (segment.linked_statically) {
        runtime_report("thread_local variables cannot be each thread's own in a program that is linked statically: "
                       "libc's are among them; link it with shared libraries");
        return EINVAL;
    }
    if (!segment.found) {
        runtime_report("thread_local variables cannot be each thread's own: those of the runtime are not among the "
                       "executable's; link libcatapults.a into the executable");
        return EINVAL;
    }
    if (segment.first == 0 && segment.behind == segment.size)
        return 0; /* the application has none */
    runtime.thread_locals_size = (segment.size + 63) & ~(size_t)63;
    host->exchange = exchange;
    return 0;
}
