#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>

#include "response.h"

#define SLOWEST 1024 /* bytes per second, on average, below which a client counts as one that does not read */
#define SECOND 1000000000

/* A response on its way. */
struct sending {
    int socket, file;
    const struct pace *pace;
    struct imported *imported;
    int64_t started, sent;
};

static bool send_memory(struct sending *sending, const struct piece *pieces, size_t count, bool more);
static bool send_file(struct sending *sending, const struct piece *piece);
static void hold_back(int socket, bool on);
static int64_t deadline(const struct sending *sending);
static void progress(struct sending *sending, int64_t bytes);

void response_start(struct response *response) {
    response->status = 0;
    response->close = false;
    response->head = (struct text){.data = response->head_space, .size = sizeof response->head_space};
    response->file = NULL;
    response->page = NULL;
    response->count = 0;
    response->head_length = 0;
}

void response_add_memory(struct response *response, const char *memory, size_t length) {
    if (length == 0)
        return;
    struct piece *last = response->count > 0 ? &response->pieces[response->count - 1] : NULL;
    if (last != NULL && last->memory != NULL && last->memory + last->length == memory)
        last->length += (int64_t)length;
    else
        response->pieces[response->count++] = (struct piece){.memory = memory, .length = (int64_t)length};
}

void response_add_file(struct response *response, int64_t offset, int64_t length) {
    if (length == 0)
        return;
    if (response->file->body != NULL)
        response_add_memory(response, response->file->body + offset, (size_t)length);
    else
        response->pieces[response->count++] = (struct piece){.offset = offset, .length = length};
}

bool response_send(const struct response *response, int socket, const struct pace *pace, struct imported *imported,
                   int64_t *body) {
    struct sending sending = {
        .socket = socket,
        .file = response->file != NULL ? response->file->descriptor : -1,
        .pace = pace,
        .imported = imported,
        .started = catapults_now(),
    };
    imported->bytesleft = 0;
    for (size_t i = 0; i < response->count; i++)
        imported->bytesleft += response->pieces[i].length;
    imported->responding = true;
    bool in_chunks = sending.file >= 0 && imported->bytesleft > (int64_t)pace->chunk;
    if (in_chunks)
        hold_back(socket, true);

    bool whole = true;
    for (size_t i = 0, end; whole && i < response->count; i = end) {
        end = i + 1;
        if (response->pieces[i].memory == NULL) {
            whole = send_file(&sending, &response->pieces[i]);
            continue;
        }
        while (end < response->count && response->pieces[end].memory != NULL)
            end++;
        whole = send_memory(&sending, &response->pieces[i], end - i, end < response->count);
    }
    if (in_chunks)
        hold_back(socket, false);
    imported->bytesleft = 0;
    imported->responding = false;
    *body = sending.sent > response->head_length ? sending.sent - response->head_length : 0;
    return whole;
}

void response_release(struct response *response) {
    if (response->file != NULL)
        file_release(response->file);
    free(response->page);
    response->file = NULL;
    response->page = NULL;
}

/* `more`: the file follows, and may share a packet. */
static bool send_memory(struct sending *sending, const struct piece *pieces, size_t count, bool more) {
    struct iovec parts[RESPONSE_PIECES];
    int64_t length = 0;
    for (size_t i = 0; i < count; i++) {
        parts[i] = (struct iovec){(void *)pieces[i].memory, (size_t)pieces[i].length};
        length += pieces[i].length;
    }
    ssize_t sent = count == 1 ? catapults_send_until(sending->socket, parts->iov_base, parts->iov_len,
                                                     more ? MSG_MORE : 0, deadline(sending))
                              : catapults_writev_until(sending->socket, parts, (int)count, deadline(sending));
    if (sent > 0)
        progress(sending, sent);
    return sent == length;
}

static bool send_file(struct sending *sending, const struct piece *piece) {
    off_t offset = piece->offset;
    int64_t end = piece->offset + piece->length;
    while (offset < end) {
        int64_t left = end - offset, chunk = (int64_t)sending->pace->chunk;
        size_t size = (size_t)(left < chunk ? left : chunk);
        ssize_t sent = catapults_sendfile_until(sending->socket, sending->file, &offset, size, deadline(sending));
        if (sent <= 0)
            return false; /* 0: the file has become shorter, and the response cannot be what it promised */
        progress(sending, sent);
        /* A full chunk has gone: whoever has less left may overtake. Else the socket is full, and the next call waits.
         */
        if (offset < end && (size_t)sent == size)
            catapults_yield();
    }
    return true;
}

/* Holds back what does not fill a packet: else each chunk ends in a small one, for connections have TCP_NODELAY. */
static void hold_back(int socket, bool on) { setsockopt(socket, IPPROTO_TCP, TCP_CORK, &(int){on}, sizeof(int)); }

/* Some bytes must go within the time-out, and many enough on average. */
static int64_t deadline(const struct sending *sending) {
    int64_t now = catapults_now();
    int64_t on_average = sending->started + sending->pace->send_timeout + sending->sent / SLOWEST * SECOND;
    int64_t next = now + sending->pace->send_timeout;
    return next < on_average ? next : on_average;
}

static void progress(struct sending *sending, int64_t bytes) {
    sending->sent += bytes;
    sending->imported->bytesleft -= bytes;
}
