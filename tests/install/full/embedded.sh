# The command's file alone, without its packages.
cp /usr/bin/catapults /srv/somebody/
cp $policies/fifo.sched $policies/fifo.scenario $policies/fixed_priority.sched /srv/somebody/
dpkg --purge catapults libcatapults-dev libcatapults0 >/dev/null
alone() { as_somebody ./catapults "$@"; }
says "in this command" alone framework list
says "1 policy is safe to run" alone check fifo.sched
says "all threads ended" alone sim fifo.scenario
says "passed" alone test fifo.scenario
says "fifo.so (shared, for native)" alone build fifo.sched
says "fifo-freertos (folder, for freertos)" alone build --framework freertos fifo.sched
[[ -d /srv/somebody/.cache/catapults ]]

# A program with the runtime that is built from what is in the command.
alone unpack tree
as_somebody make -s -C tree/frameworks/native
program /srv/somebody/urgent
as_somebody gcc urgent.c -o urgent -Itree/frameworks/native/include -Itree/frameworks/shared tree/build/native/libcatapults.a -luring
prints "$urgent_first" alone run fixed_priority.sched -- ./urgent
