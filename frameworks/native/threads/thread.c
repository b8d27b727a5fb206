/*
 * Threads: where their records lie, their beginning and their end.
 */
#include <errno.h>
#include <string.h>

#include "contexts/text.h"
#include "process/face.h"
#include "process/imports.h"
#include "process/names.h"
#include "process/overflow.h"
#include "process/runtime.h"
#include "process/scheduler_handle.h"
#include "process/signals.h"
#include "process/thread_locals.h"
#include "threads/cancel.h"
#include "threads/client.h"
#include "threads/describe_wait.h"
#include "threads/end.h"
#include "threads/mutex.h"
#include "threads/waiters.h"

static int join_or_cancel(struct catapults_handle *thread, void **result, int64_t instant, bool lends);
static int join(struct catapults_handle *thread, void **result, int64_t instant, bool lends);
static void entry(void *argument);

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/*
 * A record lies at the high end of its thread's stack, below which the frames begin: a thread so needs one allocation,
 * and a page and an entry of the buffers that translate addresses less than with a record elsewhere. The first thread,
 * whose stack is the system's, has a stack of ours for its record alone.
 */
static size_t record_size;
static struct stack_pool *stacks; /* of threads that ask for no other size; NULL: there are none so large */

static struct catapults_handle *record_on(struct stack *stack) {
    return (struct catapults_handle *)((char *)stack - record_size);
}

/* The pool of stacks where a thread has `size` bytes beside its record; NULL: there are none so large. */
static struct stack_pool *stacks_of(size_t size) {
    return stack_pool(record_size > size / 8 ? size + record_size : size);
}

static void resized(void) {
    record_size = offsetof(struct catapults_handle, member) + runtime.member_size;
    stacks = stacks_of(runtime.stack_size);
}

static struct member *first(void) {
    struct stack *stack = stack_take(record_size);
    if (!stack || stack_room(stack) < record_size)
        return NULL;
    struct catapults_handle *self = memset(record_on(stack), 0, record_size);
    self->member.stack = stack;
    names_give(&self->member, &stack->name); /* there is room for the first */
    self->member.dispatched.room = runtime_room();
    text_format(self->member.name, sizeof self->member.name, "main");
    overflow_install(); /* before there are other kernel threads, and before this one's stack for signals is looked at
                         */
    return &self->member;
}

static void run_handlers(struct member *self) { waiters_run_handlers(handle_of(self)); }

int catapults_init(const struct catapults_options *options) {
    static const struct face face = {
        .resized = resized, .first = first, .run_handlers = run_handlers, .describe_wait = describe_wait};
    return runtime_start(options, &face);
}

/* ---- Beginning --------------------------------------------------------------------------------------------------- */

/* Makes a record on a stack, for `self`; NULL: no memory. */
static inline struct catapults_handle *make(const struct catapults_handle *self, struct stack_pool *pool) {
    struct stack *stack = pool ? stack_take_from(pool) : NULL;
    if (__builtin_expect(!stack, 0))
        return NULL;
    struct catapults_handle *thread = record_on(stack);
    thread->member.stack = stack;
    thread->member.attributes = NULL;
    thread->member.object = NULL;
    thread->joiner = NULL;
    thread->member.refusal.text = NULL;
    thread->mutexes = NULL;
    thread->stand_ins = NULL;
    thread->client = NULL;
    thread->cleanup = NULL;
    thread->values = NULL;
    thread->selects = NULL;
    thread->message = NULL;
    thread->detached = thread->ended = false;
    thread->cancel = CANCEL_ENABLED;
    thread->cancellable = thread->cancelled = false;
    thread->member.has_ceiling = false;
    thread->member.period = 0;
    thread->wants = NULL;
    thread->waiting = NULL;
    thread->asleep = thread->woken = thread->suspended = false;
    thread->member.signals = (struct signal_state){.mask = self->member.signals.mask, .place = SIGNAL_PLACE_NEW};
    thread->member.name[0] = '\0';
    record_clear(&thread->member.dispatched);
    thread->member.dispatched.room = runtime_room();
    if (__builtin_expect(runtime.thread_locals_size != 0, 0))
        thread_locals_begin(&thread->member);
    if (__builtin_expect(!names_give(&thread->member, &stack->name), 0)) {
        stack_give(stack);
        return NULL;
    }
    return thread;
}

