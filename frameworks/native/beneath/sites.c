#include "beneath/sites.h"

#include <link.h>
#include <string.h>

#include "beneath/call.h"
#include "beneath/code.h"
#include "beneath/probes.h"
#include "beneath/variables.h"

enum { CALL = 2, STUB = 80 /* bytes at most */ };

struct patching {
    struct sites_table table;
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

static const struct sites_object *known(const struct sites_table *table, const uint8_t *id, uint32_t size) {
    for (uint32_t i = 0; i < table->head->objects; i++)
        if (table->objects[i].id_size == size && memcmp(table->objects[i].id, id, size) == 0)
            return &table->objects[i];
    return NULL;
}

/* By its build-id. NULL: the table has nothing of it. */
static const struct sites_object *find(const struct sites_table *table, const struct dl_phdr_info *object) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_NOTE)
            continue;
        const char *note = (const char *)(object->dlpi_addr + part->p_vaddr), *end = note + part->p_memsz;
        while (note + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *head = (const ElfW(Nhdr) *)note;
            const char *name = note + sizeof *head, *data = name + ((head->n_namesz + 3) & ~3U);
            if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
                return known(table, (const uint8_t *)data, head->n_descsz);
            note = data + ((head->n_descsz + 3) & ~3U);
        }
    }
    return NULL;
}

/* ---- Stubs ------------------------------------------------------------------------------------------------------- */

/* Where a jump leads to that is the instruction; NULL: it is none. */
static const uint8_t *jumped_to(const uint8_t *instruction) {
    if (*instruction == 0xeb)
        return instruction + 2 + (int8_t)instruction[1];
    int32_t distance;
    memcpy(&distance, instruction + 1, sizeof distance);
    return *instruction == 0xe9 ? instruction + CODE_JUMP + distance : NULL;
}

/* entry_x86_64.S says what is done and why. */
static uint8_t *put_stub(uint8_t *to, const uint8_t *code, const struct site *site) {
    static const uint8_t lower[] = {0x48, 0x8d, 0x64, 0x24, 0x80};                   /* lea -128(%rsp), %rsp */
    static const uint8_t raise[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00}; /* lea 128(%rsp), %rsp */
    static const uint8_t load_rcx[] = {0x48, 0xb9}, load_r11[] = {0x49, 0xbb}, call_r11[] = {0x41, 0xff, 0xd3};
    const uint8_t *behind = code + site->call + CALL, *end = code + site->size;
    uintptr_t entry = (uintptr_t)beneath_entry;
    to = code_put(to, code, site->call);
    to = code_put(to, lower, sizeof lower);
    to = code_put(to, load_rcx, sizeof load_rcx);
    to = code_put(to, &behind, sizeof behind);
    to = code_put(to, load_r11, sizeof load_r11);
    to = code_put(to, &entry, sizeof entry);
    to = code_put(to, call_r11, sizeof call_r11);
    to = code_put(to, raise, sizeof raise);
    const uint8_t *elsewhere = behind < end ? jumped_to(behind) : NULL;
    if (elsewhere)
        return code_put_jump(to, elsewhere);
    to = code_put(to, behind, (size_t)(end - behind));
    return code_put_jump(to, end);
}

static const char *patch(const struct sites_object *known, const struct site *sites, uintptr_t base, uintptr_t near) {
    size_t size = ((size_t)known->count * STUB + CODE_PAGE - 1) & ~(size_t)(CODE_PAGE - 1);
    uint8_t *stubs;
    const char *wrong = code_take_near(near, size, &stubs);
    if (wrong)
        return wrong;
    uint8_t *next = stubs;
    if (!known->plain)
        remember_keeper(stubs, size);
    for (uint32_t i = 0; i < known->count; i++) {
        const struct site *site = &sites[known->first + i];
        uint8_t *code = (uint8_t *)(base + site->start);
        if (site->size < CODE_JUMP || site->call + CALL > site->size ||
            memcmp(code + site->call, "\x0f\x05", CALL) != 0)
            return "the list of its calls is another program's";
        uint8_t *behind_stub = put_stub(next, code, site);
        if (!code_divert(code, site->size, next))
            return code_unwritable;
        next = behind_stub;
    }
    return code_finish(stubs, size);
}

/* Where the object begins: not at its base, if it was linked for a fixed address. */
static uintptr_t begin_of(const struct dl_phdr_info *object) {
    uintptr_t begin = UINTPTR_MAX;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_vaddr < begin)
            begin = object->dlpi_phdr[i].p_vaddr;
    return object->dlpi_addr + (begin == UINTPTR_MAX ? 0 : begin);
}

static int patch_object(struct dl_phdr_info *object, size_t size, void *argument) {
    struct patching *patching = argument;
    (void)size;
    const struct sites_object *found = find(&patching->table, object);
    if (found && found->count > 0)
        patching->wrong = patch(found, patching->table.sites, object->dlpi_addr, begin_of(object));
    if (found && !patching->wrong) {
        uint32_t number = (uint32_t)(found - patching->table.objects);
        variables_place(&patching->table, number, object->dlpi_addr);
        patching->wrong = probes_put(&patching->table, number, object->dlpi_addr, begin_of(object));
    }
    return patching->wrong != NULL;
}

const char *sites_read(const void *memory, uint64_t size, struct sites_table *table) {
    const struct sites *head = memory;
    if (size < sizeof *head || head->magic != SITES_MAGIC)
        return "the list of calls is damaged";
    table->head = head;
    table->objects = (const struct sites_object *)(head + 1);
    table->sites = (const struct site *)(table->objects + head->objects);
    table->variables = (const struct sites_variable *)(table->sites + head->sites);
    table->probes = (const struct sites_probe *)(table->variables + head->variables);
    table->actions = (const struct sites_action *)(table->probes + head->probes);
    table->bytes = (const char *)(table->actions + head->actions);
    return table->bytes + head->bytes == (const char *)memory + size ? NULL : "the list of calls is damaged";
}

const char *sites_patch(const struct sites_table *table) {
    struct patching patching = {.table = *table};
    dl_iterate_phdr(patch_object, &patching);
    return patching.wrong;
}
