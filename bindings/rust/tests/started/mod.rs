//! Runs tests on the first kernel thread, with the runtime started.

use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;

/// Each has a name.
pub fn run(options: &catapults::Options, tests: &[(&'static str, fn())]) -> ExitCode {
    options.start().unwrap();
    // Others would be on kernel threads of their own.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    let trials = tests.iter().map(|(name, test)| {
        let test = *test;
        Trial::test(*name, move || -> Result<(), Failed> {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// Names functions as tests.
#[macro_export]
macro_rules! tests {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), $name as fn())),*] };
}
