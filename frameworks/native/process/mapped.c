#include "process/mapped.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "catapults/hierarchy.h"
#include "catapults/sound.h"
#include "contexts/system.h"
#include "contexts/text.h"
#include "process/load.h"
#include "process/runtime.h"

enum { PARTS = 16, PAGE = 4096 };

#if defined(__x86_64__)
enum {
    MACHINE = EM_X86_64,
    RELATIVE = R_X86_64_RELATIVE,
    WORD = R_X86_64_64,
    ENTRY = R_X86_64_GLOB_DAT,
    JUMP = R_X86_64_JUMP_SLOT
};
#elif defined(__aarch64__)
enum {
    MACHINE = EM_AARCH64,
    RELATIVE = R_AARCH64_RELATIVE,
    WORD = R_AARCH64_ABS64,
    ENTRY = R_AARCH64_GLOB_DAT,
    JUMP = R_AARCH64_JUMP_SLOT
};
#endif

/* While it is loaded. */
struct loading {
    int descriptor;
    uint64_t file_size;
    char *base; /* what addresses in it are counted from */
    struct catapults_object object;
    const ElfW(Sym) * symbols;
    const char *names;
    uint64_t names_size;
    const uint32_t *hash, *gnu_hash;
    struct {
        const ElfW(Rela) * first;
        uint64_t size;
    } relocations, jumps;
    char *text; /* for words why not */
    size_t room;
};

static const char *const damaged = "its tables are damaged";

/* ---- Its parts --------------------------------------------------------------------------------------------------- */

static bool read_at(const struct loading *loading, void *to, size_t size, uint64_t offset) {
    return system_call(SYS_pread64, loading->descriptor, (long)to, (long)size, (long)offset) == (long)size;
}

static void *map(void *address, size_t size, int protection, long flags, int descriptor, uint64_t offset) {
    return (void *)system_call_6(SYS_mmap, (long)address, (long)size, protection, flags, descriptor, (long)offset);
}

static const char *map_part(struct loading *loading, const ElfW(Phdr) * part) {
    int protection = (part->p_flags & PF_R ? PROT_READ : 0) | (part->p_flags & PF_W ? PROT_WRITE : 0) |
                     (part->p_flags & PF_X ? PROT_EXEC : 0);
    uint64_t skew = part->p_vaddr % PAGE;
    char *start = loading->base + part->p_vaddr - skew;
    uint64_t of_file = part->p_filesz + skew, whole = part->p_memsz + skew;
    uint64_t mapped = (of_file + PAGE - 1) & ~(uint64_t)(PAGE - 1), all = (whole + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    if (part->p_offset % PAGE != skew || part->p_filesz > part->p_memsz || part->p_offset > loading->file_size ||
        part->p_filesz > loading->file_size - part->p_offset)
        return "its end is missing";
    if (part->p_filesz > 0 && system_failed(map(start, mapped, protection, MAP_PRIVATE | MAP_FIXED, loading->descriptor,
                                                part->p_offset - skew)))
        return "there is no memory for it";
    if (all > mapped &&
        system_failed(map(start + mapped, all - mapped, protection, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0)))
        return "there is no memory for it";
    if (whole > of_file && mapped > of_file && (part->p_flags & PF_W))
        memset(start + of_file, 0, mapped - of_file);
    return NULL;
}

static const char *map_all(struct loading *loading, struct mapped *mapped, const ElfW(Ehdr) * header,
                           const ElfW(Phdr) * parts, const ElfW(Dyn) * *dynamic) {
    enum { MOST = 1 << 26 };
    uint64_t end = 0;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (parts[i].p_type == PT_TLS)
            return "it has thread_local variables";
        if (parts[i].p_type != PT_LOAD)
            continue;
        if (parts[i].p_vaddr > MOST || parts[i].p_memsz > MOST)
            return damaged;
        if (parts[i].p_vaddr + parts[i].p_memsz > end)
            end = parts[i].p_vaddr + parts[i].p_memsz;
    }
    mapped->size = (end + PAGE - 1) & ~(size_t)(PAGE - 1);
    mapped->start = map(NULL, mapped->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (end == 0 || system_failed(mapped->start)) {
        mapped->start = NULL;
        return "there is no memory for it";
    }
    loading->base = mapped->start;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        const ElfW(Phdr) *part = &parts[i];
        if (part->p_type == PT_DYNAMIC)
            *dynamic = (const ElfW(Dyn) *)(loading->base + part->p_vaddr);
        if (part->p_type != PT_LOAD)
            continue;
        const char *wrong = map_part(loading, part);
        if (wrong)
            return wrong;
        uintptr_t start = (uintptr_t)loading->base + part->p_vaddr;
        loading->object.parts[loading->object.count].start = start;
        loading->object.parts[loading->object.count].end = start + part->p_memsz;
        loading->object.parts[loading->object.count++].code = part->p_flags & PF_X;
    }
    return NULL;
}

