/* A function of the policy that several handlers call: tools/library says which. */
#include "../library/library.h"
