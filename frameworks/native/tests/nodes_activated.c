/*
 * The same with activations: nodes, and what goes wrong in a policy with them.
 */
#define ACTIVATED
#include "nodes.c"
