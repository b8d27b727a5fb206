# Nothing can be written, by root.
mount -o remount,bind,ro /
refuses "Read-only file system" touch /root/file
says "1 policy is safe to run" catapults check $policies/edf.sched
says "all threads ended" catapults sim $policies/fifo.scenario
says "passed" catapults test $policies/fifo.scenario
says "explored" catapults explore --threads 2 $policies/fifo.sched
refuses "error[E0503]" catapults build --output /root/build $policies/fifo.sched
# The command alone, too.
refuses "error[E0503]" env CATAPULTS_FRAMEWORKS=/nowhere catapults run $policies/fifo.sched -- true
