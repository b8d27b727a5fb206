//! `make faults`: breaks the native dispatcher and the simulator's, a line at a time, and looks whether the comparison of the two finds it.
//! Arguments are names of faults, without the ending; all, if there are none. The exit status is 1 if one was not found.

use std::process::ExitCode;
use std::sync::Mutex;

use catapults_tests::faults::{Fate, all, judge};

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut faults = all();
    if let Some(unknown) = wanted.iter().find(|name| !faults.iter().any(|fault| fault.name == **name)) {
        eprintln!("faults: there is no tests/faults/{unknown}.fault");
        return ExitCode::from(2);
    }
    faults.retain(|fault| wanted.is_empty() || wanted.contains(&fault.name));
    let missed = Mutex::new(0);
    judge(&faults, &|fault, fate| {
        let what = match fate {
            Fate::Found => "found",
            Fate::Missed => "MISSED",
            Fate::NotCompiled => "DOES NOT COMPILE",
        };
        println!("{what:<16} {} ({})", fault.name, fault.path);
        *missed.lock().unwrap() += usize::from(fate != Fate::Found);
    });
    let missed = *missed.lock().unwrap();
    println!("faults found {} of {}", faults.len() - missed, faults.len());
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
