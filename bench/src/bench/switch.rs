//! What a policy adds to a bare context switch. The measuring is done in C, by `bench/native/yield.c`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::place::Place;
use crate::process::{Processors, pinned};
use crate::results::Goal;
use crate::statistics::median;

/// Nanoseconds for each kind of switch, the kinds interleaved.
pub fn measure(place: &Place) -> Result<(Value, Vec<Goal>)> {
    eprintln!("bench: switches");
    let program = place.built("bench/yield", "bench")?;
    let output = pinned(&program, Processors::first_two()?.server)
        .env("CATAPULTS_POLICY", place.built("policies/fifo.so", "build")?)
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() {
        bail!("{} failed ({}):\n{}", program.display(), output.status, String::from_utf8_lossy(&output.stderr));
    }
    let repeats = read(&String::from_utf8_lossy(&output.stdout))?;
    let nanoseconds = |name: &str| -> Result<f64> {
        Ok(median(repeats.get(name).with_context(|| format!("{} says nothing of {name}", program.display()))?))
    };
    let bare = nanoseconds("bare_switch")?;
    for name in repeats.keys() {
        let value = nanoseconds(name)?;
        eprintln!("bench:   {name:<20} {value:>8.2} ns  {:.2} × bare", value / bare);
    }
    let goal = |what: &str, name: &str, target: f64| -> Result<Goal> {
        let what = format!("{what} / bare switch");
        Ok(Goal { what, value: nanoseconds(name)? / bare, target, at_most: true, unit: "×" })
    };
    let goals = vec![
        goal("yield, FIFO compiled in", "yield_compiled_in", 2.0)?,
        goal("yield, FIFO as shared object", "yield_shared", 3.0)?,
    ];
    Ok((serde_json::to_value(&repeats)?, goals))
}

/// Lines of a name and a number; a name that comes again is a repeat.
fn read(text: &str) -> Result<BTreeMap<String, Vec<f64>>> {
    let mut repeats = BTreeMap::<String, Vec<f64>>::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let pair = line.split_once(' ').and_then(|(name, value)| Some((name, value.trim().parse::<f64>().ok()?)));
        let (name, value) = pair.with_context(|| format!("not a name and a number: `{line}`"))?;
        repeats.entry(name.to_owned()).or_default().push(value);
    }
    Ok(repeats)
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_are_names_and_numbers() {
        let repeats = super::read("a 1.5\nb 2\na 3\n\n").unwrap();
        assert_eq!(repeats["a"], [1.5, 3.0]);
        assert_eq!(repeats["b"], [2.0]);
        assert!(super::read("a b c").is_err());
    }
}
