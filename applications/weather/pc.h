/*
 * What hosts on a PC have in common (pc.c): options, a clock, and characters.
 */
#ifndef STATION_PC_H
#define STATION_PC_H

/* The host's part, called by main: runs threads, of which the first one runs `first`. */
void host_run(void (*first)(void));

/* The host cannot do what is asked of it: ends the program. */
_Noreturn void host_failed(const char *what);

void host_put(char character);
_Noreturn void host_end(void);

#endif
