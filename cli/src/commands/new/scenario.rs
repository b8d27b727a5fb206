//! The scenario of a new policy: one that there is already, if it fits, and otherwise one that is made for its variables.

use crate::commands::sim::{ended, unsimulated};
use crate::console::Console;
use crate::failure::Failure;
use crate::in_memory::Under;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::{Import, Policy};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_compiler::vocabulary::{Value, in_unit};
use std::fmt::Write;

/// A scenario for this policy whose expectations hold. `known`: one that may be for it.
pub(super) fn of(
    console: &Console,
    known: Option<&str>,
    policy: &Verified<Policy>,
    framework: &Framework,
) -> Result<String, Failure> {
    let under = Under { policy, instead: false };
    if let Some(known) = known.map(without_others).filter(|known| holds(known, under, framework)) {
        return Ok(known);
    }
    made(console, under, framework)
}

/// Without the scenarios that name a policy: another one, which is not copied. Each ends with a brace at the left.
fn without_others(text: &str) -> String {
    let names_policy = |scenario: &&str| scenario.lines().any(|line| line.trim_start().starts_with("policy \""));
    text.split_inclusive("\n}\n").filter(|scenario| !names_policy(scenario)).collect::<String>().trim_start().to_owned()
}

/// Whether there is a scenario, and all that is expected is so.
fn holds(text: &str, under: Under<'_>, framework: &Framework) -> bool {
    let staged = under.judge(&Source::new("", text), framework, &|_| true);
    let is_so = |(scenario, under): &(_, Under<'_>)| {
        under.simulate(scenario, framework).is_ok_and(|outcome| outcome.is_as_expected())
    };
    !staged.said.has_errors() && !staged.scenarios.is_empty() && staged.scenarios.iter().all(is_so)
}

/// A scenario with the policy's variables, which expects what comes of it now.
fn made(console: &Console, under: Under<'_>, framework: &Framework) -> Result<String, Failure> {
    let policy = under.policy.policy();
    let source = Source::new(format!("{}.scenario", policy.name), draft(policy, ""));
    let staged = under.judge(&source, framework, &|_| true);
    let Some((scenario, _)) = staged.scenarios.first() else {
        console.diagnostics(&source, &staged.said);
        return Err(Failure::Said);
    };
    let outcome = under.simulate(scenario, framework).map_err(|why| unsimulated(&framework.name, &why))?;
    if !outcome.is_as_expected() {
        console.note(&format!("note: this comes of the scenario: {}", ended(&outcome)));
    }
    let requests = scenario.threads.iter().position(|thread| thread.name == REQUEST);
    let requests = requests.and_then(|kind| outcome.tallies.get(kind));
    let expected = match requests.and_then(|tally| tally.worst_response()) {
        Some((worst, false)) => {
            format!("worst response of {REQUEST} <= {}ms", worst.unsigned_abs().div_ceil(1_000_000).max(1))
        }
        // It is not done by the end, or none has come.
        Some((_, true)) | None => format!("jobs of {REQUEST} = {}", requests.map_or(0, |tally| tally.jobs)),
    };
    Ok(draft(policy, &format!("\n  // So it is now. What should it be?\n  expect {expected};\n")))
}

const REQUEST: &str = "request";

fn draft(policy: &Policy, expected: &str) -> String {
    let mut text = format!(
        "// What some threads do under {0}, and what is expected of it.\nscenario as_it_is {{\n  duration 1s;\n",
        policy.name
    );
    for import in &policy.imports {
        if let Some(value) = literal(import.default) {
            let _ = writeln!(text, "  set {} = {value};", import.name);
        }
    }
    let with = with(&policy.thread_imports);
    let is_periodic = policy.thread_imports.iter().any(|import| import.name == "period");
    let when = if is_periodic { "period 50ms" } else { "* 20 every 50ms" };
    let _ = writeln!(text, "  thread batch * 2{with} {{ repeat {{ run 4ms; yield; }} }}");
    let _ = writeln!(text, "  thread {REQUEST} {when}{with} {{ run 2ms; }}");
    text.push_str(expected);
    text.push_str("}\n");
    text
}

/// The variables of threads, each with the value that it has anyway, to be changed. The first ones are told by the
/// simulation.
fn with(imports: &[Import]) -> String {
    let told = ["period", "deadline", "release"];
    let given = imports.iter().filter(|import| !told.contains(&import.name.as_str()));
    let given: Vec<String> =
        given.filter_map(|import| Some(format!("{} = {};", import.name, literal(import.default)?))).collect();
    if given.is_empty() { String::new() } else { format!(" with {{ {} }}", given.join(" ")) }
}

/// A value as it is written in a scenario, if it can be.
fn literal(value: Value) -> Option<String> {
    match value {
        Value::Int(i64::MIN) | Value::Time(i64::MIN) => None,
        Value::Int(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Time(0) => Some("0ms".to_owned()),
        Value::Time(time) => {
            let (count, unit) = in_unit(time);
            Some(format!("{count}{unit}"))
        }
        Value::Float(float) => Some(format!("{:?}", float.get())).filter(|_| float.get().is_finite()),
    }
}
