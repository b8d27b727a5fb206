//! Writes random orders of events, and what the interpreter decides, for a comparison where this program cannot be: `orders FRAMEWORK
//! FOLDER POLICY...`. For each policy of the library, NAME.steps is what a program of the build `steps` reads (docs/frameworks.md), and
//! NAME.answers what it has to answer.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use catapults_tests::differential::{Target, frameworks, number};
use catapults_tests::root;

/// For each policy.
const ORDERS: u64 = 20;

fn main() -> ExitCode {
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(said) => {
            eprintln!("orders: {said}");
            ExitCode::FAILURE
        }
    }
}

fn write() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(wanted), Some(folder)) = (words.next(), words.next()) else {
        return Err("usage: orders FRAMEWORK FOLDER POLICY...".into());
    };
    let framework = frameworks().into_iter().find(|framework| framework.name == wanted);
    let framework = framework.ok_or_else(|| format!("there is no framework `{wanted}`"))?;
    let target = Target::new(framework).ok_or_else(|| format!("policies of `{wanted}` take no steps"))?;
    let seed = number("CATAPULTS_SEED", 1);
    for policy in words {
        let path = root().join(format!("policies/{policy}.sched"));
        let (steps, answers) =
            target.asked(&path, seed, ORDERS).map_err(|said| format!("{}: {said}", path.display()))?;
        fs::write(Path::new(&folder).join(format!("{policy}.steps")), steps)?;
        fs::write(Path::new(&folder).join(format!("{policy}.answers")), answers)?;
    }
    Ok(())
}
