#!/bin/bash
# gdb unwinds a thread's stack, through a switch and no further than its beginning, and with our script that of every thread,
# in a program and in a core file; Valgrind follows the switches.
set -euo pipefail
tests=$1/tests
program=$tests/exceptions
script=$(dirname "$0")/../tools/gdb/catapults.py
export CATAPULTS_IO=epoll # valgrind knows it better

fail() {
    echo "debuggers: $1"
    exit 1
}

here=$(gdb -nx -batch -ex 'break fall' -ex run -ex backtrace "$program" 2>&1)
grep -q '^#0 .*fall (' <<<"$here" && grep -q '^#2 .* context_begin ()' <<<"$here" && ! grep -q '^#3' <<<"$here" ||
    fail "gdb does not unwind a running thread: $here"

# In the middle of a switch: on the stack of the thread that leaves, then on that of the one that comes.
switch=$(gdb -nx -batch -ex 'break fall' -ex run -ex 'break context_swap' -ex continue \
    -ex backtrace -ex 'stepi 12' -ex backtrace "$program" 2>&1)
[[ $(grep -c '^#0 .*context_swap' <<<"$switch") -eq 2 ]] &&
    [[ $(grep -c ' context_begin ()' <<<"$switch") -eq 2 ]] && ! grep -q -i 'corrupt\|previous frame' <<<"$switch" ||
    fail "gdb does not unwind through a switch: $switch"

# ---- Every thread ----

# For each thread of io_stacks.c: its name, its state, where it is, and the functions of its frames from the innermost to the
# outermost, as an expression.
threads='main|running|all_are_there|all_are_there main
conditional|blocked: condition|hold_the_mutex|.* catapults_cond_wait hold_the_mutex conditional entry context_begin
dreamer|blocked: sleep|sleep_long|.* catapults_sleep_until sleep_long dream dream dream dream dreamer entry context_begin
semaphoric|blocked: condition|wait_for_the_semaphore|.* catapults_sem_[a-z_]* wait_for_the_semaphore semaphoric entry context_begin
reader|blocked: io.read|reader|.* catapults_read reader entry context_begin
yielder|ready|take_a_turn|take_a_turn yielder entry context_begin
suspended|suspended|take_a_turn|take_a_turn yielder entry context_begin
joiner|blocked: join|joiner|.* catapults_join[_a-z]* joiner entry context_begin
newcomer|ready|context_begin|context_begin'

# The same of processors_stacks.c, with activations: on the kernel threads on which they stand. To gdb a thread can seem blocked for
# being looked at: states are any.
activated='main|[a-z: ]+|all_are_there|all_are_there main
blocked|blocked: kernel|[a-zA-Z_]*read|(.* )?read_the_pipe blocked entry context_begin
locker|[a-z: ]+|take_the_mutex|.* take_the_mutex locker entry context_begin
computer|[a-z: ]+|compute|(sa_traps )?compute computer entry context_begin
computer|[a-z: ]+|compute|(sa_traps )?compute computer entry context_begin'

# What gdb said of them: `info catapults-threads`, then `catapults apply all backtrace`.
check_threads() {
    local said=$1 where=$2 threads=$3 number=0 name state place functions row
    while IFS='|' read -r name state place functions; do
        number=$((number + 1))
        grep -q -E "^[* ] +$number  $name +$state +$place \(\) at " <<<"$said" || fail "no row of thread $number in $where: $said"
        # The functions of its frames, in a line.
        row=$(sed -n -E "/^Thread $number \($name\), $state\$/,/^\$/p" <<<"$said" | sed -n 's/^#[0-9]* *\(0x[0-9a-f]* in \)\?\([a-z_]*\) (.*/\2/p' | tr '\n' ' ')
        [[ $row =~ ^$functions\ $ ]] || fail "in $where, thread $number has the frames: $row; not: $functions; all that was said: $said"
    done <<<"$threads"
    [[ $(grep -c '^Thread [0-9]* (' <<<"$said") -eq $number ]] || fail "more threads than there are in $where: $said"
    ! grep -q -i 'corrupt\|python\|error' <<<"$said" || fail "gdb is not content with $where: $said"
}

core=$(mktemp)
trap 'rm -f "$core"' EXIT
look=(-ex "source $script" -ex 'info catapults-threads' -ex 'catapults apply all backtrace')
program=$tests/io_stacks
alive=$(gdb -nx -batch -ex 'break all_are_there' -ex run "${look[@]}" -ex kill "$program" 2>&1)
check_threads "$alive" 'a program' "$threads"
gdb -nx -batch -ex 'break all_are_there' -ex 'run old' -ex "generate-core-file $core" -ex kill "$program" >/dev/null 2>&1
check_threads "$(gdb -nx -batch "${look[@]}" "$program" "$core" 2>&1)" 'a core file' "$threads"

program=$tests/processors_stacks
quietly=(-ex 'handle SIGURG SIG62 nostop noprint pass')
# A thread may be on its way from one kernel thread to another when it is stopped: then another run is looked at.
for _ in 1 2 3 4; do
    alive=$(gdb -nx -batch "${quietly[@]}" -ex 'break all_are_there' -ex run "${look[@]}" -ex 'printf "\n"' -ex frame -ex kill "$program" 2>&1)
    ! (check_threads "$alive" 'a program' "$activated") >/dev/null || break
done
check_threads "$alive" 'a program with activations' "$activated"
grep -q '^#0 .*all_are_there' <<<"$(tail -4 <<<"$alive")" || fail "another kernel thread is selected after a look: $alive"
for _ in 1 2 3 4; do
    gdb -nx -batch "${quietly[@]}" -ex 'break all_are_there' -ex 'run old' -ex "generate-core-file $core" -ex kill "$program" >/dev/null 2>&1
    dead=$(gdb -nx -batch "${look[@]}" "$program" "$core" 2>&1)
    ! (check_threads "$dead" 'a core file' "$activated") >/dev/null || break
done
check_threads "$dead" 'a core file with activations' "$activated"
program=$tests/io_stacks

# Who goes from thread to thread finds variables, and the program goes on afterwards as if nobody had looked.
walk=$(gdb -nx -batch -ex 'break all_are_there' -ex run -ex "source $script" -ex 'catapults thread 3' -ex 'frame function dream' \
    -ex 'print depth' -ex 'catapults apply 5 9 frame' -ex 'catapults thread 99' -ex 'catapults thread none' -ex frame -ex delete \
    -ex continue "$program" 2>&1)
grep -q '^\$1 = [0-3]$' <<<"$walk" && grep -q '^There is no thread 99' <<<"$walk" && grep -q '^Thread 9 (newcomer), ready$' <<<"$walk" &&
    grep -q 'exited normally' <<<"$walk" || fail "one cannot go from thread to thread: $walk"

for program in exceptions unwinding io_stacks io_written; do
    valgrind -q --error-exitcode=9 "$tests/$program" || fail "valgrind objects to $program"
done
# It says once that it does not know a system call which is not needed, however many stacks there are.
warnings=$(valgrind -q "$tests/contexts" 2>&1 | grep -c 'unhandled.*syscall: 440' || true)
[[ $warnings -le 1 ]] || fail "valgrind warns of process_madvise $warnings times"
echo "debuggers: gdb and valgrind know our stacks"
