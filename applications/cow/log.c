#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "log.h"

#define SECOND 1000000000
#define LONGEST_LINE 1024 /* of a request, in the log; the rest is cut off */

static void *write_lines(void *argument);
static void write_all(struct access_log *log, const char *bytes, size_t count);
static int open_file(const char *name);
static void add_escaped(struct text *text, struct span span);

int log_open(struct access_log *log, const char *name) {
    *log = (struct access_log){.name = name, .descriptor = -1};
    if (name == NULL)
        return 0;
    log->descriptor = open_file(name);
    return log->descriptor >= 0 ? 0 : errno;
}

int log_start(struct access_log *log) {
    if (log->name == NULL)
        return 0;
    log->mutex = (catapults_mutex_t)CATAPULTS_MUTEX_INITIALIZER;
    log->work = (catapults_cond_t)CATAPULTS_COND_INITIALIZER;
    for (int i = 0; i < 2; i++) {
        if ((log->buffers[i] = malloc(LOG_BUFFER)) == NULL)
            return ENOMEM;
    }
    log->lines = (struct text){.data = log->buffers[0], .size = LOG_BUFFER};
    struct catapults_attributes attributes = {.name = "access log"};
    return catapults_create(&log->thread, &attributes, write_lines, log);
}

void log_stop(struct access_log *log) {
    if (log->name == NULL)
        return;
    log->stopping = true;
    catapults_cond_signal(&log->work);
    catapults_join(log->thread, NULL);
    if (log->descriptor != STDOUT_FILENO && log->descriptor >= 0)
        catapults_close(log->descriptor);
    free(log->buffers[0]);
    free(log->buffers[1]);
    log->name = NULL;
}

void log_reopen(struct access_log *log) {
    if (log->name == NULL)
        return;
    log->reopening = true;
    catapults_cond_signal(&log->work);
}

void log_answer(struct access_log *log, const struct dates *dates, const char *client, struct span line, int status,
                int64_t body_bytes) {
    if (log->name == NULL)
        return;
    struct text *lines = &log->lines;
    size_t before = lines->used;
    text_string(lines, client);
    text_string(lines, " - - [");
    text_string(lines, dates->log);
    text_string(lines, "] \"");
    add_escaped(lines, line);
    text_string(lines, "\" ");
    text_number(lines, (uint64_t)status);
    text_string(lines, " ");
    if (body_bytes > 0)
        text_number(lines, (uint64_t)body_bytes);
    else
        text_string(lines, "-");
    text_string(lines, "\n");
    if (lines->cut) {
        lines->used = before;
        lines->cut = false;
        log->lost++;
    }
    if (before < LOG_BUFFER / 2 && lines->used >= LOG_BUFFER / 2)
        catapults_cond_signal(&log->work);
}

static void *write_lines(void *argument) {
    struct access_log *log = argument;
    int filling = 0;
    catapults_mutex_lock(&log->mutex);
    while (!log->stopping || log->lines.used > 0) {
        if (!log->stopping && !log->reopening && log->lines.used < LOG_BUFFER / 2)
            catapults_cond_wait_until(&log->work, &log->mutex, catapults_now() + SECOND);
        if (log->reopening) {
            log->reopening = false;
            int descriptor = open_file(log->name);
            if (descriptor < 0) {
                fprintf(stderr, "cow: cannot reopen %s: %s\n", log->name, strerror(errno));
            } else if (log->descriptor != STDOUT_FILENO) {
                catapults_close(log->descriptor);
                log->descriptor = descriptor;
            }
        }
        struct text full = log->lines;
        filling = 1 - filling;
        log->lines = (struct text){.data = log->buffers[filling], .size = LOG_BUFFER};
        write_all(log, full.data, full.used);
        if (log->lost > 0)
            fprintf(stderr,
                    "cow: %" PRIu64 " lines of the access log are lost: they came faster than they could be written\n",
                    log->lost);
        log->lost = 0;
    }
    catapults_mutex_unlock(&log->mutex);
    return NULL;
}

static void write_all(struct access_log *log, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = catapults_write(log->descriptor, bytes, count);
        if (written <= 0) {
            fprintf(stderr, "cow: cannot write to %s: %s; lines are lost\n", log->name, strerror(errno));
            return;
        }
        bytes += written;
        count -= (size_t)written;
    }
}

static int open_file(const char *name) {
    return strcmp(name, "-") == 0 ? STDOUT_FILENO
                                  : open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
}

/* So that a request cannot forge lines. */
static void add_escaped(struct text *text, struct span span) {
    static const char digits[] = "0123456789abcdef";
    size_t length = span.length < LONGEST_LINE ? span.length : LONGEST_LINE;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)span.start[i];
        if (byte >= ' ' && byte < 127 && byte != '"' && byte != '\\')
            text_bytes(text, span.start + i, 1);
        else
            text_bytes(text, (char[]){'\\', 'x', digits[byte >> 4], digits[byte & 15]}, 4);
    }
}
