#define HIERARCHY_CONTRACT 99
#include "hierarchy.c"
