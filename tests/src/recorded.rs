//! What policies decide in a stock host is what the interpreter decides, and the host keeps what its description promises.
//!
//! A program does whatever the host can, in a random order. It writes down every step and every decision; the interpreter takes the
//! same steps. Policies of the library, of `tests/run`, the figures of the 2005 paper and random ones, as far as the dialect allows
//! them. `CATAPULTS_SEED` changes what is tried, `CATAPULTS_ROUNDS` multiplies how much.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use catapults_compiler::framework::{Feature, Framework};
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use fastrand::Rng;

use crate::differential::{self, number};
use crate::promises::kept;
use crate::replay::replay;
use crate::{named_policy, policies, root};

/// A host whose programs write down what they do.
pub trait Host: Sync {
    /// What is made of a policy.
    type Built: Sync;
    /// Folders with policies for it, beside those for all hosts.
    const FOLDERS: &'static [&'static str];
    /// How many of the policies that people wrote it can run, at least.
    const WRITTEN: usize;
    /// How many random policies it runs.
    const RANDOM: u64;
    /// How many programs it runs under each policy.
    const PROGRAMS: u64;

    /// Its description.
    fn framework(&self) -> &Framework;

    /// Makes of a policy what programs run under. No other has this name.
    ///
    /// # Errors
    /// What a compiler said.
    fn build(&self, policy: &Verified<Policy>, name: &str) -> Result<Self::Built, String>;

    /// What a program, chosen by the seed, wrote down: a step on each line, with the decision after an arrow.
    ///
    /// # Errors
    /// How the program ended, if not well.
    fn run(&self, policy: &Verified<Policy>, built: &Self::Built, seed: u64) -> Result<String, String>;
}

/// Compares under every policy; panics at a difference.
pub fn compare_all<H: Host>(host: &H) {
    let (framework, mut tried) = (host.framework(), Vec::new());
    let name = &framework.name;
    for path in written(H::FOLDERS) {
        let source = named_policy(path.display().to_string(), &root().join(&path));
        tried.extend(differential::written(&source, framework).map(|policy| (source, policy)));
    }
    let by_hand = tried.len();
    assert!(by_hand >= H::WRITTEN, "only {by_hand} of the policies that were written by hand can run on {name}");
    let mut rng = Rng::with_seed(number("CATAPULTS_SEED", 1));
    let accepted = (H::RANDOM * number("CATAPULTS_ROUNDS", 1)) as usize;
    while tried.len() < by_hand + accepted {
        let mut bytes = vec![0; 400];
        rng.fill(&mut bytes);
        let source = if framework.dialect.features.contains(&Feature::Families) && rng.bool() {
            policies::in_families(framework, &bytes)
        } else {
            Source::new("random.sched", policies::random_for(framework, &bytes))
        };
        tried.extend(differential::accepted(&source, framework).map(|policy| (source, policy)));
    }
    let decisions = agree_under(host, &tried);
    assert!(decisions > 10_000, "only {decisions} decisions were compared");
    let of_families = tried.iter().filter(|(_, policy)| policy.policy().families.is_some()).count();
    let can = framework.dialect.features.contains(&Feature::Families);
    assert!(!can || of_families > H::FOLDERS.len(), "no random policy had families of nodes");
    let families = if can { format!(", {of_families} of them with families of nodes") } else { String::new() };
    println!(
        "differences 0 of {decisions} decisions of {by_hand} policies and {accepted} random ones ({name}{families})"
    );
}

/// The number of decisions. Each processor compares under one policy at a time: compilers need one.
fn agree_under<H: Host>(host: &H, policies: &[(Source, Verified<Policy>)]) -> usize {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut decisions = 0;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((source, policy)) = policies.get(index) else { return decisions };
            decisions += agree(host, source, policy, &format!("policy-{index}"));
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    })
}

/// The policies that people wrote, by their paths from the root, but the figures that have mistakes: beside those stands what the compiler says.
fn written(own: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["policies", "tests/run", "tests/figures"].iter().chain(own) {
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

/// Runs a policy and compares; the number of decisions.
fn agree<H: Host>(host: &H, source: &Source, policy: &Verified<Policy>, name: &str) -> usize {
    let built = host.build(policy, name).unwrap_or_else(|said| panic!("{}: {said}", source.name));
    // Programs mostly sleep, so all of a policy run at a time.
    let program = |program: u64| {
        let seed = number("CATAPULTS_SEED", 1) * 1000 + program;
        let traced = host.run(policy, &built, seed).map_err(|said| format!("program {seed}: {said}"))?;
        compare(policy, host.framework(), &traced)
            .map_err(|difference| format!("program {seed}: {difference}\n{traced}"))
    };
    let results: Vec<Result<usize, String>> = std::thread::scope(|scope| {
        let program = &program;
        let running: Vec<_> = (0..H::PROGRAMS).map(|number| scope.spawn(move || program(number))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let count = |result: Result<usize, String>| {
        result.unwrap_or_else(|said| panic!("{}, {said}\n{}", source.name, source.text))
    };
    results.into_iter().map(count).sum()
}

/// Takes the steps in the interpreter: the number of decisions.
///
/// # Errors
/// The first step that the host should not have taken, or the first decision that differs.
pub fn compare(policy: &Verified<Policy>, framework: &Framework, traced: &str) -> Result<usize, String> {
    let steps: Result<Vec<_>, String> =
        traced.lines().map(|line| line.split_once(" -> ").map_or(line, |(step, _)| step).parse()).collect();
    let steps = steps?;
    // Event types and sequences are those of one instance.
    if !policy.policy().has_nodes() {
        kept(policy, framework, &steps)?;
    }
    let interpreted = replay(policy, &steps);
    let expected: Vec<&str> = traced.lines().filter(|line| line.contains(" -> ")).collect();
    for index in 0..expected.len().max(interpreted.len()) {
        let (host, interpreter) = (expected.get(index), interpreted.get(index));
        if host.copied() != interpreter.map(String::as_str) {
            return Err(format!("decision {}: the host took {host:?}, the interpreter {interpreter:?}", index + 1));
        }
    }
    Ok(expected.len())
}
