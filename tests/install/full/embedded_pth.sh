# The command's file alone: an object to preload is built; without what that takes, it says what to install.
# Only bookworm: Debian 13 has no GNU Pth.
cp /usr/bin/catapults /srv/somebody/
cp $policies/fifo.sched /srv/somebody/
dpkg --purge catapults libcatapults-dev libcatapults0 >/dev/null
run() { as_somebody ./catapults run --framework pth fifo.sched -- "$@"; }
mv /usr/include/pth.h /root/
refuses "apt-get install gcc libc6-dev libpth-dev" run true
mv /root/pth.h /usr/include/
mv /usr/bin/make /root/
refuses "apt-get install make" run true
mv /root/make /usr/bin/
says "/.cache/catapults/" run sh -c 'echo $LD_PRELOAD; test -f $LD_PRELOAD'
says "/.cache/catapults/" run sh -c 'echo $LD_PRELOAD; test -f $LD_PRELOAD'
