//! The short form of `make mutants`: some broken policies, none of which may escape.

use catapults_tests::mutants::{Fate, judge, table};

/// How many; `CATAPULTS_MUTANTS` changes it.
fn wanted() -> usize {
    std::env::var("CATAPULTS_MUTANTS").ok().and_then(|count| count.parse().ok()).unwrap_or(60)
}

#[test]
fn none_escapes() {
    let judged = judge(wanted(), 2);
    let escaped: Vec<_> = judged.iter().filter(|one| matches!(one.fate, Fate::Escaped(_))).collect();
    assert!(escaped.is_empty(), "{escaped:#?}");
    assert_eq!(judged.len(), wanted(), "{}", table(&judged));
    // A harness whose mutants are all rejected, or none, would measure nothing.
    let rejected = judged.iter().filter(|one| one.fate == Fate::Rejected).count();
    assert!(rejected * 5 > judged.len() && rejected < judged.len(), "{}", table(&judged));
}
