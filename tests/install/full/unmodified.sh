# A program that was compiled for POSIX threads, with the glibc of this release: its order is the policy's, and a thread that waits in the
# kernel can be cancelled.
cat >newest.sched <<'END'
// newest: the thread that has become ready last runs first.
scheduler newest {
  data { threadref current; stack ready; }
  event newthread, switch_out, event_raised(t) { t => ready; }
  event schedule { ready => current; dispatch current; }
}
END
cat >threads.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];
static pthread_barrier_t barrier;
static sem_t has_said;

static void ended(void *number) { printf(" %ld", (long)number); }

static void *wait(void *number) {
    char byte;
    pthread_cleanup_push(ended, number);
    pthread_barrier_wait(&barrier);
    ended(number);
    sem_post(&has_said);
    while (read(ends[0], &byte, 1) != 0)
        ;
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    if (pipe(ends) != 0 || pthread_barrier_init(&barrier, NULL, 4) != 0 || sem_init(&has_said, 0, 0) != 0)
        return 1;
    for (long i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, wait, (void *)i) != 0)
            return 1;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 3; i++)
        sem_wait(&has_said);
    printf(",");
    for (int i = 0; i < 3; i++) {
        void *result;
        if (pthread_cancel(threads[i]) != 0 || pthread_join(threads[i], &result) != 0 || result != PTHREAD_CANCELED)
            return 1;
    }
    printf("\n");
}
END
gcc -Wall -Wextra -Werror -pthread threads.c -o threads
prints " 0 1 2, 0 1 2" catapults run newest.sched -- ./threads
prints " 2 0 1, 0 1 2" catapults run $policies/fifo.sched -- ./threads
refuses "error[E0526]: the program cannot be scheduled: it is linked statically" catapults run $policies/fifo.sched -- /sbin/ldconfig
