/* Cooperative threads whose order is a policy, linked into the program. */
#ifndef RELAY_H
#define RELAY_H

typedef struct relay *relay_t;

/* A thread that calls start(argument); NULL: the policy refuses it, or as many live as can. Before relay_run, too. */
relay_t relay_create(void (*start)(void *), void *argument);
/* Runs threads until none is ready. The result is how many are left: they wait for each other. */
int relay_run(void);

relay_t relay_self(void);
void relay_yield(void);
void relay_wait(void);           /* until another thread wakes this one */
void relay_wake(relay_t thread); /* nothing, if it does not wait */

#endif
