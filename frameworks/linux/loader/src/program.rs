//! One program under a policy, with all that it starts. The kernel's own scheduler has the others, and goes before: where the machine is
//! busy, the program waits.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crate::scheduler::{LONGEST_WAIT, Loaded, Machine};

/// Not in the headers of each C library yet.
const SCHED_EXT: i32 = 7;

/// Loads a policy for those that ask for it, and runs a program that does.
pub fn run(object: &str, program: &[OsString]) -> Result<ExitCode, String> {
    let mut loaded = Loaded::attach(object, Machine::Program, LONGEST_WAIT)?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(own)
        .args(["enter", "--"])
        .args(program)
        .spawn()
        .map_err(|error| format!("{} cannot be run: {error}", program[0].display()))?;
    let ended = loaded.until(|| child.try_wait().is_ok_and(|status| status.is_some()))?;
    let status = child.wait().map_err(|error| error.to_string())?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ended.unwrap_or_else(|| ExitCode::from(code)))
}

/// Becomes the program.
pub fn enter(program: &[OsString]) -> Result<ExitCode, String> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the kernel reads the parameters during the call, and keeps nothing of them.
    #[allow(unsafe_code)]
    let done = unsafe { libc::sched_setscheduler(0, SCHED_EXT, &raw const parameters) };
    if done != 0 {
        return Err(format!("the policy does not take the program: {}", std::io::Error::last_os_error()));
    }
    let error = Command::new(&program[0]).args(&program[1..]).exec();
    Err(format!("{} cannot be run: {error}", program[0].display()))
}
