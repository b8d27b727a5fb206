//! `make fuzz`: tries every target of `catapults_tests::fuzz` with libFuzzer. The argument is for how many seconds in all, 60 if
//! it is missing. The exit status is 1 if something broke a target.
//!
//! It needs no other compiler than the usual one: what libFuzzer asks of it are stable flags. There is no unsafe code for a
//! sanitizer to look at; overflow and assertions are checked.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use catapults_tests::fuzz::{TARGETS, Target, dictionary, reproducers};
use catapults_tests::root;

/// As cargo-fuzz builds, without a sanitizer.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing";
/// For one input: it counts as a crash if it takes longer, or needs more.
const SECONDS: &str = "-timeout=10";
const MEGABYTES: &str = "-rss_limit_mb=1024";

fn main() -> ExitCode {
    let seconds = match std::env::args().nth(1).map(|argument| argument.parse::<u64>()) {
        None => 60,
        Some(Ok(seconds)) if seconds > 0 => seconds,
        Some(_) => return wrong("the argument is a number of seconds, for all targets together"),
    };
    let start = Instant::now();
    let programs = match build() {
        Ok(programs) => programs,
        Err(why) => return wrong(&why),
    };
    eprintln!("fuzz: built in {:.0} s", start.elapsed().as_secs_f64());
    // As many at a time as there are processors, each for its share.
    let workers = thread::available_parallelism().map_or(1, usize::from).min(TARGETS.len());
    let rounds = TARGETS.len().div_ceil(workers);
    let share = (seconds / rounds as u64).max(1);
    let waiting = Mutex::new(TARGETS.iter());
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(target) = { waiting.lock().unwrap().next() } {
                    let result = fuzz(target, &programs.join(target.name), share);
                    if let Ok((executions, found)) = &result {
                        println!("{:<10} {executions:>10} executions, {} crashes", target.name, found.len());
                    }
                    results.lock().unwrap().push(result);
                }
            });
        }
    });
    let (mut executions, mut crashes) = (0, 0);
    for result in results.into_inner().unwrap() {
        match result {
            Err(why) => return wrong(&why),
            Ok((count, found)) => {
                executions += count;
                crashes += found.len();
                found.iter().for_each(|said| println!("\n{said}"));
            }
        }
    }
    println!("fuzz: {} targets, {executions} executions, {crashes} crashes", TARGETS.len());
    if crashes == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn wrong(why: &str) -> ExitCode {
    eprintln!("fuzz: error: {why}");
    ExitCode::from(2)
}

/// The folder of the programs.
fn build() -> Result<PathBuf, String> {
    let compiler =
        Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&compiler.stdout).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc -vV names no host")?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from).join("fuzz");
    // A target that is named keeps the flags away from build scripts and macros.
    let built = Command::new("cargo")
        .args(["build", "--release", "--locked", "--quiet", "--target", host, "--manifest-path"])
        .arg(root().join("tests/fuzz/Cargo.toml"))
        .env("CARGO_TARGET_DIR", &target)
        .env("RUSTFLAGS", FLAGS)
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if built.success() {
        Ok(target.join(host).join("release"))
    } else {
        Err("the targets do not build; libfuzzer-sys needs a C++ compiler (`make setup` installs one) and, the first time, the network".to_owned())
    }
}

/// How many inputs were tried, and what is to be said of those that broke the target.
fn fuzz(target: &Target, program: &Path, seconds: u64) -> Result<(u64, Vec<String>), String> {
    let folder = root().join("build/fuzz").join(target.name);
    let (corpus, seeds, found) = (folder.join("corpus"), folder.join("seeds"), folder.join("found"));
    let prepared = prepare(target, &corpus, &seeds, &found);
    prepared.map_err(|error| format!("{}: {error}", folder.display()))?;
    let log = folder.join("log");
    let stderr = fs::File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let status = Command::new(program)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-dict={}", folder.join("dictionary").display()))
        .arg(format!("-artifact_prefix={}/", found.display()))
        .args([SECONDS, MEGABYTES, "-max_len=16384", "-print_final_stats=1"])
        .args([&corpus, &seeds, &reproducers(target)].iter().filter(|folder| folder.is_dir()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .status()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let said = fs::read(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let executed = said.lines().rev().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let executions = executed.and_then(|count| count.trim().parse().ok()).unwrap_or(0);
    if status.success() {
        return if executions > 0 {
            Ok((executions, Vec::new()))
        } else {
            Err(format!("nothing was tried, see {}", log.display()))
        };
    }
    Ok((executions, vec![report(target, &said, &log)]))
}

fn prepare(target: &Target, corpus: &Path, seeds: &Path, found: &Path) -> std::io::Result<()> {
    for folder in [corpus, seeds, found] {
        fs::create_dir_all(folder)?;
    }
    for (number, seed) in (target.seeds)().iter().enumerate() {
        fs::write(seeds.join(number.to_string()), seed)?;
    }
    let mut list = String::new();
    for word in dictionary() {
        list.push('"');
        for byte in word.bytes() {
            // Writing to a string cannot fail.
            let _ = match byte {
                b'"' | b'\\' => write!(list, "\\{}", char::from(byte)),
                b' '..=b'~' => write!(list, "{}", char::from(byte)),
                other => write!(list, "\\x{other:02x}"),
            };
        }
        list.push_str("\"\n");
    }
    fs::write(seeds.with_file_name("dictionary"), list)
}

/// What went wrong, where the bytes are, and what to do.
fn report(target: &Target, said: &str, log: &Path) -> String {
    let reason = said.lines().find(|line| line.contains("panicked at") || line.contains("ERROR: libFuzzer"));
    let bytes = said.lines().find_map(|line| line.split_once("Test unit written to ").map(|(_, file)| file));
    let mut text = format!("{}: {}\n  everything said: {}\n", target.name, reason.unwrap_or("it ended"), log.display());
    if let Some(file) = bytes {
        let _ = write!(
            text,
            "  the bytes: {file}\n  keep them in {}, under a name that says what it is about",
            reproducers(target).display()
        );
    }
    text
}
