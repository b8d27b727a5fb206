/*
 * Accounting: how long threads have had the processor, as the application asks (1996, §4.4.1).
 */
#include "catapults.h"
#include "contexts/kernel_clock.h"
#include "contexts/here.h"
#include "contexts/libc.h"
#include "contexts/text.h"
#include "contexts/tools.h"
#include "process/account.h"
#include "process/activations.h"
#include "process/processor_time.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/scheduler_handle.h"

/* ---- Statistical ------------------------------------------------------------------------------------------------- */

static TOOLS_UNSEEN void passed(ucontext_t *context);
static struct processor_time samples = {.passed = passed, .without = "nobody is charged for the processor's time"};

/* Time without a processor is on the way back from the kernel. */
static TOOLS_UNSEEN void passed(ucontext_t *context) {
    (void)context;
    int64_t now = clock_time(CLOCK_THREAD_CPUTIME_ID);
    int64_t *counted = &here()->process.counted;
    if (*counted == 0 || *counted > now) /* for the first time, or in a child of fork */
        *counted = now - samples.every;
    int64_t ticks = (now - *counted) / samples.every;
    *counted += ticks * samples.every;
    struct processor *processor = runtime.activations ? activations_processor() : processor_here();
    if (processor)
        dispatcher_sampled(processor, (uint32_t)ticks);
}

static const int64_t *tick;

static void sample(void) {
    samples.every = *tick;
    processor_time_start(&samples);
}

/* What is wanted; CATAPULTS_ACCOUNTING_DEFAULT: nothing says. */
static enum catapults_accounting wanted(const struct catapults_options *options) {
    static const char *const names[] = {
        [CATAPULTS_ACCOUNTING_TIME_STAMPS] = "time-stamps", [CATAPULTS_ACCOUNTING_STATISTICAL] = "statistical"};
    const char *text = libc_environment("CATAPULTS_ACCOUNTING");
    if (options->accounting != CATAPULTS_ACCOUNTING_DEFAULT || !text || !*text)
        return options->accounting;
    for (int i = CATAPULTS_ACCOUNTING_TIME_STAMPS; i <= CATAPULTS_ACCOUNTING_STATISTICAL; i++)
        if (text_equal(text, names[i]))
            return (enum catapults_accounting)i;
    runtime_report("CATAPULTS_ACCOUNTING is \"%s\": it must be \"%s\" or \"%s\"", text,
                   names[CATAPULTS_ACCOUNTING_TIME_STAMPS], names[CATAPULTS_ACCOUNTING_STATISTICAL]);
    return CATAPULTS_ACCOUNTING_DEFAULT;
}

void account_prepare(const struct catapults_options *options, struct dispatcher_host *host) {
    host->sample = wanted(options) == CATAPULTS_ACCOUNTING_STATISTICAL ? sample : NULL;
    tick = &host->tick;
}

/* ---- What has been counted --------------------------------------------------------------------------------------- */

void catapults_account(void) {
    dispatcher_enter();
    dispatcher_account();
    dispatcher_leave();
}

int64_t catapults_scheduler_consumed(catapults_scheduler_t scheduler) {
    dispatcher_enter();
    int64_t consumed = dispatcher_consumed_by(&scheduler->dispatched->record);
    dispatcher_leave();
    return consumed;
}
