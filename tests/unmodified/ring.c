/* A thread waits for results of io_uring, which others cause. */
#include <errno.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { SOME = 3 };

static int ring, ends[2];
static char *queue, read_to[SOME];
static struct io_uring_params about;
static struct io_uring_sqe *entries;

static long enter(unsigned submit, unsigned least) {
    return syscall(SYS_io_uring_enter, ring, submit, least, IORING_ENTER_GETEVENTS, NULL, 0);
}

static unsigned *word(unsigned offset) { return (unsigned *)(queue + offset); }

/* Asks for a byte of the pipe. */
static void ask(int number) {
    unsigned tail = *word(about.sq_off.tail), place = tail & *word(about.sq_off.ring_mask);
    entries[place] = (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = ends[0], .len = 1, .off = (__u64)-1};
    entries[place].addr = (unsigned long)&read_to[number];
    word(about.sq_off.array)[place] = place;
    __atomic_store_n(word(about.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
}

static unsigned results(void) {
    return __atomic_load_n(word(about.cq_off.tail), __ATOMIC_ACQUIRE) - *word(about.cq_off.head);
}

static void *write_all(void *unused) {
    for (int i = 0; i < SOME; i++) {
        CHECK(write(ends[1], "x", 1) == 1);
        usleep(1000);
    }
    return unused;
}

int main(void) {
    ring = (int)syscall(SYS_io_uring_setup, 8, &about);
    CHECK(ring >= 0 && (about.features & IORING_FEAT_SINGLE_MMAP) && pipe(ends) == 0);
    size_t size = about.cq_off.cqes + about.cq_entries * sizeof(struct io_uring_cqe);
    size_t sent = about.sq_off.array + about.sq_entries * sizeof(unsigned);
    queue = mmap(NULL, size > sent ? size : sent, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    entries = mmap(NULL, about.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    CHECK(queue != MAP_FAILED && entries != MAP_FAILED);
    for (int least = 1; least <= SOME; least += SOME - 1) {
        pthread_t writer;
        for (int i = 0; i < SOME; i++)
            ask(i);
        CHECK(pthread_create(&writer, NULL, write_all, NULL) == 0);
        CHECK(enter(SOME, (unsigned)least) == SOME && results() >= 1);
        while (results() < SOME)
            CHECK(enter(0, SOME) == 0);
        CHECK(memcmp(read_to, "xxx", SOME) == 0);
        *word(about.cq_off.head) += SOME;
        CHECK(pthread_join(writer, NULL) == 0);
    }
}
