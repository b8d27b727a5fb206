//! What a policy adds to a bare context switch, what each level of schedulers adds, what thread_local variables of each thread add, and what recording a trace does. The measuring is done in C, by the
//! programs of `bench/native`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::place::Place;
use crate::process::{Processors, ending, limited};
use crate::results::Goal;
use crate::statistics::median;

/// How often each program runs; the programs take turns.
const REPEATS: usize = 5;

/// What a program of `bench/native` printed: nanoseconds by what they are of, a number for each run.
type Figures = BTreeMap<String, Vec<f64>>;

/// How many schedulers a decision goes through, in `bench/native/levels.c`.
const LEVELS: [u32; 4] = [2, 3, 4, 8];

/// How many bytes of thread_local variables the programs of `bench/native/thread_locals.c` have.
const THREAD_LOCALS: [(u32, &str); 4] =
    [(8, "thread_local 8 B"), (128, "thread_local 128 B"), (512, "thread_local 512 B"), (2048, "thread_local 2048 B")];

/// Nanoseconds of each kind of switch.
pub fn measure(place: &Place) -> Result<(Value, Vec<Goal>)> {
    let processor = Processors::first_two()?.server;
    let policy = place.built("policies/fifo.so", "build")?;
    let programs = [
        ("FIFO compiled in", "bench/yield-compiled-in", None),
        ("FIFO as shared object", "bench/yield-loaded", Some(policy.clone())),
        ("levels of FIFO", "bench/levels-loaded", Some(policy)),
        ("recording", "bench/recording", None),
        ("Boost", "bench/peers/fcontext", Some(PathBuf::from("switch"))),
    ];
    let mut figures = BTreeMap::<&str, Figures>::new();
    for repeat in 0..REPEATS {
        eprintln!("bench: switches, {} of {REPEATS}", repeat + 1);
        for (name, program, argument) in &programs {
            let printed = run(place.built(program, "bench")?, argument.as_ref(), processor)?;
            for (what, value) in printed {
                figures.entry(name).or_default().entry(what).or_default().push(value);
            }
        }
        for (bytes, name) in THREAD_LOCALS {
            let program = format!("bench/thread-locals-{bytes}");
            for (whose, arguments) in [("shared", &[][..]), ("own", &["own".into()])] {
                for (what, value) in run_with(place.built(&program, "bench")?, arguments, &[processor])? {
                    figures.entry(name).or_default().entry(format!("{what}, {whose}")).or_default().push(value);
                }
            }
        }
    }
    let of = |name: &str, what: &str| -> Result<&Vec<f64>> {
        figures.get(name).and_then(|of| of.get(what)).with_context(|| format!("{name}: nothing was said of {what}"))
    };
    // The yardstick is a bare switch that others use, not our own, which keeps fewer registers: a better switch beneath a
    // yield must not make the yield look worse.
    let bare = median(of("Boost", "switch")?);
    for (name, of) in &figures {
        for (what, values) in of {
            let value = median(values);
            eprintln!("bench:   {name:<22} {what:<20} {value:>8.2} ns, {:.2} × Boost's switch", value / bare);
        }
    }
    let single_level = median(of("levels of FIFO", "levels_1")?);
    let mut most = f64::NEG_INFINITY;
    for levels in LEVELS {
        let deep = median(of("levels of FIFO", &format!("levels_{levels}"))?);
        most = most.max((deep - single_level) / f64::from(levels - 1) / single_level);
    }
    let record = median(of("recording", "record")?).max(median(of("recording", "record_first")?));
    let goal =
        |what: &str, value, target, unit| Goal { what: what.to_owned(), value, target, at_most: true, unit, why: None };
    let goals = vec![
        goal("what each of 2, 3, 4, 8 levels adds to a decision / a yield through one level", most, 1.0, "×"),
        goal("recording a trace, each record, of a yield in a new ring and in a full one", record, 30.0, "ns"),
    ];
    Ok((serde_json::to_value(&figures)?, goals))
}

/// Runs a program that prints lines of a name and a number.
///
/// # Errors
///
/// When it fails, or prints anything else.
pub fn run(program: PathBuf, argument: Option<&PathBuf>, processor: usize) -> Result<Vec<(String, f64)>> {
    run_on(program, argument, &[processor])
}

/// The same, on several processors.
pub fn run_on(program: PathBuf, argument: Option<&PathBuf>, processors: &[usize]) -> Result<Vec<(String, f64)>> {
    let arguments: Vec<OsString> = argument.into_iter().map(|path| path.clone().into_os_string()).collect();
    run_with(program, &arguments, processors)
}

/// The same, with these arguments.
pub fn run_with(program: PathBuf, arguments: &[OsString], processors: &[usize]) -> Result<Vec<(String, f64)>> {
    let output = limited(&program, processors)
        .args(arguments)
        .env_remove("CATAPULTS_POLICY")
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() {
        bail!("{} failed ({}):\n{}", program.display(), ending(output.status), String::from_utf8_lossy(&output.stderr));
    }
    read(&String::from_utf8_lossy(&output.stdout)).with_context(|| format!("what {} printed", program.display()))
}

/// Lines of a name and a number.
fn read(text: &str) -> Result<Vec<(String, f64)>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let pair = |line: &str| -> Option<(String, f64)> {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.trim().parse().ok()?))
    };
    lines.map(|line| pair(line).with_context(|| format!("not a name and a number: `{line}`"))).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_are_names_and_numbers() {
        let figures = super::read("a 1.5\nb 2\n\n").unwrap();
        assert_eq!(figures, [("a".to_owned(), 1.5), ("b".to_owned(), 2.0)]);
        assert!(super::read("a b c").is_err());
    }
}
