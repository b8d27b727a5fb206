/*
 * What the process needs of the part that makes blocking calls block a thread only. That is io; tests without io have a
 * stand-in.
 */
#ifndef CATAPULTS_PROCESS_DRIVER_H
#define CATAPULTS_PROCESS_DRIVER_H

#include <stdbool.h>

struct selection;

/* Called by catapults_init. `choice`: "io_uring", "epoll", or NULL for $CATAPULTS_IO, else io_uring where the kernel
 * allows it, else epoll. `without_ring`: why it has to be epoll; or NULL. `several`: processors. Ignores SIGPIPE if the
 * application left it at its default. Returns 0 or an error number; the reason is then on standard error. */
int catapults_io_start(const char *choice, const char *without_ring, bool several);

/* Undoes catapults_io_start. No thread may be waiting. */
void catapults_io_stop(void);

/* In a child of fork, where nobody waits: nothing is under way, and the driver is started anew, or if that is refused,
 * the other one. Returns 0 or an error number. */
int io_restart(void);

/* In a child of fork, for a thread that no longer exists: no port knows any more that it was in this catapults_select.
 */
void io_forget_selection(const struct selection *selection);

#endif
