/*
 * The tree of schedulers: instances of one policy, which records what is raised at which of them, above and below each
 * other.
 */
#include <errno.h>

#include "catapults/list.h"
#include "contexts/stack.h"
#include "dispatcher/dispatcher.h"
#include "core/scheduler.h"
#include "support/child.h"
#include "support/places.h"
#include "support/recorded_events.h"

/* ---- The policy: a FIFO that writes down its events, and does what its instance says ----------------------------- */

struct fifo {
    const char *name;
    struct catapults_list ready;
    struct catapults_thread *current;
    const char *stop_in; /* the event that stops */
    uint32_t favourite;  /* the number of what takes the processor from `current` when it is ready again */
    bool lazy;           /* `schedule` dispatches nothing */
    bool refuses;        /* newthread fails */
};

static struct catapults_stop stop = {CATAPULTS_STOP_GUARD, 51, "a guard"};
static const struct catapults_stop refusal = {CATAPULTS_STOP_FAIL, 20, "no more"};
static bool quiet;

static const struct catapults_stop *stopped(const struct fifo *self, const char *event,
                                            const struct catapults_thread *t) {
    char line[64];
    snprintf(line, sizeof line, t ? "%s.%s %u; " : "%s.%s; ", self->name, event, t ? t->number : 0);
    if (!quiet)
        record_event(line);
    return self->stop_in && strcmp(event, self->stop_in) == 0 ? &stop : NULL;
}

static void append(struct fifo *self, struct catapults_thread *t) {
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    if (self->current == t)
        self->current = NULL;
    catapults_list_append(&self->ready, t, IN_READY);
}

static void rest(struct fifo *self, struct catapults_thread *t) {
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    if (self->current == t)
        self->current = NULL;
    t->container = IN_WAITING;
}

static void front(struct fifo *self, struct catapults_thread *t) {
    if (t->container == IN_READY)
        catapults_list_remove(&self->ready, t);
    catapults_list_push(&self->ready, t, IN_READY);
}

static void wake(struct fifo *self, struct catapults_thread *t) {
    append(self, t);
    if (t->number == self->favourite && self->current) {
        front(self, t);
        append(self, self->current);
    }
}

static struct catapults_thread *schedule(void *self_, const struct catapults_stop **why) {
    struct fifo *self = self_;
    *why = stopped(self, "schedule", NULL);
    if (*why || self->lazy || !self->ready.first)
        return NULL;
    self->current = catapults_list_pop(&self->ready);
    self->current->container = IN_CURRENT;
    return self->current;
}

