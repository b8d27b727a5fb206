# The object to preload is found.
# Only bookworm: Debian 13 has no GNU Pth.
cat >program.c <<'END'
#include <pth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *nothing(void *unused) { return unused; }

int main(void) {
    pth_init();
    pth_t thread = pth_spawn(PTH_ATTR_DEFAULT, nothing, NULL);
    pth_join(thread, NULL);
    const char *preloaded = getenv("LD_PRELOAD");
    puts(preloaded && strstr(preloaded, "libcatapults_pth.so") ? "under a policy" : "without a policy");
    return 0;
}
END
gcc program.c -o program -lpth
prints "under a policy" catapults run --framework pth $policies/fifo.sched -- ./program
says /usr/lib/catapults/pth/libcatapults_pth.so catapults run --framework pth $policies/fifo.sched -- sh -c 'echo $LD_PRELOAD'
