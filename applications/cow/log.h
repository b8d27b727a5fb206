/*
 * The access log in common log format, written by a thread of its own.
 *
 * A line is put into one of two buffers while the other is being written. If both are full the line is lost, and
 * counted, rather than that an answer waits for the disk.
 */
#ifndef COW_LOG_H
#define COW_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "catapults.h"
#include "date.h"
#include "request.h"
#include "text.h"

#define LOG_BUFFER (1 << 20)

struct access_log {
    const char *name; /* a file or "-"; NULL: there is no log */
    int descriptor;
    struct text lines; /* being filled */
    char *buffers[2];
    uint64_t lost;
    bool stopping, reopening;
    catapults_t thread;
    catapults_mutex_t mutex;
    catapults_cond_t work;
};

/* Opens the file, so that a mistake is found early. Returns 0 or an error number. */
int log_open(struct access_log *log, const char *name);
/* Starts the thread. Returns 0 or an error number. */
int log_start(struct access_log *log);
/* Writes what is left, ends the thread, and closes. */
void log_stop(struct access_log *log);

/* Opens the file anew at the next chance: it was renamed. */
void log_reopen(struct access_log *log);

/* Adds a line. Never waits. */
void log_answer(struct access_log *log, const struct dates *dates, const char *client, struct span line, int status,
                int64_t body_bytes);

#endif
