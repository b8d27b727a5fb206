#define THREAD_SIZE 8
#include "bytes.c"
