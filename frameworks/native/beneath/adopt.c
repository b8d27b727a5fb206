/*
 * The object that is loaded before a program's own libraries (LD_PRELOAD). Before main it adopts the kernel thread, and
 * rewrites the places where libc calls the kernel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "beneath/arrived.h"
#include "beneath/describe.h"
#include "beneath/owner.h"
#include "beneath/sites.h"
#include "beneath/thread.h"
#include "beneath/variables.h"
#include "contexts/libc.h"
#include "contexts/text.h"
#include "process/face.h"
#include "process/report.h"
#include "process/runtime.h"

#define SITES "CATAPULTS_SITES" /* the descriptor of the table, which `catapults run` has opened */

static void run_handlers(struct member *self) { (void)self; /* the kernel calls them: see arrived.h */ }

static void resized(void) { /* a record is as large as is needed when it is made */ }

/* The whole of it; NULL: it cannot be read. */
static void *read_table(int descriptor, uint64_t *size) {
    struct stat status;
    if (system_fstat(descriptor, &status) < 0 || status.st_size <= 0)
        return NULL;
    *size = (uint64_t)status.st_size;
    void *table = system_mmap(NULL, *size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    system_close(descriptor); /* Linux closes it, whatever it says */
    return system_failed(table) ? NULL : table;
}

/* Also where the kernel thread has no variables yet, which runtime_report needs. */
_Noreturn static void refuse(const char *why) {
    char line[256];
    size_t length = text_format(line, sizeof line, "catapults: the program is not started: %s\n", why);
    report_text(line, length < sizeof line ? length : sizeof line - 1);
    system_exit_group(EXIT_FAILURE);
}

/* Programs that this one starts are their own. CATAPULTS_POLICY stays for those that are written to catapults.h. */
static void leave_the_environment(void) {
    const char *loaded = getenv("LD_PRELOAD"), *rest = loaded ? strpbrk(loaded, ": ") : NULL;
    unsetenv(SITES);
    if (rest && rest[1])
        setenv("LD_PRELOAD", rest + 1, 1);
    else
        unsetenv("LD_PRELOAD");
}

/* A library's constructor may have made some. */
static bool has_threads(void) {
    enum { ITSELF_AND_ABOVE = 2 };
    struct stat tasks;
    return stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink != ITSELF_AND_ABOVE + 1;
}

__attribute__((constructor)) static void start(void) {
    enum { FSGSBASE = 2 };
    static const struct face face = {.resized = resized,
                                     .first = thread_first,
                                     .run_handlers = run_handlers,
                                     .describe_wait = describe_wait,
                                     .values = thread_values,
                                     .keeps = owner_keeps,
                                     .exchange = thread_exchange};
    static const struct catapults_options options = {0};
    uint64_t descriptor, size;
    const char *text = libc_environment(SITES);
    if (!text)
        return;               /* it was not loaded by `catapults run` */
    int error_number = errno; /* main finds it as it was */
    if (!(getauxval(AT_HWCAP2) & FSGSBASE))
        refuse("the processor, or the kernel, keeps the register %gs from programs");
    if (runtime_switch("CATAPULTS_ACTIVATIONS"))
        refuse("CATAPULTS_ACTIVATIONS is 1, and programs that were not written to catapults.h have no activations yet; "
               "unset it");
    void *memory = text_number(text, INT32_MAX, &descriptor) ? read_table((int)descriptor, &size) : NULL;
    if (!memory)
        refuse("the list of its calls of the kernel, " SITES ", cannot be read; start it by `catapults run`");
    if (has_threads())
        refuse("one of its libraries has made threads before main, or /proc is not there to tell");
    leave_the_environment();
    here_start();
    here_set_inside(true);
    thread_first_mask = arrived_start();
    struct sites_table table;
    const char *wrong = sites_read(memory, size, &table);
    if (!wrong)
        wrong = variables_expect(&table);
    if (wrong)
        refuse(wrong);
    int error = runtime_start(&options, &face);
    if (error)
        system_exit_group(EXIT_FAILURE); /* the reason has been said */
    variables_exchange(thread_self());
    variables_register(&table);
    wrong = sites_patch(&table);
    if (wrong)
        refuse(wrong);
    variables_check(&table);
    system_munmap(memory, size); /* if it stays, it does no harm */
    arrived_exchange(thread_self());
    errno = error_number;
    arrived_leave();
}
