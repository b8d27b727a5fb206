//! The page of the demonstration: a moment of the server under both policies, one below the other.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use catapults_simulator::trace::Reader;

use crate::client::{Load, Outcome};
use crate::files::Served;
use crate::place::Place;
use crate::process::{Processors, limited};
use crate::server::{Cow, Host};

/// A recording ends after so many records. It has room for a million, and the first ones name the threads.
const RECORDED: u64 = 100_000;
/// The page has the newest: a browser opens a few megabytes at once.
const SHOWN: u64 = 60_000;

/// Writes it, and says where it is.
///
/// # Errors
///
/// When a server or client does not do as it should, or `catapults` does not take what was recorded.
pub fn write(place: &Place, work: &Path, processors: Processors, turn: u32, files: &[Served]) -> Result<PathBuf> {
    let page = work.join("demo.html");
    let mut command = limited(place.built("bin/catapults", "build")?, &[processors.server]);
    command.args(["trace", "html", "--newest", &SHOWN.to_string(), "--output"]).arg(&page);
    for policy in ["fifo", "cow"] {
        command.arg(record(place, work, processors, turn, files, policy)?);
    }
    let output = command.output().context("cannot start catapults")?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(page)
}

/// Requests for files of different sizes, for a second at most.
fn record(
    place: &Place,
    work: &Path,
    processors: Processors,
    turn: u32,
    files: &[Served],
    policy: &str,
) -> Result<PathBuf> {
    let (root, log, recorded) = (work.join("files"), work.join("server.log"), work.join(format!("{policy}.trace")));
    let cow = Cow {
        on: Host::Native(policy),
        handlers: 20,
        root: &root,
        turn: Some(turn),
        trace: Some(&recorded),
        log: &log,
    };
    let server = cow.start(place, processors)?;
    let load = Load { connections: 40, seconds: 1, close: true, files, processors: &[processors.client], seed: 1 };
    let address = server.address();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| load.run(place, address));
        wait_for_records(&recorded, &asking);
        server.stop()?;
        // From here on its clients find nobody.
        match asking.join() {
            Ok(outcome) => outcome.map(|_| recorded.clone()),
            Err(_) => bail!("the thread that asks has ended by a mistake of its own"),
        }
    })
}

/// Or until nobody asks any more.
fn wait_for_records(recorded: &Path, asking: &ScopedJoinHandle<Result<Outcome>>) {
    // Before the server has laid it out, it is no recording. If it never is, `catapults` says so.
    let written = || Some(Reader::new(File::open(recorded).ok()?).ok()?.left());
    while !asking.is_finished() && written().is_none_or(|written| written < RECORDED) {
        std::thread::sleep(Duration::from_millis(2));
    }
}