/* ---- Its tables -------------------------------------------------------------------------------------------------- */

static bool has(const struct loading *loading, const void *table, uint64_t size) {
    return size == 0 || catapults_object_room(&loading->object, table, 4) >= size;
}

static const char *find_tables(struct loading *loading, const ElfW(Dyn) * dynamic) {
    for (; has(loading, dynamic, sizeof *dynamic) && dynamic->d_tag != DT_NULL; dynamic++) {
        uint64_t value = dynamic->d_un.d_val;
        void *address = loading->base + value;
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            loading->symbols = address;
            break;
        case DT_STRTAB:
            loading->names = address;
            break;
        case DT_STRSZ:
            loading->names_size = value;
            break;
        case DT_HASH:
            loading->hash = address;
            break;
        case DT_GNU_HASH:
            loading->gnu_hash = address;
            break;
        case DT_RELA:
            loading->relocations.first = address;
            break;
        case DT_RELASZ:
            loading->relocations.size = value;
            break;
        case DT_JMPREL:
            loading->jumps.first = address;
            break;
        case DT_PLTRELSZ:
            loading->jumps.size = value;
            break;
        case DT_REL:
        case DT_RELRSZ:
        case DT_TEXTREL:
            return "it was linked in a way that this runtime does not know";
        default:
            break;
        }
    }
    bool whole = dynamic && loading->symbols && loading->names &&
                 catapults_object_room(&loading->object, loading->names, 1) >= loading->names_size &&
                 has(loading, loading->relocations.first, loading->relocations.size) &&
                 has(loading, loading->jumps.first, loading->jumps.size);
    return whole ? NULL : damaged;
}

/* The symbol of this index, or NULL. */
static const ElfW(Sym) * symbol_at(const struct loading *loading, uint32_t index) {
    const ElfW(Sym) *symbol = loading->symbols + index;
    return has(loading, symbol, sizeof *symbol) && symbol->st_name < loading->names_size &&
                   catapults_has_text(&loading->object, loading->names + symbol->st_name)
               ? symbol
               : NULL;
}

static const void *defined_as(const struct loading *loading, uint32_t index, const char *name) {
    const ElfW(Sym) *symbol = symbol_at(loading, index);
    bool is = symbol && symbol->st_shndx != SHN_UNDEF && text_equal(loading->names + symbol->st_name, name);
    return is ? loading->base + symbol->st_value : NULL;
}

/* Through all of the table: there are few. */
static const void *find(const struct loading *loading, const char *name) {
    const void *found = NULL;
    const uint32_t *hash = loading->hash, *table = loading->gnu_hash;
    if (hash && has(loading, hash, 2 * sizeof *hash))
        for (uint32_t i = 0; i < hash[1] && !found; i++)
            found = defined_as(loading, i, name);
    if (found || !table || !has(loading, table, 4 * sizeof *table))
        return found;
    const uint32_t *buckets = table + 4 + 2 * (uint64_t)table[2], *chains = buckets + table[0];
    for (uint32_t bucket = 0; bucket < table[0] && has(loading, &buckets[bucket], 4); bucket++)
        for (uint32_t i = buckets[bucket]; i >= table[1] && has(loading, &chains[i - table[1]], 4) && !found; i++) {
            found = defined_as(loading, i, name);
            if (chains[i - table[1]] & 1)
                break;
        }
    return found;
}

/* ---- Addresses in it --------------------------------------------------------------------------------------------- */

static void *move(void *to, const void *from, size_t size) {
    if ((uintptr_t)to <= (uintptr_t)from)
        for (size_t i = 0; i < size; i++)
            ((volatile char *)to)[i] = ((const char *)from)[i];
    else
        for (size_t i = size; i > 0; i--)
            ((volatile char *)to)[i - 1] = ((const char *)from)[i - 1];
    return to;
}

/* What compilers call in code that names nothing. */
static void *known(const char *name) {
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"memcpy", (void *)memcpy}, {"memset", (void *)memset}, {"memcmp", (void *)memcmp}, {"memmove", (void *)move}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (text_equal(functions[i].name, name))
            return functions[i].function;
    return NULL;
}

static const char *relocate(struct loading *loading, const ElfW(Rela) * one) {
    uint64_t *place = (uint64_t *)(loading->base + one->r_offset);
    uint32_t type = (uint32_t)ELF64_R_TYPE(one->r_info);
    if (catapults_object_room(&loading->object, place, 1) < sizeof *place)
        return damaged;
    if (type == RELATIVE) {
        *place = (uint64_t)(loading->base + one->r_addend);
        return NULL;
    }
    const ElfW(Sym) *symbol = symbol_at(loading, (uint32_t)ELF64_R_SYM(one->r_info));
    if (!symbol || (type != WORD && type != ENTRY && type != JUMP))
        return "it was linked in a way that this runtime does not know";
    const char *name = loading->names + symbol->st_name;
    bool here = symbol->st_shndx != SHN_UNDEF;
    void *address = here ? loading->base + symbol->st_value : known(name);
    if (!address && ELF64_ST_BIND(symbol->st_info) != STB_WEAK) {
        text_format(loading->text, loading->room, "it refers to `%s`, which is not in it", name);
        return loading->text;
    }
    *place = address ? (uint64_t)address + (uint64_t)one->r_addend : 0;
    return NULL;
}

