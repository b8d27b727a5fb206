#!/bin/bash
# What the runtime executes lies in its own section of an executable: no function of it elsewhere, and no call from it through the
# procedure linkage table, whose jumps count as the application's code (preemption/text.ld), nor to what libgcc has for atomic
# operations on aarch64. OBJDUMP reads the programs.
set -euo pipefail
program=$1/tests/compiled_in
objdump=${OBJDUMP:-objdump}

own=$("$objdump" -d --no-show-raw-insn -j catapults_text "$program")
[[ $(grep -c '^[0-9a-f]* <' <<<"$own") -ge 200 ]] || { echo "own_code: the section has too few functions"; exit 1; }
through=$(grep '@plt>' <<<"$own" | head -3 || true)
[[ -z $through ]] || { echo "own_code: calls through the table: $through"; exit 1; }
atomics=$(grep -E '<__aarch64_' <<<"$own" | head -3 || true)
[[ -z $atomics ]] || { echo "own_code: calls of libgcc: $atomics"; exit 1; }
elsewhere=$("$objdump" -t -j .text "$program" | grep -E ' (catapults|dispatcher|preemption|context|stack|system|io)_[a-z_]+$' | head -3 || true)
[[ -z $elsewhere ]] || { echo "own_code: outside of the section: $elsewhere"; exit 1; }
echo "own_code: all of the runtime is in its section"