/* Lets it begin. It may run before this returns, and if it is detached, it may be gone. */
static inline int begin(struct catapults_handle *thread, struct scheduler *scheduler, catapults_t *result,
                        void *(*start)(void *), void *argument) {
    thread->start = start;
    thread->argument = argument;
    if (result)
        *result = thread; /* before it can run */
    const struct catapults_stop *stop =
        dispatcher_create(scheduler, &thread->member.dispatched, thread->member.stack, thread, entry, thread);
    if (__builtin_expect(!stop, 1))
        return 0;
    if (result)
        *result = NULL;
    refusal_keep(&member_self()->refusal, stop);
    stack_give(thread->member.stack);
    return EAGAIN;
}

/* Makes a thread as the attributes ask for it. */
static struct catapults_handle *make_with(const struct catapults_attributes *attributes) {
    struct catapults_handle *thread =
        make(handle_self(), attributes->stack_size ? stacks_of(attributes->stack_size) : stacks);
    if (!thread)
        return NULL;
    if (attributes->scheduled_by && client_make(thread, attributes->scheduled_by) != 0) {
        stack_give(thread->member.stack);
        return NULL;
    }
    thread->member.object = attributes->object;
    thread->member.period = attributes->period;
    if (thread->member.period > 0)
        thread->member.release = catapults_now();
    thread->detached = attributes->detached;
    thread->member.dispatched.bound = attributes->processors;
    if (attributes->name)
        strncat(thread->member.name, attributes->name, CATAPULTS_NAME_SIZE - 1);
    return thread;
}

static __attribute__((noinline)) int create_with(catapults_t *result, const struct catapults_attributes *attributes,
                                                 void *(*start)(void *), void *argument) {
    if ((attributes->processors != 0 && !dispatcher_can_bind(attributes->processors)) || attributes->period < 0)
        return EINVAL;
    const struct catapults_scheduler *under = attributes->scheduler ? attributes->scheduler : scheduler_default;
    if (attributes->scheduled_by)
        under = &client_scheduler;
    if (attributes->values_count > 0 && imports_check_values(under, attributes->values, attributes->values_count) != 0)
        return EINVAL;
    struct catapults_handle *thread = make_with(attributes);
    if (thread && under->dispatched->policy->thread_imports_count > 0)
        thread->member.attributes = attributes;
    return thread ? begin(thread, under->dispatched, result, start, argument) : EAGAIN;
}

int catapults_create(catapults_t *result, const struct catapults_attributes *attributes, void *(*start)(void *),
                     void *argument) {
    if (!runtime.started)
        return EPERM;
    struct catapults_handle *self = handle_self();
    self->member.refusal.text = NULL;
    dispatcher_enter();
    int error;
    struct catapults_handle *thread;
    if (attributes)
        error = create_with(result, attributes, start, argument);
    else if (__builtin_expect((thread = make(self, stacks)) != NULL, 1))
        error = begin(thread, scheduler_default->dispatched, result, start, argument);
    else
        error = EAGAIN;
    dispatcher_leave();
    return error;
}

static void entry(void *argument) {
    struct catapults_handle *self = argument;
    self->member.signals.place = SIGNAL_PLACE_ELSEWHERE;
    dispatcher_begin();
    signals_check(&self->member);
    end(self, self->start(self->argument));
}

const char *catapults_refusal(void) { return member_self()->refusal.text; }

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

/* The unusual cases of a join: as it begins, and, the second, if its wait has ended `early`. Both leave. */
static __attribute__((noinline)) int join_unusually(struct catapults_handle *thread, void **result) {
    int error = join(thread, result, CATAPULTS_FOREVER, false);
    dispatcher_leave();
    if (error == ECANCELED)
        catapults_testcancel();
    signals_check(member_self());
    return error;
}

static __attribute__((noinline)) int join_early(struct catapults_handle *thread, void **result, int early) {
    thread->joiner = NULL;
    if (!thread->ended && early == ERESTART)
        waiters_run_handlers(handle_self());
    if (thread->ended || !early || early == ERESTART)
        return join_unusually(thread, result);
    dispatcher_leave();
    if (early == ECANCELED)
        catapults_testcancel();
    return early;
}

/* As `join`, for the usual case: the thread still runs, and waits for nobody. */
int catapults_join(catapults_t thread, void **result) {
    struct catapults_handle *self = handle_self();
    cancel_test(self);
    dispatcher_enter();
    if (__builtin_expect(thread->detached || thread->ended || thread->joiner || thread->member.dispatched.waits_for ||
                             thread == self,
                         0))
        return join_unusually(thread, result);
    self->joins = (uintptr_t)&thread->member;
    thread->joiner = self;
    int early = cancel_wait_for(self, &self->joins, false, BLOCK_JOIN, CATAPULTS_FOREVER);
    if (__builtin_expect(early || !thread->ended, 0))
        return join_early(thread, result, early);
    if (result)
        *result = thread->result;
    stack_give(thread->member.stack);
    dispatcher_leave();
    signals_check(&self->member);
    return 0;
}

