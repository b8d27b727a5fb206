#include "library.h"

struct thread *thread_self(void) { return (struct thread *)thread_running; }
