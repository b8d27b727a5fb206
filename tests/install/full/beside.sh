# An older version lies beside: each command uses what is its own, and what of the two does not fit together is told.
program urgent
gcc urgent.c -o urgent $(pkg-config --cflags --libs catapults)
contract=$(sed -n 's/^#define CATAPULTS_CONTRACT \([0-9]*\).*/\1/p' /usr/include/catapults/policy.h)
mkdir -p /usr/local/share /usr/local/bin
cp /usr/bin/catapults /usr/local/bin/
cp -r /usr/share/catapults /usr/local/share/
sed -i "s/^#define CATAPULTS_CONTRACT .*/#define CATAPULTS_CONTRACT $((contract - 1))u/" \
    /usr/local/share/catapults/frameworks/shared/catapults/policy.h
says "/usr/local/share/catapults/frameworks/native/native.framework" /usr/local/bin/catapults framework list
says "/usr/share/catapults/frameworks/native/native.framework" /usr/bin/catapults framework list
prints "$urgent_first" /usr/bin/catapults run $policies/fixed_priority.sched -- ./urgent
# The command and the headers of two versions.
refuses "use the command and the headers of one version" /usr/local/bin/catapults build --output out $policies/fifo.sched

# A policy of a newer compiler, and a program that finds an older library.
/usr/bin/catapults build --as source --output out $policies/fifo.sched
cp -r /usr/share/catapults/frameworks newer
sed -i "s/^#define CATAPULTS_CONTRACT .*/#define CATAPULTS_CONTRACT $((contract + 1))u/" newer/shared/catapults/policy.h
sed -i "s/\b$contract\b/$((contract + 1))/" out/fifo.c
gcc -shared -fPIC -nostdlib -fvisibility=hidden -w -Inewer/native/include -Inewer/shared -o newer.so out/fifo.c
refuses "older than the compiler: \`ldd\` names the library that the program finds" env CATAPULTS_POLICY=newer.so ./urgent
