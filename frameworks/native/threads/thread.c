/*
 * Threads: their beginning and their end.
 */
#include <errno.h>
#include <string.h>

#include "threads/cancel.h"
#include "threads/client.h"
#include "threads/end.h"
#include "threads/runtime.h"
#include "threads/scheduler.h"
#include "threads/signals.h"

static struct catapults_handle *make(const struct catapults_attributes *attributes);
static int join_or_cancel(struct catapults_handle *thread, void **result, int64_t instant, bool lends);
static int join(struct catapults_handle *thread, void **result, int64_t instant, bool lends);
static void entry(void *argument);

int catapults_create(catapults_t *result, const struct catapults_attributes *attributes, void *(*start)(void *),
                     void *argument) {
    static const struct catapults_attributes none;
    if (!runtime.started)
        return EPERM;
    struct catapults_handle *self = handle_self();
    self->refusal = NULL;
    if (!attributes)
        attributes = &none;
    if (__builtin_expect(attributes->scheduled_by != NULL, 0) && dispatcher_guard.several)
        return ENOTSUP;
    dispatcher_enter();
    const struct catapults_scheduler *under = attributes->scheduler ? attributes->scheduler : scheduler_default;
    if (__builtin_expect(attributes->scheduled_by != NULL, 0))
        under = &client_scheduler;
    if (__builtin_expect(attributes->values_count > 0, 0) &&
        imports_check_values(under, attributes->values, attributes->values_count) != 0) {
        dispatcher_leave();
        return EINVAL;
    }
    if (__builtin_expect(attributes->processors != 0, 0) && !dispatcher_can_bind(attributes->processors)) {
        dispatcher_leave();
        return EINVAL;
    }
    struct catapults_handle *thread = make(attributes);
    if (!thread) {
        dispatcher_leave();
        return EAGAIN;
    }
    if (__builtin_expect(attributes->scheduled_by != NULL, 0) && client_make(thread, attributes->scheduled_by) != 0) {
        stack_give(thread->stack);
        dispatcher_leave();
        return EAGAIN;
    }
    thread->start = start;
    thread->argument = argument;
    if (result)
        *result = thread; /* before it can run */
    const struct catapults_stop *stop =
        dispatcher_create(under->dispatched, &thread->dispatched, thread->stack, thread, entry, thread);
    if (stop) {
        if (result)
            *result = NULL;
        self->refusal = stop->text;
        stack_give(thread->stack);
    }
    dispatcher_leave();
    /* The policy may have let the thread run: if it is detached, it may be gone. */
    return stop ? EAGAIN : 0;
}

const char *catapults_refusal(void) { return handle_self()->refusal; }

int catapults_join(catapults_t thread, void **result) {
    return catapults_join_until(thread, result, CATAPULTS_FOREVER);
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
    catapults_testcancel();
    dispatcher_enter();
    int error = join(thread, result, instant, lends);
    dispatcher_leave();
    if (error == ECANCELED)
        catapults_testcancel();
    signals_check(handle_self());
    return error;
}

static int join(struct catapults_handle *thread, void **result, int64_t instant, bool lends) {
    struct catapults_handle *self = handle_self();
    if (thread->detached || (thread->joiner && thread != self))
        return EINVAL;
    self->joins = (uintptr_t)thread;
    while (!thread->ended) {
        enum dispatcher_cycle cycle = thread->dispatched.waits_for ? dispatcher_cycle(&self->joins) : CYCLE_NONE;
        if (thread == self || (cycle == CYCLE_CLOSED && instant == CATAPULTS_FOREVER))
            return EDEADLK;
        thread->joiner = self;
        int early = cancel_wait_for(self, &self->joins, lends && cycle == CYCLE_NONE, BLOCK_JOIN, instant);
        if (early && !thread->ended) {
            thread->joiner = NULL;
            if (early != ERESTART)
                return early;
            signals_run_in_wait(self);
            if (thread->detached || thread->joiner)
                return EINVAL;
        }
    }
    if (result)
        *result = thread->result;
    stack_give(thread->stack);
    return 0;
}

int catapults_detach(catapults_t thread) {
    dispatcher_enter();
    int error = thread->detached || thread->joiner ? EINVAL : 0;
    if (error == 0) {
        thread->detached = true;
        if (thread->ended)
            stack_give(thread->stack);
    }
    dispatcher_leave();
    return error;
}

