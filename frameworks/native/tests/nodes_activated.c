/*
 * The same with activations: where threads run under a policy with nodes, and what they are charged with.
 */
#define ACTIVATED
#include "nodes.c"
