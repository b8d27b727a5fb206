//! A program that can be asked for the loops of `bench/peers/loops.h`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::pinned;

/// A run that takes longer is stuck.
const MOST_SECONDS: &str = "120";
/// A first run, to find out how long it takes, does this part of the operations.
const PART: u64 = 50;
/// Turns that each of 10,000 threads has at least.
const FEWEST: u64 = 20_000;

/// One that takes part.
pub struct Program {
    /// As the tables call it.
    pub name: String,
    pub version: String,
    path: PathBuf,
    policy: Option<PathBuf>,
    /// By name, how many operations each has unless told.
    pub loops: BTreeMap<String, u64>,
}

impl Program {
    /// Asks what it is. `policy` is for ours.
    pub fn at(path: PathBuf, policy: Option<PathBuf>) -> Result<Program> {
        let output = Command::new(&path).output().with_context(|| format!("cannot start {}", path.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let told = |text: &str| -> Option<(String, String, BTreeMap<String, u64>)> {
            let mut lines = text.lines();
            let (name, version) = lines.next()?.rsplit_once(' ')?;
            let of = |line: &str| {
                line.split_once(' ').and_then(|(name, count)| Some((name.to_owned(), count.parse().ok()?)))
            };
            Some((name.to_owned(), version.to_owned(), lines.map(of).collect::<Option<_>>()?))
        };
        let (name, version, loops) =
            told(&text).with_context(|| format!("{} does not say what it is: {text}", path.display()))?;
        Ok(Program { name, version, path, policy, loops })
    }

    /// Runs a loop on `processor`: what it measured, by name.
    pub fn run(&self, name: &str, count: Option<u64>, processor: usize) -> Result<Vec<(String, f64)>> {
        let mut command = pinned("timeout", &[processor]);
        command.arg(MOST_SECONDS).arg(&self.path).arg(name).args(count.map(|count| count.to_string()));
        match &self.policy {
            Some(policy) => command.env("CATAPULTS_POLICY", policy),
            None => command.env_remove("CATAPULTS_POLICY"),
        };
        let output = command.output().with_context(|| format!("cannot start {}", self.path.display()))?;
        if !output.status.success() {
            bail!("{} ({})", String::from_utf8_lossy(&output.stderr).trim(), output.status);
        }
        read(&String::from_utf8_lossy(&output.stdout)).with_context(|| format!("what {} printed", self.path.display()))
    }

    /// How many instructions an operation of a loop takes, as callgrind counts them: between so many operations and twice as many.
    pub fn instructions(&self, name: &str, operations: u64) -> Result<f64> {
        let one = self.counted(name, operations)?;
        let other = self.counted(name, 2 * operations)?;
        Ok((other - one) / operations as f64)
    }

    fn counted(&self, name: &str, operations: u64) -> Result<f64> {
        let mut command = Command::new("timeout");
        command.args([MOST_SECONDS, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg(&self.path).args([name, &operations.to_string()]);
        match &self.policy {
            Some(policy) => command.env("CATAPULTS_POLICY", policy),
            None => command.env_remove("CATAPULTS_POLICY"),
        };
        let output = command.output().context("cannot start valgrind")?;
        let said = String::from_utf8_lossy(&output.stderr);
        let count = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
        count.filter(|_| output.status.success()).with_context(|| {
            format!(
                "callgrind does not count the instructions of {} {name} ({}):\n{said}",
                self.path.display(),
                output.status
            )
        })
    }

    /// How many operations of a loop it does in so many nanoseconds, and not more than the loop asks for.
    pub fn count_within(&self, name: &str, nanoseconds: f64, processor: usize) -> u64 {
        let all = self.loops[name];
        if name == "memory" {
            return all; // of threads
        }
        let fewest = if matches!(name, "yield_10000" | "priority") { FEWEST } else { 1 };
        let part = (all / PART).max(fewest);
        // One that fails will fail again, and be told of then.
        let each =
            self.run(name, Some(part), processor).ok().and_then(|values| values.first().map(|(_, value)| *value));
        each.map_or(all, |each| ((nanoseconds / each) as u64).clamp(fewest, all))
    }
}

/// Bytes that can be had without swapping; 0: not known.
pub fn available_memory() -> f64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}

/// Lines of a name and a number.
fn read(text: &str) -> Result<Vec<(String, f64)>> {
    let pair = |line: &str| -> Option<(String, f64)> {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.trim().parse().ok()?))
    };
    text.lines().map(|line| pair(line).with_context(|| format!("not a name and a number: `{line}`"))).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_are_names_and_numbers() {
        let figures = super::read("a 1.5\nb 2\n").unwrap();
        assert_eq!(figures, [("a".to_owned(), 1.5), ("b".to_owned(), 2.0)]);
        assert!(super::read("a b c").is_err());
    }
}
