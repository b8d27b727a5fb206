/*
 * The same with activations: policies with nodes that have to go, or are replaced.
 */
#define ACTIVATED
#include "nodes_replaced.c"
