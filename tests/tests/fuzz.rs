//! The short form of `make fuzz`: what broke a target once, and some random changes of what the targets start from.
//!
//! `CATAPULTS_FUZZ_SECONDS` says for how long each target is tried.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::abort;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use catapults_tests::fuzz::{TARGETS, Target, changed, dictionary, reproducers};
use fastrand::Rng;
use libtest_mimic::{Arguments, Failed, Trial};

/// No input takes longer, even here, where nothing is optimized and other tests run beside it.
const LIMIT: Duration = Duration::from_secs(20);

fn main() {
    let mut trials = Vec::new();
    for target in TARGETS {
        trials.push(Trial::test(format!("{}: random changes", target.name), move || random_changes(target)));
        let Ok(folder) = fs::read_dir(reproducers(&target)) else {
            continue;
        };
        for path in folder.map(|entry| entry.unwrap().path()) {
            let name = format!("{}: {}", target.name, path.file_name().unwrap().to_string_lossy());
            trials.push(Trial::test(name, move || survives(target, &fs::read(&path).unwrap())));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn random_changes(target: Target) -> Result<(), Failed> {
    let seconds = std::env::var("CATAPULTS_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let (seeds, dictionary) = ((target.seeds)(), dictionary());
    let mut random = Rng::new();
    let (start, mut executions) = (Instant::now(), 0_u64);
    while start.elapsed() < Duration::from_secs(seconds) {
        survives(target, &changed(&seeds, &dictionary, &mut random))?;
        executions += 1;
    }
    eprintln!("{}: {executions} executions", target.name);
    if executions > 0 { Ok(()) } else { Err("nothing was tried".into()) }
}

/// Whatever becomes of us, the bytes that did it are in a file.
fn survives(target: Target, bytes: &[u8]) -> Result<(), Failed> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{}", target.name));
    fs::write(&file, bytes).unwrap();
    let saved = format!(
        "the bytes are in {}; when it is mended, keep them in {}",
        file.display(),
        reproducers(&target).display()
    );
    let (done, waiting) = channel::<()>();
    thread::scope(|scope| {
        let saved = &saved;
        scope.spawn(move || {
            if waiting.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
                eprintln!("{}: not done after {LIMIT:?}; {saved}", target.name);
                abort();
            }
        });
        let result = catch_unwind(|| (target.run)(bytes));
        drop(done);
        result.map_err(|_| Failed::from(saved.as_str()))
    })
}
