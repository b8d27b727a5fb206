/*
 * Who waits for a thread lends it its turns.
 */
#ifndef CATAPULTS_CORE_DONATION_H
#define CATAPULTS_CORE_DONATION_H

#include "core/state.h"

/* See donation.c. Who is to run on a turn, which is RUNNING; NULL: nobody can, and it has been blocked. The second is
 * for that of this processor, which goes on with that one; NULL also: it waits for another processor. */
struct dispatcher_thread *core_borrower(struct processor *here, struct dispatcher_thread *turn);
struct dispatcher_thread *core_borrow(struct processor *here, struct dispatcher_thread *turn);
bool core_can_lend(struct processor *here, const struct dispatcher_thread *thread);
void core_block_donor(struct processor *here, struct dispatcher_thread *thread, struct dispatcher_thread *end);
void core_about_to_run(struct processor *here,
                       struct dispatcher_thread *end); /* it runs now: whatever it waited for, it looks again */
void core_rouse(struct processor *here, struct dispatcher_thread *end, const struct dispatcher_thread *runs);
void core_rouse_one(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs);
/* Whom the thread lends its turns to; NULL: it has them for itself. The end of its chain, which may be itself. */
struct dispatcher_thread *core_lends_to(struct processor *here, const struct dispatcher_thread *thread);
struct dispatcher_thread *core_end_of(struct processor *here, struct dispatcher_thread *thread);
bool core_stop_lending(struct processor *here, struct dispatcher_thread *thread, const struct dispatcher_thread *runs);

/* As in dispatcher/dispatcher.h. */
enum dispatcher_cycle core_cycle(struct processor *here, const uintptr_t *to);
void core_redirected(struct processor *here, struct dispatcher_thread *thread, const uintptr_t *to);
void core_renamed(struct processor *here, struct dispatcher_thread *thread);
struct dispatcher_thread *core_waited_for(struct processor *here, const struct dispatcher_thread *thread);

#endif
