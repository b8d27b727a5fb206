/*
 * A conversation with who asks, in packets of text. Who asks is of the same user, or root: the kernel says so of the
 * other end of the socket.
 *
 *     ►  catapults VERSION
 *     ◄  look | watch 1 | watch 0 | set TYPE THREAD VALUE NAME | replace NAME, with a descriptor
 *     ►  lines, and last a packet "done", or "refused WHY"
 *
 * VALUE is the variable's 64 bits as a number. What the lines are, live_attend.c and `say` below tell. Words that may
 * have blanks come last on a line, or after a tabulator.
 */
#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/un.h>

#include "contexts/system.h"
#include "contexts/text.h"
#include "process/live.h"
#include "process/mapped.h"

enum { PACKET = 16 << 10, REQUEST = 1024, THREADS_LEAST = 256 };

/* What one conversation needs. It lies in memory of its own, as the stack is small. */
struct talk {
    int socket;
    struct live_request request;
    size_t length; /* of `packet` */
    char packet[PACKET];
    char line[REQUEST];
};

/* system.h's functions may be tools' stand-ins, which libc's errno is set by: that of the thread that was interrupted.
 */
static void *take(size_t size) {
    return (void *)system_call_6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void give(void *memory, size_t size) {
    if (memory)
        system_call(SYS_munmap, (long)memory, (long)size, 0, 0); /* if it stays, it does no harm */
}

static bool send_packet(struct talk *talk, const char *text, size_t length) {
    return length == 0 ||
           system_call_6(SYS_sendto, talk->socket, (long)text, (long)length, MSG_NOSIGNAL, 0, 0) == (long)length;
}

static bool flush(struct talk *talk) {
    bool sent = send_packet(talk, talk->packet, talk->length);
    talk->length = 0;
    return sent;
}

__attribute__((format(printf, 2, 3))) static bool say(struct talk *talk, const char *format, ...) {
    enum { LINE = 512 };
    bool sent = talk->length + LINE <= PACKET || flush(talk);
    va_list arguments;
    va_start(arguments, format);
    size_t length = text_format_list(talk->packet + talk->length, LINE, format, arguments);
    va_end(arguments);
    talk->length += length < LINE ? length : LINE - 1;
    return sent;
}

static bool finish(struct talk *talk) {
    if (!flush(talk))
        return false;
    say(talk, talk->request.refused ? "refused %s" : "done", talk->request.refused);
    return flush(talk);
}

/* ---- Who asks ---------------------------------------------------------------------------------------------------- */

static bool may_ask(int socket) {
    struct ucred other;
    socklen_t size = sizeof other;
    uid_t own = (uid_t)system_call(SYS_geteuid, 0, 0, 0, 0);
    return system_call_6(SYS_getsockopt, socket, SOL_SOCKET, SO_PEERCRED, (long)&other, (long)&size, 0) == 0 &&
           (other.uid == own || other.uid == 0);
}

/* Its socket has a name that the kernel has given: five hexadecimal digits. */
static int connect_to(uint32_t name) {
    enum { DIGITS = 5 };
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    for (int i = 0; i < DIGITS; i++)
        address.sun_path[1 + i] = "0123456789abcdef"[name >> (4 * (DIGITS - 1 - i)) & 15];
    long socket = system_call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 0);
    if (socket < 0)
        return (int)socket;
    long error =
        system_call(SYS_connect, socket, (long)&address, offsetof(struct sockaddr_un, sun_path) + 1 + DIGITS, 0);
    return error < 0 ? (int)error : !may_ask((int)socket) ? -EPERM : (int)socket;
}

/* ---- What is asked ----------------------------------------------------------------------------------------------- */

/* Reads the next request, and a descriptor that comes with it, or -1. False: there is none. */
static bool hear(struct talk *talk, int *descriptor) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {talk->line, sizeof talk->line - 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    long length = system_call(SYS_recvmsg, talk->socket, (long)&message, MSG_CMSG_CLOEXEC, 0);
    *descriptor = -1;
    if (length <= 0)
        return false;
    talk->line[length] = '\0';
    const struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS)
        *descriptor = *(const int *)CMSG_DATA(first);
    return true;
}

/* The next word of the line, which ends at a blank; and the rest. */
static char *word(char **rest) {
    char *start = *rest, *end = start;
    while (*end && *end != ' ')
        end++;
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return start;
}

static void ask(struct talk *talk) {
    if (!live_ask(&talk->request))
        talk->request.refused = "its processors do not come to it: they are in calls of the kernel, or in code that "
                                "must not be interrupted";
}

