/*
 * The memory in which the scheduler and its threads lie, and the one lock under which all handlers run.
 */
#ifndef CATAPULTS_ARENA_BPF_H
#define CATAPULTS_ARENA_BPF_H

#include "linux_bpf.h"

struct {
    CATAPULTS_NUMBER(type, BPF_MAP_TYPE_ARENA);
    CATAPULTS_NUMBER(map_flags, BPF_F_MMAPABLE);
    CATAPULTS_NUMBER(max_entries, 1 << 16);
} catapults_arena CATAPULTS_SECTION(".maps");

/* A program that has no map of an arena has no arena. */
#define CATAPULTS_HAS_ARENA __asm__ volatile("" : : "r"(&catapults_arena))

struct catapults_locked {
    struct bpf_res_spin_lock lock;
};

struct {
    CATAPULTS_NUMBER(type, BPF_MAP_TYPE_ARRAY);
    CATAPULTS_NUMBER(max_entries, 1);
    CATAPULTS_TYPE(key, uint32_t);
    CATAPULTS_TYPE(value, struct catapults_locked);
} catapults_lock CATAPULTS_SECTION(".maps");

#endif
