# What the tests of installations have in common.

policies=/usr/share/catapults/policies

# says TEXT COMMAND...: it succeeds, and its output contains the text.
says() {
    local text=$1 output
    shift
    output=$("$@" 2>&1) || { printf 'failed: %s\n%s\n' "$*" "$output"; exit 1; }
    grep -qF -- "$text" <<<"$output" || { printf 'does not say "%s": %s\n%s\n' "$text" "$*" "$output"; exit 1; }
}

# refuses TEXT COMMAND...: it fails, without a signal, and its output contains the text.
refuses() {
    local text=$1 output status=0
    shift
    output=$("$@" 2>&1) || status=$?
    [[ $status != 0 && $status -lt 126 ]] || { printf 'ended with %s: %s\n%s\n' "$status" "$*" "$output"; exit 1; }
    grep -qF -- "$text" <<<"$output" || { printf 'does not say "%s": %s\n%s\n' "$text" "$*" "$output"; exit 1; }
}

# not COMMAND...: it fails.
not() {
    if "$@"; then
        echo "succeeded: $*"
        exit 1
    fi
}

# as_somebody COMMAND...: without rights, in a folder of their own.
as_somebody() {
    (cd /srv/somebody && setpriv --reuid=somebody --regid=somebody --init-groups env HOME=/srv/somebody "$@")
}

# A program with two threads, of which fixed_priority.sched runs the second one first.
program() {
    cat >"$1.c" <<'END'
#include <stdio.h>

#include "catapults.h"

static void *count(void *name) {
    for (int i = 1; i <= 2; i++) {
        printf("%s\n", (char *)name);
        catapults_yield();
    }
    return NULL;
}

int main(void) {
    if (catapults_init(NULL) != 0)
        return 1;
    static char *const names[] = {"usual", "urgent"};
    catapults_t threads[2];
    for (int i = 0; i < 2; i++) {
        struct catapults_value priority = catapults_value_int("priority", i);
        struct catapults_attributes attributes = {.name = names[i], .values = &priority, .values_count = 1};
        if (catapults_create(&threads[i], &attributes, count, names[i]) != 0)
            return 1;
    }
    for (int i = 0; i < 2; i++)
        catapults_join(threads[i], NULL);
    return 0;
}
END
}
urgent_first=$'urgent\nurgent\nusual\nusual'
in_turns=$'usual\nurgent\nusual\nurgent'

# prints TEXT COMMAND...: it succeeds, and this is its standard output.
prints() {
    local text=$1 output
    shift
    output=$("$@") || { echo "failed: $*"; exit 1; }
    [[ $output == "$text" ]] || { printf 'printed, instead of the expected:\n%s\n%s\n' "$output" "$*"; exit 1; }
}
