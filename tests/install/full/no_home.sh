# HOME is missing, names no folder, or is read-only: what is built is kept elsewhere, and that is said once.
program urgent
gcc urgent.c -o /srv/somebody/urgent $(pkg-config --cflags --libs catapults)
run() { as_somebody env "$@" catapults run $policies/fixed_priority.sched -- ./urgent; }
says "kept in /tmp/catapults-" run -u HOME
prints "$urgent_first" run -u HOME
[[ -z $(run -u HOME 2>&1 >/dev/null | grep "kept in") ]]
rm -r /tmp/catapults-*
says "kept in /tmp/catapults-" run HOME=/nonexistent
prints "$urgent_first" run HOME=/nonexistent

rm -r /tmp/catapults-*
mount --bind /srv/somebody /srv/somebody
mount -o remount,bind,ro /srv/somebody
refuses "Read-only file system" touch /srv/somebody/file
says "kept in /tmp/catapults-" run HOME=/srv/somebody
prints "$urgent_first" run HOME=/srv/somebody

# What somebody else has put there is not trusted.
rm -r /tmp/catapults-*
mkdir -m 777 /tmp/catapults-"$(id -u somebody)"
refuses "error[E0503]" run -u HOME
