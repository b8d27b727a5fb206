/*
 * A thread that waits for a descriptor while another one computes and never calls.
 */
#include "catapults.h"
#include "support/child.h"

static volatile int over;

enum { LETTERS = 20 };

static void *read_letters(void *descriptor) {
    char letter;
    for (int i = 0; i < LETTERS; i++)
        require(catapults_read((int)(intptr_t)descriptor, &letter, 1) == 1);
    over = 1;
    return NULL;
}

static void a_spinning_thread_stops_no_reader(void) {
    int ends[2];
    require(pipe(ends) == 0);
    if (fork() == 0) {
        for (int i = 0; i < LETTERS; i++) {
            usleep(2000);
            if (write(ends[1], "x", 1) != 1)
                _exit(1);
        }
        _exit(0);
    }
    require(catapults_init(&(struct catapults_options){.policy = POLICIES "/turns.so"}) == 0);
    catapults_t reader;
    require(catapults_create(&reader, NULL, read_letters, (void *)(intptr_t)ends[0]) == 0);
    while (!over)
        ; /* neither calls nor yields: what is not read now is read never */
    require(catapults_join(reader, NULL) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        child_test(a_spinning_thread_stops_no_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
