//! The text form of every policy of the library and of every figure that is accepted, as it stands in `tests/ir`.
//! `UPDATE=1` rewrites it. Besides, what is printed reads back as the same policy, and no text makes the reader panic.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use catapults_compiler::compile;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::{Policy, text};
use catapults_compiler::source::Source;
use catapults_tests::choices::Choices;
use catapults_tests::{framework_at, framework_for, native, policies, root};
use libtest_mimic::{Arguments, Failed, Trial};
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

fn main() {
    let mut trials = vec![
        Trial::test("random policies read back", random_policies_read_back),
        Trial::test("random families read back", random_families_read_back),
        Trial::test("damaged text is refused with its line", damaged_text),
        Trial::test("deep nesting is refused", || deep_nesting().map_err(Failed::from)),
    ];
    let mut snapshots = 0;
    for folder in ["policies", "tests/figures", "tests/figures/distrib"] {
        let mut cases: Vec<PathBuf> =
            fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        cases.retain(|path| path.extension().is_some_and(|ending| ending == "sched"));
        cases.sort();
        for case in cases {
            let name = case.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            let source = catapults_tests::named_policy(name.clone(), &case);
            // What is refused is a case of `tests/ui`.
            if let Ok((verified, _)) = compile(&source, &framework_for(&source)) {
                snapshots += 1;
                let expected = root().join("tests/ir").join(name.replace('/', "-").replace(".sched", ".ir"));
                trials.push(Trial::test(name, move || snapshot(verified.policy(), &expected)));
            }
        }
    }
    assert!(snapshots >= 4, "only {snapshots} policies are accepted");
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn snapshot(policy: &Policy, expected: &Path) -> Result<(), Failed> {
    let printed = text::print(policy);
    reads_back(policy, &printed)?;
    if std::env::var_os("UPDATE").is_some() {
        fs::write(expected, &printed).unwrap();
    }
    let expectation = fs::read_to_string(expected).unwrap_or_default();
    if printed == expectation {
        return Ok(());
    }
    let line = printed.lines().zip(expectation.lines()).take_while(|(now, before)| now == before).count() + 1;
    Err(format!("{} differs from line {line} on (UPDATE=1 accepts this):\n{printed}", expected.display()).into())
}

fn reads_back(policy: &Policy, printed: &str) -> Result<(), String> {
    match text::read(printed) {
        Err(error) => Err(format!("{error}\n{printed}")),
        Ok(read) if read != *policy => Err(format!("reads back as another policy:\n{printed}\n{}", text::print(&read))),
        Ok(read) if text::print(&read) != printed => Err(format!("prints as another text:\n{printed}")),
        Ok(_) => Ok(()),
    }
}

fn random_policies_read_back() -> Result<(), Failed> {
    run(&vec(any::<u8>(), 0..600), 400, |bytes| {
        let framework = Framework { capacity: bytes.first().map(|byte| u32::from(*byte) + 1), ..native() };
        let source = Source::new("a \"random\"\\ file.sched", policies::random(&bytes));
        match compile(&source, &framework) {
            Ok((verified, _)) => reads_back(verified.policy(), &text::print(verified.policy())),
            Err(_) => Ok(()),
        }
    })
}

/// Those of a host that has families of nodes.
fn random_families_read_back() -> Result<(), Failed> {
    let framework = framework_at("frameworks/dask/dask.framework");
    let read = AtomicUsize::new(0);
    run(&vec(any::<u8>(), 300..600), 400, |bytes| {
        let source = policies::in_families(&framework, &bytes);
        let Ok((verified, _)) = compile(&source, &framework) else { return Ok(()) };
        read.fetch_add(1, Ordering::Relaxed);
        reads_back(verified.policy(), &text::print(verified.policy()))
    })?;
    let read = read.into_inner();
    if read < 5 { Err(format!("only {read} were accepted").into()) } else { Ok(()) }
}

/// A text with a word missing, doubled or changed either is a policy, and then it prints and reads back, or is refused.
fn damaged_text() -> Result<(), Failed> {
    let source = fs::read_to_string(root().join("policies/weather.sched")).unwrap();
    let (verified, _) = compile(&Source::new("weather.sched", source), &native()).unwrap();
    let printed = text::print(verified.policy());
    let lines = printed.lines().count();
    run(&vec(any::<u8>(), 12), 2_000, |bytes| {
        let mut choices = Choices::new(&bytes);
        let at = (choices.below(256) * 256 + choices.below(256)) % printed.len();
        let end = (at + choices.below(12)).min(printed.len());
        let piece =
            choices.one_of(&["", " ", "x", "#1", "{", "}", "(", "99999999999999999999", "\"", "\\", "é", "-", "@"]);
        let damaged = format!("{}{piece}{}", &printed[..at], &printed[end..]);
        match text::read(&damaged) {
            Ok(read) => reads_back(&read, &text::print(&read)),
            Err(error) if (1..=lines + 1).contains(&error.line) && !error.message.is_empty() => Ok(()),
            Err(error) => Err(format!("{error:?} for {lines} lines")),
        }
    })
}

fn deep_nesting() -> Result<(), String> {
    let head = "policy p\nframework f\nsource \"s\"\nint 64\nquery q(): int @1:0..1 {\n";
    for (open, close) in [("return -(", ")"), ("if (true) @1:0..1 {", "}"), ("return (1 + ", ")"), ("return !(", ")")] {
        let text = format!("{head}{}1{}", open.replace("return ", "").repeat(100_000), close.repeat(100_000));
        let text = if open.starts_with("return") { text.replacen("{\n", "{\nreturn ", 1) } else { text };
        match text::read(&text) {
            Err(error) if !error.message.is_empty() => {}
            other => return Err(format!("{open}: {other:?}")),
        }
    }
    Ok(())
}

fn run<S: proptest::strategy::Strategy>(
    strategy: &S,
    cases: u32,
    test: impl Fn(S::Value) -> Result<(), String>,
) -> Result<(), Failed> {
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner.run(strategy, |value| test(value).map_err(TestCaseError::fail)).map_err(|error| error.to_string().into())
}
