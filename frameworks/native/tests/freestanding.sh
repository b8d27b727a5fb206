#!/bin/bash
# The core calls nothing but itself, has no variables, and touches no vector register: it is to run in signal handlers,
# beneath libc, and in other hosts. The dispatcher calls the core, itself and the switch besides. What every interface to the
# runtime needs (process) calls nothing of one of them (threads). Reads the objects that were built.
set -euo pipefail
out=$1
native=$(dirname "$0")/..

# objects FOLDER: of its sources, not of those that are gone.
objects() {
    local source
    for source in "$native/$1"/*.c; do
        echo "$out/$1/${source##*/}.o"
    done
}
mapfile -t core < <(objects core)
mapfile -t dispatcher < <(objects dispatcher)
[[ ${#core[@]} -ge 20 && ${#dispatcher[@]} -ge 6 ]] ||
    { echo "freestanding: only ${#core[@]} objects of the core, ${#dispatcher[@]} of the dispatcher"; exit 1; }

symbols() { nm "$1" --format=just-symbols "${@:2}" | grep -v ':$' | sed '/^$/d' | sort -u; }
# foreign WHOSE OBJECTS, the rest: may be referred to.
foreign() {
    local -n whose=$1
    comm -23 <(symbols --undefined-only "${whose[@]}") <(symbols --defined-only --extern-only "${@:2}") | grep -v '^_GLOBAL_OFFSET_TABLE_$' || true
}

# Events are raised by the file that a policy can be compiled into, which is the dispatcher's.
found=$(foreign core "${core[@]}" | grep -v -E '^core_(raise_block|raise_event|set_aside)$' || true)
[[ -z $found ]] || { echo "freestanding: the core refers to: $found"; exit 1; }
found=$(foreign dispatcher "${core[@]}" "${dispatcher[@]}" "$out"/contexts/{*.S,here.c}.o)
[[ -z $found ]] || { echo "freestanding: the dispatcher refers to: $found"; exit 1; }

# Constants with addresses in them are in .data.rel.ro.
variables=$(objdump -t "${core[@]}" | grep -E ' (\.data|\.bss|\*COM\*)\S*\s+0*[1-9a-f]' | grep -v -E ' \.data\.rel\.ro' || true)
[[ -z $variables ]] || { echo "freestanding: the core has variables: $variables"; exit 1; }

mapfile -t process < <(objects process)
mapfile -t threads < <(objects threads)
[[ ${#process[@]} -ge 15 && ${#threads[@]} -ge 15 ]] ||
    { echo "freestanding: only ${#process[@]} objects of process, ${#threads[@]} of threads"; exit 1; }
found=$(comm -12 <(symbols --undefined-only "${process[@]}") <(symbols --defined-only --extern-only "${threads[@]}"))
[[ -z $found ]] || { echo "freestanding: process refers to: $found"; exit 1; }

for object in "${core[@]}" "${dispatcher[@]}"; do
    vector=$(objdump -d --no-show-raw-insn "$object" | grep -E '%[xyz]mm|\b[qdv][0-9]+\b,' | head -3 || true)
    [[ -z $vector ]] || { echo "freestanding: $object touches vector registers: $vector"; exit 1; }
done
echo "freestanding: ${#core[@]} objects of the core, ${#dispatcher[@]} of the dispatcher, no foreign symbol, no vector register"
