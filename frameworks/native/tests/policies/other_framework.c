#define FRAMEWORK "pth"
#include "bytes.c"
