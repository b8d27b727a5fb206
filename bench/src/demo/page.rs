//! The page of the demonstration: a moment of the server under both policies, one below the other.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use catapults_simulator::trace::Reader;

use crate::client::{Load, Outcome};
use crate::files::Served;
use crate::place::Place;
use crate::process::{Processors, limited};
use crate::server::{Cow, Host};

/// A recording ends after so much time and so many records. It has room for a million, of which the first ones name the threads.
const RECORDED: (Duration, u64) = (Duration::from_millis(250), 30_000);
/// The page shows the end of that.
const SHOWN: Duration = Duration::from_millis(50);
/// Bytes of a response that a handler sends before the others have their turn: so few that the server, not the client, is the limit.
const TURN: u32 = 1024;

/// Writes it, and says where it is.
///
/// # Errors
///
/// When a server or client does not do as it should, or `catapults` does not take what was recorded.
pub fn write(place: &Place, work: &Path, processors: Processors, files: &[Served]) -> Result<PathBuf> {
    let page = work.join("demo.html");
    let mut command = limited(place.built("bin/catapults", "build")?, &[processors.server]);
    command.args(["trace", "html", "--output"]).arg(&page);
    let mut until = Duration::MAX;
    for policy in ["fifo", "cow"] {
        let recording = record(place, work, processors, files, policy)?;
        until = until.min(length(&recording).with_context(|| format!("{}", recording.display()))?);
        command.arg(recording);
    }
    let time = |time: Duration| format!("{}us", time.as_micros());
    command.args(["--from", &time(until.saturating_sub(SHOWN)), "--to", &time(until)]);
    let output = command.output().context("cannot start catapults")?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(page)
}

/// Requests for files of different sizes, for a second at most.
fn record(place: &Place, work: &Path, processors: Processors, files: &[Served], policy: &str) -> Result<PathBuf> {
    // The page calls it by its name: CoW under fifo.
    let recorded = place.folder(&format!("build/demo/{policy}"))?.join("CoW.trace");
    let (root, log) = (work.join("files"), work.join("server.log"));
    let (on, trace) = (Host::Native(policy), Some(recorded.as_path()));
    let server = Cow { on, handlers: 20, root: &root, turn: Some(TURN), trace, log: &log }.start(place, processors)?;
    let load = Load { connections: 40, seconds: 1, close: true, files, processors: &[processors.client], seed: 1 };
    let address = server.address();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| load.run(place, address));
        wait_for_records(&recorded, &asking);
        // It would go on to answer whom it has accepted, long after others have ceased to ask.
        server.cut()?;
        match asking.join() {
            Ok(outcome) => outcome.map(|_| recorded.clone()),
            Err(_) => bail!("the thread that asks has ended by a mistake of its own"),
        }
    })
}

/// Or until nobody asks any more.
fn wait_for_records(recorded: &Path, asking: &ScopedJoinHandle<Result<Outcome>>) {
    let begin = Instant::now();
    // Before the server has laid it out, it is no recording. If it never is, `catapults` says so.
    let written = || Some(Reader::new(File::open(recorded).ok()?).ok()?.left());
    let enough = || begin.elapsed() >= RECORDED.0 && written().is_some_and(|written| written >= RECORDED.1);
    while !asking.is_finished() && !enough() {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// From the beginning of a recording to its last record.
fn length(recording: &Path) -> Result<Duration> {
    let mut reader = Reader::new(File::open(recording)?)?;
    reader.newest(1)?;
    let last = reader.next_record()?.context("nothing was recorded")?;
    Ok(Duration::from_nanos(last.time_ns - reader.header().start_ns))
}
