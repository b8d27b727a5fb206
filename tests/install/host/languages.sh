# The module of Python and the crate of Rust with what was installed, and nothing of the clone.
clone=$PWD work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/usr
make install SETUP=no PREFIX="$prefix" >/dev/null
cp -r bindings/rust "$work/crate"
sed -i '/^\[\[example\]\]$/,/^$/d' "$work/crate/Cargo.toml"
cd "$work"

PYTHONPATH=$prefix/share/catapults/python CATAPULTS_COMMAND=$prefix/bin/catapults python3 -c '
import catapults, sys
[explored] = catapults.explore(sys.argv[1], threads=2)
assert explored.complete and explored.error is None
assert catapults.__file__.startswith(sys.argv[2])
' "$prefix/share/catapults/policies/fifo.sched" "$prefix"

mkdir -p program/src
cat >program/Cargo.toml <<'END'
[package]
name = "program"
version = "0.1.0"
edition = "2024"

[dependencies]
catapults = { path = "../crate" }

[workspace]
END
cat >program/src/main.rs <<'END'
fn main() {
    catapults::start().unwrap();
    let thread = catapults::thread::spawn(|| catapults::policy_name().unwrap()).unwrap();
    println!("{}", thread.join().unwrap());
}
END
PKG_CONFIG_PATH="$prefix/lib/pkgconfig" cargo build --quiet --manifest-path program/Cargo.toml --target-dir target
export LD_LIBRARY_PATH=$prefix/lib
prints "edf" "$prefix/bin/catapults" run "$prefix/share/catapults/policies/edf.sched" -- target/debug/program
refuses "libcatapults is not installed" env PKG_CONFIG_LIBDIR=/nowhere cargo build --manifest-path program/Cargo.toml --target-dir elsewhere

# With what Python has compiled there.
make -C "$clone" uninstall SETUP=no PREFIX="$prefix" >/dev/null
[[ -z $(find "$prefix" -mindepth 1 2>/dev/null) ]]
