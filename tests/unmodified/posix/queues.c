/* Message queues. */
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "clause.h"

enum { MOST = 4, SIZE = 32 };

static mqd_t queue;
static char name[64];
static atomic_int told, begun;

static mqd_t opened(int flags) {
    struct mq_attr how = {.mq_maxmsg = MOST, .mq_msgsize = SIZE};
    mqd_t found = mq_open(name, flags, 0600, &how);
    CHECK(found != (mqd_t)-1);
    return found;
}

static int receive(unsigned *priority) {
    char message[SIZE];
    return mq_receive(queue, message, sizeof message, priority) == 1 ? message[0] : -1;
}

static void order(void) {
    unsigned priority;
    clause("mq_receive", "the oldest of the highest priority first");
    const struct {
        char message;
        unsigned priority;
    } sent[MOST] = {{'a', 1}, {'b', 5}, {'c', 1}, {'d', 5}};
    for (int i = 0; i < MOST; i++)
        CHECK(mq_send(queue, &sent[i].message, 1, sent[i].priority) == 0);
    const int expected[MOST] = {'b', 'd', 'a', 'c'};
    for (int i = 0; i < MOST; i++)
        CHECK(receive(&priority) == expected[i] && priority == (i < 2 ? 5 : 1));
}

static void limits(void) {
    char message[SIZE + 1] = {0};
    const struct timespec past = {.tv_sec = 1}, wrong = {.tv_nsec = -1}, soon = from_now(CLOCK_REALTIME, 0, 10000000);
    clause("mq_timedreceive", "ETIMEDOUT once the instant has passed, EINVAL for no time; EMSGSIZE");
    CHECK(mq_receive(queue, message, 1, NULL) == -1 && errno == EMSGSIZE);
    CHECK(mq_send(queue, message, SIZE + 1, 0) == -1 && errno == EMSGSIZE);
    CHECK(mq_timedreceive(queue, message, SIZE, NULL, &past) == -1 && errno == ETIMEDOUT);
    CHECK(mq_timedreceive(queue, message, SIZE, NULL, &soon) == -1 && errno == ETIMEDOUT);
    CHECK(mq_timedreceive(queue, message, SIZE, NULL, &wrong) == -1 && errno == EINVAL);
    clause("mq_timedsend", "likewise, when it is full; the instant means nothing when it is not");
    for (int i = 0; i < MOST; i++)
        CHECK(mq_timedsend(queue, message, 1, 0, &past) == 0);
    CHECK(mq_timedsend(queue, message, 1, 0, &past) == -1 && errno == ETIMEDOUT);
    CHECK(mq_timedsend(queue, message, 1, 0, &soon) == -1 && errno == ETIMEDOUT);
    clause("mq_setattr", "O_NONBLOCK: EAGAIN instead of a wait");
    struct mq_attr how = {.mq_flags = O_NONBLOCK}, before;
    CHECK(mq_setattr(queue, &how, &before) == 0 && before.mq_flags == 0 && before.mq_curmsgs == MOST);
    CHECK(mq_send(queue, message, 1, 0) == -1 && errno == EAGAIN);
    for (int i = 0; i < MOST; i++)
        CHECK(receive(NULL) == 0);
    CHECK(mq_receive(queue, message, SIZE, NULL) == -1 && errno == EAGAIN && mq_setattr(queue, &before, NULL) == 0);
}

static void *send_many(void *count) {
    for (long i = 0; i < (long)count; i++)
        CHECK(mq_send(queue, "x", 1, 0) == 0);
    return NULL;
}

static void between_threads(void) {
    clause("mq_send", "waits for room, and mq_receive for a message");
    pthread_t one = thread(send_many, (void *)50L), other = thread(send_many, (void *)50L);
    for (int i = 0; i < 100; i++)
        CHECK(receive(NULL) == 'x');
    CHECK(result_of(one) == NULL && result_of(other) == NULL);
}

static void handle(int signal) { told += signal == SIGUSR1; }

static void *interrupted(void *unused) {
    char message[SIZE];
    begun = 1;
    CHECK(mq_receive(queue, message, SIZE, NULL) == -1 && errno == EINTR);
    begun = 2;
    return unused;
}

static void by_handlers(void) {
    clause("mq_receive", "EINTR after a handler");
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    pthread_t one = thread(interrupted, NULL);
    await(&begun, 1);
    while (begun == 1) {
        CHECK(pthread_kill(one, SIGUSR1) == 0);
        pause_shortly();
    }
    CHECK(result_of(one) == NULL);
}

static void function(union sigval value) {
    CHECK(value.sival_int == 3);
    told++;
}

static void notices(void) {
    clause("mq_notify", "a signal, or a thread, when a message comes to an empty queue; once; EBUSY for others");
    struct sigevent by_signal = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct sigevent by_thread = {
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = function, .sigev_value.sival_int = 3};
    for (int i = 0; i < 4; i++) {
        told = 0;
        CHECK(mq_notify(queue, i % 2 ? &by_thread : &by_signal) == 0);
        CHECK(mq_notify(queue, &by_signal) == -1 && errno == EBUSY);
        CHECK(mq_send(queue, "m", 1, 0) == 0);
        await(&told, 1);
        CHECK(receive(NULL) == 'm' && mq_send(queue, "m", 1, 0) == 0 && receive(NULL) == 'm' && told == 1);
    }
    CHECK(mq_notify(queue, &by_signal) == 0 && mq_notify(queue, NULL) == 0);
}

int main(void) {
    snprintf(name, sizeof name, "/clause-%ld", (long)getpid());
    queue = opened(O_CREAT | O_EXCL | O_RDWR);
    CHECK(mq_unlink(name) == 0 && mq_unlink(name) == -1 && errno == ENOENT);
    order();
    limits();
    between_threads();
    by_handlers();
    notices();
    CHECK(mq_close(queue) == 0 && mq_send(queue, "m", 1, 0) == -1 && errno == EBADF);
}