#define HANDLER(name, effect)                                                                                          \
    static const struct catapults_stop *name(void *self_, struct catapults_thread *t) {                                \
        struct fifo *self = self_;                                                                                     \
        const struct catapults_stop *why = stopped(self, #name, t);                                                    \
        if (!why)                                                                                                      \
            effect;                                                                                                    \
        return why;                                                                                                    \
    }

HANDLER(new_one, append(self, t))
HANDLER(out, append(self, t))
HANDLER(raised, wake(self, t))
HANDLER(resumed, wake(self, t))
HANDLER(suspended, rest(self, t))
HANDLER(asked_for, front(self, t))
HANDLER(ended, rest(self, t))
HANDLER(block_io, rest(self, t))
HANDLER(block_scheduler, rest(self, t))

static const struct catapults_stop *newthread(void *self, struct catapults_thread *t) {
    return ((struct fifo *)self)->refuses ? &refusal : new_one(self, t);
}

static int64_t threads_ready(const void *self) { return ((const struct fifo *)self)->ready.count; }

static bool is_ready(const void *self, const struct catapults_thread *t) {
    (void)self;
    return t->container == IN_READY;
}

static const struct native_handlers handlers = {
    .newthread = newthread,
    .schedule = schedule,
    .switch_out = out,
    .block_io_read = block_io,
    .block_join = block_io,
    .block_sleep = block_io,
    .block_scheduler = block_scheduler,
    .event_raised = raised,
    .suspend_thread = suspended,
    .resume_thread = resumed,
    .set_next_thread = asked_for,
    .exit = ended,
    .threads_ready = threads_ready,
    .threads_suspended = threads_ready,
    .threads_total = threads_ready,
    .is_ready = is_ready,
    .can_switch_to = is_ready,
};

struct part {
    struct catapults_thread base;
    catapults_time *consumed, consumed_default;
};

static const struct catapults_import imports[] = {
    {"consumed", CATAPULTS_IMPORT_TIME, offsetof(struct part, consumed), offsetof(struct part, consumed_default)}};

static void start(void *self) { catapults_list_init(&((struct fifo *)self)->ready); }

static void adopt(void *self, struct catapults_thread *t) {
    (void)self;
    t->container = 0;
}

static const struct catapults_policy recording = {.name = "recording",
                                                  .source = "recording.sched",
                                                  .classes = CLASSES,
                                                  .thread_size = (sizeof(struct part) + 15) & ~15u,
                                                  .thread_imports_count = 1,
                                                  .thread_imports = imports,
                                                  .start = start,
                                                  .adopt = adopt,
                                                  .handlers = &handlers};

/* ---- The host ---------------------------------------------------------------------------------------------------- */

static int64_t clock_now = 1000;
static int error_number;
static struct dispatcher_exceptions exceptions;
static char failure[512];

static int64_t now(void) { return clock_now; }

static void adopted(struct dispatcher_thread *thread) { (void)thread; }

static void contained(const struct dispatcher_failure *f) {
    snprintf(failure, sizeof failure, "%s: %s in %s: %s; %d", f->scheduler->name ? f->scheduler->name : "root",
             f->policy->name, f->event, f->stop ? f->stop->text : f->text, (int)f->threads);
}

static void deadlocked(void) { _exit(3); }

static void finished(void) { _exit(4); }

static const struct dispatcher_host host = {.now = now,
                                            .error_number = &error_number,
                                            .exceptions = &exceptions,
                                            .adopted = adopted,
                                            .contained = contained,
                                            .deadlocked = deadlocked,
                                            .finished = finished};

static void poll(int64_t instant) { clock_now = instant > clock_now && instant != INT64_MAX ? instant : clock_now; }

static bool busy(void) { return false; }

static const struct dispatcher_driver driver = {.poll = poll, .busy = busy};

/* ---- A tree ------------------------------------------------------------------------------------------------------ */

enum { MOST = 12 };

static struct fifo instances[MOST];
static struct scheduler *schedulers[MOST];
static const char *const names[MOST] = {"R", "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"};
static struct dispatcher_thread *first;

static const struct catapults_stop *add(int which, int parent) {
    size_t size = dispatcher_scheduler_size(schedulers[parent]);
    require(size % 16 == 0);
    instances[which].name = names[which];
    schedulers[which] = aligned_alloc(16, size);
    return dispatcher_add(schedulers[which], schedulers[parent], names[which], &recording, &instances[which]);
}

/* parents[i] is that of the scheduler i; the root is 0. The caller is under `home`. */
static void grow(int count, const int *parents, int home) {
    static _Alignas(64) char memory[1024];
    require(dispatcher_thread_size(&recording) <= sizeof memory);
    first = (struct dispatcher_thread *)memory;
    instances[0].name = names[0];
    schedulers[0] = dispatcher_root();
    dispatcher_set_driver(&driver);
    dispatcher_prepare(&host, &recording, &instances[0]);
    for (int i = 1; i < count; i++)
        require(add(i, parents[i]) == NULL);
    events[0] = '\0';
    require(dispatcher_start_under(schedulers[home], first) == NULL);
}

static const struct catapults_stop *refused;

static struct dispatcher_thread *spawn(int under, void (*entry)(void *), void *argument) {
    struct stack *stack = stack_take(64 << 10);
    struct dispatcher_thread *thread = (struct dispatcher_thread *)((char *)stack - 512);
    record_clear(thread);
    refused = dispatcher_create(schedulers[under], thread, stack, thread, entry, argument);
    return thread;
}

static int turns[MOST];

/* Counts its turns, until it is told to end. */
static bool stop_all;

static void count_turns(void *argument) {
    dispatcher_begin();
    while (!stop_all) {
        turns[(intptr_t)argument]++;
        dispatcher_yield();
    }
    dispatcher_exit(NULL);
}

static void block_once(void *argument) {
    dispatcher_begin();
    dispatcher_block(BLOCK_IO_READ, DISPATCHER_FOREVER);
    turns[(intptr_t)argument]++;
    dispatcher_exit(NULL);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void a_scheduler_without_threads_is_suspended(void) {
    static const int parents[] = {0, 0};
    grow(1, parents, 0);
    require_events("R.new_one 1; R.schedule; ");
    require(add(1, 0) == NULL);
    require_events("R.new_one 2; R.suspended 2; ");
    dispatcher_yield();
    require_events("R.out 1; R.schedule; ");
}

static void decisions_descend(void) {
    static const int parents[] = {0, 0, 1};
    grow(3, parents, 2);
    /* A is 1, B under it 2, the first thread 3. */
    require_events("B.new_one 3; A.resumed 2; R.resumed 1; R.schedule; A.schedule; B.schedule; ");
    dispatcher_yield();
    require_events("B.out 3; A.out 2; R.out 1; R.schedule; A.schedule; B.schedule; ");
}

static void blocking_blocks_what_is_above(void) {
    static const int parents[] = {0, 0, 0};
    grow(3, parents, 0);
    struct dispatcher_thread *thread = spawn(1, block_once, (void *)1);
    require_events("R.new_one 3; R.schedule; A.new_one 4; R.resumed 1; ");
    dispatcher_yield();
    require_events("R.out 3; R.schedule; A.schedule; A.block_io 4; R.block_scheduler 1; R.schedule; ");
    dispatcher_unblock(thread);
    require_events("A.raised 4; R.raised 1; ");
    dispatcher_yield();
    require_events("R.out 3; R.schedule; A.schedule; A.ended 4; R.block_scheduler 1; R.schedule; ");
    require(turns[1] == 1);
}

static void suspending_suspends_what_is_above(void) {
    static const int parents[] = {0, 0};
    grow(2, parents, 0);
    struct dispatcher_thread *thread = spawn(1, count_turns, (void *)1);
    events[0] = '\0';
    dispatcher_suspend(thread);
    require_events("A.suspended 3; R.suspended 1; ");
    require(dispatcher_resume(thread) == 0);
    require_events("A.resumed 3; R.resumed 1; ");
    dispatcher_yield();
    require(turns[1] == 1);
    /* Of itself. */
    events[0] = '\0';
    stop_all = true;
    dispatcher_yield();
    require_events("R.out 2; R.schedule; A.schedule; A.ended 3; R.block_scheduler 1; R.schedule; ");
}

static void suspend_self(void *argument) {
    dispatcher_begin();
    dispatcher_suspend(dispatcher_self());
    turns[(intptr_t)argument]++;
    dispatcher_exit(NULL);
}

static void a_thread_suspends_itself(void) {
    static const int parents[] = {0, 0, 1};
    grow(3, parents, 0);
    struct dispatcher_thread *thread = spawn(2, suspend_self, (void *)1);
    spawn(1, count_turns, (void *)2);
    events[0] = '\0';
    dispatcher_yield();
    require_events("R.out 3; R.schedule; A.schedule; B.schedule; B.suspended 4; A.suspended 2; R.out 1; R.schedule; ");
    require(dispatcher_resume(thread) == 0);
    require_events("B.resumed 4; A.resumed 2; ");
    dispatcher_yield();
    dispatcher_yield();
    require(turns[1] == 1 && turns[2] == 1);
}

static void a_thread_under_another_scheduler_takes_the_processor(void) {
    static const int parents[] = {0, 0, 0};
    grow(3, parents, 1);
    struct dispatcher_thread *urgent = spawn(2, block_once, (void *)1);
    dispatcher_yield();
    instances[0].favourite = 2; /* the record of B */
    events[0] = '\0';
    dispatcher_unblock(urgent);
    /* The thread that runs did nothing wrong: to A, it goes back to the queue. */
    require_events("B.raised 4; R.raised 2; A.out 3; R.schedule; B.schedule; B.ended 4; R.block_scheduler 2; "
                   "R.schedule; A.schedule; ");
    require(turns[1] == 1);
}

static void asking_for_a_thread_asks_those_above(void) {
    static const int parents[] = {0, 0, 0, 2};
    grow(4, parents, 1);
    spawn(1, count_turns, (void *)1);
    spawn(2, count_turns, (void *)2);
    struct dispatcher_thread *wanted = spawn(3, count_turns, (void *)3);
    events[0] = '\0';
    require(dispatcher_yield_to(wanted) == 0);
    require(strncmp(events,
                    "C.asked_for 7; B.asked_for 3; R.asked_for 2; A.out 4; R.out 1; R.schedule; B.schedule; "
                    "C.schedule; ",
                    94) == 0);
    require(turns[3] == 1);
    require(dispatcher_yield_to(first) == EAGAIN);
}

static struct dispatcher_thread *asked;

static void ask_for_it(void *argument) {
    (void)argument;
    dispatcher_begin();
    dispatcher_yield_to(asked);
    dispatcher_exit(NULL);
}

/* What a policy keeps of the first request may have room for one thread. */
static void a_scheduler_decides_before_it_is_asked_again(void) {
    static const int parents[] = {0, 0, 0};
    grow(3, parents, 1);
    spawn(2, ask_for_it, NULL);
    asked = spawn(2, count_turns, (void *)1);
    struct dispatcher_thread *other = spawn(2, count_turns, (void *)2);
    dispatcher_yield(); /* under B somebody is asked for, but R dispatches A next */
    events[0] = '\0';
    require(dispatcher_yield_to(other) == EAGAIN);
    require(!strstr(events, "asked_for"));
    require(turns[1] == 1);
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

static void a_scheduler_is_refused(void) {
    static const int parents[] = {0};
    grow(1, parents, 0);
    instances[0].refuses = true;
    require(add(1, 0) == &refusal);
    require(dispatcher_next_scheduler(dispatcher_root()) == NULL);
    dispatcher_yield();
}

static void a_scheduler_ends(void) {
    static const int parents[] = {0, 0, 1};
    grow(3, parents, 0);
    spawn(2, block_once, (void *)1);
    require(dispatcher_remove(schedulers[0]) == EINVAL);
    require(dispatcher_remove(schedulers[1]) == EBUSY);
    require(dispatcher_remove(schedulers[2]) == EBUSY);
    dispatcher_yield();
    struct dispatcher_thread *thread = dispatcher_next_thread(first);
    dispatcher_unblock(thread);
    dispatcher_yield();
    require(turns[1] == 1);
    events[0] = '\0';
    require(dispatcher_remove(schedulers[2]) == 0);
    require(dispatcher_remove(schedulers[2]) == EINVAL);
    require_events("A.raised 2; R.raised 1; ");
    require(dispatcher_take_removed() == NULL);
    dispatcher_yield();
    require_events("R.out 3; R.schedule; A.schedule; A.ended 2; R.block_scheduler 1; R.schedule; ");
    require(dispatcher_take_removed() == schedulers[2] && dispatcher_take_removed() == NULL);
    require(dispatcher_remove(schedulers[1]) == 0);
    dispatcher_yield();
    require(dispatcher_take_removed() == schedulers[1]);
    require(dispatcher_next_scheduler(dispatcher_root()) == NULL);
    require(add(1, 0) == NULL);
    spawn(1, count_turns, (void *)2);
    dispatcher_yield();
    require(turns[2] == 1);
}

/* Who is removed after what was under it ends after that, by the same turn. */
static void a_parent_ends_after_its_child(void) {
    static const int parents[] = {0, 0, 1, 1};
    grow(4, parents, 0);
    require(dispatcher_remove(schedulers[2]) == 0);
    require(dispatcher_remove(schedulers[1]) == EBUSY); /* the other child */
    require(dispatcher_remove(schedulers[3]) == 0);
    require(dispatcher_remove(schedulers[1]) == 0);
    require(dispatcher_remove(schedulers[1]) == EINVAL);
    require(dispatcher_take_removed() == NULL);
    for (int i = 0; i < 3; i++)
        dispatcher_yield();
    require(dispatcher_take_removed() == schedulers[1]); /* the last to go */
    require(dispatcher_take_removed() == schedulers[3] && dispatcher_take_removed() == schedulers[2]);
    require(dispatcher_take_removed() == NULL && dispatcher_next_scheduler(dispatcher_root()) == NULL);
    require(add(1, 0) == NULL);
    spawn(1, count_turns, (void *)2);
    dispatcher_yield();
    require(turns[2] == 1);
}

/* ---- Any depth --------------------------------------------------------------------------------------------------- */

static void eight_levels(void) {
    static const int parents[] = {0, 0, 1, 2, 3, 4, 5, 6};
    grow(8, parents, 7);
    for (int i = 0; i < 8; i++)
        spawn(i, count_turns, (void *)(intptr_t)i);
    quiet = true;
    for (int i = 0; i < 1 << 12; i++)
        dispatcher_yield();
    /* Of two things under each scheduler each has half of its turns; the deepest thread shares them with the caller. */
    for (int i = 1; i < 7; i++)
        require(turns[i] * 2 >= turns[i - 1] - 2 && turns[i] * 2 <= turns[i - 1] + 2);
    require(turns[7] >= 1 << 12 && turns[6] >= 1 << 13);
    stop_all = true;
    while (dispatcher_next_thread(first))
        dispatcher_yield();
}

/* ---- What goes wrong stays where it is --------------------------------------------------------------------------- */

static void only_the_policy_that_fails_is_out(void) {
    static const int parents[] = {0, 0, 0, 1};
    grow(4, parents, 2);
    spawn(1, count_turns, (void *)1);
    spawn(3, count_turns, (void *)2);
    instances[1].stop_in = "out";
    quiet = true;
    dispatcher_yield();
    dispatcher_yield();
    require(strcmp(failure, "A: recording in switch_out: a guard; 2") == 0);
    require(strcmp(schedulers[1]->policy->name, "fifo (built-in)") == 0);
    require(schedulers[0]->policy == &recording && schedulers[2]->policy == &recording);
    require(schedulers[3]->policy == &recording);
    turns[1] = turns[2] = 0;
    for (int i = 0; i < 100; i++)
        dispatcher_yield();
    require(turns[1] == 50 && turns[2] == 50);
}

static void the_root_fails(void) {
    static const int parents[] = {0, 0, 0};
    grow(3, parents, 2);
    spawn(1, count_turns, (void *)1);
    spawn(0, count_turns, (void *)2);
    instances[0].stop_in = "schedule";
    quiet = true;
    dispatcher_yield();
    require(strcmp(failure, "root: recording in schedule: a guard; 3") == 0);
    turns[1] = turns[2] = 0;
    for (int i = 0; i < 100; i++)
        dispatcher_yield();
    require(turns[1] == 100 && turns[2] == 100);
}

static void resume_first(void *argument) {
    dispatcher_begin();
    for (;;) {
        turns[(intptr_t)argument]++;
        dispatcher_resume(first);
        dispatcher_yield();
    }
}

static void who_dispatches_nothing_is_left_out(void) {
    static const int parents[] = {0, 0, 1};
    grow(3, parents, 0);
    struct dispatcher_thread *thread = spawn(2, resume_first, (void *)1);
    instances[2].lazy = true;
    events[0] = '\0';
    dispatcher_yield();
    require_events(
        "R.out 3; R.schedule; A.schedule; B.schedule; A.block_scheduler 2; R.block_scheduler 1; R.schedule; ");
    dispatcher_yield();
    require_events("R.out 3; R.schedule; ");
    /* It is asked again when something happens under it. */
    dispatcher_suspend(thread);
    instances[2].lazy = false;
    dispatcher_resume(thread);
    require_events("B.suspended 4; B.resumed 4; A.raised 2; R.raised 1; ");
    dispatcher_yield();
    require(turns[1] == 1);
    /* Nothing else can run, and nothing will happen. */
    instances[2].lazy = true;
    require(failure[0] == '\0');
    dispatcher_suspend(first);
    require(strcmp(failure, "B: recording in schedule: it dispatched nothing although a thread is ready; 1") == 0);
    require(turns[1] == 2);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static catapults_time consumed(struct dispatcher_thread *thread) {
    return ((struct part *)&thread->policy)->consumed_default;
}

static void everything_above_is_charged(void) {
    static const int parents[] = {0, 0, 1};
    grow(3, parents, 2);
    quiet = true;
    clock_now += 70;
    dispatcher_yield();
    require(consumed(first) == 70 && consumed(&schedulers[2]->record) == 70 && consumed(&schedulers[1]->record) == 70);
    spawn(0, count_turns, (void *)1);
    clock_now += 5;
    dispatcher_yield();
    require(consumed(first) == 75 && consumed(&schedulers[1]->record) == 75);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(a_scheduler_without_threads_is_suspended),
        child_test(decisions_descend),
        child_test(blocking_blocks_what_is_above),
        child_test(suspending_suspends_what_is_above),
        child_test(a_thread_suspends_itself),
        child_test(a_thread_under_another_scheduler_takes_the_processor),
        child_test(asking_for_a_thread_asks_those_above),
        child_test(a_scheduler_decides_before_it_is_asked_again),
        child_test(a_scheduler_is_refused),
        child_test(a_scheduler_ends),
        child_test(a_parent_ends_after_its_child),
        child_test(eight_levels),
        child_test(only_the_policy_that_fails_is_out),
        child_test(the_root_fails),
        child_test(who_dispatches_nothing_is_left_out),
        child_test(everything_above_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
