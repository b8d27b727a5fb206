/*
 * Pipes and sockets: as many bytes arrive as were sent. Descriptors that are closed while somebody waits for them.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "stress/stress.h"

static int pipe_ends[2], sockets[2], file;
static _Atomic long written, drained, sent, received;
static catapults_t drainers[2];
static _Atomic int next_number = 1000; /* of descriptors that are closed: each only once, or somebody else's was read */

static void *drain(void *socket_) {
    bool socket = socket_ != NULL;
    struct worker self = {.random = program.seed | 1};
    char buffer[700];
    for (;;) {
        steps_go_on();
        ssize_t count;
        if (!socket)
            count = catapults_read(pipe_ends[0], buffer, 1 + (size_t)any(&self, 700));
        else if (any(&self, 3))
            count = catapults_recv_until(sockets[0], buffer, 1 + (size_t)any(&self, 700), 0, CATAPULTS_FOREVER);
        else
            count = catapults_recv_until(sockets[0], buffer, sizeof buffer, 0,
                                         catapults_now() + any(&self, 100) * program.unit);
        if (count == 0)
            break;
        require(count > 0 || errno == ENOMEM || (socket && errno == ETIMEDOUT));
        if (count < 0)
            catapults_sleep(10 * US);
        else
            *(socket ? &received : &drained) += count;
    }
    steps_end();
    ends();
    return NULL;
}

static void begin(struct worker *self) {
    struct rlimit limit;
    require(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
    require(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    require(pipe(pipe_ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    char name[] = "/tmp/catapults-stress-XXXXXX";
    require((file = mkstemp(name)) >= 0 && unlink(name) == 0);
    for (int i = 0; i < 2; i++)
        require((drainers[i] = spawn(self, NULL, drain, i ? &sockets : NULL)) != NULL);
}

static void write_some(struct worker *self) {
    char buffer[900] = "";
    ssize_t count = catapults_write(pipe_ends[1], buffer, 1 + (size_t)any(self, 900));
    require(count > 0 || errno == ENOMEM);
    if (count > 0)
        written += count;
}

static void send_some(struct worker *self) {
    char buffer[900] = "";
    size_t size = 1 + (size_t)any(self, 900);
    ssize_t count = catapults_send_until(sockets[1], buffer, size, 0, catapults_now() + any(self, 500) * program.unit);
    require(count > 0 || errno == ENOMEM || errno == ETIMEDOUT);
    if (count > 0)
        sent += count;
}

/* Each worker has a place in it. */
static void use_file(struct worker *self) {
    uint64_t value = next_random(&self->random), back = 0;
    off_t at = self->number * (off_t)sizeof value;
    ssize_t count = catapults_pwrite(file, &value, sizeof value, at);
    require(count == sizeof value || errno == ENOMEM);
    if (count < 0)
        return;
    count = catapults_pread(file, &back, sizeof back, at);
    require((count == sizeof back && back == value) || (count < 0 && errno == ENOMEM));
}

struct waiter {
    int descriptor;
    _Atomic bool begun;
};

static void *wait_in_vain(void *waiter_) {
    struct waiter *waiter = waiter_;
    char c;
    steps_go_on();
    waiter->begun = true;
    ssize_t count = catapults_read(waiter->descriptor, &c, 1);
    require(count == -1 && (errno == EBADF || errno == ENOMEM));
    steps_end();
    ends();
    return NULL;
}

static void close_under_way(struct worker *self) {
    int ends[2], number = next_number++;
    if (number > 8000 || pipe(ends) != 0)
        return;
    struct waiter waiter = {.descriptor = fcntl(ends[0], F_DUPFD, number)};
    require(waiter.descriptor == number && close(ends[0]) == 0);
    catapults_t thread = spawn(self, NULL, wait_in_vain, &waiter);
    for (int i = any(self, 3); thread && i > 0; i--)
        pause_somehow(self);
    require(catapults_close(waiter.descriptor) == 0);
    if (thread) {
        count_fault(FAULT_CLOSED);
        join(thread, NULL);
    }
    require(close(ends[1]) == 0);
}

static void select_some(struct worker *self) {
    struct catapults_source sources[] = {catapults_source_descriptor(pipe_ends[1], POLLOUT),
                                         catapults_source_descriptor(sockets[1], POLLIN),
                                         catapults_source_instant(catapults_now() + any(self, 100) * program.unit)};
    int count = catapults_select(sources, 3, catapults_now() + any(self, 100) * program.unit);
    require(count >= 0 || errno == ENOMEM);
    require(count < 0 || !sources[1].happened); /* nobody sends there */
}

static void act(struct worker *self) {
    switch (any(self, 6)) {
    case 0:
        close_under_way(self);
        break;
    case 1:
        use_file(self);
        break;
    case 2:
        select_some(self);
        break;
    case 3:
        write_some(self);
        break;
    default:
        send_some(self);
    }
}

static void end(struct worker *self) {
    (void)self;
    require(catapults_close(pipe_ends[1]) == 0 && catapults_close(sockets[1]) == 0);
    for (int i = 0; i < 2; i++)
        join(drainers[i], NULL);
    require(drained == written && received == sent);
    require(catapults_close(pipe_ends[0]) == 0 && catapults_close(sockets[0]) == 0 && close(file) == 0);
}

const struct scene descriptors_scene = {"descriptors", begin, act, end};
