//! What a policy adds to a bare context switch. The measuring is done in C, by the programs of `bench/native`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::place::Place;
use crate::process::{Processors, pinned};
use crate::results::Goal;
use crate::statistics::median;

/// How often each program runs; the programs take turns.
const REPEATS: usize = 5;

/// What a program of `bench/native` printed: nanoseconds by what they are of, a number for each run.
type Figures = BTreeMap<String, Vec<f64>>;

/// Nanoseconds of each kind of switch.
pub fn measure(place: &Place) -> Result<(Value, Vec<Goal>)> {
    let processor = Processors::first_two()?.server;
    let policy = place.built("policies/fifo.so", "build")?;
    let programs = [
        ("FIFO compiled in", "bench/yield-compiled-in", None),
        ("FIFO as shared object", "bench/yield-loaded", Some(policy)),
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
    }
    for (name, of) in &figures {
        for (what, values) in of {
            eprintln!("bench:   {name:<22} {what:<20} {:>8.2} ns", median(values));
        }
    }
    let of = |name: &str, what: &str| -> Result<&Vec<f64>> {
        figures.get(name).and_then(|of| of.get(what)).with_context(|| format!("{name}: nothing was said of {what}"))
    };
    // The yardstick is a bare switch that others use, not our own, which keeps fewer registers: a better switch beneath a
    // yield must not make the yield look worse.
    let bare = of("Boost", "switch")?;
    let mut goals = Vec::new();
    for (name, target) in [("FIFO compiled in", 2.0), ("FIFO as shared object", 3.0)] {
        let yields = of(name, "yield_2_threads")?;
        let ratios: Vec<f64> = yields.iter().zip(bare).map(|(yielded, bare)| yielded / bare).collect();
        let against_own = median(yields) / median(of(name, "bare_switch")?);
        goals.push(Goal {
            what: format!("yield, {name} / bare switch, Boost's fcontext ({against_own:.2} × our own)"),
            value: median(&ratios),
            target,
            at_most: true,
            unit: "×",
        });
    }
    Ok((serde_json::to_value(&figures)?, goals))
}

fn run(program: PathBuf, argument: Option<&PathBuf>, processor: usize) -> Result<Vec<(String, f64)>> {
    let output = pinned(&program, &[processor])
        .args(argument)
        .env_remove("CATAPULTS_POLICY")
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() {
        bail!("{} failed ({}):\n{}", program.display(), output.status, String::from_utf8_lossy(&output.stderr));
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
