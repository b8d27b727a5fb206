//! What a run of the control workload tells: of each thread, how many jobs were due, and how many of them were late.

use anyhow::{Context, Result, ensure};
use serde::Serialize;

/// The thread that lies, where one does. The other threads are honest in each run.
const LIAR: &str = "liar";

/// One thread in one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Thread {
    pub name: String,
    #[serde(flatten)]
    pub counted: Counted,
}

/// Jobs of one or several threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Counted {
    pub jobs: u32,
    pub missed: u32,
    /// How many microseconds after its deadline the latest job ended; negative: before it.
    pub worst: i64,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Repeat {
    pub threads: Vec<Thread>,
    /// Milliseconds that the machine beneath took from the processor meanwhile.
    pub stolen: f64,
}

impl Thread {
    /// Reads `NAME JOBS MISSED WORST`.
    ///
    /// # Errors
    ///
    /// When the line says something else, or something that cannot be.
    pub fn read(line: &str) -> Result<Thread> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, jobs, missed, worst] = words[..] else { anyhow::bail!("not what became of a thread: `{line}`") };
        let number = |word: &str| word.parse::<i64>().with_context(|| format!("`{word}` is no number: `{line}`"));
        let counted = Counted {
            jobs: u32::try_from(number(jobs)?)?,
            missed: u32::try_from(number(missed)?)?,
            worst: number(worst)?,
        };
        ensure!(counted.jobs > 0 && counted.missed <= counted.jobs, "more was missed than was due: `{line}`");
        ensure!(counted.worst <= 0 || counted.missed > 0, "a late job was not counted: `{line}`");
        Ok(Thread { name: name.to_owned(), counted })
    }
}

impl Counted {
    /// Those of no thread.
    pub fn none() -> Counted {
        Counted { jobs: 0, missed: 0, worst: i64::MIN }
    }

    pub fn and(self, other: Counted) -> Counted {
        Counted { jobs: self.jobs + other.jobs, missed: self.missed + other.missed, worst: self.worst.max(other.worst) }
    }

    /// NaN of no jobs.
    pub fn per_10_000(self) -> f64 {
        f64::from(self.missed) * 10_000.0 / f64::from(self.jobs)
    }
}

impl Repeat {
    /// Of the threads that are honest in each run.
    pub fn honest(&self) -> Counted {
        self.of(|name| name != LIAR)
    }

    /// Of the thread that lies, where one does.
    pub fn liar(&self) -> Counted {
        self.of(|name| name == LIAR)
    }

    /// All that were due.
    pub fn jobs(&self) -> u32 {
        self.of(|_| true).jobs
    }

    fn of(&self, chosen: impl Fn(&str) -> bool) -> Counted {
        let chosen = self.threads.iter().filter(|thread| chosen(&thread.name));
        chosen.map(|thread| thread.counted).fold(Counted::none(), Counted::and)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_thread() {
        let thread = Thread::read("fast 1250 5 720").unwrap();
        assert_eq!(thread.name, "fast");
        assert_eq!(thread.counted, Counted { jobs: 1250, missed: 5, worst: 720 });
        assert_eq!(thread.counted.per_10_000(), 40.0);
        for wrong in ["fast 1 2 3", "fast 10 0 3", "fast 0 0 -3", "fast 10 -1 3", "fast 10 0", "fast ten 0 -3"] {
            assert!(Thread::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn honest_threads_are_counted_together() {
        let threads = ["fast 100 1 5", "liar 50 50 900", "slow 20 2 30"].map(|line| Thread::read(line).unwrap());
        let repeat = Repeat { threads: threads.into(), stolen: 0.0 };
        assert_eq!(repeat.honest(), Counted { jobs: 120, missed: 3, worst: 30 });
        assert_eq!(repeat.honest().per_10_000(), 250.0);
        assert_eq!(repeat.liar().missed, 50);
        assert_eq!(repeat.jobs(), 170);
        assert!(Repeat::default().liar().per_10_000().is_nan());
    }
}
