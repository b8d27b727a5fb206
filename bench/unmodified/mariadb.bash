# MariaDB: a thread for each connection. Connections are killed, and made anew, while it runs; nothing that was committed is lost.
# policies: fifo round_robin feedback
. "$STEPS"

# Errors of a client whose connection or statement was killed, or that met a deadlock, are not the server's failure.
KILLED=1927,1317,1053,2006,2013,2055,1213,1020,1205
filled=$KEPT/mariadb-filled

client() { mariadb --no-defaults --user=root --socket=./socket --batch --skip-column-names "$@"; }
load() {
    sysbench "$1" --db-driver=mysql --mysql-user=root --mysql-db=sbtest --mysql-socket=./socket --tables=4 --table-size=10000 \
        --threads="$2" --time="$SECONDS_OF_LOAD" --mysql-ignore-errors=$KILLED "$3"
}
server() {
    serve "$(PATH=$PATH:/usr/sbin type -P mariadbd)" --no-defaults --user="$(id -un)" --datadir="$PWD/data" --socket="$PWD/socket" \
        --skip-networking --skip-log-bin --max-connections=400 --back-log=400 --innodb-buffer-pool-size=128M \
        --innodb-flush-log-at-trx-commit=2
    answers client --execute='SELECT 1'
}
# Kills statements of the load, and connections beside it, which are made anew. sysbench itself crashes when its connections are killed.
kill_those() { client --execute="SELECT CONCAT('KILL $1 ', id, ';') FROM information_schema.processlist WHERE $2" | client --force; }
kills() {
    local other
    for ((;;)); do
        for other in 1 2 3; do client --execute='SELECT SLEEP(600)' & done
        sleep 0.2
        kill_those QUERY "db = 'sbtest' ORDER BY RAND() LIMIT 3"
        # One that had not begun to sleep is killed a little later.
        while jobs %% 2>/dev/null; do kill_those CONNECTION "info LIKE 'SELECT SLEEP%'"; sleep 0.1; jobs >/dev/null; done
    done
}
only_we() { until [[ $(client --execute="SELECT COUNT(*) FROM information_schema.processlist WHERE db = 'sbtest' OR info LIKE 'SELECT SLEEP%'") == 0 ]]; do sleep 0.1; done; }
consistent() {
    local table
    for table in 1 2 3 4; do
        client sbtest --execute="CHECK TABLE sbtest$table EXTENDED" | grep -v 'status.*OK$' && return 1
        # Each transaction of the load takes a row away, and puts it there again.
        [[ $(client sbtest --execute="SELECT COUNT(*) FROM sbtest$table") == 10000 ]] || return 1
    done
}

if [[ ! -e $filled ]]; then
    mariadb-install-db --no-defaults --auth-root-authentication-method=normal --skip-test-db --user="$(id -un)" --datadir="$PWD/data" >&2
    policy=$POLICY POLICY=
    server
    client --execute='CREATE DATABASE sbtest'
    load oltp_read_write 2 prepare >&2 || exit
    kill -TERM $server && wait $server
    POLICY=$policy
    mv data "$filled"
fi
cp -r "$filled" data
server
kills >&2 &
killer=$!
step "transactions on many connections" $((SECONDS_OF_LOAD + PATIENCE)) load oltp_read_write 100 run
kill $killer
kill_those CONNECTION "info LIKE 'SELECT SLEEP%'" >&2
step "single rows on more connections" $((SECONDS_OF_LOAD + PATIENCE)) load oltp_point_select 200 run
step "all connections end" $PATIENCE only_we
step "the tables" $PATIENCE consistent
ends
# Nothing was lost, whatever the log says of connections that were killed.
server
step "the tables, opened again" $PATIENCE consistent
ends
finish
