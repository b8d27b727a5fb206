# CPython: its own tests of all that has to do with threads.
# policies: round_robin
. "$STEPS"

# How long the longest of them takes is its own affair.
LONG=600
tests() {
    local status=0
    under /usr/bin/python3 -m test -u network --verbose "$1" 2>&1 | tee "$1.txt"
    return "${PIPESTATUS[0]}"
}
for test in test_thread test_threading test_threading_local test_threadsignals test_queue test_socketserver test_asyncio test_concurrent_futures; do
    step $test $LONG tests $test
    fact $test < <(grep -E '^(FAIL|ERROR): ' $test.txt; sed -n 's/^\(Ran [0-9]* test\).*/\1s/p; s/^\(OK\|FAILED\)\b/&/p' $test.txt)
done
finish
