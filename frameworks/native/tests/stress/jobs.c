/*
 * Threads with periods: their jobs are released a period apart, however late they are and whatever is told to their
 * policy meanwhile.
 */
#include "stress/stress.h"

struct periodic {
    int64_t period;
    int jobs;
    _Atomic bool ended;
    struct worker self;
};

static void begin(struct worker *self) { (void)self; }

static void *do_jobs(void *periodic_) {
    struct periodic *periodic = periodic_;
    struct worker *self = &periodic->self;
    int64_t first, release, missed = -1;
    steps_go_on();
    if (any(self, 4) == 0)
        require(catapults_set_period(periodic->period) == 0);
    require(catapults_release(&first) == 0);
    for (int i = 1; i <= periodic->jobs; i++) {
        pause_somehow(self);
        require(catapults_next_period(any(self, 2) ? &missed : NULL) == 0 && missed >= -1);
        int64_t now = catapults_now();
        require(catapults_release(&release) == 0 && release == first + i * periodic->period && now >= release);
    }
    steps_end();
    periodic->ended = true;
    ends();
    return NULL;
}

static void have_jobs_done(struct worker *self) {
    enum { MOST = 3 };
    struct periodic periodic[MOST];
    catapults_t threads[MOST];
    int count = 1 + any(self, MOST);
    for (int i = 0; i < count; i++) {
        periodic[i] = (struct periodic){
            .period = (1 + any(self, 50)) * program.unit, .jobs = 1 + any(self, 8), .self = {.random = self->random}};
        threads[i] = spawn(self, &(struct catapults_attributes){.period = periodic[i].period}, do_jobs, &periodic[i]);
    }
    for (int i = any(self, 10); i > 0; i--) {
        int one = any(self, count);
        struct catapults_value value = catapults_value_int("priority", any(self, 4));
        if (threads[one] && !periodic[one].ended) {
            int error = any(self, 2) ? catapults_changed(threads[one]) : catapults_set_values(threads[one], &value, 1);
            require(error == 0 || error == ESRCH);
        }
        if (any(self, 3) == 0)
            pause_somehow(self);
    }
    for (int i = 0; i < count; i++)
        if (threads[i])
            join(threads[i], NULL);
}

static void end(struct worker *self) { (void)self; }

const struct scene jobs_scene = {"jobs", begin, have_jobs_done, end};
