/*
 * Where the kernel leads an activation that comes back from it: one of many traps, each of which stands for one place
 * to go on at. So the trap that a context is in says where it goes on, however often the activation is armed anew
 * meanwhile, and on whichever activation it gets to the end of the trap: a handler of the application's may be entered
 * within the trap, block, and be switched out.
 */
#ifndef CATAPULTS_TRAPS_H
#define CATAPULTS_TRAPS_H

/* How many; bytes of each, with the signature in front of it; of that; behind its first instruction, and its second. */
#define TRAPS_COUNT 4096
#define TRAPS_SIZE 20
#define TRAPS_SIGNATURE 4
#define TRAPS_SPARED 5
#define TRAPS_NAMED 10

#endif
