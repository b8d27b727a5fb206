//! Programs that we start: each in a session of its own, on one processor, and gone when we are.

use std::ffi::OsStr;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};

/// The two processors of a measurement; the same one twice where there is no second.
#[derive(Clone, Copy, Debug)]
pub struct Processors {
    /// Where what is measured runs.
    pub server: usize,
    /// Where what makes the load runs.
    pub client: usize,
}

impl Processors {
    /// The first two that we may use.
    ///
    /// # Errors
    ///
    /// When the kernel does not say which these are.
    pub fn first_two() -> Result<Processors> {
        let status = std::fs::read_to_string("/proc/self/status").context("cannot read /proc/self/status")?;
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let allowed = allowed(list.unwrap_or_default().trim());
        let server = *allowed.first().context("/proc/self/status lists no processor that we may use")?;
        Ok(Processors { server, client: *allowed.get(1).unwrap_or(&server) })
    }

    /// Whether client and server share one.
    pub fn shared(self) -> bool {
        self.server == self.client
    }
}

/// `program` on `processors`, in a session of its own (so that the kernel's autogroups give client and server equal weight),
/// to be told to end when we end, however that happens.
pub fn pinned(program: impl AsRef<OsStr>, processors: &[usize]) -> Command {
    let list: Vec<String> = processors.iter().map(usize::to_string).collect();
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "setsid", "taskset", "--cpu-list", &list.join(",")]);
    if PREFERRED.load(Ordering::Relaxed) {
        // A session's weight is its autogroup's, if the kernel has those, else that of its processes.
        command.args([
            "nice",
            "-n",
            "-20",
            "sh",
            "-c",
            "echo -20 2>/dev/null >/proc/self/autogroup; exec \"$@\"",
            "sh",
        ]);
    }
    command.arg(program);
    command
}

static PREFERRED: AtomicBool = AtomicBool::new(false);

/// From here on what is started comes before nearly all else on the machine, if we may say so: what is measured is not what others do.
pub fn prefer() {
    PREFERRED.store(rustix::process::geteuid().is_root(), Ordering::Relaxed);
}

/// How long a program may take that ends by itself, in seconds.
const LIMIT: u32 = 300;

/// As [`pinned`], for a program that ends by itself. It is ended after five minutes; [`ending`] says so.
pub fn limited(program: impl AsRef<OsStr>, processors: &[usize]) -> Command {
    let mut command = pinned("timeout", processors);
    command.args(["--kill-after=5", &LIMIT.to_string()]).arg(program);
    command
}

/// How a program of [`limited`] has ended, in words.
pub fn ending(status: ExitStatus) -> String {
    match status.code() {
        Some(124) => format!("it took more than {LIMIT} seconds"),
        Some(_) | None => status.to_string(),
    }
}

/// Asks `child` to end, and sees to it that it does. Says whether it did so by itself in time.
///
/// # Errors
///
/// When its end cannot be waited for.
pub fn end(child: &mut Child) -> Result<bool> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a process without a number")?;
    // An error means that it has ended already, which the wait below finds.
    let _ = kill_process(pid, Signal::TERM);
    let patience = Instant::now() + Duration::from_secs(5);
    while Instant::now() < patience {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill()?;
    child.wait()?;
    Ok(false)
}

/// Reads "0-1,4".
fn allowed(list: &str) -> Vec<usize> {
    let range = |part: &str| -> Option<Vec<usize>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some((first.parse().ok()?..=last.parse().ok()?).collect())
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn lists_of_processors() {
        assert_eq!(super::allowed("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(super::allowed("3"), [3]);
        assert!(super::allowed("").is_empty());
    }
}
