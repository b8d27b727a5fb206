#!/bin/sh
# What an application does not use is not in it. Usage: linked.sh FOLDER
set -eu
rabbit=$(cd "$(dirname "$0")/.." && pwd)
"$rabbit/tools/program" "$1/fifo.lib" "$1/linked.ihx" "$rabbit/tests/yields.c" -DTURNS=10
grep -q '_thread_yield ' "$1/linked.map"
for unused in yield_to wait signal suspend resume self; do
    if grep "_thread_$unused " "$1/linked.map"; then
        echo "thread_$unused is linked, and nobody calls it"
        exit 1
    fi
done
