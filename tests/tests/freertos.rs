//! What policies decide in a stock FreeRTOS kernel is what the interpreter decides, and the kernel's hooks keep what the
//! description of the framework promises.
//!
//! A program does whatever FreeRTOS can, in a random order, in the kernel's own port to Linux
//! (`frameworks/freertos/tests/random/workload.c`). It writes down every step and every decision; the interpreter takes the same steps.
//! Policies of the library, of `tests/run`, the figures of the 2005 paper and random ones, as far as the dialect allows them.
//! `CATAPULTS_SEED` changes what is tried, `CATAPULTS_ROUNDS` multiplies how much.

use catapults_compiler::emit::emit;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_tests::promises::kept;
use catapults_tests::replay::replay;
use catapults_tests::{differential, framework_at, policies, root};
use fastrand::Rng;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs for each policy, and steps that each takes; decisions are some two thirds of that.
const PROGRAMS: u64 = 3;
const STEPS: &str = "600";
/// Random policies that are accepted.
const RANDOM: u64 = 15;

/// What all policies share.
struct Bench {
    framework: Framework,
    kernel: PathBuf,
    folder: tempfile::TempDir,
    /// The files of the kernel that do not know the policy, compiled.
    objects: Vec<PathBuf>,
}

#[test]
fn freertos_decides_what_the_interpreter_decides() {
    let bench = Bench::new();
    let (mut decisions, mut compared) = (0, 0);
    for path in written() {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        let source = Source::new(path.display().to_string(), text);
        if let Some(policy) = differential::written(&source, &bench.framework) {
            decisions += bench.agree(&source, &policy);
            compared += 1;
        }
    }
    assert!(compared >= 23, "only {compared} of the policies that were written by hand can run on FreeRTOS");
    let mut rng = Rng::with_seed(number("CATAPULTS_SEED", 1));
    let mut accepted = 0;
    while accepted < RANDOM * number("CATAPULTS_ROUNDS", 1) {
        let mut bytes = vec![0; 400];
        rng.fill(&mut bytes);
        let source = Source::new("random.sched", policies::random_for(&bench.framework, &bytes));
        if let Some(policy) = differential::accepted(&source, &bench.framework) {
            decisions += bench.agree(&source, &policy);
            accepted += 1;
        }
    }
    assert!(decisions > 10_000, "only {decisions} decisions were compared");
    println!("differences 0 of {decisions} decisions of {compared} policies and {accepted} random ones (freertos)");
}

