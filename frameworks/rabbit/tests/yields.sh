#!/bin/sh
# What a yield costs, in clocks: the same every time, and no more than when this was written. Usage: yields.sh FOLDER
set -eu
most=334
rabbit=$(cd "$(dirname "$0")/.." && pwd)
clocks() {
    "$rabbit/tools/program" "$1/fifo.lib" "$1/yields-$2.ihx" "$rabbit/tests/yields.c" -DTURNS="$2"
    "$rabbit/tools/run" "$1/yields-$2.ihx" | sed -n 's/^clocks //p'
}
ten=$(clocks "$1" 10)
twenty=$(clocks "$1" 20)
thirty=$(clocks "$1" 30)
echo "10 turns of two threads $ten, 20 turns $twenty, 30 turns $thirty"
[ $((twenty - ten)) = $((thirty - twenty)) ]
yield=$(((twenty - ten) / 20))
echo "a yield $yield clocks, of at most $most"
[ "$yield" -gt 0 ]
[ "$yield" -le "$most" ]
