#!/bin/bash
# An executable with a malloc of its own is not preempted by time, and hears why: it would be left in the middle of that.
set -euo pipefail
out=$1
here=$(dirname "$0")/..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/program.c" <<'C'
#include <stddef.h>
#include <sys/wait.h>
#include "catapults.h"
#ifdef OWN
void *__libc_malloc(size_t size);
void *malloc(size_t size) { return __libc_malloc(size); }
#endif
static volatile int over;
static void *spin(void *unused) {
    while (!over)
        ;
    return unused;
}
int main(void) {
    catapults_t thread;
    if (catapults_init(NULL) != 0)
        return 2;
#ifdef FORKS
    int status;
    pid_t pid = catapults_fork();
    if (pid <= 0)
        return pid != 0;
    return waitpid(pid, &status, 0) != pid || status != 0;
#endif
    if (catapults_create(&thread, NULL, spin, NULL) != 0)
        return 1;
#ifdef OWN
    over = 1; /* it would keep the processor */
#endif
    catapults_yield();
    over = 1;
    return catapults_join(thread, NULL);
}
C
refused="catapults: no thread is preempted by time: malloc is the executable's own, which must not be left halfway; link it as a shared library"
for own in "" -DOWN; do
    for pie in -pie -no-pie; do
        gcc $own -f"${pie#-}" "$pie" -I"$here/include" -I"$here/../shared" -o "$work/program" "$work/program.c" "$out/libcatapults.a" -luring
        said=$(CATAPULTS_POLICY="$out/tests/policies/turns.so" timeout 600 "$work/program" 2>&1) ||
            { echo "own_malloc: the program failed ($own $pie): $said"; exit 1; }
        [[ $said == "${own:+$refused}" ]] ||
            { echo "own_malloc: said ($own $pie): $said"; exit 1; }
    done
done

# With activations threads are preempted all the same; a child of fork has none, and hears why as the others do.
gcc -DOWN -DFORKS -I"$here/include" -I"$here/../shared" -o "$work/program" "$work/program.c" "$out/libcatapults.a" -luring
said=$(CATAPULTS_ACTIVATIONS=1 CATAPULTS_POLICY="$out/tests/policies/turns.so" timeout 600 "$work/program" 2>&1) ||
    { echo "own_malloc: the program that forks failed: $said"; exit 1; }
[[ $said == "${refused/no thread is/no thread of the child is}" ]] ||
    { echo "own_malloc: said by the child: $said"; exit 1; }
echo "own_malloc: a malloc of the executable's own is seen, and only that"
