//! No accepted policy ever loses or duplicates a thread, whatever the order of events, and every claim of the verifier holds.

use std::cell::Cell;

use catapults_compiler::compile;
use catapults_compiler::diagnostics::Severity;
use catapults_compiler::framework::Framework;
use catapults_compiler::source::Source;
use catapults_tests::choices::Choices;
use catapults_tests::host::drive;
use catapults_tests::{native, policies};
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// How many steps a host takes with one policy.
const STEPS: usize = 150;

#[test]
fn random_policies_keep_their_promises() {
    // What is known of values is known at the width of `int`, too.
    let hosts = [(64, None), (64, Some(3)), (32, None), (16, Some(2))];
    let frameworks = hosts.map(|(int_bits, capacity)| Framework { int_bits, capacity, ..native() });
    let (accepted, refused) = (Cell::new(0_u32), Cell::new(0_u32));
    let strategy = (0..frameworks.len(), vec(any::<u8>(), 0..400), vec(any::<u8>(), 0..STEPS * 6));
    let mut runner = TestRunner::new(Config { cases: cases(600), failure_persistence: None, ..Config::default() });
    let result = runner.run(&strategy, |(framework, policy, events)| {
        let framework = &frameworks[framework];
        let text = policies::random(&policy);
        let source = Source::new("random.sched", text.clone());
        match compile(&source, framework) {
            Ok((verified, _)) => {
                accepted.set(accepted.get() + 1);
                drive(&verified, framework, STEPS, &events)
                    .map_err(|wrong| TestCaseError::fail(format!("{wrong}\n{}-bit int\n{text}", framework.int_bits)))
            }
            Err(diagnostics) => {
                refused.set(refused.get() + 1);
                // The text is well-typed: only the verifier may refuse it; E0316 is its code for loops, too.
                let verification = |code: &str| code.starts_with("E04") || code == "E0316";
                let errors = || diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
                match errors().find(|diagnostic| !verification(diagnostic.code)) {
                    Some(other) => Err(TestCaseError::fail(format!("{other:?}\n{text}"))),
                    None => Ok(()),
                }
            }
        }
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    // A generator whose policies are all refused, or all accepted, would test nothing.
    let (accepted, refused) = (accepted.get(), refused.get());
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted * 5 > accepted + refused, "only {accepted} accepted, {refused} refused");
    assert!(refused * 20 > accepted + refused, "{accepted} accepted, only {refused} refused");
}

#[test]
fn shipped_policies_keep_their_promises() {
    let framework = native();
    for path in catapults_tests::shipped_policies() {
        let source = catapults_tests::policy_at(&path);
        let (verified, _) = compile(&source, &framework).unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
        let mut runner = TestRunner::new(Config { cases: cases(200), failure_persistence: None, ..Config::default() });
        let result = runner.run(&vec(any::<u8>(), 0..STEPS * 6), |events| {
            drive(&verified, &framework, STEPS, &events).map_err(TestCaseError::fail)
        });
        result.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// A line left out, doubled, or exchanged with the next: what is still accepted must still be sound.
#[test]
fn mutations_of_shipped_policies_keep_their_promises() {
    let framework = native();
    let sources: Vec<String> =
        catapults_tests::shipped_policies().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let accepted = Cell::new(0_u32);
    let mut runner = TestRunner::new(Config { cases: cases(600), failure_persistence: None, ..Config::default() });
    let strategy = (vec(any::<u8>(), 8), vec(any::<u8>(), 0..STEPS * 3));
    let result = runner.run(&strategy, |(mutation, events)| {
        let text = mutate(&sources, &mut Choices::new(&mutation));
        let source = Source::new("mutated.sched", text.clone());
        match compile(&source, &framework) {
            Ok((verified, _)) => {
                accepted.set(accepted.get() + 1);
                drive(&verified, &framework, STEPS, &events)
                    .map_err(|wrong| TestCaseError::fail(format!("{wrong}\n{text}")))
            }
            Err(_) => Ok(()),
        }
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(accepted.get() > 10, "only {} mutations accepted", accepted.get());
}

fn mutate(sources: &[String], choices: &mut Choices) -> String {
    let source = choices.one_of(sources);
    let mut lines: Vec<&str> = source.lines().collect();
    for _ in 0..=choices.below(2) {
        // Only what stands inside handlers.
        let statements: Vec<usize> = (0..lines.len() - 1).filter(|index| lines[*index].starts_with("    ")).collect();
        let index = statements[(choices.below(256) * 256 + choices.below(256)) % statements.len()];
        match choices.below(3) {
            0 => {
                lines.remove(index);
            }
            1 => lines.insert(index, lines[index]),
            _ => lines.swap(index, index + 1),
        }
    }
    lines.join("\n")
}

/// `PROPTEST_CASES`, or so many.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}
