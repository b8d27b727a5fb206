#!/bin/sh
# A policy that takes the processor from the running thread, whatever call brings the event. Usage: preempts.sh FOLDER
set -eu
rabbit=$(cd "$(dirname "$0")/.." && pwd)
"${CATAPULTS:-catapults}" build --framework "$rabbit/rabbit.framework" --output "$1" "$rabbit/../../policies/fixed_priority.sched"
"$rabbit/tools/program" "$1/fixed_priority.lib" "$1/preempts.ihx" "$rabbit/tests/preempts.c" -DCATAPULTS_COMPILED_IN="\"$1/fixed_priority.c\""
expected='hl(H)[R]={r}<n>.'
found=$("$rabbit/tools/run" "$1/preempts.ihx" | sed '/^clocks /d')
echo "expected $expected, found $found"
[ "$found" = "$expected" ]
