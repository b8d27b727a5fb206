//! Who schedules the threads, and how the workload is run there: `bench/native/misses.c` and `bench/freertos/misses/run`.

use std::collections::HashMap;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::count::{Repeat, Thread};
use crate::others;
use crate::place::Place;
use crate::process::{ending, limited};

/// A scheduler of this machine.
pub struct Host {
    /// As it is called in tables.
    pub scheduler: &'static str,
    /// As `bench/native/misses.c` calls it.
    name: &'static str,
    /// Of the native runtime.
    policy: Option<&'static str>,
}

pub const NATIVE_EDF: &str = "native, edf";
pub const NATIVE_CBS: &str = "native, cbs";
pub const DEADLINE: &str = "SCHED_DEADLINE";

const fn ours(scheduler: &'static str, name: &'static str, policy: &'static str) -> Host {
    Host { scheduler, name, policy: Some(policy) }
}

const fn kernel(scheduler: &'static str, name: &'static str) -> Host {
    Host { scheduler, name, policy: None }
}

pub const HERE: [Host; 7] = [
    ours(NATIVE_EDF, "native", "edf"),
    ours("native, rm", "native", "rm"),
    ours(NATIVE_CBS, "native", "cbs"),
    kernel(DEADLINE, "deadline"),
    kernel("SCHED_FIFO, rate monotonic", "fifo"),
    kernel("SCHED_OTHER", "other"),
    ours("native, edf, itself in SCHED_OTHER", "native-ordinary", "edf"),
];

pub const CORTEX_PRIORITIES: &str = "FreeRTOS, rate monotonic";
pub const CORTEX_EDF: &str = "FreeRTOS, edf";
pub const CORTEX_CBS: &str = "FreeRTOS, cbs";

/// What `bench/freertos/misses/run` calls them, and tables.
pub const CORTEX: [(&str, &str); 3] = [("priorities", CORTEX_PRIORITIES), ("edf", CORTEX_EDF), ("cbs", CORTEX_CBS)];

pub enum Outcome {
    Counted(Repeat),
    /// By the kernel, for this reason.
    Refused(String),
}

/// The exit status of a program that the kernel refuses what it needs.
const REFUSED: i32 = 3;

impl Host {
    /// Runs the workload on this processor.
    ///
    /// # Errors
    ///
    /// When it is not built, fails, or does not tell of all threads.
    pub fn run(&self, place: &Place, processor: usize, liar: bool, seconds: f64) -> Result<Outcome> {
        let program = place.built("bench/misses-loaded", "misses")?;
        let mut command = limited(&program, &[processor]);
        command.args([self.name, if liar { "liar" } else { "honest" }, &seconds.to_string()]);
        if let Some(policy) = self.policy {
            command.arg(place.built(&format!("policies/{policy}.so"), "misses")?);
        }
        let before = others::stolen(processor)?;
        let output = command.output().with_context(|| format!("cannot start {}", program.display()))?;
        let stolen = (others::stolen(processor)? - before) * 1000.0;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if output.status.code() == Some(REFUSED) {
            return Ok(Outcome::Refused(said));
        }
        if !output.status.success() {
            bail!("{}: {} failed ({}):\n{said}", self.scheduler, program.display(), ending(output.status));
        }
        let threads = String::from_utf8_lossy(&output.stdout).lines().map(Thread::read).collect::<Result<Vec<_>>>()?;
        all_are_counted(&threads, &PERIODS, seconds * 1000.0)
            .with_context(|| format!("what {} printed", program.display()))?;
        Ok(Outcome::Counted(Repeat { threads, stolen }))
    }
}

/// What became of the threads on the simulated machine, by scheduler and by whether one lies.
///
/// # Errors
///
/// When it fails, or does not tell of all threads.
pub fn on_cortex(place: &Place, rounds: u32) -> Result<HashMap<(String, bool), Repeat>> {
    let output = Command::new(place.source("bench/freertos/misses/run"))
        .arg(rounds.to_string())
        .env("CATAPULTS", place.built("bin/catapults", "build")?)
        .output()
        .context("cannot start bench/freertos/misses/run")?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!(
            "bench/freertos/misses/run failed ({}):\n{text}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let mut repeats = HashMap::<(String, bool), Repeat>::new();
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(scheduler), Some(set), Some(thread)) = (words.next(), words.next(), words.next()) else {
            bail!("what bench/freertos/misses/run printed: `{line}`")
        };
        repeats.entry((scheduler.to_owned(), set == "liar")).or_default().threads.push(Thread::read(thread)?);
    }
    for repeat in repeats.values() {
        all_are_counted(&repeat.threads, &TICKS, f64::from(rounds) * ROUND)
            .context("what bench/freertos/misses/run printed")?;
    }
    Ok(repeats)
}

/// The threads and their periods, in milliseconds: as in `bench/native/misses.c`.
const PERIODS: [(&str, f64); 4] = [("fast", 4.0), ("liar", 8.0), ("middle", 10.0), ("slow", 25.0)];
/// The same in ticks, of which a round has so many: as in `bench/freertos/misses/misses.c`.
const TICKS: [(&str, f64); 4] = [("fast", 200.0), ("liar", 280.0), ("middle", 400.0), ("slow", 700.0)];
const ROUND: f64 = 2800.0;

/// Each job that was due in this time is to be counted, done or not.
fn all_are_counted(threads: &[Thread], periods: &[(&str, f64)], time: f64) -> Result<()> {
    let expected: Vec<(&str, u32)> = periods.iter().map(|(name, period)| (*name, (time / period) as u32)).collect();
    let counted: Vec<(&str, u32)> = threads.iter().map(|thread| (thread.name.as_str(), thread.counted.jobs)).collect();
    ensure!(counted == expected, "these are to be counted: {expected:?}, and these were: {counted:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_job_is_forgotten() {
        let mut threads =
            ["fast 50 0 -1", "liar 25 0 -1", "middle 20 0 -1", "slow 8 0 -1"].map(|line| Thread::read(line).unwrap());
        assert!(all_are_counted(&threads, &PERIODS, 200.0).is_ok());
        assert!(all_are_counted(&threads[..3], &PERIODS, 200.0).is_err());
        threads[0].counted.jobs = 49;
        assert!(all_are_counted(&threads, &PERIODS, 200.0).is_err());
    }
}
