//! What policies decide in stock GNU Pth is what the interpreter decides: see `tests/src/recorded.rs`. The programs are
//! `frameworks/pth/tests/random/workload.c`; the shim writes down what they do.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use catapults_compiler::framework::Framework;
use catapults_compiler::policy::{Import, Policy};
use catapults_compiler::verify::Verified;
use catapults_tests::compiled::{Driver, Mode};
use catapults_tests::recorded::{Host, compare_all};
use catapults_tests::{framework_at, root};

/// What each program takes; decisions are some three times as many.
const STEPS: &str = "400";

/// What all policies share.
struct Pth {
    framework: &'static Framework,
    driver: Driver<'static>,
    folder: tempfile::TempDir,
}

#[test]
fn pth_decides_what_the_interpreter_decides() {
    compare_all(&Pth::new());
}

/// Lists of headers in it are of the place where it was built: it would never hear of changes here.
#[test]
fn what_was_built_elsewhere_is_built_anew() {
    let folder = tempfile::tempdir().unwrap();
    let made = |arguments: &[&str], build: &str| {
        let mut make = Command::new("make");
        make.args(arguments).arg("-C").arg(root().join("frameworks/pth")).arg("all");
        make.arg(format!("BUILD={}", folder.path().join(build).display()));
        make.env_remove("MAKEFLAGS").env_remove("OUT").output().unwrap().status.code()
    };
    assert_eq!((made(&["-j2"], "here"), made(&["-q"], "here")), (Some(0), Some(0)));
    let copied = Command::new("cp").arg("-a").args(["here", "there"]).current_dir(folder.path()).status().unwrap();
    assert!(copied.success());
    assert_eq!((made(&["-q"], "there"), made(&["-j2"], "there"), made(&["-q"], "there")), (Some(1), Some(0), Some(0)));
}

impl Pth {
    fn new() -> Self {
        let framework: &'static Framework = Box::leak(Box::new(framework_at("frameworks/pth/pth.framework")));
        let folder = tempfile::tempdir().unwrap();
        let driver = Driver::build(framework, folder.path()).unwrap();
        let home = root().join("frameworks/pth");
        let mut make = Command::new("make");
        make.args(["-j2", "-C"])
            .arg(&home)
            .arg(format!("BUILD={}", folder.path().display()))
            .arg("all")
            .arg("workload");
        let made = make.env_remove("MAKEFLAGS").env_remove("OUT").output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Pth { framework, driver, folder }
    }
}

impl Host for Pth {
    type Built = PathBuf;
    const FOLDERS: &'static [&'static str] = &[];
    const WRITTEN: usize = 21;
    const RANDOM: u64 = 20;
    const PROGRAMS: u64 = 4;

    fn framework(&self) -> &Framework {
        self.framework
    }

    fn build(&self, policy: &Verified<Policy>, name: &str) -> Result<PathBuf, String> {
        self.driver.policy(policy, name, Mode::AsBuilt)
    }

    fn run(&self, policy: &Verified<Policy>, object: &PathBuf, seed: u64) -> Result<String, String> {
        let (built, trace) = (self.folder.path().join("pth"), object.with_extension(format!("trace-{seed}")));
        let variable = |prefix: &str, import: &Import| {
            format!("{prefix}{}:{}", format!("{:?}", import.ty).to_lowercase(), import.name)
        };
        let (imports, of_threads) = (&policy.policy().imports, &policy.policy().thread_imports);
        let mut command = Command::new("timeout");
        // SIGTERM it might not get: Pth 2.0.7 blocks signals by a mask that nobody has set where its threads all wait.
        command.args(["--signal=KILL", "20"]).arg(built.join("workload")).arg(seed.to_string()).arg(STEPS);
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
