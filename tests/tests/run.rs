//! Compiled policies decide what the interpreter decides.
//!
//! Each file `tests/run/*.script` is a case. Its first line names the policy, `policy PATH` from the root of the repository;
//! the others are the steps of a host (`simulator/src/script.rs`), each with what the policy decides: `schedule -> 1`. Lines that
//! start with `//` are comments. `turns 1000 -> 1: 600, 2: 400` lets whoever `schedule` names run and be switched out, so many times,
//! and says how often each was named. With `turns 1000 of 5ms` each runs so long; timers expire, and whoever still runs is switched out. Both the interpreter and the compiled policy must decide exactly that. `UPDATE=1` writes the
//! interpreter's decisions into the files.
//!
//! Besides, the policies of the library, those of `tests/run` and random ones meet random orders of events, the compiled ones
//! under sanitizers: all for the native host, and for every other framework what its dialect allows, unless it has a test of its own,
//! `tests/tests/NAME.rs`; and all but timers once more as Python. A difference is saved among the cases, with its policy. `CATAPULTS_SEED` changes what is tried,
//! `CATAPULTS_ROUNDS` multiplies how much. `make differential` goes on for longer.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

use catapults_compiler::compile;
use catapults_compiler::framework;
use catapults_compiler::source::Source;
use catapults_tests::compiled::{Driver, Mode};
use catapults_tests::differential::python::native_in_python;
use catapults_tests::differential::script::difference;
use catapults_tests::differential::{Target, files, frameworks, has_own_test, name, number};
use catapults_tests::replay::{Step, replay};
use catapults_tests::root;
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// How many random policies are accepted and compiled, a third of a second each, in how many groups.
const POLICIES: usize = 6;
const GROUPS: u64 = 4;
/// How many random orders of events each policy meets; of policies that others have met, so few.
const ORDERS: u64 = 60;
const FEW: u64 = 20;

fn main() {
    let mut trials = Vec::new();
    for framework in frameworks() {
        let native = framework.name == "native";
        // A framework's own test compares random policies; what takes steps there is compared here all the same.
        let own = has_own_test(framework);
        let steps = framework.builds.iter().any(|build| build.name == "steps");
        let target = if native || !own || steps { Target::new(framework) } else { None };
        if let Some(target) = target {
            if native {
                let followed = target.scripts();
                trials.push(Trial::test("native: every script is followed", move || every_script(&followed)));
            }
            let (groups, orders) = match (native, own) {
                (true, _) => (GROUPS, ORDERS),
                (false, true) => (0, FEW),
                (false, false) => (GROUPS / 2, FEW),
            };
            let host = framework.name.clone();
            trials.extend(trials_of(&Arc::new(target), &host, groups, orders));
        }
        if let Some(target) = Target::simulated(framework) {
            trials.extend(simulated(&Arc::new(target)));
        }
    }
    if let Some(target) = Target::new(native_in_python()) {
        trials.extend(trials_of(&Arc::new(target), "python", GROUPS / 2, FEW));
    }
    trials.push(Trial::test("answers of every type", answers));
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    conclusion.exit();
}

fn trials_of(target: &Arc<Target>, host: &str, groups: u64, orders: u64) -> Vec<Trial> {
    let (rounds, seed) = (number("CATAPULTS_ROUNDS", 1), number("CATAPULTS_SEED", 1));
    let scripts = target.scripts().into_iter().map(|path| {
        let (target, name) = (target.clone(), format!("{host}: {}", name(&path)));
        Trial::test(name, move || Ok(target.script(&path).map(|_| ())?))
    });
    let policies = target.policies().into_iter().map(|path| {
        let (target, name) = (target.clone(), format!("{host}: {} in random orders", name(&path)));
        Trial::test(name, move || Ok(target.orders(&path, seed, orders * rounds).map(|_| ())?))
    });
    let random = (0..groups).map(|group| {
        let (target, name) = (target.clone(), format!("{host}: random policies, group {group}"));
        let policies = POLICIES * rounds as usize;
        Trial::test(name, move || Ok(target.random_policies(seed * 1000 + group, policies, orders).map(|_| ())?))
    });
    scripts.chain(policies).chain(random).collect()
}

