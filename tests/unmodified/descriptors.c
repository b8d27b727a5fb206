/* Threads that wait for one another by pipes and sockets, also for more than fits into them; poll, select and epoll. */
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

enum { SIZE = 1 << 20 };

static int ends[2], sockets[2];

static void *write_much(void *unused) {
    static char much[SIZE];
    memset(much, 'x', sizeof much);
    CHECK(write(ends[1], much, sizeof much) == sizeof much);
    close(ends[1]);
    CHECK(send(sockets[1], much, sizeof much, 0) == sizeof much);
    return unused;
}

static void *read_all(void *unused) {
    char buffer[1000];
    long sum = 0, count;
    while ((count = read(ends[0], buffer, sizeof buffer)) > 0)
        sum += count;
    CHECK(count == 0 && sum == SIZE);
    while (sum > 0) {
        count = recv(sockets[0], buffer, sizeof buffer, 0);
        CHECK(count > 0);
        sum -= count;
    }
    CHECK(sum == 0);
    return unused;
}

static void *either(void *number) { return number ? write_much(NULL) : read_all(NULL); }

static void wait_by(int how, int descriptor) {
    struct pollfd one = {.fd = descriptor, .events = POLLIN};
    struct epoll_event event = {.events = EPOLLIN};
    fd_set set;
    int epoll;
    switch (how) {
    case 0:
        CHECK(poll(&one, 1, -1) == 1 && one.revents == POLLIN);
        break;
    case 1:
        FD_ZERO(&set);
        FD_SET(descriptor, &set);
        CHECK(select(descriptor + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(descriptor, &set));
        break;
    default:
        epoll = epoll_create1(0);
        CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0);
        CHECK(epoll_wait(epoll, &event, 1, -1) == 1 && event.events == EPOLLIN);
        close(epoll);
    }
}

static void *answer(void *number) {
    char byte;
    for (int i = 0; i < 300; i++) {
        wait_by(i % 3, sockets[(long)number]);
        CHECK(read(sockets[(long)number], &byte, 1) == 1);
        CHECK(write(sockets[(long)number], &byte, 1) == 1);
    }
    return NULL;
}

int main(void) {
    CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    CHECK(poll(&one, 1, 5) == 0);
    in_threads(2, either);
    CHECK(write(sockets[0], "x", 1) == 1);
    in_threads(2, answer);
}
