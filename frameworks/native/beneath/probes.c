/*
 * At a probe there is a jump to a stub near the object:
 *
 *     what was there, up to the actions │ registers saved │ actions │ registers as they were │ what was there │ jump
 * back
 *
 * The command has moved the instructions (cli/src/moved.rs), and chosen a place where nothing below the stack pointer
 * is in use: where a function begins, and where it returns. A stub keeps all registers and flags. It takes no lock and
 * enters nothing. Each action is one instruction that writes the running thread's own memory, so a signal between two
 * instructions does no harm, nor does another kernel thread, on which the thread may go on.
 */
#include "beneath/probes.h"

#include <string.h>

#include "beneath/code.h"
#include "contexts/here.h"

enum { SAVING = 17, LOADING = 7, ACTION = 25 /* bytes at most */ };

static uint8_t *put_number(uint8_t *to, int32_t number) { return code_put(to, &number, sizeof number); }

/* Flags by lahf and seto, which are as fast as other instructions. Then rcx has the thread's variables, and rax is
 * free. */
static uint8_t *put_saving(uint8_t *to) {
    static const uint8_t save[] = {0x50, 0x51, 0x9f, 0x0f,
                                   0x90, 0xc0, 0x50};             /* push rax, rcx; lahf; seto al; push rax */
    static const uint8_t load[] = {0x65, 0x48, 0x8b, 0x0c, 0x25}; /* mov %gs:…, %rcx */
    to = code_put(to, save, sizeof save);
    to = code_put(to, load, sizeof load);
    return put_number(to, (int32_t)offsetof(struct here_block, here.beneath.variables));
}

static uint8_t *put_loading(uint8_t *to) {
    static const uint8_t load[] = {0x58, 0x04, 0x7f, 0x9e, 0x59, 0x58}; /* pop rax; add 127, al; sahf; pop rcx, rax */
    return code_put(to, load, sizeof load);
}

/* rax has what the argument of the function is. */
static uint8_t *put_argument(uint8_t *to, unsigned argument) {
    static const uint8_t moves[][3] = {{0x48, 0x89, 0xf8}, {0x48, 0x89, 0xf0}, {0x48, 0x89, 0xd0},
                                       {0, 0, 0},          {0x4c, 0x89, 0xc0}, {0x4c, 0x89, 0xc8}};
    static const uint8_t saved_rcx[] = {0x48, 0x8b, 0x44, 0x24, 0x08}; /* mov 8(%rsp), %rax */
    return argument == 4 ? code_put(to, saved_rcx, sizeof saved_rcx) : code_put(to, moves[argument - 1], 3);
}

/* The member of what rax points to, in rax. */
static uint8_t *put_member(uint8_t *to, const struct sites_action *action) {
    static const struct {
        uint8_t size, is_signed, length, code[4];
    } loads[] = {
        {8, 0, 3, {0x48, 0x8b, 0x80}},       {8, 1, 3, {0x48, 0x8b, 0x80}}, {4, 0, 2, {0x8b, 0x80}},
        {4, 1, 3, {0x48, 0x63, 0x80}},       {2, 0, 3, {0x0f, 0xb7, 0x80}}, {2, 1, 4, {0x48, 0x0f, 0xbf, 0x80}},
        {1, 1, 4, {0x48, 0x0f, 0xbe, 0x80}}, {1, 0, 3, {0x0f, 0xb6, 0x80}}};
    unsigned one = 0;
    while (one + 1 < sizeof loads / sizeof *loads &&
           (loads[one].size != action->size || loads[one].is_signed != action->is_signed))
        one++;
    return put_number(code_put(to, loads[one].code, loads[one].length), action->offset);
}

static uint8_t *put_action(uint8_t *to, const struct sites_action *action) {
    static const uint8_t add[] = {0x48, 0x83, 0x81};                                      /* add …, …(%rcx) */
    static const uint8_t test[] = {0x48, 0x85, 0xc0, 0x74}, store[] = {0x48, 0x89, 0x81}; /* test rax, rax; jz */
    int32_t place = (int32_t)(action->variable * sizeof(int64_t));
    if (action->by != 0) {
        to = put_number(code_put(to, add, sizeof add), place);
        return code_put(to, &action->by, 1);
    }
    to = put_argument(to, action->argument);
    to = code_put(to, test, sizeof test);
    uint8_t *distance = to++;
    to = put_number(code_put(put_member(to, action), store, sizeof store), place);
    *distance = (uint8_t)(to - (distance + 1));
    return to;
}

static void put_stub(uint8_t *to, const struct sites_table *table, const struct sites_probe *probe, uintptr_t base) {
    const uint8_t *code = (const uint8_t *)table->bytes + probe->code;
    const uint8_t *first = to, *behind_actions;
    to = put_saving(code_put(to, code, probe->before));
    for (uint32_t i = 0; i < probe->actions; i++)
        to = put_action(to, &table->actions[probe->first_action + i]);
    behind_actions = to = put_loading(to);
    code_put(to, code + probe->before, (size_t)(probe->code_size - probe->before));
    for (uint32_t i = 0; i < SITES_FIXUPS && probe->fixups[i] != SITES_NO_FIXUP; i++) {
        unsigned at = probe->fixups[i];
        uint8_t *field = (uint8_t *)(at < probe->before ? first + at : behind_actions + (at - probe->before));
        int32_t leads_to;
        memcpy(&leads_to, field, sizeof leads_to);
        put_number(field, (int32_t)((intptr_t)base + leads_to - (intptr_t)(field + sizeof leads_to)));
    }
}

static size_t room_for(const struct sites_probe *probe) {
    return probe->code_size + SAVING + LOADING + (size_t)probe->actions * ACTION;
}

static bool is_sound(const struct sites_table *table, const struct sites_probe *probe) {
    return probe->size >= CODE_JUMP && probe->before <= probe->code_size &&
           (uint64_t)probe->code + probe->code_size <= table->head->bytes &&
           (uint64_t)probe->first_action + probe->actions <= table->head->actions;
}

/* `diverts`: only the jumps to the stubs, which lie there by now. */
static const char *put_all(const struct sites_table *table, uint32_t object, uintptr_t base, uint8_t *stubs,
                           bool diverts) {
    for (uint32_t i = 0; i < table->head->probes; i++) {
        const struct sites_probe *probe = &table->probes[i];
        if (probe->object != object)
            continue;
        if (!is_sound(table, probe))
            return "the list of its variables is damaged";
        if (diverts && !code_divert((uint8_t *)(base + probe->start), probe->size, stubs))
            return code_unwritable;
        if (!diverts)
            put_stub(stubs, table, probe, base);
        stubs += room_for(probe);
    }
    return NULL;
}

const char *probes_put(const struct sites_table *table, uint32_t object, uintptr_t base, uintptr_t begin) {
    size_t size = 0;
    for (uint32_t i = 0; i < table->head->probes; i++)
        if (table->probes[i].object == object)
            size += room_for(&table->probes[i]);
    if (size == 0)
        return NULL;
    size = (size + CODE_PAGE - 1) & ~(size_t)(CODE_PAGE - 1);
    uint8_t *stubs;
    const char *wrong = code_take_near(begin, size, &stubs);
    if (!wrong)
        wrong = put_all(table, object, base, stubs, false);
    if (!wrong)
        wrong = code_finish(stubs, size); /* a function may be one that is called for this */
    return wrong ? wrong : put_all(table, object, base, stubs, true);
}
