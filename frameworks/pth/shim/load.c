/*
 * PTH_SCHED=name: the policy, from a shared object (2005, §6.2).
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "catapults/loadable.h"
#include "shim/shim.h"

const char *environment(const char *name) { return getauxval(AT_SECURE) ? NULL : getenv(name); }

bool environment_switch(const char *name) {
    const char *text = environment(name);
    if (text && *text && strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        report("%s is \"%s\": it must be 0 or 1", name, text);
    return text && strcmp(text, "1") == 0;
}

void report(const char *format, ...) {
    char line[1024] = "catapults: ";
    const size_t start = strlen(line), room = sizeof line - start;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + start, room, format, arguments);
    va_end(arguments);
    size_t end = start + (length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1);
    line[end++] = '\n';
    if (write(STDERR_FILENO, line, end) < 0)
        return;
}

/* As it is named if that ends in `.so`, else with `.so` behind. Where it is searched is dlopen's business: a name with
 * a slash is a path, any other is looked up in LD_LIBRARY_PATH and in the system's folders. Only a path can be looked
 * at before it is mapped. */
const struct catapults_policy *load(const char *name) {
    char file[4096], text[256];
    size_t length = strlen(name);
    bool complete = length > 3 && strcmp(name + length - 3, ".so") == 0;
    int written = snprintf(file, sizeof file, "%s%s", name, complete ? "" : ".so");
    if (written < (int)sizeof file && strchr(file, '/') && catapults_cut_off(file)) {
        report("cannot load the policy %s: its end is missing; build it again with `catapults build --framework pth`",
               file);
        exit(EXIT_FAILURE);
    }
    void *object = written < (int)sizeof file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!object) {
        const char *why = written < (int)sizeof file ? dlerror() : "its name is too long";
        report("cannot load the policy that PTH_SCHED names: %s; build it with `catapults build --framework pth`%s",
               why, strchr(name, '/') ? "" : ", and name a file of this folder with ./ before it");
        exit(EXIT_FAILURE);
    }
    const char *trace = environment("CATAPULTS_TRACE");
    const struct catapults_policy *policy = trace && *trace ? dlsym(object, "catapults_policy_traced") : NULL;
    if (!policy)
        policy = dlsym(object, "catapults_policy");
    const char *wrong = policy ? catapults_unusable(policy, "libcatapults_pth", "pth", CATAPULTS_PTH_ABI, false,
                                                    sizeof(struct pth_handlers), text, sizeof text)
                               : "it is a shared object, but no policy: it has no symbol `catapults_policy`";
    if (wrong) {
        report("cannot use the policy %s: %s; rebuild it with `catapults build --framework pth FILE.sched`", file,
               wrong);
        exit(EXIT_FAILURE);
    }
    return policy;
}
