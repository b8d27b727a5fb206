//! No guard fails for certain on a path that can be taken.
//!
//! The flow of knowledge finds paths on which a guard fails, in whatever situation the event came. Whether such a path
//! can be taken is not decidable in general, so it is sought in the [first situations](super::first_situations). If it
//! is found, the policy is refused. If a guard fails only because of what earlier events left, that is a warning: a
//! program may never cause them.

use std::collections::BTreeMap;

use super::explanation::along;
use super::first_situations::{Failing, Found, search};
use super::flow::{self, Paths};
use super::open::is_told;
use super::state::{State, Step};
use super::termination::OnceBegun;
use super::values::element;
use super::{Facts, Guard, Handling, Known, transfers, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{ContainerRef, Expression, Statement, StatementId};

/// A failure that earlier events cause is reported if it comes after at most this many; `explore` reports later ones.
const SOON: usize = 3;

/// How many paths of one handler are searched for an explanation.
const PATHS: usize = 256;

/// What makes a guard fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The handler by itself, on some path, whatever came before.
    Handler,
    /// Only what earlier events have left.
    Events,
}

/// The statements of a handler with a guard that may fail.
pub(super) fn candidates(handling: &Handling, facts: &[Facts]) -> BTreeMap<StatementId, Cause> {
    let mut candidates = BTreeMap::new();
    walk::statements(&handling.handler.body, &mut |statement| {
        if facts.get(statement.id.0).is_some_and(|facts| !facts.never && !facts.guards.is_empty()) {
            candidates.insert(statement.id, Cause::Events);
        }
    });
    let failing = handling.flows.iter().flat_map(|flow| &flow.failing);
    candidates.extend(failing.map(|(statement, _)| (*statement, Cause::Handler)));
    candidates
}

/// One diagnostic for each handler; it also names the other statements that fail.
pub(super) fn check(
    known: &Known,
    candidates: &BTreeMap<StatementId, Cause>,
    once_begun: Vec<OnceBegun>,
    diagnostics: &mut Diagnostics,
) {
    if candidates.is_empty() && once_begun.is_empty() {
        return;
    }
    let unchanging = once_begun.iter().filter(|endless| endless.unchanging).map(|endless| endless.statement).collect();
    let Found { mut failing, turning } = search(known, &unchanging);
    for endless in once_begun {
        let begins = turning.contains(&endless.statement);
        diagnostics.push(endless.said(begins));
    }
    failing.sort_by_key(|failing| (failing.handler, failing.statement));
    for cause in [Cause::Handler, Cause::Events] {
        // After an error, warnings are not yet of interest.
        if cause == Cause::Events && diagnostics.has_errors() {
            return;
        }
        let such = |failing: &&Failing| {
            candidates.get(&failing.statement) == Some(&cause) && (cause == Cause::Handler || is_soon(known, failing))
        };
        let failing: Vec<&Failing> = failing.iter().filter(such).collect();
        for of_one in failing.chunk_by(|one, other| one.handler == other.handler) {
            tell(known, cause, of_one, diagnostics);
        }
    }
}

/// Whether it fails after few events. Time is not followed: it is not known whether a timer has been armed.
fn is_soon(known: &Known, failing: &Failing) -> bool {
    let of_timer =
        |name: &String| known.framework.events.iter().any(|event| event.name == *name && event.timer.is_some());
    let handler = known.policy.events.get(failing.handler).map(|handler| &handler.name);
    failing.events.len() <= SOON && !failing.events.iter().chain(handler).any(of_timer)
}

/// Reports what fails in one handler.
fn tell(known: &Known, cause: Cause, failing: &[&Failing], diagnostics: &mut Diagnostics) {
    let Some(handler) = failing.first().and_then(|first| known.policy.events.get(first.handler)) else { return };
    let handling = Handling::of(known, handler);
    let mut said: Option<Diagnostic> = None;
    walk::statements(&handler.body, &mut |statement| {
        let Some(failing) = failing.iter().find(|failing| failing.statement == statement.id) else { return };
        said = match (said.take(), cause) {
            (Some(first), Cause::Handler) => {
                Some(first.related(statement.at, "the guard fails here, too, on such a path"))
            }
            (Some(first), Cause::Events) => {
                Some(first.related(statement.at, format!("this fails, too: {}", when(&failing.events))))
            }
            (None, _) => explained(&handling, statement, failing, cause),
        };
    });
    // If several events share one body, it has been reported for the first of them.
    let is_known = |said: &Diagnostic| diagnostics.iter().any(|one| one.primary.0 == said.primary.0);
    said.filter(|said| !is_known(said)).into_iter().for_each(|diagnostic| diagnostics.push(diagnostic));
}

fn explained(handling: &Handling, statement: &Statement, failing: &Failing, cause: Cause) -> Option<Diagnostic> {
    let guards = transfers::guards(handling, statement);
    let guard = guards.iter().find(|guard| fails(handling, guard, &failing.state))?;
    // The same failure on a single path, with its steps.
    let paths = flow::follow(handling.course, failing.start.clone(), Paths::Explained(PATHS)).failing;
    let alone = paths.iter().find(|(other, state)| *other == statement.id && state.sure).map(|(_, state)| state);
    let said = handling.called(statement, report(handling, statement, guard, failing, cause));
    let path = alone.map_or(&[][..], |state| &state.path);
    let reads = read_again(handling, path);
    let said = along(said, &told(handling, path, &reads));
    let said = reads.iter().fold(said, |said, read| {
        let name = handling.heads().expression(read);
        said.note(format!("`{name}` is read more than once on this path: the application can change it between two reads, and the two values may differ"))
            .help(format!("read `{name}` once, into a variable, and test that variable each time"))
    });
    let said = match (cause, guard) {
        (Cause::Handler, _) => said.note(match failing.events.as_slice() {
            [] => "this happens as soon as the policy is loaded".to_owned(),
            events => format!("this happens, for example, after {}", quoted(events)),
        }),
        (Cause::Events, Guard::Holds(container)) => match filled_by(handling, container) {
            Some(filled) => said.note(filled),
            None => said,
        },
        (Cause::Events, Guard::Vacant(_)) => said,
    };
    let before = handling.picture(&failing.start);
    let said = said.note(format!("before: {before}")).note("a guard that fails puts the policy out of service");
    Some(said.help(advice(handling, statement, guard)))
}

