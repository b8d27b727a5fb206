//! Finds out whose mistake a failed build is: verbatim text is copied into generated code, and its author must be told.

use catapults_compiler::policy::{Block, Expression, Policy, StatementKind};
use std::fs;
use std::path::{Path, absolute};

/// The places of verbatim text, each once as `NAME.sched:LINE`, about whose lines a compiler complains. Empty: it does
/// not complain about these generated files, or also about something that is not verbatim.
pub fn verbatim(said: &str, sources: &[&Path], policies: &[&Policy]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for source in sources {
        let Ok(text) = fs::read_to_string(source) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        for number in complaints(said, source) {
            let place = policies.iter().find_map(|policy| origin(&lines, number, policy));
            // A single complaint about generated code is our mistake.
            let Some(place) = place else { return Vec::new() };
            if !found.contains(&place) {
                found.push(place);
            }
        }
    }
    found
}

/// The lines of a file that have errors: `FILE:LINE:COLUMN: error: …`.
fn complaints(said: &str, source: &Path) -> Vec<usize> {
    let name = absolute(source).unwrap_or_else(|_| source.to_owned()).display().to_string();
    let errors = said.lines().filter(|line| line.contains(": error") || line.contains(": fatal error"));
    let behind = errors.filter_map(|line| line.strip_prefix(name.as_str())?.strip_prefix(':'));
    behind.filter_map(|rest| rest.split(':').next()?.parse().ok()).collect()
}

/// The verbatim text from which a generated line, counted from 1, comes. Comments in generated code name the origins.
fn origin(lines: &[&str], number: usize, policy: &Policy) -> Option<String> {
    let verbatim = of_policy(policy);
    let name = Path::new(&policy.source).file_name();
    let named = |line: &str| {
        let (place, _) = line.rsplit_once("/* ")?.1.split_once(" */")?;
        let (file, number) = place.rsplit_once(':')?;
        let number: u32 = number.parse().ok()?;
        (Path::new(file).file_name() == name).then_some(number)
    };
    for line in lines.get(..number)?.iter().rev() {
        if let Some(origin) = named(line) {
            return verbatim.contains(&origin).then(|| format!("{}:{origin}", policy.source));
        }
        if line.starts_with("static ") || line.starts_with('}') {
            return None;
        }
    }
    None
}

/// The lines of a policy's verbatim text.
fn of_policy(policy: &Policy) -> Vec<u32> {
    let mut found: Vec<u32> = policy.preamble.iter().map(|preamble| preamble.at.line).collect();
    policy.events.iter().chain(&policy.queries).for_each(|handler| of_block(&handler.body, &mut found));
    found
}

fn of_block(block: &Block, found: &mut Vec<u32>) {
    let is_verbatim = |expression: &Expression| matches!(expression, Expression::Verbatim { .. });
    for statement in block {
        let own = matches!(statement.kind, StatementKind::Verbatim { .. });
        if own || statement.expressions().any(|expression| expression.any(&is_verbatim)) {
            found.push(statement.at.line);
        }
        statement.blocks().for_each(|inner| of_block(inner, found));
    }
}