catapults_t catapults_self(void) { return handle_self(); }

const char *catapults_name(catapults_t thread) { return thread->name; }

void catapults_yield(void) { dispatcher_yield(); }

int catapults_yield_to(catapults_t thread) {
    dispatcher_enter();
    int error = dispatcher_yield_to(&thread->dispatched);
    dispatcher_leave();
    return error;
}

int catapults_suspend(catapults_t thread) {
    dispatcher_enter();
    int error = thread->ended ? ESRCH : 0;
    if (error == 0)
        dispatcher_suspend(&thread->dispatched);
    dispatcher_leave();
    return error;
}

int catapults_resume(catapults_t thread) {
    dispatcher_enter();
    int error = dispatcher_resume(&thread->dispatched);
    dispatcher_leave();
    return error;
}

static int64_t ask(int64_t (*query)(void)) {
    dispatcher_enter();
    int64_t answer = query();
    dispatcher_leave();
    return answer;
}

int64_t catapults_threads_ready(void) { return ask(dispatcher_threads_ready); }

void catapults_account(void) {
    dispatcher_enter();
    dispatcher_account();
    dispatcher_leave();
}

int64_t catapults_consumed(catapults_t thread) {
    dispatcher_enter();
    int64_t consumed = dispatcher_consumed_by(&thread->dispatched);
    dispatcher_leave();
    return consumed;
}

int64_t catapults_scheduler_consumed(catapults_scheduler_t scheduler) {
    dispatcher_enter();
    int64_t consumed = dispatcher_consumed_by(&scheduler->dispatched->record);
    dispatcher_leave();
    return consumed;
}

int64_t catapults_threads_suspended(void) { return ask(dispatcher_threads_suspended); }

int64_t catapults_threads_total(void) { return ask(dispatcher_threads_total); }

const char *catapults_policy_name(void) { return catapults_scheduler_policy_name(catapults_scheduler_self()); }

void handle_name(struct catapults_handle *thread) {
    static uint16_t generations;
    if (++generations == 0)
        generations = 1;
    thread->dispatched.generation = generations;
    thread->word = (uintptr_t)thread | (uintptr_t)generations << DISPATCHER_NAME_BITS;
}

static void entry(void *argument) {
    struct catapults_handle *self = argument;
    self->signals.place = SIGNAL_PLACE_ELSEWHERE;
    dispatcher_begin();
    signals_check(self);
    end(self, self->start(self->argument));
}

/* A record on a stack; NULL: no memory. */
static struct catapults_handle *make(const struct catapults_attributes *attributes) {
    size_t size = attributes->stack_size ? attributes->stack_size : runtime.stack_size;
    if (runtime.record_size > size / 8)
        size += runtime.record_size;
    struct stack *stack = stack_take(size);
    if (!stack)
        return NULL;
    struct catapults_handle *thread = (struct catapults_handle *)((char *)stack - runtime.record_size);
    thread->stack = stack;
    handle_name(thread);
    thread->dispatched.room = (uint32_t)(runtime.record_size - offsetof(struct catapults_handle, dispatched.policy));
    thread->attributes = attributes->values_count > 0 ? attributes : NULL;
    thread->object = attributes->object;
    thread->client = NULL;
    thread->selects = NULL;
    thread->message = NULL;
    thread->stand_ins = NULL;
    thread->joiner = NULL;
    thread->joins = 0;
    thread->wants = NULL;
    thread->cancel = CANCEL_ENABLED;
    thread->cancellable = false;
    thread->cancelled = false;
    thread->cleanup = NULL;
    thread->values = NULL;
    thread->held = NULL;
    thread->has_ceiling = false;
    thread->refusal = NULL;
    thread->detached = attributes->detached;
    thread->dispatched.bound = attributes->processors;
    thread->ended = false;
    thread->waiting = NULL;
    thread->signals = (struct signal_state){.mask = handle_self()->signals.mask, .place = SIGNAL_PLACE_NEW};
    thread->asleep = false;
    thread->name[0] = '\0';
    if (attributes->name)
        strncat(thread->name, attributes->name, CATAPULTS_NAME_SIZE - 1);
    return thread;
}
