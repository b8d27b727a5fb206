# The command's file alone, where no package has GNU Pth: the advice is not to install one.
# Only trixie: Debian 12 has it.
cp /usr/bin/catapults /srv/somebody/
cp $policies/fifo.sched /srv/somebody/
dpkg --purge catapults libcatapults-dev libcatapults0 >/dev/null
refuses "Debian 13 has no package of GNU Pth" as_somebody ./catapults run --framework pth fifo.sched -- true
