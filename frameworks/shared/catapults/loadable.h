/*
 * For hosts that load policies: whether a policy of a shared object can be used, and where its handlers are. Needs
 * libc.
 */
#ifndef CATAPULTS_LOADABLE_H
#define CATAPULTS_LOADABLE_H

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catapults/policy.h"
#include "catapults/sound.h"

/* What follows, in a message, a version that the host does not have. Rebuilding by the same compiler does not help
 * there. */
static inline const char *catapults_if_newer(uint32_t built_for, uint32_t host) {
    return built_for > host ? ", and so is older than the compiler: `ldd` names the library that the program finds"
                            : "";
}

/* Why a host cannot use a policy: a constant, or `text`, where the words are then; NULL if it can. `host` is the host's
 * name in messages; `nodes`: it gives each node an instance of a policy that wants that; `handlers`: bytes of the
 * framework's table. */
static inline const char *catapults_unusable(const struct catapults_policy *policy, const char *host,
                                             const char *framework, uint32_t abi, bool nodes, size_t handlers,
                                             char *text, size_t size) {
    struct catapults_object object;
    const char *damaged;
    if (!catapults_object_find(&object, policy) || !catapults_has_table(&object, policy, 1, sizeof *policy) ||
        policy->magic != CATAPULTS_MAGIC)
        return "its `catapults_policy` does not describe a policy";
    if (policy->contract != CATAPULTS_CONTRACT)
        snprintf(text, size, "it was built for version %u of the contract with policies, %s has version %u%s",
                 policy->contract, host, CATAPULTS_CONTRACT, catapults_if_newer(policy->contract, CATAPULTS_CONTRACT));
    else if (!catapults_has_text(&object, policy->framework))
        return "its description is damaged";
    else if (strcmp(policy->framework, framework) != 0)
        snprintf(text, size, "it was built for the framework `%.64s`, %s is `%s`", policy->framework, host, framework);
    else if (policy->framework_abi != abi)
        snprintf(text, size, "it was built for version %u of the framework `%s`, %s has version %u%s",
                 policy->framework_abi, framework, host, abi, catapults_if_newer(policy->framework_abi, abi));
    else if (policy->shared_size && !nodes)
        snprintf(text, size, "it has an instance for each node, and %s has one for all", host);
    else if ((damaged = catapults_damaged(&object, policy, handlers)))
        snprintf(text, size, "its description is damaged: %s", damaged);
    else
        return NULL;
    return text;
}

/* Whether a shared object is shorter than its header says: dlopen would map what is not there, and the program would
 * get SIGBUS. dlopen itself finds whatever else is wrong with a file. */
static inline bool catapults_cut_off(const char *path) {
    ElfW(Ehdr) header;
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool cut = false;
    if (pread(file, &header, sizeof header, 0) == sizeof header && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
        header.e_phentsize == sizeof(ElfW(Phdr)) && fstat(file, &status) == 0) {
        uint64_t size = (uint64_t)status.st_size;
        ElfW(Phdr) part;
        for (unsigned i = 0; i < header.e_phnum && !cut; i++) {
            off_t at = (off_t)(header.e_phoff + i * sizeof part);
            cut = pread(file, &part, sizeof part, at) != sizeof part ||
                  (part.p_type == PT_LOAD && (part.p_offset > size || part.p_filesz > size - part.p_offset));
        }
    }
    close(file); /* nothing was written to it */
    return cut;
}

#endif
