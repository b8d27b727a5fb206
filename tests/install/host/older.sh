# What an older version had installed, and this one has not, is removed. What somebody else put beside it stays.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make install SETUP=no PREFIX="$work/usr" >/dev/null
cd "$work/usr"
find . -type f | sort >"$work/before"
mkdir -p share/catapults/frameworks/old
touch share/catapults/frameworks/old/old.framework share/catapults/policies/mine.sched
printf 'file share/catapults/frameworks/old/old.framework\nfolder share/catapults/frameworks/old\n' >>share/catapults/manifest
echo "an older command" >bin/catapults
make -C "$OLDPWD" install SETUP=no PREFIX="$work/usr" >/dev/null
[[ ! -e share/catapults/frameworks/old && -e share/catapults/policies/mine.sched ]]
rm share/catapults/policies/mine.sched
find . -type f | sort | diff "$work/before" -
says "catapults 0" bin/catapults --version
touch share/catapults/policies/mine.sched
make -C "$OLDPWD" uninstall PREFIX="$work/usr" >/dev/null
[[ $(find . -type f) == ./share/catapults/policies/mine.sched ]]
