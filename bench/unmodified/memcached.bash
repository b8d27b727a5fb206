# memcached: four threads, each of which serves many connections, and some more that look after the memory.
# policies: fifo round_robin feedback
# short: round_robin/2
. "$STEPS"

port=$(free_port)
server_is=127.0.0.1:$port
serve memcached --user="$(id -un)" --listen=127.0.0.1 --port="$port" --threads=4 --memory-limit=64
answers memcping --servers="$server_is"
# What it can do, one operation after the other.
step "its protocol" $PATIENCE memccapable -h 127.0.0.1 -p "$port" -a
cat >load.conf <<END
key
16 32 1
value
64 2048 1
cmd
0 0.3
1 0.7
END
load() {
    memcaslap --servers="$server_is" --time="${SECONDS_OF_LOAD}s" --threads=2 --concurrency=64 --cfg_cmd=load.conf --verify=1.0
}
step "the load" $((SECONDS_OF_LOAD + PATIENCE)) load
ends
finish
