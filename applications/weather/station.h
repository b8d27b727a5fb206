/*
 * The weather monitoring station, the same on every host. What it asks of a host is in hosts/NAME/host.h:
 *
 *   void host_spawn(void (*body)(uint8_t number), uint8_t number, uint8_t class)   a thread of a class: it runs
 *                                        body(number), and ends with it
 *   void host_yield(void)                lets others run
 *   void host_set_temperature(uint8_t)   assigns the variable that the policy imports
 *   void host_put(char)                  writes a character
 *   void host_end(void)                  called by the last thread: the station has done its work
 *   HOST_FIRST_LEAVES                    for traces: the event by which the first thread leaves, `exit` or a `block`
 *
 * They may be macros. Threads run until they yield or end.
 */
#ifndef STATION_H
#define STATION_H

#include <stdint.h>

/* The constants of weather.sched for `threadclass`. The first thread has none. */
enum { STANDARD_SENSOR_CLASS = 1, SLOW_SENSOR_CLASS, DISPLAY_CLASS, CALCULATION_CLASS };

/* Threads beside the first: a display, two that calculate, and at least a sensor of each kind. Their numbers are from
 * 2 on. */
enum { FEWEST_THREADS = 5, MOST_THREADS = 24 };

/* Where they are chosen when the program is compiled. */
#ifdef THREADS
_Static_assert(THREADS >= FEWEST_THREADS && THREADS <= MOST_THREADS, "THREADS is a number from 5 to 24");
_Static_assert(CALCULATIONS >= 1 && CALCULATIONS <= 65535, "CALCULATIONS is a number from 1 to 65535");
#endif

/* Called by the first thread, which is not needed after that: starts so many threads, which end when they have made so
 * many calculations. The last one says what they did. */
void station_start(uint8_t threads, uint16_t calculations);

#endif
