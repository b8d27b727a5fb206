/* What the containers do not inline. */
#define CATAPULTS_LONG
#include "catapults/list_long.h"
