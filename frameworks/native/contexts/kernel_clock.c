#include "contexts/kernel_clock.h"

#include <link.h>
#include <sys/auxv.h>

#include "contexts/system.h"
#include "contexts/text.h"
#include "contexts/tools.h"

#if defined(__x86_64__)
#define NAME "__vdso_clock_gettime"
#elif defined(__aarch64__)
#define NAME "__kernel_clock_gettime"
#endif

/* As clock_gettime(2); an error number, negated. */
typedef int clock_reader(clockid_t clock, struct timespec *time);

static clock_reader find;
static clock_reader *in_image(const ElfW(Ehdr) * image);

static clock_reader *reader = find;

TOOLS_UNSEEN int64_t clock_time(clockid_t clock) {
    struct timespec time;
    __atomic_load_n(&reader, __ATOMIC_RELAXED)(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int ask_kernel(clockid_t clock, struct timespec *time) {
    return (int)system_call(SYS_clock_gettime, clock, (long)time, 0, 0);
}

/* Several may look at once, and find the same. Emulators and tools may hide the code. */
static int find(clockid_t clock, struct timespec *time) {
    const ElfW(Ehdr) *image = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
    clock_reader *found = image ? in_image(image) : NULL;
    if (!found)
        found = ask_kernel;
    __atomic_store_n(&reader, found, __ATOMIC_RELAXED);
    return found(clock, time);
}

/* The kernel's image is a shared object with its symbols right before their names. Addresses in it are relative. */
static clock_reader *in_image(const ElfW(Ehdr) * image) {
    const char *begin = (const char *)image, *names = NULL;
    const ElfW(Phdr) *parts = (const ElfW(Phdr) *)(begin + image->e_phoff);
    const ElfW(Dyn) *entry = NULL;
    const ElfW(Sym) *symbols = NULL;
    uintptr_t base = 0;
    for (int i = image->e_phnum - 1; i >= 0; i--) { /* the first to be loaded begins where the image does */
        if (parts[i].p_type == PT_LOAD)
            base = (uintptr_t)begin + parts[i].p_offset - parts[i].p_vaddr;
        else if (parts[i].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)(begin + parts[i].p_offset);
    }
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            symbols = (const ElfW(Sym) *)(base + entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            names = (const char *)(base + entry->d_un.d_ptr);
    }
    for (; symbols && (const char *)(symbols + 1) <= names; symbols++)
        if (symbols->st_shndx != SHN_UNDEF && text_equal(names + symbols->st_name, NAME))
            return (clock_reader *)(base + symbols->st_value);
    return NULL;
}
