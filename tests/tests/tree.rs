//! Hierarchies of schedulers: what happens in the native dispatcher is what happens in that of the simulator (`tests/src/trees`).
//!
//! Schedulers that are shipped, and random trees of the library's policies. `CATAPULTS_SEED` changes what is tried,
//! `CATAPULTS_ROUNDS` multiplies how much.

use catapults_tests::differential::number;
use catapults_tests::root;
use catapults_tests::trees::{Driver, Seen, Trees};

const RANDOM: u64 = 12;

#[test]
fn the_simulator_decides_what_the_native_dispatcher_decides() {
    let folder = tempfile::tempdir().unwrap();
    let driver = Driver::build(&root().join("frameworks"), folder.path()).unwrap();
    let trees = Trees::new(number("CATAPULTS_SEED", 1), RANDOM * number("CATAPULTS_ROUNDS", 1));
    if let Some(difference) = trees.difference(&driver) {
        panic!("{difference}");
    }
    let (events, out, (hierarchies, scripts)) = (trees.events(), trees.out(), trees.count());
    // A policy of the library that is out ends a script; few do.
    assert!(events > 20_000 && out * 20 < scripts, "{events} events, {out} policies out");
    let Seen { donated, attached, replaced, ended } = trees.seen;
    assert!(donated.min(attached).min(replaced) > 100 && ended > 10, "{:?}", trees.seen);
    println!("differences 0 of {events} events of {hierarchies} hierarchies");
}