/// The native host has whatever the language has: a script that it does not follow has a mistake, and would compare nothing.
fn every_script(followed: &[PathBuf]) -> Result<(), Failed> {
    let left: Vec<String> =
        files("tests/run", "script").iter().filter(|path| !followed.contains(path)).map(|path| name(path)).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("not followed: {}", left.join(", ")).into()) }
}

/// A few on the simulated processor itself, which takes its time.
fn simulated(target: &Arc<Target>) -> Vec<Trial> {
    let few = ["sorted", "levels", "weather"];
    let paths =
        target.scripts().into_iter().filter(|path| few.iter().any(|stem| path.ends_with(format!("{stem}.script"))));
    let trials = paths.map(|path| {
        let (target, name) = (target.clone(), format!("{} simulated: {}", target.framework.name, name(&path)));
        Trial::test(name, move || Ok(target.script(&path).map(|_| ())?))
    });
    trials.collect()
}

/// Queries of types that no shipped framework has: the native one, and its header, with two of them changed.
fn answers() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let changed = |path: &str, changes: [(&str, &str); 3]| {
        let text = fs::read_to_string(root().join(path)).unwrap();
        changes.into_iter().fold(text, |text, (old, new)| {
            assert!(text.contains(old), "{path}: {old}");
            text.replace(old, new)
        })
    };
    let header = folder.path().join("answers.h");
    let text = changed(
        "frameworks/native/include/native_policy.h",
        [
            ("int64_t (*threads_ready)", "catapults_time (*threads_ready)"),
            ("int64_t (*threads_suspended)", "double (*threads_suspended)"),
            ("CATAPULTS_NATIVE_POLICY_H", "ANSWERS_H"),
        ],
    );
    fs::write(&header, text)?;
    let text = changed(
        "frameworks/native/native.framework",
        [
            ("query threads_ready : int     = count READY;", "query threads_ready : time;"),
            ("query threads_suspended : int = count BLOCKED;", "query threads_suspended : float;"),
            ("\"native_policy.h\"", &format!("{:?}", header.display().to_string())),
        ],
    );
    let source = Source::new("answers.framework", text);
    let framework = framework::read(&source).map_err(|diagnostics| diagnostics.render(&source, false))?;
    let driver = Driver::build(&framework, folder.path())?;
    let text = fs::read_to_string(root().join("policies/fifo.sched"))?;
    let queries = "  imports { time span default 0ms; float share default 0.0; }
  query threads_ready { return span; }
  query threads_suspended { return share; }\n}\n";
    let source = Source::new("answers.sched", text.trim_end().trim_end_matches('}').to_owned() + queries);
    let (policy, _) = compile(&source, &framework).map_err(|diagnostics| diagnostics.render(&source, false))?;

    let mut steps: Vec<Step> = Vec::new();
    for value in ["0ns", "1500us", "25ms", "-3s", "9223372036854775807ns", "-9223372036854775807ns"] {
        steps.push(format!("set_import span {value}").parse()?);
        steps.push("ask threads_ready".parse()?);
    }
    for value in ["0.1", "-0.0", "1e300", "5e-324", "0.30000000000000004", "123456789012345680.0", "inf", "-inf"] {
        steps.push(format!("set_import share {value}").parse()?);
        steps.push("ask threads_suspended".parse()?);
    }
    let expected = replay(&policy, &steps);
    assert_eq!(expected.len(), steps.len() / 2);
    let compiled = driver.replay(&driver.policy(&policy, "answers", Mode::Sanitized)?, &[steps])?.remove(0);
    difference(&expected, &compiled).map_or(Ok(()), |difference| Err(difference.into()))
}
