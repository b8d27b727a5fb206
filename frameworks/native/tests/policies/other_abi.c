#define ABI 77
#include "bytes.c"
