# A package is made: nothing of it names the folder in which it is made.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make install SETUP=no PREFIX=/opt/catapults DESTDIR="$work" LIBDIR=lib/somewhere >/dev/null
grep -qx 'prefix=/opt/catapults' "$work/opt/catapults/lib/somewhere/pkgconfig/catapults.pc"
not grep -rqF "$work" "$work/opt"
[[ -e $work/opt/catapults/lib/somewhere/libcatapults.so && $(find "$work" -maxdepth 1 -mindepth 1) == "$work/opt" ]]
[[ $(stat -c %s "$work/opt/catapults/bin/catapults") -lt 15000000 ]]
