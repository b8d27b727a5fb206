//! What policies decide in stock GNU Pth is what the interpreter decides.
//!
//! A program does whatever Pth can, in a random order (`frameworks/pth/tests/random/workload.c`). The shim writes down every step
//! and every decision; the interpreter takes the same steps. Policies of the library, of `tests/run`, the figures of the 2005 paper and
//! random ones, as far as the dialect of Pth allows them. `CATAPULTS_SEED` changes what is tried, `CATAPULTS_ROUNDS` multiplies how much.

use catapults_compiler::framework::Framework;
use catapults_compiler::policy::{Import, Policy};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_tests::compiled::{Driver, Mode};
use catapults_tests::replay::replay;
use catapults_tests::{differential, framework_at, policies, root};
use fastrand::Rng;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs for each policy, and steps that each takes; decisions are some three times as many.
const PROGRAMS: u64 = 4;
const STEPS: &str = "400";
/// Random policies that are accepted.
const RANDOM: u64 = 20;

/// What all policies share.
struct Bench {
    driver: Driver<'static>,
    folder: tempfile::TempDir,
}

#[test]
fn pth_decides_what_the_interpreter_decides() {
    let framework: &'static Framework = Box::leak(Box::new(framework_at("frameworks/pth/pth.framework")));
    let folder = tempfile::tempdir().unwrap();
    let driver = Driver::build(framework, folder.path()).unwrap();
    let bench = Bench { driver, folder };
    bench.make();

    let (mut decisions, mut compared) = (0, 0);
    for path in written() {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        let source = Source::new(path.display().to_string(), text);
        if let Some(policy) = differential::written(&source, framework) {
            decisions += bench.agree(&source, &policy);
            compared += 1;
        }
    }
    assert!(compared >= 21, "only {compared} of the policies that were written by hand can run on Pth");
    let mut rng = Rng::with_seed(number("CATAPULTS_SEED", 1));
    let mut accepted = 0;
    while accepted < RANDOM * number("CATAPULTS_ROUNDS", 1) {
        let mut bytes = vec![0; 400];
        rng.fill(&mut bytes);
        let source = Source::new("random.sched", policies::random_for(framework, &bytes));
        if let Some(policy) = differential::accepted(&source, framework) {
            decisions += bench.agree(&source, &policy);
            accepted += 1;
        }
    }
    assert!(decisions > 10_000, "only {decisions} decisions were compared");
    println!("differences 0 of {decisions} decisions of {compared} policies and {accepted} random ones (pth)");
}

/// The policies that people wrote, by their paths from the root, but the figures that have mistakes: beside those stands what the compiler says.
fn written() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["policies", "tests/run", "tests/figures"] {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        found.extend(entries.map(|name| Path::new(folder).join(name)));
    }
    let mistaken = |path: &Path| {
        fs::read_to_string(root().join(path).with_extension("stderr")).is_ok_and(|said| said.contains("error["))
    };
    found.retain(|path| path.extension().is_some_and(|ending| ending == "sched") && !mistaken(path));
    found.sort();
    found
}

impl Bench {
    fn make(&self) {
        let home = root().join("frameworks/pth");
        let mut make = Command::new("make");
        make.arg("-C").arg(&home).arg(format!("BUILD={}", self.folder.path().display())).arg("all").arg("workload");
        let made = make.env_remove("MAKEFLAGS").env_remove("OUT").output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    /// Runs a policy and compares; the number of decisions.
    fn agree(&self, source: &Source, policy: &Verified<Policy>) -> usize {
        let object = self
            .driver
            .policy(policy, "policy", Mode::AsBuilt)
            .unwrap_or_else(|said| panic!("{}: {said}", source.name));
        // Programs mostly sleep, so all of a policy run at a time.
        let program = |program: u64| {
            let seed = number("CATAPULTS_SEED", 1) * 1000 + program;
            let traced = self.run(policy, &object, seed)?;
            compare(policy, &traced).map_err(|difference| format!("program {seed}: {difference}\n{traced}"))
        };
        let results: Vec<Result<usize, String>> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..PROGRAMS).map(|number| scope.spawn(move || program(number))).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let count = |result: Result<usize, String>| {
            result.unwrap_or_else(|said| panic!("{}, {said}\n{}", source.name, source.text))
        };
        results.into_iter().map(count).sum()
    }

    /// What the shim wrote down of a program under a policy.
    fn run(&self, policy: &Verified<Policy>, object: &Path, seed: u64) -> Result<String, String> {
        let (built, trace) = (self.folder.path().join("pth"), self.folder.path().join(format!("trace-{seed}")));
        let variable = |prefix: &str, import: &Import| {
            format!("{prefix}{}:{}", format!("{:?}", import.ty).to_lowercase(), import.name)
        };
        let (imports, of_threads) = (&policy.policy().imports, &policy.policy().thread_imports);
        let mut command = Command::new("timeout");
        command.arg("20").arg(built.join("workload")).arg(seed.to_string()).arg(STEPS);
        command.args(imports.iter().map(|import| variable("", import)));
        // The shim itself keeps this one.
        let of_threads = of_threads.iter().filter(|import| import.name != "consumed");
        command.args(of_threads.map(|import| variable("thread-", import)));
        command.env("PTH_SCHED", object).env("PTH_SCHED_TRACE", &trace).env_remove("PTH_SCHED_STRICT");
        let result = command.output().map_err(|error| error.to_string())?;
        let text = fs::read_to_string(&trace).map_err(|error| error.to_string())?;
        if result.status.success() {
            return Ok(text);
        }
        let last: Vec<&str> = text.lines().rev().take(30).collect();
        Err(format!(
            "{}\n{}\nat last, backwards:\n{}",
            result.status,
            String::from_utf8_lossy(&result.stderr),
            last.join("\n")
        ))
    }
}

fn compare(policy: &Verified<Policy>, traced: &str) -> Result<usize, String> {
    let steps: Result<Vec<_>, String> =
        traced.lines().map(|line| line.split_once(" -> ").map_or(line, |(step, _)| step).parse()).collect();
    let interpreted = replay(policy, &steps?);
    let expected: Vec<&str> = traced.lines().filter(|line| line.contains(" -> ")).collect();
    for index in 0..expected.len().max(interpreted.len()) {
        let (shim, interpreter) = (expected.get(index), interpreted.get(index));
        if shim.copied() != interpreter.map(String::as_str) {
            return Err(format!("decision {}: the shim took {shim:?}, the interpreter {interpreter:?}", index + 1));
        }
    }
    Ok(expected.len())
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
