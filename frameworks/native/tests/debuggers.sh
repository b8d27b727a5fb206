#!/bin/bash
# gdb unwinds a thread's stack, through a switch and no further than its beginning; Valgrind follows the switches.
set -euo pipefail
program=$1/tests/exceptions
export CATAPULTS_IO=epoll # valgrind knows it better

here=$(gdb -nx -batch -ex 'break fall' -ex run -ex backtrace "$program" 2>&1)
grep -q '^#0 .*fall (' <<<"$here" && grep -q '^#2 .* context_begin ()' <<<"$here" && ! grep -q '^#3' <<<"$here" ||
    { echo "debuggers: gdb does not unwind a running thread: $here"; exit 1; }

# In the middle of a switch: on the stack of the thread that leaves, then on that of the one that comes.
switch=$(gdb -nx -batch -ex 'break fall' -ex run -ex 'break context_swap' -ex continue \
    -ex backtrace -ex 'stepi 12' -ex backtrace "$program" 2>&1)
[[ $(grep -c '^#0 .*context_swap' <<<"$switch") -eq 2 ]] &&
    [[ $(grep -c ' context_begin ()' <<<"$switch") -eq 2 ]] && ! grep -q -i 'corrupt\|previous frame' <<<"$switch" ||
    { echo "debuggers: gdb does not unwind through a switch: $switch"; exit 1; }

valgrind -q --error-exitcode=9 "$program" || { echo "debuggers: valgrind objects"; exit 1; }
echo "debuggers: gdb and valgrind know our stacks"
