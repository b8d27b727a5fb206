//! Whom the policies admit is never late, and whom they refuse could make somebody late: `make admission`, in short.

#![allow(clippy::panic, reason = "a test that cannot go on says so by panicking")]

use catapults_tests::admission::servers::Servers;
use catapults_tests::admission::{Admission, Decided};
use catapults_tests::differential::number;

const SETS: u64 = 150;

#[test]
fn admitted_threads_are_never_late_and_none_is_refused_in_vain() {
    let (admission, first) = (Admission::new(), number("CATAPULTS_SEED", 1));
    let decided = (first..first + SETS * number("CATAPULTS_ROUNDS", 1)).fold(Decided::default(), |decided, seed| {
        let (of_set, wrong) = admission.decide(seed);
        wrong.map_or_else(|| decided.and(of_set), |wrong| panic!("{wrong}"))
    });
    println!("{decided:?}");
    assert!(decided.admitted > 20 && decided.refused > 20 && decided.ratio() > 1.15, "{decided:?}");
}

#[test]
fn beside_a_server_no_admitted_thread_is_late() {
    let (servers, first) = (Servers::new(), number("CATAPULTS_SEED", 1));
    let admitted: usize = (first..first + SETS * number("CATAPULTS_ROUNDS", 1))
        .map(|seed| servers.admit(seed).unwrap_or_else(|late| panic!("{late}")))
        .sum();
    println!("admitted {admitted}");
    assert!(admitted > 400, "only {admitted} threads are admitted");
}
