//! One run of a program, with a limit.

use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::suite::Program;
use crate::{catapults, root};

/// A policy, and for how many threads at a time it decides.
pub struct Setting {
    policy: &'static str,
    processors: usize,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.policy, self.processors)
    }
}

/// All that programs are run in.
pub fn settings() -> Vec<Setting> {
    let policies = ["fifo", "round_robin", "edf"];
    [1, 2].iter().flat_map(|&processors| policies.map(|policy| Setting { policy, processors })).collect()
}

/// How a program has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// By itself. 0: what it asks is so.
    Status(i32),
    /// By a signal.
    Signal(i32),
    /// It had to be ended.
    Hangs,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Status(0) => write!(f, "passes"),
            Verdict::Status(1) => write!(f, "fails"),
            Verdict::Status(2) => write!(f, "is unresolved"),
            Verdict::Status(4) => write!(f, "is unsupported"),
            Verdict::Status(5) => write!(f, "is untested"),
            Verdict::Status(other) => write!(f, "ends with {other}"),
            Verdict::Signal(signal) => write!(f, "dies of signal {signal}"),
            Verdict::Hangs => write!(f, "hangs"),
        }
    }
}

/// What a run has come to.
pub struct Ended {
    /// How it has ended.
    pub verdict: Verdict,
    /// All that it wrote.
    pub said: String,
    /// How long it took.
    pub took: Duration,
}

/// Runs it in a folder of its own; `None`: without a policy. What it has started and left is ended with it.
pub fn run(program: &Program, setting: Option<&Setting>) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("said");
    let output = File::create(&log).unwrap();
    let mut command = match setting {
        None => Command::new(&program.path),
        Some(setting) => {
            let mut command = Command::new(catapults());
            let policy = root().join(format!("build/policies/{}.so", setting.policy));
            command.arg("run").arg(policy).arg("--").arg(&program.path);
            command.env("CATAPULTS_FRAMEWORKS", root().join("frameworks"));
            command.env("CATAPULTS_PROCESSORS", setting.processors.to_string());
            command
        }
    };
    command.current_dir(folder.path()).stdin(Stdio::null()).stdout(output.try_clone().unwrap()).stderr(output);
    let began = Instant::now();
    let mut child = command.process_group(0).spawn().unwrap();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if began.elapsed() > program.limit => break None,
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    let took = began.elapsed();
    let group = Pid::from_child(&child);
    let _ = kill_process_group(group, Signal::KILL); // mostly nobody is left
    if status.is_none() {
        child.wait().unwrap();
    }
    let verdict = match status {
        None => Verdict::Hangs,
        Some(status) => status.code().map_or_else(|| Verdict::Signal(status.signal().unwrap()), Verdict::Status),
    };
    Ended { verdict, said: String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned(), took }
}
