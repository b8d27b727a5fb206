# `cargo install --git`, with nothing that Cargo has kept: the command works alone.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clone=$PWD
cp policies/fifo.sched policies/fifo.scenario "$work/"
# Where Rust itself is stays the same.
export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
cd "$work"
env -u CARGO_TARGET_DIR CARGO_HOME="$work/cargo" cargo install --quiet --locked --git "file://$clone" --rev "$(git -C "$clone" rev-parse HEAD)" \
    --root "$work/root" catapults-cli
says "catapults $(sed -n 's/^version = "\(.*\)"$/\1/p' "$clone/Cargo.toml")" root/bin/catapults --version
says "in this command" root/bin/catapults framework list
says "1 policy is safe to run" root/bin/catapults check fifo.sched
says "as expected" root/bin/catapults sim fifo.scenario
says "fifo.so (shared, for native)" root/bin/catapults build fifo.sched
