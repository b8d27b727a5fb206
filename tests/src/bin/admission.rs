//! `make admission`: whom the policies `rm`, `dm` and `edf` admit is never late, and whom they refuse could make somebody late. As many
//! random sets as the argument says (10000) come to them in simulations (`tests/src/admission`). The first set of which this is not so is
//! printed, as a scenario; then the exit status is 1. `CATAPULTS_SEED` is the number of the first set.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use catapults_tests::admission::{Admission, Decided};
use catapults_tests::differential::number;

/// What exact tests must gain over the bound of 1973, at the least.
const GAIN: f64 = 1.15;

fn main() -> ExitCode {
    let sets: u64 = match std::env::args().nth(1).map(|argument| argument.parse()) {
        None => 10_000,
        Some(Ok(sets)) => sets,
        Some(Err(_)) => {
            eprintln!("admission: the argument is a number, how many sets of tasks there are");
            return ExitCode::from(2);
        }
    };
    let first = number("CATAPULTS_SEED", 1);
    let (next, results) = (AtomicU64::new(0), Mutex::new((Decided::default(), Vec::new())));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let admission = Admission::new();
                loop {
                    let set = next.fetch_add(1, Ordering::Relaxed);
                    if set >= sets {
                        return;
                    }
                    let (decided, wrong) = admission.decide(first + set);
                    let mut results = results.lock().unwrap();
                    results.0 = results.0.and(decided);
                    results.1.extend(wrong.map(|wrong| (set, wrong)));
                }
            });
        }
    });
    let (decided, mut wrong) = results.into_inner().unwrap();
    wrong.sort();
    if let Some((_, wrong)) = wrong.first() {
        println!("{wrong}");
    }
    println!("admission: seeds {first} to {}; sets that are wrong: {}", first + sets.max(1) - 1, wrong.len());
    println!(
        "admission: with deadlines at the end of the period, Liu and Layland's bound admits {} sets, rm {}, edf {}: {:.2} times as many (at least {GAIN})",
        decided.by_bound,
        decided.by_rm,
        decided.by_edf,
        decided.ratio()
    );
    println!(
        "admission: admitted {}, missed {}, refused {}, wrongly refused {}",
        decided.admitted, decided.missed, decided.refused, decided.wrongly_refused
    );
    if wrong.is_empty() && decided.ratio() >= GAIN { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
