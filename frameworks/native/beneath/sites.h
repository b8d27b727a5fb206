/*
 * Where a program's objects call the kernel, as `catapults run` has found it (cli/src/sites.rs writes this).
 *
 *     struct sites │ its objects │ all sites, those of an object together
 *
 * Numbers are as the processor has them.
 */
#ifndef CATAPULTS_BENEATH_SITES_H
#define CATAPULTS_BENEATH_SITES_H

#include <stdbool.h>
#include <stdint.h>

#define SITES_MAGIC UINT64_C(0x3153455449535443) /* CTSITES1 */

enum { SITES_ID = 32 }; /* bytes of a build-id at most */

struct sites {
    uint64_t magic;
    uint32_t objects, sites;
};

struct sites_object {
    uint8_t id[SITES_ID]; /* its build-id, and zeros */
    uint32_t id_size;
    uint32_t first, count; /* of its sites */
    uint32_t plain;        /* not 0: its code is compiled for every x86-64 */
};

/* Whole instructions, none of which is jumped to but the first. They may be moved: what is behind the call depends on
 * no address, unless it is one jump. */
struct site {
    uint32_t start; /* as the object has addresses */
    uint8_t size;   /* bytes: a jump is as long, or shorter */
    uint8_t call;   /* of these, before the call itself */
    uint8_t unused[2];
};

/* Has each site of the objects that are loaded call beneath_entry. `table`: `size` bytes. Returns NULL, or what is
 * wrong. */
const char *sites_patch(const void *table, uint64_t size);

/* Whether the stub belongs to an object whose code may have been compiled for more than every x86-64. */
bool sites_keep_all(uintptr_t stub);

#endif
