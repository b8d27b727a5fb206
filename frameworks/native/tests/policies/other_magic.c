#define MAGIC 0x12345678
#include "bytes.c"
