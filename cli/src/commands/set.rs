//! `catapults set`.

use super::top::said;
use crate::arguments::{Assignment, Set};
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks::nearest;
use crate::live::{Live, Refusal};
use crate::said::{Kind, Said, Thread, Variable};
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use std::collections::BTreeSet;

pub fn set(console: &Console, arguments: &Set) -> Result<(), Failure> {
    let live = Live::open(arguments.process)?;
    let said = said(&live, arguments.process)?;
    let thread = arguments.thread.as_deref().map(|thread| find(&said, thread)).transpose()?;
    let Assignment { name, value } = &arguments.assignment;
    let variable = variable(&said, name, thread)?;
    let bits = bits_of(variable, value)?;
    let number = thread.map_or(0, |thread| thread.number);
    match live.ask(&format!("set {} {number} {bits} {name}", variable.kind.number()), None) {
        Ok(_) => {
            let whose =
                thread.map_or(String::new(), |thread| format!(" of thread {} ({})", thread.number, thread.name));
            console.note(&format!("`{name}`{whose} is {value} now"));
            Ok(())
        }
        Err(Refusal::Lost(failure)) => Err(failure),
        Err(Refusal::Said(why)) => Err(refused(name, &why, "see what there is: `catapults top --once PID`")),
    }
}

/// By number, or by a name that one thread has.
fn find<'a>(said: &'a Said, wanted: &str) -> Result<&'a Thread, Failure> {
    if let Some(thread) = said.threads.iter().find(|thread| thread.number.to_string() == wanted) {
        return Ok(thread);
    }
    let named: Vec<&Thread> = said.threads.iter().filter(|thread| thread.name == wanted).collect();
    match named.as_slice() {
        [thread] => Ok(thread),
        [] => {
            let names: BTreeSet<String> = said.threads.iter().map(|thread| thread.name.clone()).collect();
            let help = match nearest(wanted, &names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`catapults top --once PID` lists them".to_owned(),
            };
            Err(refused("--thread", &format!("there is no thread `{wanted}`"), &help))
        }
        several => {
            let numbers: Vec<String> = several.iter().take(8).map(|thread| thread.number.to_string()).collect();
            let title = format!("{} threads have the name `{wanted}`", several.len());
            Err(refused("--thread", &title, &format!("give a number: {}", numbers.join(", "))))
        }
    }
}

fn variable<'a>(said: &'a Said, name: &str, thread: Option<&Thread>) -> Result<&'a Variable, Failure> {
    let per_thread = thread.is_some();
    let fits =
        |one: &&Variable| one.per_thread == per_thread && thread.is_none_or(|thread| thread.scheduler == one.scheduler);
    let known: Vec<&Variable> = said.variables.iter().filter(fits).collect();
    if let Some(found) = known.iter().find(|one| one.name == name) {
        if found.kept {
            let title = format!("the runtime itself keeps `{name}`");
            return Err(refused(name, &title, "set a variable that the policy imports from the application"));
        }
        return Ok(found);
    }
    let other = said.variables.iter().any(|one| one.per_thread != per_thread && one.name == name);
    let names: BTreeSet<String> = known.iter().filter(|one| !one.kept).map(|one| one.name.clone()).collect();
    let help = match nearest(name, &names) {
        _ if other && per_thread => "it is one of the policy, not of its threads: leave --thread out".to_owned(),
        _ if other => "each thread has one: say whose, by --thread".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "it imports none that can be set".to_owned(),
        None => format!("it imports {}", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    };
    let what = if per_thread { "variable of threads" } else { "variable" };
    Err(refused(name, &format!("the policy `{}` imports no {what} `{name}`", policy(said, thread)), &help))
}

fn policy<'a>(said: &'a Said, thread: Option<&Thread>) -> &'a str {
    let number = thread.map_or(0, |thread| thread.scheduler);
    said.schedulers.iter().find(|one| one.number == number).map_or("", |one| &one.policy)
}

fn bits_of(variable: &Variable, value: &str) -> Result<u64, Failure> {
    let bits = match variable.kind {
        Kind::Int => value.parse::<i64>().ok().map(i64::cast_unsigned),
        Kind::Bool => match value {
            "true" | "1" => Some(1),
            "false" | "0" => Some(0),
            _ => None,
        },
        Kind::Time => nanoseconds(value).map(i64::cast_unsigned),
        Kind::Float => value.parse::<f64>().ok().filter(|number| number.is_finite()).map(f64::to_bits),
    };
    bits.ok_or_else(|| {
        let title =
            format!("`{value}` is no value of `{}`, which is of the type {}", variable.name, variable.kind.name());
        let help = match variable.kind {
            Kind::Int => "give a whole number from -9223372036854775808 to 9223372036854775807",
            Kind::Bool => "give `true` or `false`",
            Kind::Time => "give a number with its unit, such as 25ms: ns, us, ms, s",
            Kind::Float => "give a number such as 0.5",
        };
        refused(&variable.name, &title, help)
    })
}

/// A duration as policies have them: `25ms`; 0 needs no unit.
fn nanoseconds(text: &str) -> Option<i64> {
    const UNITS: [(&str, i64); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    if text == "0" {
        return Some(0);
    }
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '-')?;
    let (number, unit) = text.split_at(end);
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    number.parse::<i64>().ok()?.checked_mul(*factor)
}

fn refused(name: &str, title: &str, help: &str) -> Failure {
    Failure::of(name, Diagnostic::error("E0531", title, At::default(), "").help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_a_range() {
        assert_eq!(nanoseconds("25ms"), Some(25_000_000));
        assert_eq!(nanoseconds("-1s"), Some(-1_000_000_000));
        assert_eq!(nanoseconds("0"), Some(0));
        for wrong in ["25", "ms", "", "1 s", "10000000000000s", "1h", "--1s"] {
            assert_eq!(nanoseconds(wrong), None, "{wrong}");
        }
    }
}
