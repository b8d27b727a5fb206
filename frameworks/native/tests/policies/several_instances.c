#define SHARED_SIZE 16
#include "bytes.c"