fn quoted(events: &[String]) -> String {
    let events: Vec<String> = events.iter().map(|event| format!("`{event}`")).collect();
    events.join(", ")
}

/// The events, as an example.
fn when(events: &[String]) -> String {
    match events {
        [] => "for example, as soon as the policy is loaded".to_owned(),
        events => format!("for example, after {}", quoted(events)),
    }
}

/// At most this many handlers are named.
const MOST_NAMED: usize = 4;

/// Which handlers put something into a container; `None` if they are too many to name.
fn filled_by(handling: &Handling, container: &ContainerRef) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for handler in &handling.policy.events {
        let fills = |statement: &Statement| {
            let destination = statement.moves().and_then(|(_, destination)| destination);
            destination.is_some_and(|to| to.candidates().any(|one| container.candidates().any(|other| one == other)))
        };
        let mut any = false;
        walk::statements(&handler.body, &mut |statement| any |= fills(statement));
        let name = format!("`{}`", handler.written);
        if any && !names.contains(&name) {
            names.push(name);
        }
    }
    let (name, held) = (handling.reference(container), handling.policy.held_by(container).word());
    match names.as_slice() {
        [] => Some(format!("no handler puts a {held} into `{name}`")),
        [only] => Some(format!("only {only} puts a {held} into `{name}`")),
        [first @ .., last] if first.len() < MOST_NAMED => {
            Some(format!("only {} and {last} put {held}s into `{name}`", first.join(", ")))
        }
        _ => None,
    }
}

/// The imports that a path reads more than once.
fn read_again<'a>(handling: &Handling<'a>, path: &[Step]) -> Vec<&'a Expression> {
    let mut all = Vec::new();
    walk::statements(&handling.handler.body, &mut |statement| {
        // A function that is called twice has its statements there twice.
        let times = path.iter().filter(|step| step.at == statement.at).count();
        if times > 0 {
            statement.expressions().for_each(|expression| told_in(expression, &mut all));
        }
    });
    let mut again: Vec<&Expression> = Vec::new();
    for (place, read) in all.iter().enumerate() {
        if all.iter().skip(place + 1).any(|other| other == read) && !again.contains(read) {
            again.push(read);
        }
    }
    again
}

/// The reads of imports in an expression.
fn told_in<'a>(expression: &'a Expression, reads: &mut Vec<&'a Expression>) {
    if is_told(expression) {
        reads.push(expression);
    }
    expression.parts().for_each(|part| told_in(part, reads));
}

/// The steps of a path. A step that reads one of `reads` says so.
fn told(handling: &Handling, path: &[Step], reads: &[&Expression]) -> Vec<Step> {
    let mut steps = path.to_vec();
    walk::statements(&handling.handler.body, &mut |statement| {
        let here: Vec<String> = reads
            .iter()
            .filter(|read| statement.expressions().any(|it| it.any(&|part| part == **read)))
            .map(|read| format!("`{}`", handling.heads().expression(read)))
            .collect();
        for step in steps.iter_mut().filter(|step| step.at == statement.at && !here.is_empty()) {
            if !step.what.contains(", reading ") {
                step.what = format!("{}, reading {}", step.what, here.join(" and "));
            }
        }
    });
    steps
}

fn report(handling: &Handling, statement: &Statement, guard: &Guard, failing: &Failing, cause: Cause) -> Diagnostic {
    let (Guard::Holds(container) | Guard::Vacant(container)) = guard;
    let held = handling.policy.held_by(container).word();
    let (name, written) = (handling.reference(container), handling.statement(statement));
    match cause {
        Cause::Handler => {
            let what = match guard {
                Guard::Holds(_) => "is empty".to_owned(),
                Guard::Vacant(_) => format!("already holds a {held}"),
            };
            let title = format!("`{name}` {what} in {written} on a path that can be taken");
            Diagnostic::error("E0417", title, statement.at, "fails on this path")
        }
        Cause::Events => {
            let what = match guard {
                Guard::Holds(_) => "be empty".to_owned(),
                Guard::Vacant(_) => format!("already hold a {held}"),
            };
            let title = format!("`{name}` can {what} in {written}");
            let label = format!("the guard fails: {}", when(&failing.events));
            Diagnostic::warning("E0418", title, statement.at, label)
        }
    }
}

fn advice(handling: &Handling, statement: &Statement, guard: &Guard) -> String {
    match guard {
        Guard::Holds(container) => {
            let name = handling.reference(container);
            if statement.moves().is_none() {
                return format!("move a thread to `{name}` on this path too, for example behind an `else`");
            }
            format!("test `|{name}| > 0` first, and take another thread if it is not so")
        }
        Guard::Vacant(container) => {
            let name = handling.reference(container);
            format!("test `|{name}| == 0` first, or move what is in `{name}` elsewhere")
        }
    }
}

fn fails(handling: &Handling, guard: &Guard, state: &State) -> bool {
    match guard {
        Guard::Holds(container) => state.none_in(&element(handling.policy, state, container)),
        Guard::Vacant(container) => state.any_in(&element(handling.policy, state, container)),
    }
}
