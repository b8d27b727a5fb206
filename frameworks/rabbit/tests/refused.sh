#!/bin/sh
# A thread that is refused: the application is told the line, and the values. Usage: refused.sh FOLDER
set -eu
rabbit=$(cd "$(dirname "$0")/.." && pwd)
"${CATAPULTS:-catapults}" build --framework "$rabbit/rabbit.framework" --output "$1" "$rabbit/tests/refused.sched"
"$rabbit/tools/program" "$1/refused.lib" "$1/refused.ihx" "$rabbit/tests/refused.c"
expected=$(printf ' %05d 00012 00006 a' "$(grep -n 'fail ' "$rabbit/tests/refused.sched" | cut -d : -f 1)")
found=$("$rabbit/tools/run" "$1/refused.ihx" | sed '/^clocks /d')
echo "expected $expected, found $found"
[ "$found" = "$expected" ]
