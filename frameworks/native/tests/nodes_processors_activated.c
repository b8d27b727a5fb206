/*
 * The same with activations: nodes that come and go with their processors.
 */
#define ACTIVATED
#include "nodes_processors.c"
