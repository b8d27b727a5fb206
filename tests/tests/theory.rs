//! Simulations are what theory says: `make theory`, in short.

#![allow(clippy::panic, reason = "a test that cannot go on says so by panicking")]

use catapults_tests::differential::number;
use catapults_tests::theory::{Compared, Theory};

const SETS: u64 = 400;

#[test]
fn simulations_are_what_theory_says() {
    let (theory, first) = (Theory::new(), number("CATAPULTS_SEED", 1));
    let compared = (first..first + SETS * number("CATAPULTS_ROUNDS", 1)).fold(Compared::default(), |compared, seed| {
        compared.and(theory.compare(seed).unwrap_or_else(|difference| panic!("{difference}")))
    });
    println!("{compared:?}");
    assert!(compared.jobs > 10_000 && compared.misses > 100 && compared.with_locks > 50, "{compared:?}");
    assert!(
        compared.exact > 100 && compared.bounded > 100 && compared.demand > 20 && compared.judged > 200,
        "{compared:?}"
    );
}
