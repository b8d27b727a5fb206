//! `make ltp`: programs that ask clauses of POSIX, under the kernel's scheduler and under policies. Arguments are `--short`, `--repeat N`,
//! `--settings N` for so many of the settings for each program, and words: then only programs are run whose names contain one of them. The exit status is 1 if a verdict differs.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use catapults_tests::posix::{Outcome, Wanted, compare, run, suite};

/// Most of these programs wait most of the time.
const AT_A_TIME: usize = 6;
/// Of the short form: what a program takes at most, and every how many is run.
const SHORT: Duration = Duration::from_millis(500);
const SHORT_EVERY: usize = 5;

fn main() -> ExitCode {
    let mut wanted = Wanted { repeat: 1, longest: Duration::MAX, settings: usize::MAX, at_a_time: AT_A_TIME };
    let (mut words, mut every) = (Vec::new(), 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--short" => (wanted.longest, wanted.settings, every) = (SHORT, 1, SHORT_EVERY),
            "--repeat" | "--settings" => match arguments.next().map(|number| number.parse()) {
                Some(Ok(number)) if number > 0 && argument == "--repeat" => wanted.repeat = number,
                Some(Ok(number)) if number > 0 => wanted.settings = number,
                _ => return wrong(&format!("{argument} is followed by a number, at least 1")),
            },
            option if option.starts_with('-') => {
                return wrong(&format!("there is no option {option}: --short, --repeat N, --settings N"));
            }
            _ => words.push(argument),
        }
    }
    let began = Instant::now();
    let mut programs = suite::programs(&words);
    let mut number = 0;
    programs.retain(|program| {
        number += 1;
        program.name.starts_with("own/") || number % every == 0
    });
    if programs.is_empty() {
        return wrong("no program has such a name");
    }
    let failed = suite::compile(&mut programs);
    println!("posix: {} programs, {} cannot be compiled with this libc", programs.len(), failed.len());
    let outcome = compare(&programs, &wanted, &|difference| println!("{difference}"));
    report(&outcome, began.elapsed());
    if outcome.differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn report(outcome: &Outcome, took: Duration) {
    let settings = run::settings().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    println!("posix: under {settings}; {:.0} s", took.as_secs_f64());
    println!("posix: {} of {} programs pass without a policy", outcome.passing, outcome.programs);
    if !outcome.varying.is_empty() {
        let names = outcome.varying.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        println!("posix: without a policy, the verdict is not always the same of {names}");
    }
    println!("posix: {} differences of {} verdicts", outcome.differences.len(), outcome.verdicts);
}

fn wrong(why: &str) -> ExitCode {
    eprintln!("ltp: error: {why}");
    ExitCode::from(2)
}
