//! Variables of threads are changed from outside, at random instants, under each policy of the library and each framework that allows it:
//! no rule is broken by that, whoever runs, waits, sleeps or is ready then.
//!
//! `CATAPULTS_SEED` changes what is tried, `CATAPULTS_ROUNDS` multiplies how much.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::fmt::Write;

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_compiler::vocabulary::Type;
use catapults_simulator::sim::{Deciding, Ending, Keep, Nowhere, RunBy, simulate};
use catapults_tests::differential::{allowed, can_be_simulated, frameworks, number};
use catapults_tests::shipped_policies;
use fastrand::Rng;

const SCENARIOS: u64 = 12;

#[test]
fn variables_of_threads_can_change_at_any_instant() {
    let mut rng = Rng::with_seed(number("CATAPULTS_SEED", 1));
    let (mut simulated, mut changes) = (0, 0);
    for framework in frameworks().into_iter().filter(|framework| can_be_simulated(framework)) {
        for path in shipped_policies() {
            let source = catapults_tests::policy_at(&path);
            let Some(Ok((policy, _))) = allowed(&source, framework) else { continue };
            for _ in 0..SCENARIOS * number("CATAPULTS_ROUNDS", 1) {
                let text = random(&mut rng, policy.policy(), framework);
                goes_well(&text, &policy, framework);
                simulated += 1;
                changes += text.matches("set ").count();
            }
        }
    }
    println!("{simulated} scenarios, {changes} assignments");
    assert!(simulated > 300 && changes > 1000, "{simulated} scenarios, {changes} assignments");
}

fn goes_well(text: &str, policy: &Verified<Policy>, framework: &Framework) {
    let source = Source::new("assigned.scenario", text);
    let mut diagnostics = Diagnostics::new();
    let drafts = scenario::read(&source, &mut diagnostics);
    let none = &mut |_: &scenario::FileName| Err("there is none".to_owned());
    let deciding = Deciding::Policy(policy);
    let scenario = scenario::check(&drafts[0], &deciding.subject(), framework, none, &mut diagnostics);
    let scenario = scenario.unwrap_or_else(|| panic!("{}\n{text}", diagnostics.render(&source, false)));
    let outcome = simulate(&scenario, deciding, framework, RunBy::Interpreter, Keep::Beginning, &mut Nowhere).unwrap();
    let name = &policy.policy().name;
    assert_eq!(outcome.ending, Ending::Duration, "{name} in {}:\n{text}", framework.name);
}

/// Some compute, some sleep, and some share a lock, and pass messages, where there are such.
fn random(rng: &mut Rng, policy: &Policy, framework: &Framework) -> String {
    let mut text = "scenario assigned {\n  duration 60ms;\n".to_owned();
    let count = rng.usize(2..6);
    let assigned = |rng: &mut Rng| {
        let imports: Vec<_> = policy.thread_imports.iter().filter(|import| import.name != "release").collect();
        let import = imports.get(rng.usize(..imports.len().max(1)))?;
        let value = match import.ty {
            Type::Int => rng.i32(-3..12).to_string(),
            Type::Time => format!("{}ms", rng.u8(0..40)),
            Type::Bool => rng.bool().to_string(),
            Type::Float => format!("{}.5", rng.u8(0..9)),
        };
        Some((import.name.clone(), value))
    };
    for thread in 0..count {
        let _ = write!(text, "  thread T{thread} at {}ms {{ repeat {{", rng.u8(0..6));
        for _ in 0..rng.usize(1..5) {
            let time = rng.u16(1..4000);
            match rng.u8(..7) {
                0 => text.push_str(" yield;"),
                1 if framework.locks.is_some() => {
                    let _ = write!(text, " lock held; run {time}us; unlock held;");
                }
                2 | 3 => {
                    let _ = write!(text, " sleep {time}us;");
                }
                4 => {
                    if let Some((name, value)) = assigned(rng) {
                        let _ = write!(text, " set {name} = {value};");
                    }
                }
                _ => {}
            }
            let _ = write!(text, " run {time}us;");
        }
        text.push_str(" } }\n");
    }
    for _ in 0..rng.usize(1..8) {
        let _ = write!(text, "  at {}ms {{", rng.u8(1..59));
        for _ in 0..rng.usize(1..4) {
            let thread = rng.usize(..count);
            match (rng.u8(..8), assigned(rng)) {
                (0, _) => {
                    let _ = write!(text, " suspend T{thread};");
                }
                (1, _) | (_, None) => {
                    let _ = write!(text, " resume T{thread};");
                }
                (_, Some((name, value))) => {
                    let _ = write!(text, " set T{thread}.{name} = {value};");
                }
            }
        }
        text.push_str(" }\n");
    }
    text.push_str("}\n");
    text
}