int catapults_join_until(catapults_t thread, void **result, int64_t instant) {
    return join_or_cancel(thread, result, instant, false);
}

int catapults_join_donating(catapults_t thread, void **result) {
    return join_or_cancel(thread, result, CATAPULTS_FOREVER, true);
}

int catapults_tryjoin(catapults_t thread, void **result) {
    dispatcher_enter();
    bool waits = !thread->ended && !thread->detached && !thread->joiner && thread != handle_self();
    int error = waits ? EBUSY : join(thread, result, 0, false);
    dispatcher_leave();
    return error;
}

static int join_or_cancel(struct catapults_handle *thread, void **result, int64_t instant, bool lends) {
    cancel_test(handle_self());
    dispatcher_enter();
    int error = join(thread, result, instant, lends);
    dispatcher_leave();
    if (__builtin_expect(error == ECANCELED, 0))
        catapults_testcancel();
    signals_check(member_self());
    return error;
}

static int join(struct catapults_handle *thread, void **result, int64_t instant, bool lends) {
    struct catapults_handle *self = handle_self();
    if (thread->detached || (thread->joiner && thread != self))
        return EINVAL;
    self->joins = (uintptr_t)&thread->member;
    while (!thread->ended) {
        enum dispatcher_cycle cycle = thread->member.dispatched.waits_for ? dispatcher_cycle(&self->joins) : CYCLE_NONE;
        if (thread == self || (cycle == CYCLE_CLOSED && instant == CATAPULTS_FOREVER))
            return EDEADLK;
        thread->joiner = self;
        int early = cancel_wait_for(self, &self->joins, lends && cycle == CYCLE_NONE, BLOCK_JOIN, instant);
        if (early && !thread->ended) {
            thread->joiner = NULL;
            if (early != ERESTART)
                return early;
            waiters_run_handlers(self);
            if (thread->detached || thread->joiner)
                return EINVAL;
        }
    }
    if (result)
        *result = thread->result;
    thread->detached = true; /* nobody can join it again, whoever has waited */
    stack_give(thread->member.stack);
    return 0;
}

int catapults_detach(catapults_t thread) {
    dispatcher_enter();
    int error = thread->detached || thread->joiner ? EINVAL : 0;
    if (error == 0) {
        thread->detached = true;
        if (thread->ended)
            stack_give(thread->member.stack);
    }
    dispatcher_leave();
    return error;
}

/* ---- While it lives ---------------------------------------------------------------------------------------------- */

catapults_t catapults_self(void) { return handle_self(); }

const char *catapults_name(catapults_t thread) { return thread->member.name; }

void catapults_yield(void) { dispatcher_yield(); }

int catapults_yield_to(catapults_t thread) {
    dispatcher_enter();
    int error = dispatcher_yield_to(&thread->member.dispatched);
    dispatcher_leave();
    return error;
}

int catapults_suspend(catapults_t thread) {
    dispatcher_enter();
    int error = thread->ended ? ESRCH : 0;
    if (error == 0) {
        thread->suspended = true;
        mutex_pass_on(thread);
        dispatcher_suspend(&thread->member.dispatched);
    }
    dispatcher_leave();
    return error;
}

int catapults_resume(catapults_t thread) {
    dispatcher_enter();
    bool waits =
        thread->member.dispatched.to_be_suspended && thread->waiting && thread->member.dispatched.reason == BLOCK_LOCK;
    thread->suspended = false;
    int error = dispatcher_resume(&thread->member.dispatched);
    if (waits)
        waiters_wake(thread); /* what it waits for may long have been free: it looks again */
    dispatcher_leave();
    return error;
}

int64_t catapults_consumed(catapults_t thread) {
    dispatcher_enter();
    int64_t consumed = dispatcher_consumed_by(&thread->member.dispatched);
    dispatcher_leave();
    return consumed;
}

static int64_t ask(int64_t (*query)(void)) {
    dispatcher_enter();
    int64_t answer = query();
    dispatcher_leave();
    return answer;
}

int64_t catapults_threads_ready(void) { return ask(dispatcher_threads_ready); }

int64_t catapults_threads_suspended(void) { return ask(dispatcher_threads_suspended); }

int64_t catapults_threads_total(void) { return ask(dispatcher_threads_total); }

const char *catapults_policy_name(void) { return catapults_scheduler_policy_name(catapults_scheduler_self()); }
