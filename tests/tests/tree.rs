//! Hierarchies of schedulers: what happens in the native dispatcher is what happens in that of the simulator (`tests/src/trees`).
//!
//! Schedulers that are shipped, and random trees of the library's policies. `CATAPULTS_SEED` changes what is tried,
//! `CATAPULTS_ROUNDS` multiplies how much.

use catapults_compiler::source::Source;
use catapults_simulator::sim::{Admitted, Deciding, Nowhere, dispatcher};
use catapults_tests::differential::number;
use catapults_tests::hierarchies::{judge, said};
use catapults_tests::trees::{Driver, Seen, Trees};
use catapults_tests::{native, root};

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

/// Two lotteries would otherwise give the same prizes at the same time, to threads that have the same tickets.
#[test]
fn each_scheduler_draws_numbers_of_its_own() {
    let text = "hierarchy twins {\n  scheduler root : round_robin;\n  scheduler a : lottery under root;\n  scheduler b : lottery under root;\n  default a;\n}\n";
    let framework = native();
    let judged = judge(&Source::new("twins.hierarchy", text), &framework);
    let hierarchy = judged.hierarchy.as_ref().unwrap_or_else(|| panic!("{}", said(&judged)));
    let mut nowhere = Nowhere;
    let mut dispatcher = dispatcher(Deciding::Hierarchy(hierarchy), &framework, 1, &mut nowhere).unwrap();
    dispatcher.start().unwrap();
    let mut threads = Vec::new();
    for scheduler in [1, 2] {
        for place in 0..4 {
            let Ok(Admitted::Yes(thread)) = dispatcher.create(0, Some(scheduler), &[], None) else { panic!("refused") };
            threads.push((thread, scheduler, place));
        }
    }
    let mut drawn = [Vec::new(), Vec::new()];
    for _ in 0..80 {
        dispatcher.settle().unwrap();
        let current = dispatcher.current(0).unwrap();
        let (_, scheduler, place) = threads.iter().find(|(thread, ..)| *thread == current).unwrap();
        drawn[scheduler - 1].push(*place);
        dispatcher.yields(0).unwrap();
    }
    let [a, b] = drawn;
    assert!(a.len() == b.len() && a != b, "{a:?}");
}
