#!/bin/sh
# Everything that the library does, in the right order. Usage: threads.sh FOLDER
set -eu
rabbit=$(cd "$(dirname "$0")/.." && pwd)
"$rabbit/tools/library" "$rabbit/builtin/fifo.c" "$1/fifo.lib"
"$rabbit/tools/program" "$1/fifo.lib" "$1/threads.ihx" "$rabbit/tests/threads.c"
"$rabbit/tools/run" "$1/threads.ihx" | sed '/^clocks /d' >"$1/threads.found"
diff -u "$rabbit/tests/threads.expected" "$1/threads.found"
