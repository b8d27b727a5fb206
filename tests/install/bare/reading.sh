# What needs no compiler, by somebody without rights.
says "1 policy is safe to run" as_somebody catapults check $policies/edf.sched
says "all threads ended" as_somebody catapults sim $policies/fifo.scenario
says "passed" as_somebody catapults test $policies
says "explored" as_somebody catapults explore --threads 2 $policies/fifo.sched
says "scheduler" as_somebody catapults ir $policies/fifo.sched
says /usr/share/catapults/frameworks/native/native.framework as_somebody catapults framework list
says "6 framework descriptions are sound" as_somebody catapults framework check dask freertos linux native pth rabbit
says "E0401" as_somebody catapults explain E0401
says "1 policy is safe to run" as_somebody env -u HOME catapults check $policies/edf.sched
says "usual under fifo, 1 processor" as_somebody env -u HOME catapults sim $policies/fifo.sched
says "passed" as_somebody env -u HOME catapults test $policies/fifo.scenario
says "explored" as_somebody env -u HOME catapults explore --threads 2 $policies/fifo.sched
[[ -z $(find /srv/somebody -newer /test/test -name .cache) ]]
