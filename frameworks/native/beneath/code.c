#include "beneath/code.h"

#include <string.h>
#include <sys/mman.h>

#include "contexts/system.h"

const char code_unwritable[] = "its code must not be changed here, neither in place nor by a file in memory";

/* Where a mapping that was written must not be executed (MemoryDenyWriteExecute), a file in memory with what was
 * written is mapped in its place. */
static bool make_code(uint8_t *memory, size_t size) {
    if (system_mprotect(memory, size, PROT_READ | PROT_EXEC) == 0)
        return true;
    int file = (int)system_call(SYS_memfd_create, (long)"catapults-code", MFD_CLOEXEC, 0, 0);
    if (file < 0)
        return false;
    const struct iovec all = {.iov_base = memory, .iov_len = size};
    bool made = system_pwritev(file, &all, 1, 0, 0) == (ssize_t)size &&
                !system_failed(system_mmap(memory, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0));
    system_close(file); /* closed, whatever it says */
    return made;
}

/* Below the object, because the heap is above the executable. */
static uint8_t *map_near(uintptr_t address, size_t size) {
    enum { STEP = 1 << 20, TRIES = 1800 };
    for (uintptr_t tries = 1, at = address & ~(uintptr_t)(STEP - 1); tries < TRIES && tries * STEP < at; tries++) {
        uint8_t *memory = system_mmap((void *)(at - tries * STEP), size, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (!system_failed(memory))
            return memory;
    }
    return NULL;
}

const char *code_take_near(uintptr_t address, size_t size, uint8_t **memory) {
    *memory = map_near(address, size);
    if (!*memory)
        return "there is no memory near its code";
    /* Tried before anything of the program's is changed. */
    return make_code(*memory, size) && system_mprotect(*memory, size, PROT_READ | PROT_WRITE) == 0 ? NULL
                                                                                                   : code_unwritable;
}

const char *code_finish(uint8_t *memory, size_t size) { return make_code(memory, size) ? NULL : code_unwritable; }

uint8_t *code_put(uint8_t *to, const void *bytes, size_t size) {
    memcpy(to, bytes, size);
    return to + size;
}

uint8_t *code_put_jump(uint8_t *to, const uint8_t *target) {
    int32_t distance = (int32_t)(target - (to + CODE_JUMP));
    *to = 0xe9;
    memcpy(to + 1, &distance, sizeof distance);
    return to + CODE_JUMP;
}

bool code_divert(uint8_t *code, size_t size, const uint8_t *stub) {
    enum { NOTHING = 0x90 };
    uint8_t *page = (uint8_t *)((uintptr_t)code & ~(uintptr_t)(CODE_PAGE - 1));
    size_t pages = code + size > page + CODE_PAGE ? 2 * CODE_PAGE : CODE_PAGE;
    if (system_mprotect(page, pages, PROT_READ | PROT_WRITE) < 0)
        return false;
    memset(code_put_jump(code, stub), NOTHING, size - CODE_JUMP);
    return make_code(page, pages);
}