/// The policies that people wrote, by their paths from the root, but the figures that have mistakes: beside those stands what the compiler says.
fn written() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["policies", "tests/run", "tests/figures", "frameworks/freertos/tests/policies"] {
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
    fn new() -> Self {
        let script = Command::new(root().join("scripts/freertos-kernel")).output().unwrap();
        assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
        let mut bench = Bench {
            framework: framework_at("frameworks/freertos/freertos.framework"),
            kernel: PathBuf::from(String::from_utf8(script.stdout).unwrap().trim()),
            folder: tempfile::tempdir().unwrap(),
            objects: Vec::new(),
        };
        let fifo = fs::read_to_string(root().join("policies/fifo.sched")).unwrap();
        let policy = differential::written(&Source::new("fifo.sched", fifo), &bench.framework).unwrap();
        let source = bench.emitted(&policy);
        let port = "portable/ThirdParty/GCC/Posix";
        let files = ["queue.c", "list.c", "event_groups.c", "stream_buffer.c", "timers.c", "portable/MemMang/heap_4.c"]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("{port}/port.c"), format!("{port}/utils/wait_for_event.c")]);
        let files: Vec<PathBuf> = files.map(|file| bench.kernel.join(file)).collect();
        finish(bench.compiler(&source).arg("-c").args(&files));
        let object = |file: &PathBuf| bench.folder.path().join(file.with_extension("o").file_name().unwrap());
        bench.objects = files.iter().map(object).collect();
        bench
    }

    fn emitted(&self, policy: &Verified<Policy>) -> PathBuf {
        let path = self.folder.path().join("policy.c");
        fs::write(&path, &emit(policy, &self.framework).unwrap()[0].text).unwrap();
        path
    }

    /// The compiler, for the kernel with a policy.
    fn compiler(&self, policy: &Path) -> Command {
        let home = root().join("frameworks/freertos");
        let mut command = Command::new("cc");
        command.current_dir(self.folder.path());
        command.args(["-std=gnu17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fwrapv", "-pthread"]);
        command.args(["-DconfigUSE_TICK_HOOK=1", "-DconfigUSE_IDLE_HOOK=1", "-DconfigUSE_TIME_SLICING=1"]);
        command.arg(format!("-DCATAPULTS_COMPILED_IN=\"{}\"", policy.display()));
        for folder in [home.join("include"), home.join("tests/posix"), root().join("frameworks/shared/small")] {
            command.arg("-I").arg(folder);
        }
        for folder in ["include", "portable/ThirdParty/GCC/Posix", "portable/ThirdParty/GCC/Posix/utils"] {
            command.arg("-isystem").arg(self.kernel.join(folder));
        }
        command
    }

    /// Runs a policy and compares; the number of decisions.
    fn agree(&self, source: &Source, policy: &Verified<Policy>) -> usize {
        let (emitted, program) = (self.emitted(policy), self.folder.path().join("workload"));
        let home = root().join("frameworks/freertos/tests");
        let mut command = self.compiler(&emitted);
        command.arg("-o").arg(&program).arg(home.join("random/workload.c")).arg(home.join("posix/trace.c"));
        finish(command.arg(self.kernel.join("tasks.c")).args(&self.objects));
        // Programs mostly sleep, so all of a policy run at a time.
        let run = |number_of: u64| {
            let seed = number("CATAPULTS_SEED", 1) * 1000 + number_of;
            let traced = traced(&program, seed)?;
            self.compare(policy, &traced).map_err(|difference| format!("program {seed}: {difference}\n{traced}"))
        };
        let results: Vec<Result<usize, String>> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..PROGRAMS).map(|number| scope.spawn(move || run(number))).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let count = |result: Result<usize, String>| {
            result.unwrap_or_else(|said| panic!("{}, {said}\n{}", source.name, source.text))
        };
        results.into_iter().map(count).sum()
    }

    fn compare(&self, policy: &Verified<Policy>, traced: &str) -> Result<usize, String> {
        let steps: Result<Vec<_>, String> =
            traced.lines().map(|line| line.split_once(" -> ").map_or(line, |(step, _)| step).parse()).collect();
        let steps = steps?;
        kept(policy, &self.framework, &steps)?;
        let interpreted = replay(policy, &steps);
        let expected: Vec<&str> = traced.lines().filter(|line| line.contains(" -> ")).collect();
        for index in 0..expected.len().max(interpreted.len()) {
            let (kernel, interpreter) = (expected.get(index), interpreted.get(index));
            if kernel.copied() != interpreter.map(String::as_str) {
                return Err(format!(
                    "decision {}: the kernel took {kernel:?}, the interpreter {interpreter:?}",
                    index + 1
                ));
            }
        }
        Ok(expected.len())
    }
}

/// What the program wrote down.
fn traced(program: &Path, seed: u64) -> Result<String, String> {
    let mut command = Command::new("timeout");
    let result = command.args(["--signal=KILL", "60"]).arg(program).arg(seed.to_string()).arg(STEPS).output();
    let result = result.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&result.stdout).into_owned();
    if result.status.success() {
        return Ok(text);
    }
    Err(format!("program {seed}: {}\n{}", result.status, String::from_utf8_lossy(&result.stderr)))
}

fn finish(command: &mut Command) {
    let result = command.output().unwrap();
    assert!(result.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&result.stderr));
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
