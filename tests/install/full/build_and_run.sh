# With the library that is loaded, and with the one that is linked into the program.
program urgent
gcc urgent.c -o loads $(pkg-config --cflags --libs catapults)
gcc urgent.c -o has -static-libgcc $(pkg-config --cflags catapults) -Wl,-Bstatic $(pkg-config --libs catapults) -Wl,-Bdynamic -luring
says libcatapults.so.0 ldd loads
not grep -q libcatapults <(ldd has)
for name in loads has; do
    prints "$in_turns" ./$name
    prints "$urgent_first" catapults run $policies/fixed_priority.sched -- ./$name
done
says "fifo.so (shared, for native)" catapults build --output out $policies/fifo.sched
prints "$in_turns" env CATAPULTS_POLICY=out/fifo.so ./loads
says "workstation.so (shared, for native)" catapults build --output out $policies/workstation.hierarchy
catapults sim --compiled $policies/fifo.scenario >/dev/null

# A policy that is compiled into the dispatcher.
catapults build --as compiled_in --output out $policies/fixed_priority.sched
gcc urgent.c out/fixed_priority.o -o compiled $(pkg-config --cflags catapults) -Wl,-Bstatic $(pkg-config --libs catapults) -Wl,-Bdynamic -luring
prints "$urgent_first" ./compiled