static const char *relocate_all(struct loading *loading, const ElfW(Rela) * first, uint64_t size) {
    const char *wrong = NULL;
    for (uint64_t i = 0; i < size / sizeof *first && !wrong; i++)
        wrong = relocate(loading, &first[i]);
    return wrong;
}

/* What the linker has said to be constant from now on. */
static void protect(const struct loading *loading, const ElfW(Phdr) * parts, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        uint64_t start = parts[i].p_vaddr & ~(uint64_t)(PAGE - 1);
        uint64_t end = (parts[i].p_vaddr + parts[i].p_memsz) & ~(uint64_t)(PAGE - 1);
        if (parts[i].p_type == PT_GNU_RELRO && end > start)
            system_call(SYS_mprotect, (long)(loading->base + start), (long)(end - start), PROT_READ,
                        0); /* if not, it can be written to */
    }
}

/* ---- The policy -------------------------------------------------------------------------------------------------- */

/* As catapults_unusable, which is libc's in part. */
static const char *unusable(const struct loading *loading, const struct catapults_policy *policy) {
    const struct catapults_object *object = &loading->object;
    if (!catapults_has_table(object, policy, 1, sizeof *policy) || policy->magic != CATAPULTS_MAGIC)
        return "its `catapults_policy` does not describe a policy";
    if (policy->contract != CATAPULTS_CONTRACT) {
        text_format(loading->text, loading->room,
                    "it was built for version %u of the contract with policies, the runtime there has version %u",
                    policy->contract, CATAPULTS_CONTRACT);
        return loading->text;
    }
    if (!catapults_has_text(object, policy->framework) || !text_equal(policy->framework, "native"))
        return "it was built for another framework than `native`";
    if (policy->framework_abi != CATAPULTS_NATIVE_ABI)
        return "it was built for another version of the framework `native`";
    const char *wrong = catapults_damaged(object, policy, sizeof(struct native_handlers));
    return wrong ? damaged : policy_lacks_handlers(policy) ? "it lacks a handler that it must have" : NULL;
}

static const char *find_policy(const struct loading *loading, const struct catapults_policy **policy) {
    if (find(loading, "catapults_hierarchy"))
        return "it is a hierarchy, and only a policy can take the place of one";
    *policy = runtime.traced ? find(loading, "catapults_policy_traced") : NULL;
    if (!*policy)
        *policy = find(loading, "catapults_policy");
    return *policy ? unusable(loading, *policy) : "it has no symbol `catapults_policy`";
}

static const char *load(struct loading *loading, struct mapped *mapped) {
    ElfW(Ehdr) header;
    ElfW(Phdr) parts[PARTS];
    const ElfW(Dyn) *dynamic = NULL;
    struct stat status;
    if (system_call(SYS_fstat, loading->descriptor, (long)&status, 0, 0) != 0 ||
        !read_at(loading, &header, sizeof header, 0) || header.e_ident[EI_MAG0] != ELFMAG0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN || header.e_machine != MACHINE)
        return "it is no shared object for this machine";
    loading->file_size = (uint64_t)status.st_size;
    if (header.e_phnum > PARTS || header.e_phentsize != sizeof *parts ||
        !read_at(loading, parts, header.e_phnum * sizeof *parts, header.e_phoff))
        return damaged;
    const char *wrong = map_all(loading, mapped, &header, parts, &dynamic);
    if (!wrong)
        wrong = find_tables(loading, dynamic);
    if (!wrong)
        wrong = relocate_all(loading, loading->relocations.first, loading->relocations.size);
    if (!wrong)
        wrong = relocate_all(loading, loading->jumps.first, loading->jumps.size);
    if (!wrong)
        wrong = find_policy(loading, &mapped->policy);
    if (!wrong)
        protect(loading, parts, header.e_phnum);
    return wrong;
}

const char *mapped_policy(int descriptor, struct mapped *mapped, char *text, size_t size) {
    struct loading loading = {.descriptor = descriptor, .text = text, .room = size};
    *mapped = (struct mapped){0};
    const char *wrong = load(&loading, mapped);
    if (wrong)
        mapped_give_up(mapped);
    return wrong;
}

void mapped_give_up(struct mapped *mapped) {
    if (mapped->start)
        system_call(SYS_munmap, (long)mapped->start, (long)mapped->size, 0, 0); /* if it stays, it does no harm */
    mapped->start = NULL;
}
