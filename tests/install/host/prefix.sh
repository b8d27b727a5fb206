# A prefix with white space: everything works there, and nothing is left.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/my prefix"
export HOME=$work/home
mkdir "$HOME"
says "files in $prefix" make install SETUP=no PREFIX="$prefix"
policies="$prefix/share/catapults/policies"
catapults="$prefix/bin/catapults"
cd "$work"
says "$prefix/share/catapults/frameworks/native/native.framework" "$catapults" framework list
says "1 policy is safe to run" "$catapults" check "$policies/edf.sched"
says "edf.so (shared, for native)" "$catapults" build "$policies/edf.sched"

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" LD_LIBRARY_PATH="$prefix/lib"
program urgent
eval "gcc urgent.c -o urgent $(pkg-config --cflags --libs catapults)"
prints "$urgent_first" "$catapults" run "$policies/fixed_priority.sched" -- ./urgent

preloaded=$("$catapults" run --framework pth "$policies/fifo.sched" -- sh -c 'echo "$LD_PRELOAD"; test -f "$LD_PRELOAD"' 2>/dev/null)
[[ $preloaded != *" "* && $(realpath "$preloaded") == "$prefix/lib/catapults/pth/libcatapults_pth.so" ]]

says "Policies in the Linux kernel" "$catapults" linux --help

mkdir cmake
cp urgent.c cmake
cat >cmake/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(urgent C)
find_package(catapults 0.1 REQUIRED)
add_executable(loads urgent.c)
target_link_libraries(loads catapults::catapults)
add_executable(has urgent.c)
target_link_libraries(has catapults::static)
END
cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build cmake/build >/dev/null
for name in loads has; do
    prints "$urgent_first" "$catapults" run "$policies/fixed_priority.sched" -- "cmake/build/$name"
done

says "removed from $prefix" make -C "$OLDPWD" uninstall PREFIX="$prefix"
[[ -z $(find "$prefix" -mindepth 1 2>/dev/null) ]]
refuses "nothing of Catapults is installed in $prefix" make -C "$OLDPWD" uninstall PREFIX="$prefix"
