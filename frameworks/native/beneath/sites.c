#include "beneath/sites.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "beneath/call.h"
#include "contexts/system.h"

enum { PAGE = 4096, JUMP = 5, CALL = 2, STUB = 80 /* bytes at most */ };

struct patching {
    const struct sites_object *objects;
    const struct site *sites;
    uint32_t count;
    const char *wrong;
};

/* The stubs of objects that are not plain. More would be a program of unusual make, all of whose stubs then count. */
enum { KEEPERS = 8 };
static struct {
    uintptr_t start, end;
} keepers[KEEPERS];
static unsigned keepers_count;

bool sites_keep_all(uintptr_t stub) {
    for (unsigned i = 0; i < keepers_count; i++)
        if (stub >= keepers[i].start && stub < keepers[i].end)
            return true;
    return false;
}

static void remember_keeper(const uint8_t *stubs, size_t size) {
    if (keepers_count < KEEPERS) {
        keepers[keepers_count].start = (uintptr_t)stubs;
        keepers[keepers_count++].end = (uintptr_t)stubs + size;
        return;
    }
    keepers[0].start = 0;
    keepers[0].end = UINTPTR_MAX;
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

static const struct sites_object *known(const struct patching *patching, const uint8_t *id, uint32_t size) {
    for (uint32_t i = 0; i < patching->count; i++)
        if (patching->objects[i].id_size == size && memcmp(patching->objects[i].id, id, size) == 0)
            return &patching->objects[i];
    return NULL;
}

/* By its build-id. NULL: the table has nothing of it. */
static const struct sites_object *find(const struct patching *patching, const struct dl_phdr_info *object) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_NOTE)
            continue;
        const char *note = (const char *)(object->dlpi_addr + part->p_vaddr), *end = note + part->p_memsz;
        while (note + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *head = (const ElfW(Nhdr) *)note;
            const char *name = note + sizeof *head, *data = name + ((head->n_namesz + 3) & ~3U);
            if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
                return known(patching, (const uint8_t *)data, head->n_descsz);
            note = data + ((head->n_descsz + 3) & ~3U);
        }
    }
    return NULL;
}

/* ---- Stubs ------------------------------------------------------------------------------------------------------- */

/* Memory that a jump from the object reaches: below it, because the heap is above the executable. */
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

static uint8_t *put(uint8_t *to, const void *bytes, size_t size) {
    memcpy(to, bytes, size);
    return to + size;
}

static uint8_t *put_jump(uint8_t *to, const uint8_t *target) {
    int32_t distance = (int32_t)(target - (to + JUMP));
    *to = 0xe9;
    memcpy(to + 1, &distance, sizeof distance);
    return to + JUMP;
}

/* Where a jump leads to that is the instruction; NULL: it is none. */
static const uint8_t *jumped_to(const uint8_t *instruction) {
    if (*instruction == 0xeb)
        return instruction + 2 + (int8_t)instruction[1];
    int32_t distance;
    memcpy(&distance, instruction + 1, sizeof distance);
    return *instruction == 0xe9 ? instruction + JUMP + distance : NULL;
}

/* entry_x86_64.S says what is done and why. */
static uint8_t *put_stub(uint8_t *to, const uint8_t *code, const struct site *site) {
    static const uint8_t lower[] = {0x48, 0x8d, 0x64, 0x24, 0x80};                   /* lea -128(%rsp), %rsp */
    static const uint8_t raise[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00}; /* lea 128(%rsp), %rsp */
    static const uint8_t load_rcx[] = {0x48, 0xb9}, load_r11[] = {0x49, 0xbb}, call_r11[] = {0x41, 0xff, 0xd3};
    const uint8_t *behind = code + site->call + CALL, *end = code + site->size;
    uintptr_t entry = (uintptr_t)beneath_entry;
    to = put(to, code, site->call);
    to = put(to, lower, sizeof lower);
    to = put(to, load_rcx, sizeof load_rcx);
    to = put(to, &behind, sizeof behind);
    to = put(to, load_r11, sizeof load_r11);
    to = put(to, &entry, sizeof entry);
    to = put(to, call_r11, sizeof call_r11);
    to = put(to, raise, sizeof raise);
    const uint8_t *elsewhere = behind < end ? jumped_to(behind) : NULL;
    if (elsewhere)
        return put_jump(to, elsewhere);
    to = put(to, behind, (size_t)(end - behind));
    return put_jump(to, end);
}

static const char *patch(const struct sites_object *known, const struct site *sites, uintptr_t base) {
    static const char unwritable[] =
        "its code must not be changed; start it without MemoryDenyWriteExecute (PR_SET_MDWE)";
    size_t size = ((size_t)known->count * STUB + PAGE - 1) & ~(size_t)(PAGE - 1);
    uint8_t *stubs = map_near(base, size), *next = stubs;
    if (!stubs)
        return "there is no memory near its code";
    if (!known->plain)
        remember_keeper(stubs, size);
    for (uint32_t i = 0; i < known->count; i++) {
        const struct site *site = &sites[known->first + i];
        uint8_t *code = (uint8_t *)(base + site->start);
        if (site->size < JUMP || site->call + CALL > site->size || memcmp(code + site->call, "\x0f\x05", CALL) != 0)
            return "the list of its calls is another program's";
        uint8_t *page = (uint8_t *)((uintptr_t)code & ~(uintptr_t)(PAGE - 1));
        size_t pages = code + site->size > page + PAGE ? 2 * PAGE : PAGE;
        if (system_mprotect(page, pages, PROT_READ | PROT_WRITE) < 0)
            return unwritable;
        uint8_t *behind_stub = put_stub(next, code, site);
        memset(put_jump(code, next), 0x90, site->size - JUMP);
        next = behind_stub;
        if (system_mprotect(page, pages, PROT_READ | PROT_EXEC) < 0)
            return unwritable;
    }
    return system_mprotect(stubs, size, PROT_READ | PROT_EXEC) < 0 ? unwritable : NULL;
}

static int patch_object(struct dl_phdr_info *object, size_t size, void *argument) {
    struct patching *patching = argument;
    (void)size;
    const struct sites_object *found = find(patching, object);
    if (found && found->count > 0)
        patching->wrong = patch(found, patching->sites, object->dlpi_addr);
    return patching->wrong != NULL;
}

const char *sites_patch(const void *table, uint64_t size) {
    const struct sites *head = table;
    const struct sites_object *objects = (const struct sites_object *)(head + 1);
    if (size < sizeof *head || head->magic != SITES_MAGIC ||
        size != sizeof *head + head->objects * sizeof *objects + head->sites * sizeof(struct site))
        return "the list of calls is damaged";
    struct patching patching = {
        .objects = objects, .sites = (const struct site *)(objects + head->objects), .count = head->objects};
    dl_iterate_phdr(patch_object, &patching);
    return patching.wrong;
}
