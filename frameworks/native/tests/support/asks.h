/*
 * Asks a process that runs, as `catapults top` and its like do: see process/live.h.
 */
#ifndef CATAPULTS_ASKS_H
#define CATAPULTS_ASKS_H

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "support/child.h"

enum { ASKS_MARK = 0x63617461, ASKS_ROOM = 1 << 20 };

/* Begins to talk to the process, which may not have begun to listen. */
static inline int asks_open(pid_t process, const char *hello) {
    enum { AGAIN = 100 };
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t size = sizeof address.sun_family;
    int listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    require(listening >= 0 && bind(listening, (struct sockaddr *)&address, size) == 0 && listen(listening, 1) == 0);
    size = sizeof address;
    require(getsockname(listening, (struct sockaddr *)&address, &size) == 0);
    union sigval value = {.sival_ptr = (void *)((uintptr_t)ASKS_MARK << 32 | strtoul(address.sun_path + 1, NULL, 16))};
    struct pollfd come = {.fd = listening, .events = POLLIN};
    do
        require(sigqueue(process, SIGURG, value) == 0);
    while (poll(&come, 1, AGAIN) == 0);
    int socket = accept(listening, NULL, NULL);
    char said[32] = {0};
    require(socket >= 0 && recv(socket, said, sizeof said - 1, 0) > 0 && strcmp(said, hello) == 0);
    close(listening);
    return socket;
}

/* What it says, with the last word. `file`: goes with it; or NULL. */
static inline const char *asks(int socket, const char *request, const char *file) {
    static char answer[ASKS_ROOM];
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec part = {(void *)request, strlen(request)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int descriptor = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    require(!file || descriptor >= 0);
    if (file) {
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    require(sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)part.iov_len);
    if (file)
        close(descriptor);
    size_t length = 0, start = 0;
    do {
        ssize_t more = recv(socket, answer + length, sizeof answer - 1 - length, 0);
        require(more > 0);
        start = length;
        length += (size_t)more;
        answer[length] = '\0';
    } while (strcmp(answer + start, "done") != 0 && strncmp(answer + start, "refused ", 8) != 0);
    return answer;
}

#endif
