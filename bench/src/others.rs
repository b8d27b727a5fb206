//! What other programs take of processors that are measured on.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// If others take more than this part of the time, the machine is too busy to judge by small differences.
pub const BUSY: f64 = 0.1;

/// How much time of some processors has been used up to an instant, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    at: Instant,
    processors: usize,
    /// By all programs.
    all: f64,
    /// By those that are measured.
    ours: f64,
}

impl Reading {
    /// Reads it now, when what is measured on these processors has used `ours`.
    ///
    /// # Errors
    ///
    /// When the kernel does not say.
    pub fn now(processors: &[usize], ours: f64) -> Result<Reading> {
        let statistics = std::fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
        let all = processors.iter().map(|number| used(&statistics, *number)).sum::<Option<u64>>();
        let all = all.with_context(|| format!("/proc/stat does not list the processors {processors:?}"))?;
        let all = all as f64 / rustix::param::clock_ticks_per_second() as f64;
        Ok(Reading { at: Instant::now(), processors: processors.len(), all, ours })
    }

    /// The part of the processors' time that others have taken since an earlier reading.
    pub fn others_since(&self, earlier: &Reading) -> f64 {
        let time = self.at.duration_since(earlier.at).as_secs_f64() * self.processors as f64;
        let others = (self.all - earlier.all) - (self.ours - earlier.ours);
        (others / time).clamp(0.0, 1.0)
    }
}

/// What others take while nothing is measured: of half a second.
///
/// # Errors
///
/// As above.
pub fn at_rest(processors: &[usize]) -> Result<f64> {
    let before = Reading::now(processors, 0.0)?;
    std::thread::sleep(Duration::from_millis(500));
    Ok(Reading::now(processors, 0.0)?.others_since(&before))
}

/// How much of a processor the machine beneath has taken until now, in seconds.
///
/// # Errors
///
/// As above.
pub fn stolen(processor: usize) -> Result<f64> {
    let statistics = std::fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
    let ticks = of_processor(&statistics, processor).and_then(|ticks| ticks.get(7).copied());
    let ticks = ticks.with_context(|| format!("/proc/stat does not list the processor {processor}"))?;
    Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Ticks of a processor in which programs ran, or the machine below had it. Interrupts are left out: most of them are for what
/// server and client send to each other.
fn used(statistics: &str, processor: usize) -> Option<u64> {
    let ticks = of_processor(statistics, processor)?;
    Some(ticks.get(..3)?.iter().sum::<u64>() + ticks.get(7)?)
}

/// user, nice, system, idle, waiting for a disk, interrupts, deferred interrupts, stolen
fn of_processor(statistics: &str, processor: usize) -> Option<Vec<u64>> {
    let name = format!("cpu{processor} ");
    let line = statistics.lines().find_map(|line| line.strip_prefix(name.as_str()))?;
    Some(line.split_whitespace().filter_map(|number| number.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says() {
        let statistics = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 100 100 100 100 4 0 0\ncpu1 5 5 5 1 1 1 1 5 5 5\n";
        assert_eq!((used(statistics, 0), used(statistics, 1), used(statistics, 2)), (Some(10), Some(20), None));
    }

    #[test]
    fn what_others_take() {
        let reading = |at, all, ours| Reading { at, processors: 2, all, ours };
        let begin = Instant::now();
        let earlier = reading(begin, 5.0, 1.0);
        let later = reading(begin + Duration::from_secs(2), 8.0, 3.0);
        assert!((later.others_since(&earlier) - 0.25).abs() < 1e-9);
        assert_eq!(reading(begin + Duration::from_secs(2), 6.0, 3.0).others_since(&earlier), 0.0);
    }
}
