#include "beneath/code.h"

#include <string.h>
#include <sys/mman.h>

#include "contexts/system.h"

const char code_unwritable[] = "its code must not be changed; start it without MemoryDenyWriteExecute (PR_SET_MDWE)";
const char code_no_memory[] = "there is no memory near its code";

/* Below the object, because the heap is above the executable. */
uint8_t *code_take_near(uintptr_t address, size_t size) {
    enum { STEP = 1 << 20, TRIES = 1800 };
    for (uintptr_t tries = 1, at = address & ~(uintptr_t)(STEP - 1); tries < TRIES && tries * STEP < at; tries++) {
        uint8_t *memory = system_mmap((void *)(at - tries * STEP), size, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (!system_failed(memory))
            return memory;
    }
    return NULL;
}

const char *code_finish(uint8_t *memory, size_t size) {
    return system_mprotect(memory, size, PROT_READ | PROT_EXEC) < 0 ? code_unwritable : NULL;
}

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
    return system_mprotect(page, pages, PROT_READ | PROT_EXEC) == 0;
}
