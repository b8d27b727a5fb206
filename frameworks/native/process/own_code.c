/*
 * Which code is the application's: the executable's own, by its program headers, without the runtime's (text.ld). Other
 * code, such as libc's, the dynamic linker's and the tools', must not be left halfway: it may hold a lock of the kernel
 * thread's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

#include "contexts/tools.h"
#include "process/own_code.h"

enum { MOST = 64 }; /* ranges */

struct range {
    uintptr_t start, end;
};

/* Set by the linker; weak, for an executable in which no object was linked with text.ld. */
extern const char __start_catapults_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_catapults_text[] __attribute__((weak, visibility("hidden")));

static struct range application[MOST];
static atomic_uint count; /* a handler may look while one is added */

static int add_executable(struct dl_phdr_info *object, size_t size, void *error);
static int add_if_it_holds(struct dl_phdr_info *object, size_t size, void *address);
static int add_object(const struct dl_phdr_info *object);
static int add(uintptr_t start, uintptr_t end);

int own_code_start(const void *runtime) {
    if ((const char *)runtime < __start_catapults_text || (const char *)runtime >= __stop_catapults_text)
        return EINVAL;
    int error = 0;
    dl_iterate_phdr(add_executable, &error);
    /* Not its address in this file, which can be a jump in a table of the executable. */
    if (!error && own_code_has((uintptr_t)dlsym(RTLD_DEFAULT, "malloc")))
        error = EBUSY;
    return error;
}

TOOLS_UNSEEN bool own_code_has(uintptr_t instruction) {
    unsigned ranges = atomic_load_explicit(&count, memory_order_acquire);
    for (unsigned i = 0; i < ranges; i++)
        if (instruction >= application[i].start && instruction < application[i].end)
            return true;
    return false;
}

int own_code_register(const void *address) {
    uintptr_t instruction = (uintptr_t)address;
    int result = own_code_has(instruction) ? EEXIST : dl_iterate_phdr(add_if_it_holds, &instruction);
    return result == 0 ? ENOENT : result == EEXIST ? 0 : result;
}

/* The first object is the executable. */
static int add_executable(struct dl_phdr_info *object, size_t size, void *error) {
    (void)size;
    int *result = error;
    *result = ENOTSUP; /* unless it has a dynamic linker */
    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_INTERP)
            *result = 0;
    if (*result == 0)
        *result = add_object(object);
    return 1;
}

/* EEXIST: it was added. */
static int add_if_it_holds(struct dl_phdr_info *object, size_t size, void *address) {
    (void)size;
    uintptr_t searched = *(uintptr_t *)address;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && searched >= start && searched < start + part->p_memsz) {
            int error = add_object(object);
            return error ? error : EEXIST;
        }
    }
    return 0;
}

static int add_object(const struct dl_phdr_info *object) {
    uintptr_t ours = (uintptr_t)__start_catapults_text, ours_end = (uintptr_t)__stop_catapults_text;
    int error = 0;
    for (unsigned i = 0; i < object->dlpi_phnum && !error; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        uintptr_t start = object->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        if (ours >= start && ours_end <= end) {
            error = add(start, ours);
            start = ours_end;
        }
        if (!error)
            error = add(start, end);
    }
    return error;
}

static int add(uintptr_t start, uintptr_t end) {
    unsigned ranges = atomic_load_explicit(&count, memory_order_relaxed);
    if (start == end)
        return 0;
    if (ranges == MOST)
        return ENOSPC;
    application[ranges] = (struct range){start, end};
    atomic_store_explicit(&count, ranges + 1, memory_order_release);
    return 0;
}
