# redis-server: one thread that keeps all data, three more that read and write sockets, and others that free memory and write files.
# All of these threads spin for each other while there is work: under `fifo`, which takes the processor from nobody, they starve the rest.
# policies: round_robin feedback
# short: round_robin/2
. "$STEPS"

client() { redis-cli -s ./socket "$@"; }
load() { redis-benchmark -s ./socket --csv --threads 2 "$@"; }
loads() {
    local end=$((EPOCHSECONDS + SECONDS_OF_LOAD))
    while load -c 50 -n 2000 -P 4 -t set,get,incr,lpush,lpop,sadd,hset,zadd,mset && load -c 200 -n 1000 -d 4096 -t set,get; do
        ((EPOCHSECONDS < end)) || return 0
    done
}
rewritten() { until [[ $(client info persistence) == *aof_rewrite_in_progress:0*aof_last_bgrewrite_status:ok* ]]; do sleep 0.05; done; }

serve redis-server --port 0 --unixsocket ./socket --io-threads 4 --io-threads-do-reads yes --appendonly yes --appendfsync everysec \
    --save '' --dir . --loglevel warning
answers client ping
step "the load" $((SECONDS_OF_LOAD + PATIENCE)) loads
# One client's additions, whatever others do, are all there.
step "a key" $PATIENCE load -c 20 -n 5000 incr of_all
fact "the key" < <(client get of_all)
# What other threads do: free a large value, rewrite the log; and a child of fork writes it all.
step "a large value" $PATIENCE client eval "for i = 1, 200000 do redis.call('rpush', 'large', i) end" 0
step "it is freed" $PATIENCE client unlink large
step "a rewrite" $PATIENCE client bgrewriteaof
step "it is done" $PATIENCE rewritten
fact "errors" < <(client info stats | tr -d '\r' | grep '^total_error_replies')
ends

# The log has it all.
serve redis-server --port 0 --unixsocket ./socket --appendonly yes --save '' --dir . --loglevel warning
answers client ping
fact "the key, read again" < <(client get of_all)
ends
finish
