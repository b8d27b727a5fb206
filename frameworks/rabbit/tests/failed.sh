#!/bin/sh
# A guard that fails tells the application its line in the policy. Usage: failed.sh FOLDER
set -eu
rabbit=$(cd "$(dirname "$0")/.." && pwd)
"${CATAPULTS:-catapults}" build --framework "$rabbit/rabbit.framework" --output "$1" "$rabbit/tests/failed.sched"
line_of() { grep -n "$1" "$rabbit/tests/failed.sched" | cut -d : -f 1; }
fails() { # LINE OPTION...
    expected=$(printf 'a1g%05d' "$1")
    shift
    "$rabbit/tools/program" "$1/failed.lib" "$1/failed.ihx" "$rabbit/tests/failed.c" "$2"
    found=$("$rabbit/tools/run" "$1/failed.ihx" | sed '/^clocks /d')
    echo "expected $expected, found $found"
    [ "$found" = "$expected" ]
}
fails "$(line_of newthread)" "$1" -DFAILS_AT_ONCE
fails "$(line_of switch_out)" "$1" -DFAILS_LATE
