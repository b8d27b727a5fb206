/*
 * Policies in shared objects: what loads, and what is said about what does not. See policies/ for the objects.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>

#include "catapults.h"
#include "catapults/loadable.h"
#include "native_policy.h"
#include "support/child.h"

static const char *file;
static int expected_error;

static void load(void) { require(catapults_init(&(struct catapults_options){.policy = file}) == expected_error); }

static void check_refusal(const char *path, const char *why, const char *what_to_do) {
    file = path;
    expected_error = EINVAL;
    struct child child = run_child(load);
    assert_exit(&child, EXIT_SUCCESS);
    assert_reported(&child, "catapults: ");
    assert_reported(&child, path);
    assert_reported(&child, why);
    assert_reported(&child, what_to_do);
}

static void what_is_no_policy_is_refused(void **state) {
    (void)state;
    static const char source[1000] = "scheduler fifo {}";
    char text[] = "/tmp/catapults-loading-XXXXXX";
    int descriptor = mkstemp(text);
    assert_true(descriptor >= 0 && write(descriptor, source, sizeof source) == sizeof source);
    check_refusal(text, "invalid ELF header", "build it with `catapults build`");
    unlink(text);
    check_refusal(text, "No such file", "build it with `catapults build`");
    check_refusal("/", "no file", "`catapults build`");
    check_refusal(POLICIES "/no_policy.so", "no symbol `catapults_policy`", "rebuild it with `catapults build");
    check_refusal(POLICIES "/other_magic.so", "does not describe a policy", "rebuild it with `catapults build");
}

/* As by a copy that was interrupted. */
static void what_is_cut_off_is_refused(void **state) {
    (void)state;
    static char object[1 << 20]; /* more than half of it are tables for debuggers */
    char text[] = "/tmp/catapults-loading-XXXXXX";
    int whole = open(POLICIES "/bytes.so", O_RDONLY), descriptor = mkstemp(text);
    ssize_t size = read(whole, object, sizeof object);
    assert_true(descriptor >= 0 && size > 12000 && write(descriptor, object, (size_t)size) == size);
    for (off_t length = 8192; length > 64; length /= 2) {
        assert_int_equal(ftruncate(descriptor, length), 0);
        check_refusal(text, "its end is missing", "build it again with `catapults build`");
    }
    unlink(text);
    close(descriptor);
    close(whole);
}

static void what_was_built_for_others_is_refused(void **state) {
    (void)state;
    check_refusal(POLICIES "/other_contract.so", "version 99 of the contract", "rebuild it");
    check_refusal(POLICIES "/other_contract.so", "older than the compiler", "`ldd` names the library");
    check_refusal(POLICIES "/other_abi.so", "version 77 of the framework `native`", "rebuild it");
    check_refusal(POLICIES "/other_framework.so", "for the framework `pth`", "rebuild it");
    check_refusal(POLICIES "/no_thread_size.so", "damaged", "rebuild it");
    check_refusal(POLICIES "/several_instances.so", "damaged", "rebuild it");
}

/* ---- Bytes that have changed ------------------------------------------------------------------------------------- */

static struct {
    char bytes[1 << 20];
    size_t size;
    const char *path; /* of a copy */
} object;

static void *come_and_go(void *argument) {
    catapults_yield();
    catapults_sleep(1000);
    return argument;
}

