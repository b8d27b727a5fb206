//! `make theory`: simulations are what theory says. Random sets of periodic tasks, as many as the argument says (6000), are simulated, and
//! compared with a schedule that is computed by force, with response-time analysis, and with processor-demand analysis
//! (`tests/src/theory`). The first set that differs is printed, as a scenario; then the exit status is 1. `CATAPULTS_SEED` is the number
//! of the first set.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use catapults_tests::differential::number;
use catapults_tests::theory::{Compared, Theory};

fn main() -> ExitCode {
    let sets: u64 = match std::env::args().nth(1).map(|argument| argument.parse()) {
        None => 6000,
        Some(Ok(sets)) => sets,
        Some(Err(_)) => {
            eprintln!("theory: the argument is a number, how many sets of tasks there are");
            return ExitCode::from(2);
        }
    };
    let first = number("CATAPULTS_SEED", 1);
    let (next, results) = (AtomicU64::new(0), Mutex::new((Compared::default(), Vec::new())));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let theory = Theory::new();
                loop {
                    let set = next.fetch_add(1, Ordering::Relaxed);
                    if set >= sets {
                        return;
                    }
                    let result = theory.compare(first + set);
                    let mut results = results.lock().unwrap();
                    match result {
                        Ok(compared) => results.0 = results.0.and(compared),
                        Err(difference) => results.1.push((set, difference)),
                    }
                }
            });
        }
    });
    let (compared, mut differences) = results.into_inner().unwrap();
    differences.sort();
    if let Some((_, difference)) = differences.first() {
        println!("{difference}");
        println!("theory: `build/bin/catapults test FILE.scenario` runs it, from the root of the repository\n");
    }
    println!(
        "theory: {} jobs, {} late; {} sets with locks; worst responses: {} exactly those of the analysis, {} within its bounds; \
         {} sets by their demand; {} judged alike by `catapults admit`; {} were drawn and left out: on two processors, tasks come to a lock in an order that is not decided",
        compared.jobs,
        compared.misses,
        compared.with_locks,
        compared.exact,
        compared.bounded,
        compared.demand,
        compared.judged,
        compared.left_out
    );
    println!("theory: differences {} of {sets}", differences.len());
    if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
