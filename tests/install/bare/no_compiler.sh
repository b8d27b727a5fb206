refuses "apt-get install gcc libc6-dev" as_somebody catapults build $policies/fifo.sched
refuses "apt-get install gcc libc6-dev" as_somebody catapults run $policies/fifo.sched -- true
refuses "apt-get install gcc libc6-dev" as_somebody catapults sim --compiled $policies/fifo.scenario
as_somebody catapults build --as source $policies/fifo.sched
