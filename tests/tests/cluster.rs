//! What policies decide for a cluster of Dask is what the interpreter decides: see `tests/src/recorded.rs`. Random programs do to the
//! engine whatever can happen to a cluster (`frameworks/dask/tests/random`); and a real cluster computes tasks while its workers are
//! killed. Both write down what the policy is told and answers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use catapults_compiler::emit::emit;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::verify::Verified;
use catapults_tests::compiled::Written;
use catapults_tests::recorded::{Host, compare, compare_all};
use catapults_tests::{catapults, framework_at, policy_at, root};

/// What is done in each random program.
const ACTIONS: &str = "400";

#[test]
fn dask_decides_what_the_interpreter_decides() {
    compare_all(&Dask { framework: framework(), folder: tempfile::tempdir().unwrap() });
}

#[test]
fn a_real_cluster_decides_what_the_interpreter_decides() {
    let folder = tempfile::tempdir().unwrap();
    let (home, steps) = (root().join("frameworks/dask"), folder.path().join("steps"));
    let path = root().join("policies/least_loaded.sched");
    let mut run = Command::new("timeout");
    run.arg("300").arg(catapults()).args(["run", "--framework", "dask"]).arg(&path).arg("--").arg(python());
    run.arg(home.join("tests/cluster.py")).env("PYTHONPATH", home.join("tests"));
    run.env("CATAPULTS_DASK_STEPS", &steps).env("CATAPULTS_DASK_WORKERS", "3").current_dir(folder.path());
    let output = run.output().unwrap();
    assert!(output.status.success(), "{}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    let framework = framework();
    let (policy, _) = catapults_compiler::compile(&policy_at(&path), &framework).unwrap();
    let decisions = compare(&policy, &framework, &fs::read_to_string(&steps).unwrap()).unwrap();
    println!("differences 0 of {decisions} decisions of a real cluster");
    assert!(decisions > 6000, "only {decisions} decisions");
}

fn framework() -> Framework {
    framework_at("frameworks/dask/dask.framework")
}

/// One that has Dask.
fn python() -> String {
    let output = Command::new(root().join("scripts/dask")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

struct Dask {
    framework: Framework,
    folder: tempfile::TempDir,
}

impl Host for Dask {
    type Built = PathBuf;
    const FOLDERS: &'static [&'static str] = &["tests/figures/distrib", "examples/mixed_cluster"];
    const WRITTEN: usize = 25;
    const RANDOM: u64 = 40;
    const PROGRAMS: u64 = 4;

    fn framework(&self) -> &Framework {
        &self.framework
    }

    fn build(&self, policy: &Verified<Policy>, name: &str) -> Result<PathBuf, String> {
        let files = emit(policy, &self.framework).map_err(|refusal| refusal.to_string())?;
        Ok(Written::into(&self.folder.path().join(name), &files).unwrap().sources[0].clone())
    }

    fn run(&self, _: &Verified<Policy>, built: &PathBuf, seed: u64) -> Result<String, String> {
        let (home, steps) = (root().join("frameworks/dask"), built.with_extension(format!("steps-{seed}")));
        let mut program = Command::new("python3");
        program.arg(home.join("tests/random/workload.py")).arg(built).args([&seed.to_string(), ACTIONS]).arg(&steps);
        program.env("PYTHONPATH", &home).env("PYTHONDONTWRITEBYTECODE", "1");
        let output = program.output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
        }
        fs::read_to_string(&steps).map_err(|error| error.to_string())
    }
}
