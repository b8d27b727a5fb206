#!/bin/sh
# What is drawn is what every host draws of this seed. Usage: draws.sh FOLDER
set -eu
rabbit=$(cd "$(dirname "$0")/.." && pwd)
"${CATAPULTS:-catapults}" build --framework "$rabbit/rabbit.framework" --output "$1" "$rabbit/tests/draws.sched"
"$rabbit/tools/program" "$1/draws.lib" "$1/draws.ihx" "$rabbit/tests/draws.c"
"$rabbit/tools/run" "$1/draws.ihx" | sed '/^clocks /d' >"$1/draws.found"
cc -std=gnu17 -Wall -Wextra -Werror -I"$rabbit/../shared" -o "$1/draws-expected" "$rabbit/tests/draws_expected.c"
"$1/draws-expected" | diff -u - "$1/draws.found"
