//! The goals that were missed, for `bench/README.md`: of all that is in `bench/results`, whichever question was asked last.

use std::fmt::Write;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// Why, as far as it was found out. By how the goal begins.
const REASONS: [(&str, &str); 7] = [
    ("Dask: empty tasks per second", "repeats differ by more than what is missing"),
    (
        "deadlines: misses of honest threads beside a liar under native cbs",
        "in 2 of 3 further runs with misses, jobs lost 0.3 to 6 ms to something beneath the runtime, which counts against their budgets; the third is not known",
    ),
    (
        "Dask: tasks that compute, then",
        "a task took 1.4 times its time of the processor although two computed on two: Dask's own processes and other programs take the rest",
    ),
    (
        "create and join / Boost's fcontext",
        "534 instructions an operation, of which 130 would have to go: no part of it is large",
    ),
    (
        "the same, yielding while it is held",
        "who comes to the lock runs to ask for it, and lends its turn to the owner, which runs to give it back: three switches, and one without donation",
    ),
    (
        "creating 1,000,000 threads",
        "95 % is the kernel: to map, guard and touch a page for each stack takes 2.3 us alone",
    ),
    (
        "the upcall `blocked` after a cold read",
        "the kernel works for some 20 µs before the thread leaves the processor",
    ),
];

#[derive(Deserialize)]
struct Results {
    date: String,
    #[serde(default)]
    goals: Vec<Judged>,
}

#[derive(Deserialize)]
struct Judged {
    what: String,
    /// There is none, if it was not measured.
    value: Option<f64>,
    target: f64,
    at_most: bool,
    unit: String,
    why: Option<String>,
    reached: bool,
}

/// The goals in the files of a folder, in order of their names.
///
/// # Errors
///
/// When one cannot be read, or is none of ours.
pub fn of(folder: &Path) -> Result<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let reader = File::open(&file).with_context(|| format!("cannot open {}", file.display()))?;
        let results: Results = serde_json::from_reader(BufReader::new(reader))
            .with_context(|| format!("{} is no file of results", file.display()))?;
        all.push(results);
    }
    Ok(table(&all))
}

fn table(all: &[Results]) -> String {
    let (mut reached, mut count) = (0, 0);
    let mut rows = String::new();
    for results in all {
        let date = results.date.split('T').next().unwrap_or_default();
        for goal in &results.goals {
            count += 1;
            if goal.reached {
                reached += 1;
                continue;
            }
            let bound = if goal.at_most { "≤" } else { "≥" };
            let value = goal.value.map_or("not measured".to_owned(), |value| format!("{value:.2} {}", goal.unit));
            let reason = REASONS.iter().find(|(begins, _)| goal.what.starts_with(begins));
            let why = goal.why.as_deref().or(reason.map(|(_, why)| *why)).unwrap_or("not known");
            // Writing to a string cannot fail.
            let _ =
                writeln!(rows, "| {} | {bound} {} {} | {value} | {date} | {why} |", goal.what, goal.target, goal.unit);
        }
    }
    format!("Reached {reached} of {count}. Missed:\n\n| | aim | reached | on | why |\n|---|---:|---:|---|---|\n{rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missed_is_listed() {
        let text = r#"{"date": "2026-11-23T00:00:00Z", "goals": [
            {"what": "a", "value": 1.0, "target": 2.0, "at_most": true, "unit": "x", "reached": true},
            {"what": "creating 1,000,000 threads, each", "value": 3.0, "target": 2.5, "at_most": true, "unit": "x", "reached": false},
            {"what": "c", "value": null, "target": 2.0, "at_most": false, "unit": "ns", "reached": false}]}"#;
        let table = table(&[serde_json::from_str(text).unwrap()]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "Reached 1 of 3. Missed:");
        assert!(lines[4].starts_with("| creating 1,000,000 threads, each | ≤ 2.5 x | 3.00 x | 2026-11-23 | 95 %"));
        assert_eq!(lines[5], "| c | ≥ 2 ns | not measured | 2026-11-23 | not known |");
    }
}
