/*
 * What draws.c prints, for the machine that builds: the same threads in a queue, and the generator of hosts with 64
 * bits.
 */
#include <stdio.h>
#include <string.h>

#include "catapults/random.h"

int main(void) {
    struct catapults_random random;
    char ready[] = "abc";
    int turns[3] = {0};
    catapults_random_seed(&random, 7);
    for (size_t count = 3; count > 0;) {
        size_t place = (size_t)catapults_random(&random, (int64_t)count);
        char letter = ready[place];
        memmove(&ready[place], &ready[place + 1], count - place);
        if (turns[letter - 'a']++ == 10) {
            count--; /* it ends, and prints nothing */
            continue;
        }
        putchar(letter);
        ready[count - 1] = letter;
        ready[count] = '\0';
    }
    putchar('\n');
    return 0;
}
