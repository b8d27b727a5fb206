//! `make mutants`: breaks the shipped policies in every way and judges what becomes of that. The argument is how many mutants,
//! 3000 if it is missing. The exit status is 1 if one has escaped.

use std::process::ExitCode;
use std::time::Instant;

use catapults_tests::mutants::{Fate, judge, table};

fn main() -> ExitCode {
    let wanted = match std::env::args().nth(1).map(|argument| argument.parse()) {
        None => 3000,
        Some(Ok(wanted)) => wanted,
        Some(Err(_)) => {
            eprintln!("mutants: the argument is a number, how many mutants to derive");
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    let judged = judge(wanted, std::thread::available_parallelism().map_or(1, usize::from));
    println!("{}\n", table(&judged));
    let mut escaped = 0;
    for one in &judged {
        if let Fate::Escaped(wrong) = &one.fate {
            escaped += 1;
            println!("escaped: {}\n  {wrong}", one.name);
        }
    }
    println!("{:.1} s", start.elapsed().as_secs_f64());
    println!("escaped {escaped} of {}", judged.len());
    if escaped == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
