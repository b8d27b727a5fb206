#define CONTRACT 99
#include "bytes.c"
