/*
 * What programs of BPF need of the kernel and of the loader, libbpf, and no more.
 */
#ifndef CATAPULTS_LINUX_BPF_H
#define CATAPULTS_LINUX_BPF_H

#include <stdint.h>

/* In which section of the object a program or a map is: libbpf goes by their names. */
#define CATAPULTS_SECTION(name) __attribute__((section(name), used))

/* Members of a map's definition, as libbpf reads them from its type. */
#define CATAPULTS_NUMBER(name, value) int(*name)[value]
#define CATAPULTS_TYPE(name, type) __typeof__(type) *name

enum { BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_ARENA = 33 };
enum { BPF_F_MMAPABLE = 1 << 10 };

/* A lock that gives up, and says so, where it would wait for ever (Linux 6.15). The kernel knows it by its name. */
struct bpf_res_spin_lock {
    uint32_t val;
} __attribute__((aligned(4)));

/* Functions of the kernel that are called by their numbers. */
static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;

/* Those that are called by their names. */
#define CATAPULTS_OF_KERNEL extern __attribute__((section(".ksyms")))
CATAPULTS_OF_KERNEL void __attribute__((address_space(1))) *
    bpf_arena_alloc_pages(void *map, void __attribute__((address_space(1))) * address, uint32_t pages, int node,
                          uint64_t flags);
CATAPULTS_OF_KERNEL int bpf_res_spin_lock(struct bpf_res_spin_lock *lock);
CATAPULTS_OF_KERNEL void bpf_res_spin_unlock(struct bpf_res_spin_lock *lock);

#endif
