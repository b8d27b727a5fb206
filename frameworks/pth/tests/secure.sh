#!/bin/sh
# PTH_SCHED is ignored in a set-user-id program (2005, §6.2). Usage: secure.sh FOLDER-OF-WHAT-WAS-BUILT
set -eu
program=$1/tests/set_user_id
root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n -- "$@"; fi; }

root rm -f "$program"
cp "$1/workload" "$program"
if PTH_SCHED=./no_such_policy "$program" 1 10; then
    echo "a policy that cannot be loaded does not stop the program"
    exit 1
fi
root chown nobody "$program"
root chmod 4755 "$program"
status=0
PTH_SCHED=./no_such_policy "$program" 1 10 || status=$?
root rm -f "$program"
exit $status
