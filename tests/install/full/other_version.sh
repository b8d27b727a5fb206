# A policy that was built for another version: the program goes on without it, or stops, but says what to do.
program urgent
gcc urgent.c -o urgent $(pkg-config --cflags --libs catapults)
catapults build --as source --output out $policies/fifo.sched
contract=$(sed -n 's/^#define CATAPULTS_CONTRACT \([0-9]*\).*/\1/p' /usr/include/catapults/policy.h)
grep -q "$contract" out/fifo.c
cp -r /usr/share/catapults/frameworks older
sed -i "s/^#define CATAPULTS_CONTRACT .*/#define CATAPULTS_CONTRACT $((contract - 1))u/" older/shared/catapults/policy.h
sed -i "s/\b$contract\b/$((contract - 1))/" out/fifo.c
gcc -shared -fPIC -nostdlib -fvisibility=hidden -w -Iolder/native/include -Iolder/shared -o older.so out/fifo.c
refuses "rebuild it with \`catapults build" env CATAPULTS_POLICY=older.so ./urgent
