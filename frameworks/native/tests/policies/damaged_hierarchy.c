#define NODES_COUNT 2 /* the default is not among them */
#include "hierarchy.c"