/* What cannot be used is refused; all else runs. */
static void use(void) {
    alarm(HANGS);
    int error = catapults_init(&(struct catapults_options){.policy = object.path});
    require(error == 0 || error == EINVAL);
    catapults_t threads[3];
    for (int i = 0; i < 3 && error == 0; i++)
        require(catapults_create(&threads[i], NULL, come_and_go, NULL) == 0);
    for (int i = 0; i < 3 && error == 0; i++)
        require(catapults_join(threads[i], NULL) == 0);
    _exit(error == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Whether it was refused, once `size` bytes are other ones. */
static bool is_refused(void *place, const void *other, size_t size) {
    char before[8];
    memcpy(before, place, size);
    memcpy(place, other, size);
    int copy = open(object.path, O_WRONLY | O_TRUNC);
    assert_true(write(copy, object.bytes, object.size) == (ssize_t)object.size);
    close(copy);
    memcpy(place, before, size);
    struct child child = run_child(use);
    assert_true(WIFEXITED(child.status) && WEXITSTATUS(child.status) != CHILD_REQUIRE_FAILED);
    bool refused = WEXITSTATUS(child.status) == EXIT_FAILURE;
    if (refused)
        assert_reported(&child, "catapults: cannot use the policy /tmp/catapults-loading-");
    return refused;
}

#define NUMBER(member) {#member, offsetof(struct catapults_policy, member)}
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {NUMBER(instance_size),
               NUMBER(thread_size),
               NUMBER(imports_count),
               NUMBER(thread_imports_count),
               NUMBER(attributes_count),
               NUMBER(now),
               NUMBER(timers),
               NUMBER(timeouts_count),
               NUMBER(places_count),
               NUMBER(running_count),
               NUMBER(shared_size),
               NUMBER(node_size),
               NUMBER(sent),
               NUMBER(properties_count)},
  pointers[] = {NUMBER(framework), NUMBER(name),           NUMBER(source),     NUMBER(classes),
                NUMBER(imports),   NUMBER(thread_imports), NUMBER(attributes), NUMBER(timeouts),
                NUMBER(places),    NUMBER(running),        NUMBER(start),      NUMBER(adopt),
                NUMBER(handlers),  NUMBER(properties),     NUMBER(share),      NUMBER(adopt_node)};

/* Of a policy without nodes what is said of them does not count. */
static bool counts(const char *name, bool nodes) {
    return nodes ||
           (strcmp(name, "node_size") != 0 && strcmp(name, "sent") != 0 && strcmp(name, "properties_count") != 0);
}

static void check_numbers(char *policy) {
    bool nodes = ((struct catapults_policy *)policy)->shared_size;
    static const uint32_t others[] = {UINT32_MAX, INT32_MAX - 7, 0x10000008};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (size_t j = 0; j < 3; j++)
            if (!is_refused(policy + numbers[i].offset, &others[j], sizeof others[j]) && counts(numbers[i].name, nodes))
                fail_msg("%s = %u is believed", numbers[i].name, others[j]);
}

/* A pointer is what its relocation says: r_offset, r_info, r_addend. */
static void check_pointers(uint64_t address) {
    size_t found = 0;
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
        uint64_t place = address + pointers[i].offset, others[] = {UINT64_C(1) << 44, (uint64_t)-64};
        for (size_t at = 0; at + 24 <= object.size; at += 8) {
            uint64_t *relocation = (uint64_t *)(object.bytes + at);
            if (relocation[0] != place || (relocation[1] != R_X86_64_RELATIVE && relocation[1] != R_AARCH64_RELATIVE))
                continue;
            found++;
            for (size_t j = 0; j < 2; j++)
                if (!is_refused(&relocation[2], &others[j], sizeof others[j]))
                    fail_msg("another address of %s is believed", pointers[i].name);
        }
    }
    assert_true(found >= 8);
}

static void check_changes(const char *file) {
    char copy[] = "/tmp/catapults-loading-XXXXXX";
    int whole = open(file, O_RDONLY), descriptor = mkstemp(copy);
    ssize_t size = read(whole, object.bytes, sizeof object.bytes);
    assert_true(descriptor >= 0 && size > 0 && (size_t)size < sizeof object.bytes);
    object.size = (size_t)size;
    object.path = copy;
    close(whole);
    close(descriptor);

    /* Where the table is in the file, and in memory. */
    static const uint32_t start[] = {CATAPULTS_MAGIC, CATAPULTS_CONTRACT, CATAPULTS_NATIVE_ABI};
    char *policy = memmem(object.bytes, object.size, start, sizeof start);
    void *loaded = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    assert_true(policy && loaded);
    Dl_info info;
    const char *symbol = dlsym(loaded, "catapults_policy");
    assert_true(symbol && dladdr(symbol, &info));
    uint64_t address = (uint64_t)(symbol - (const char *)info.dli_fbase);
    dlclose(loaded);

    assert_false(is_refused(policy, policy, 4)); /* as it is */
    check_numbers(policy);
    check_pointers(address);
    unlink(copy);
}

static void changed_tables_are_refused(void **state) {
    (void)state;
    check_changes(POLICIES "/counts.so");
    check_changes(POLICIES "/timeouts.so");
    check_changes(POLICIES "/clock.so");
    check_changes(POLICIES "/per_processor_fifo.so");
}

/* What no byte of a file that the compiler made says alone: built by hand. */
static struct catapults_import variable = {"variable", CATAPULTS_IMPORT_INT, 0, 8};
static struct catapults_attribute attribute = {"level", CATAPULTS_IMPORT_INT, sizeof(struct catapults_thread)};
static struct catapults_part part = {0, 8};
static struct catapults_place place = {"switch_out", 1};
static struct catapults_timeout timeout = {"timeout.slice", NULL};
static const uint8_t classes[] = {CATAPULTS_IN_HAND, CATAPULTS_READY};
static struct catapults_policy table;
static struct native_handlers handlers;

static void start_nothing(void *instance) { (void)instance; }
static void adopt_nothing(void *instance, struct catapults_thread *thread) { (void)instance, (void)thread; }
static const struct catapults_stop *handle(void *self, struct catapults_thread *t) {
    (void)self, (void)t;
    return NULL;
}

static const char *wrong_with_table(void) {
    static char text[256];
    return catapults_unusable(&table, "this runtime", "native", CATAPULTS_NATIVE_ABI, true, sizeof handlers, text,
                              sizeof text);
}

static void make_table(void) {
    handlers = (struct native_handlers){.newthread = handle, .switch_out = handle};
    timeout.raise = handle;
    table = (struct catapults_policy){.magic = CATAPULTS_MAGIC,
                                      .contract = CATAPULTS_CONTRACT,
                                      .framework_abi = CATAPULTS_NATIVE_ABI,
                                      .instance_size = 64,
                                      .thread_size = sizeof(struct catapults_thread) + 16,
                                      .framework = "native",
                                      .name = "table",
                                      .source = "table.sched",
                                      .classes = classes,
                                      .imports_count = 1,
                                      .imports = &variable,
                                      .attributes_count = 1,
                                      .attributes = &attribute,
                                      .timers = 16,
                                      .timeouts_count = 1,
                                      .timeouts = &timeout,
                                      .places_count = 1,
                                      .places = &place,
                                      .running_count = 1,
                                      .running = &part,
                                      .start = start_nothing,
                                      .adopt = adopt_nothing,
                                      .handlers = &handlers};
    assert_null(wrong_with_table());
}

#define CHECK_CHANGE(member, other, what)                                                                              \
    do {                                                                                                               \
        make_table();                                                                                                  \
        __typeof__(member) before_ = member;                                                                           \
        member = (__typeof__(member))(other);                                                                          \
        const char *wrong_ = wrong_with_table();                                                                       \
        assert_non_null(wrong_);                                                                                       \
        assert_non_null(strstr(wrong_, what));                                                                         \
        member = before_;                                                                                              \
    } while (0)

static void what_is_damaged_is_named(void **state) {
    (void)state;
    char *nowhere = (char *)16;
    CHECK_CHANGE(table.framework, nowhere, "damaged");
    CHECK_CHANGE(table.name, nowhere, "damaged: its name");
    CHECK_CHANGE(table.classes, nowhere, "damaged: the classes of its containers");
    CHECK_CHANGE(table.handlers, nowhere, "damaged: its handlers");
    CHECK_CHANGE(handlers.switch_out, &table, "damaged: its handlers");
    CHECK_CHANGE(table.start, &table, "damaged: its handlers");
    CHECK_CHANGE(table.yield, &table, "damaged: its handlers");
    CHECK_CHANGE(table.ready_order, &table, "damaged: its handlers");
    CHECK_CHANGE(variable.name, nowhere, "damaged: the variables that it imports");
    CHECK_CHANGE(variable.type, 7, "damaged: the variables that it imports");
    CHECK_CHANGE(variable.pointer, 60, "damaged: the variables that it imports");
    CHECK_CHANGE(variable.fallback, 64, "damaged: the variables that it imports");
    CHECK_CHANGE(variable.fallback, 9, "damaged: the variables that it imports");
    CHECK_CHANGE(attribute.offset, 8, "damaged: the attributes of threads");
    CHECK_CHANGE(attribute.offset, 1000, "damaged: the attributes of threads");
    CHECK_CHANGE(attribute.name, NULL, "damaged: the attributes of threads");
    CHECK_CHANGE(table.now, 61, "damaged: where it reads the clock");
    CHECK_CHANGE(table.random, 60, "damaged: what it draws from");
    CHECK_CHANGE(table.timers, 60, "damaged: its timers");
    CHECK_CHANGE(timeout.raise, &table, "damaged: its timers");
    CHECK_CHANGE(place.event, nowhere, "damaged: where its handlers are");
    CHECK_CHANGE(part.offset, 60, "damaged: the containers of what runs");
    CHECK_CHANGE(part.size, UINT32_MAX, "damaged: the containers of what runs");
    CHECK_CHANGE(table.shared_size, 64, "damaged: what it says of nodes");
}

static void a_failed_start_can_be_tried_again(void) {
    require(catapults_create(NULL, NULL, NULL, NULL) == EPERM);
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/other_abi.so"}) == EINVAL);
    require(catapults_init(&(struct catapults_options){.trace = "/no/such/folder/trace"}) == ENOENT);
    require(catapults_init(NULL) == 0);
    require(catapults_init(NULL) == EALREADY);
}

static void the_policy_comes_from(const char *option, const char *variable, const char *name) {
    if (variable)
        setenv("CATAPULTS_POLICY", variable, 1);
    require(catapults_init(&(struct catapults_options){.policy = option}) == 0);
    require(strcmp(catapults_policy_name(), name) == 0);
}

static void nowhere(void) { the_policy_comes_from(NULL, NULL, "fifo (built-in)"); }
static void an_empty_variable(void) { the_policy_comes_from(NULL, "", "fifo (built-in)"); }
static void the_environment(void) { the_policy_comes_from(NULL, POLICIES "/bytes.so", "bytes"); }
static void the_option_first(void) { the_policy_comes_from(POLICIES "/bytes.so", "/no/such/file", "bytes"); }

static void a_switch_is_said_as_it_is(void) {
    setenv("CATAPULTS_STRICT_IMPORTS", "yes", 1);
    setenv("CATAPULTS_ACTIVATIONS", "0", 1);
    require(catapults_init(NULL) == 0);
}

static void another_word_for_it_is_reported(void **state) {
    (void)state;
    struct child child = run_child(a_switch_is_said_as_it_is);
    assert_exit(&child, EXIT_SUCCESS);
    assert_string_equal(child.report, "catapults: CATAPULTS_STRICT_IMPORTS is \"yes\": it must be 0 or 1\n");
}

static void *yield(void *argument) {
    char block[20000];
    memset(block, 1, sizeof block);
    catapults_yield();
    return block[19999] ? argument : NULL;
}

/* 50 kB of attributes, in threads whose stacks are of 64 kB. */
static void large_attributes(void) {
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/large.so"}) == 0);
    catapults_t threads[50];
    void *result;
    for (int i = 0; i < 50; i++)
        require(catapults_create(&threads[i], NULL, yield, &threads[i]) == 0);
    for (int i = 0; i < 50; i++)
        require(catapults_join(threads[i], &result) == 0 && result == &threads[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_policy_is_refused),
        cmocka_unit_test(what_is_cut_off_is_refused),
        cmocka_unit_test(what_was_built_for_others_is_refused),
        cmocka_unit_test(changed_tables_are_refused),
        cmocka_unit_test(what_is_damaged_is_named),
        child_test(a_failed_start_can_be_tried_again),
        child_test(nowhere),
        child_test(an_empty_variable),
        child_test(the_environment),
        child_test(the_option_first),
        cmocka_unit_test(another_word_for_it_is_reported),
        child_test(large_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
