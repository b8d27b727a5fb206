#define MOVED
#define TYPE bool
#define KIND CATAPULTS_IMPORT_BOOL
#include "counts.c"
