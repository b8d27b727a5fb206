#define BALLAST 50000
#include "bytes.c"
