/* Files on disks, and what else waits in the kernel: others run meanwhile, and all that is written is read. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 6, BLOCK = 10000, BLOCKS = 20 };

static int file, queue, semaphores;

/* Each has every THREADS-th block. */
static void *write_and_read(void *number) {
    char block[BLOCK], found[BLOCK + 1];
    for (int i = 0; i < BLOCKS; i++) {
        off_t place = (off_t)(i * THREADS + (long)number) * BLOCK;
        memset(block, (int)('a' + (long)number + i), sizeof block);
        CHECK(pwrite(file, block, sizeof block, place) == sizeof block);
        if (i % 4 == 0)
            CHECK(fsync(file) == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
        CHECK(pread(file, found, sizeof block, place) == sizeof block && memcmp(block, found, sizeof block) == 0);
        struct iovec parts[2] = {{.iov_base = found, .iov_len = 100}, {.iov_base = found + 100, .iov_len = 200}};
        CHECK(preadv(file, parts, 2, place + 50) > 0 && found[0] == block[0]);
    }
    return NULL;
}

static void *send(void *unused) {
    struct {
        long type;
        char text[4];
    } message = {.type = 1, .text = "abc"};
    CHECK(msgsnd(queue, &message, sizeof message.text, 0) == 0);
    CHECK(semop(semaphores, &(struct sembuf){.sem_op = 1}, 1) == 0);
    return unused;
}

int main(void) {
    char name[] = "/tmp/catapults-files-XXXXXX", *text = malloc(BLOCK * 2);
    file = mkstemp(name);
    CHECK(file >= 0 && unlink(name) == 0);
    in_threads(THREADS, write_and_read);
    struct stat status;
    CHECK(fstat(file, &status) == 0 && status.st_size == (off_t)BLOCK * BLOCKS * THREADS);

    pthread_t other;
    queue = msgget(IPC_PRIVATE, 0600);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    CHECK(queue >= 0 && semaphores >= 0 && pthread_create(&other, NULL, send, NULL) == 0);
    struct {
        long type;
        char text[4];
    } message;
    CHECK(msgrcv(queue, &message, sizeof message.text, 0, 0) == 4 && strcmp(message.text, "abc") == 0);
    CHECK(semop(semaphores, &(struct sembuf){.sem_op = -1}, 1) == 0);
    CHECK(semtimedop(semaphores, &(struct sembuf){.sem_op = -1}, 1, &(struct timespec){.tv_nsec = 1000000}) == -1 &&
          errno == EAGAIN);

    /* By the file's own place, to its end. */
    CHECK(lseek(file, -BLOCK - 7, SEEK_END) > 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
    CHECK(read(file, text, (size_t)BLOCK * 2) == BLOCK + 7 && read(file, text, BLOCK) == 0);
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(msgctl(queue, IPC_RMID, NULL) == 0 && semctl(semaphores, 0, IPC_RMID) == 0);
    free(text);
}
