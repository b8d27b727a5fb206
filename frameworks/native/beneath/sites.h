/*
 * What `catapults run` has found in a program's objects: where they call the kernel, and the variables of a description
 * of the program (cli/src/beneath.rs writes this).
 *
 *     struct sites │ objects │ sites, those of an object together │ variables │ probes │ actions │ bytes
 *
 * Numbers are as the processor has them; addresses, as the object has them.
 */
#ifndef CATAPULTS_BENEATH_SITES_H
#define CATAPULTS_BENEATH_SITES_H

#include <stdbool.h>
#include <stdint.h>

#define SITES_MAGIC UINT64_C(0x3253455449535443) /* CTSITES2 */

enum { SITES_ID = 32 }; /* bytes of a build-id at most */

struct sites {
    uint64_t magic;
    uint32_t objects, sites, variables, probes, actions, bytes; /* how many */
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
    uint32_t start;
    uint8_t size; /* bytes: a jump is as long, or shorter */
    uint8_t call; /* of these, before the call itself */
    uint8_t unused[2];
};

/* A variable that policies can import, of type `int`. */
struct sites_variable {
    uint32_t name;   /* in the bytes, with a 0 at its end */
    uint32_t object; /* in which it lies; SITES_OF_THREADS: each thread has one, and `address` is its number there */
    uint32_t address;
    uint8_t size; /* bytes: 1, 2, 4 or 8 */
    uint8_t is_signed;
    uint8_t unused[2];
};

#define SITES_OF_THREADS UINT32_MAX

enum { SITES_FIXUPS = 8, SITES_NO_FIXUP = 255 };

/* Code that is done elsewhere, with actions in between. There is a jump instead. */
struct sites_probe {
    uint32_t object, start;
    uint32_t code;         /* in the bytes */
    uint32_t first_action; /* of these, `actions` */
    uint8_t actions;
    uint8_t size;      /* bytes from `start` on, at least those of a jump */
    uint8_t code_size; /* bytes */
    uint8_t before;    /* of these, before the actions */
    /* Where in the code, after the actions are left out, four bytes lie that are a distance, counted from their end.
     * They hold the address that it leads to. */
    uint8_t fixups[SITES_FIXUPS];
};

/* With a variable of the running thread. */
struct sites_action {
    uint32_t variable; /* its number */
    int32_t offset;    /* of a member in what the argument points to */
    int8_t by;         /* is added; 0: it is set to the member */
    uint8_t argument;  /* of the function, from 1 */
    uint8_t size;      /* of the member, in bytes: 1, 2, 4 or 8 */
    uint8_t is_signed;
};

/* The parts of a table. */
struct sites_table {
    const struct sites *head;
    const struct sites_object *objects;
    const struct site *sites;
    const struct sites_variable *variables;
    const struct sites_probe *probes;
    const struct sites_action *actions;
    const char *bytes;
};

/* These return NULL, or what is wrong. The first finds the parts of the `size` bytes. The second has each site of the
 * objects that are loaded call beneath_entry, and puts their probes. */
const char *sites_read(const void *memory, uint64_t size, struct sites_table *table);
const char *sites_patch(const struct sites_table *table);

/* Whether the stub belongs to an object whose code may have been compiled for more than every x86-64. */
bool sites_keep_all(uintptr_t stub);

#endif
