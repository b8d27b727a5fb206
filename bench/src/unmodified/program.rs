//! A program of the distribution's, with its load: a file of bash, which `bench/unmodified/steps` helps.
//!
//! Its first lines are a comment. `# policies: A B/2` names those of the library that it runs under, on one processor and on two, or on
//! the number that is given. `# short: A/2` has it run in `make test`, under that one.
//!
//! What it prints is its verdict, which must be the same under each host. It succeeds if all went as it should.

use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::place::Place;

/// Who schedules the program's threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// NPTL's threads, as always.
    Kernel,
    /// The same beneath a policy of the library.
    Policy { policy: String, processors: u32 },
}

pub struct Program {
    pub name: String,
    file: PathBuf,
    /// The policies that it runs under.
    pub hosts: Vec<Host>,
    /// The one for a short run.
    pub short: Option<Host>,
}

/// What came of a run.
pub struct Outcome {
    /// What it printed.
    pub verdict: String,
    /// Its exit status, or 128 and the signal that ended it; `None`: it had to be killed.
    pub ended: Option<i32>,
    /// The end of its log.
    pub last: String,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Kernel => f.write_str("NPTL"),
            Host::Policy { policy, processors } => write!(f, "{policy} on {processors}"),
        }
    }
}

impl Host {
    pub fn on_one_and_two(policy: &str) -> [Host; 2] {
        [1, 2].map(|processors| Host::Policy { policy: policy.to_owned(), processors })
    }

    /// `fifo` or `fifo/2`.
    fn read(word: &str) -> Result<Vec<Host>> {
        let Some((policy, processors)) = word.split_once('/') else { return Ok(Host::on_one_and_two(word).into()) };
        let processors = processors.parse().with_context(|| format!("{word}: not a number of processors"))?;
        Ok(vec![Host::Policy { policy: policy.to_owned(), processors }])
    }
}

impl Program {
    /// Each that there is.
    ///
    /// # Errors
    ///
    /// When they cannot be read, or do not say what they run under.
    pub fn all(place: &Place) -> Result<Vec<Program>> {
        let folder = place.source("bench/unmodified");
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
        let mut files: Vec<PathBuf> =
            files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "bash")).collect();
        files.sort();
        files.into_iter().map(Program::read).collect()
    }

    fn read(file: PathBuf) -> Result<Program> {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let named = |what: &str| -> Result<Vec<Host>> {
            let words = text.lines().find_map(|line| line.strip_prefix(&format!("# {what}: "))).unwrap_or_default();
            Ok(words.split_whitespace().map(Host::read).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
        };
        let hosts = named("policies").with_context(|| file.display().to_string())?;
        ensure!(!hosts.is_empty(), "{} does not say `# policies: `", file.display());
        let short = named("short").with_context(|| file.display().to_string())?.into_iter().next();
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Program { name, file, hosts, short })
    }

    /// Runs it in a folder of its own, with all that it starts in a group, of which nothing is left.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub fn run(&self, place: &Place, host: &Host, seconds: u32) -> Result<Outcome> {
        let folder = place.folder("build/unmodified")?.join(&self.name);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let [verdict, log] = ["verdict", "log"].map(|name| folder.join(name));
        let mut command = Command::new("bash");
        command.arg(&self.file).current_dir(&folder).stdin(Stdio::null());
        command.stdout(file(&verdict)?).stderr(file(&log)?).process_group(0);
        command.env("SECONDS_OF_LOAD", seconds.to_string()).env("KEPT", place.folder("build/unmodified/kept")?);
        command.env("STEPS", place.source("bench/unmodified/steps"));
        command.env("CATAPULTS_FRAMEWORKS", place.source("frameworks"));
        command.env("CATAPULTS", place.built("bin/catapults", "build")?);
        match host {
            Host::Kernel => command.env("POLICY", ""),
            Host::Policy { policy, processors } => command
                .env("POLICY", place.source(&format!("policies/{policy}.sched")))
                .env("CATAPULTS_PROCESSORS", processors.to_string()),
        };
        let mut child = command.spawn().context("cannot start bash")?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a process without a number")?;
        // Each step has a limit, which the file says: this one is for the file itself.
        let patience = Instant::now() + Duration::from_secs(600 + 4 * u64::from(seconds));
        let mut ended = child.try_wait()?;
        while ended.is_none() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(20));
            ended = child.try_wait()?;
        }
        // An error means that nothing of it is left.
        let _ = kill_process_group(group, Signal::KILL);
        child.wait()?;
        let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let log = read(&log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        Ok(Outcome {
            verdict: read(&verdict).unwrap_or_default(),
            ended: ended.map(|status| status.code().unwrap_or(128)),
            last: lines[lines.len().saturating_sub(LAST)..].join("\n"),
        })
    }
}

/// Lines of the log that are shown.
const LAST: usize = 40;

impl Outcome {
    /// Why it did not do as it should.
    pub fn failure(&self) -> Option<String> {
        let what = match self.ended {
            Some(0) => return None,
            Some(status) => format!("it fails, with exit status {status}"),
            None => "it hangs, and was killed".to_owned(),
        };
        Some(format!("{what}; it said\n{}\nand its last words were\n{}", self.verdict, self.last))
    }
}

fn file(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_runs_under() {
        let one = |policy: &str, processors| Host::Policy { policy: policy.to_owned(), processors };
        assert_eq!(Host::read("fifo").unwrap(), [one("fifo", 1), one("fifo", 2)]);
        assert_eq!(Host::read("fifo/3").unwrap(), [one("fifo", 3)]);
        assert!(Host::read("fifo/many").is_err());
    }
}