static const char *const states[] = {[LIVE_RUNNING] = "RUNNING",
                                     [LIVE_READY] = "READY",
                                     [LIVE_BLOCKED] = "BLOCKED",
                                     [LIVE_LENDING] = "LENDING",
                                     [LIVE_SUSPENDED] = "SUSPENDED"};

/* One line of a thread. */
static bool say_thread(struct talk *talk, struct live_thread *thread) {
    for (char *letter = thread->name; *letter; letter++)
        if ((unsigned char)*letter < ' ')
            *letter = '?';
    return say(talk, "thread %" PRIu32 " %s %" PRIu32 " %" PRId64 " %" PRId64 " %" PRIu32 " %s\t%s\n", thread->number,
               states[thread->state], thread->scheduler, thread->consumed, thread->instant, thread->waits_for,
               thread->name, thread->wait);
}

/* Makes room for as many threads. */
static bool make_room(struct live_request *request, uint32_t count) {
    size_t size = count * sizeof *request->threads;
    struct live_thread *threads = take(size);
    if (system_failed(threads))
        return false;
    give(request->threads, request->room * sizeof *request->threads);
    request->threads = threads;
    request->room = count;
    return true;
}

static bool look(struct talk *talk) {
    struct live_request *request = &talk->request;
    uint32_t room = request->room ? request->room : THREADS_LEAST;
    do {
        if (room > request->room && !make_room(request, room)) {
            request->refused = "there is no memory for what is to be said of its threads";
            return finish(talk);
        }
        request->kind = LIVE_LOOK;
        ask(talk);
        room = 2 * request->count;
    } while (!request->refused && request->count > request->room);
    if (request->refused)
        return finish(talk);
    if (!send_packet(talk, request->head, request->head_length))
        return false;
    for (uint32_t i = 0; i < request->count; i++)
        if (!say_thread(talk, &request->threads[i]))
            return false;
    return finish(talk);
}

static bool set(struct talk *talk, char *rest) {
    struct live_request *request = &talk->request;
    uint64_t type, thread, bits;
    bool is_one = text_number(word(&rest), CATAPULTS_IMPORT_FLOAT, &type) &&
                  text_number(word(&rest), UINT32_MAX, &thread) && text_number(word(&rest), UINT64_MAX, &bits);
    request->kind = LIVE_SET;
    request->type = (int)type;
    request->thread = (uint32_t)thread;
    request->bits = bits;
    request->name = rest;
    if (is_one)
        ask(talk);
    else
        request->refused = "it is not understood";
    return finish(talk);
}

static bool replace(struct talk *talk, int descriptor) {
    struct live_request *request = &talk->request;
    struct mapped mapped;
    request->kind = LIVE_REPLACE;
    request->refused = mapped_policy(descriptor, &mapped, request->text, sizeof request->text);
    request->policy = mapped.policy;
    if (!request->refused) {
        ask(talk);
        if (request->refused)
            mapped_give_up(&mapped);
    }
    return finish(talk);
}

static bool answer(struct talk *talk, int descriptor) {
    struct live_request *request = &talk->request;
    char *rest = talk->line;
    const char *what = word(&rest);
    request->refused = NULL;
    if (text_equal(what, "look"))
        return look(talk);
    if (text_equal(what, "set"))
        return set(talk, rest);
    if (text_equal(what, "replace"))
        return replace(talk, descriptor);
    if (text_equal(what, "watch")) {
        request->kind = LIVE_WATCH;
        request->watch = text_equal(word(&rest), "1");
        ask(talk);
        return finish(talk);
    }
    request->refused = "it is not understood";
    return finish(talk);
}

void live_talk(uint32_t name) {
    struct talk *talk = take(sizeof *talk);
    if (system_failed(talk))
        return;
    talk->socket = connect_to(name);
    bool goes_on = talk->socket >= 0, watches = false;
    if (goes_on) {
        say(talk, "catapults %d", LIVE_VERSION);
        goes_on = flush(talk);
    }
    for (int descriptor; goes_on && hear(talk, &descriptor);) {
        goes_on = answer(talk, descriptor);
        if (talk->request.kind == LIVE_WATCH && !talk->request.refused)
            watches = talk->request.watch;
        if (descriptor >= 0)
            system_call(SYS_close, descriptor, 0, 0, 0); /* nothing was written to it */
    }
    if (watches) {
        talk->request.kind = LIVE_WATCH;
        talk->request.watch = false;
        live_ask(&talk->request); /* if nobody comes to it, it goes on to be counted */
    }
    give(talk->request.threads, talk->request.room * sizeof *talk->request.threads);
    give(talk, sizeof *talk);
}
