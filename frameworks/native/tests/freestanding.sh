#!/bin/bash
# The dispatcher calls nothing but itself and the switch, and touches no vector register: it is to run in signal handlers and
# beneath libc. Reads the objects that were built.
set -euo pipefail
out=$1

sources=("$(dirname "$0")"/../dispatcher/*.c)
objects=("${sources[@]##*/}") # not those of sources that are gone
objects=("${objects[@]/#/"$out/dispatcher/"}")
objects=("${objects[@]/%/.o}")
[[ ${#objects[@]} -ge 6 ]] || { echo "freestanding: only ${#objects[@]} objects in $out/dispatcher"; exit 1; }

undefined=$(nm --undefined-only --format=just-symbols "${objects[@]}" | grep -v ':$' | sed '/^$/d' | sort -u)
defined=$(nm --defined-only --extern-only --format=just-symbols "${objects[@]}" "$out"/contexts/{*.S,here.c}.o | sort -u)
foreign=$(comm -23 <(echo "$undefined") <(echo "$defined") | grep -v '^_GLOBAL_OFFSET_TABLE_$' || true)
[[ -z $foreign ]] || { echo "freestanding: the dispatcher refers to: $foreign"; exit 1; }

for object in "${objects[@]}"; do
    vector=$(objdump -d --no-show-raw-insn "$object" | grep -E '%[xyz]mm|\b[qdv][0-9]+\b,' | head -3 || true)
    [[ -z $vector ]] || { echo "freestanding: $object touches vector registers: $vector"; exit 1; }
done
echo "freestanding: ${#objects[@]} objects, no foreign symbol, no vector register"
