//! The body of a `foreach` moves no thread but the one it visits, so every thread that was there is visited once.
//!
//! `check` refuses this in source, with the same code. But all knowledge of loops rests on it, and a policy can also
//! come as text. So it is verified here too, more strictly: a `foreach` within a `foreach` can move no thread at all.

use super::{Facts, Handling};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{At, Block, ContainerRef, LocalId, Place, Source, Statement, StatementKind, Thread};

/// `facts` of the handler's assignments say where they re-file.
pub(super) fn check(handling: &Handling, facts: &[Facts], diagnostics: &mut Diagnostics) {
    block(handling, &handling.handler.body, &[], facts, diagnostics);
}

/// A `foreach` that encloses the statement looked at.
#[derive(Clone, Copy)]
struct Loop<'a> {
    cursor: LocalId,
    container: &'a ContainerRef,
    at: At,
}

fn block(handling: &Handling, statements: &Block, enclosing: &[Loop], facts: &[Facts], diagnostics: &mut Diagnostics) {
    for statement in statements {
        let mut inner = enclosing.to_vec();
        match &statement.kind {
            StatementKind::Transfer { source, .. }
            | StatementKind::Send { source, .. }
            | StatementKind::Destroy { source } => {
                moved(handling, statement, source, enclosing, diagnostics);
            }
            StatementKind::Foreach { cursor, container, .. } => {
                inner.push(Loop { cursor: *cursor, container, at: statement.at });
            }
            StatementKind::Set { place: Place::Attribute(thread, _), .. } => {
                refiled(handling, statement, *thread, enclosing, &facts[statement.id.0], diagnostics);
            }
            StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::If { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Return { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => {}
        }
        for body in statement.blocks() {
            block(handling, body, &inner, facts, diagnostics);
        }
    }
}

fn moved(
    handling: &Handling,
    statement: &Statement,
    source: &Source,
    enclosing: &[Loop],
    diagnostics: &mut Diagnostics,
) {
    let moved = match source {
        Source::Thread(local) => handling.entity(*local),
        Source::Container(container) => handling.holds(container),
    };
    // The outermost loop whose visit is disturbed. While nodes are visited, a thread can move.
    let mut visits = enclosing.iter().filter(|visit| handling.entity(visit.cursor) == moved);
    let Some(disturbed) = visits.find(|visit| *source != Source::Thread(visit.cursor)) else { return };
    let (container, cursor) =
        (format!("`{}`", handling.reference(disturbed.container)), handling.local(disturbed.cursor));
    let what = moved.word();
    let title = format!("{} moves another {what} than the one visited", handling.statement(statement));
    let label = format!("only {cursor} can be moved here");
    diagnostics.push(
        handling
            .called(statement, Diagnostic::error("E0316", title, statement.at, label))
            .related(disturbed.at, format!("visits the {what}s of {container}"))
            .note(format!(
                "a `foreach` visits each {what} that was there at its start, once; moving others would break that"
            ))
            .help(format!("move {cursor}, or move the other {what} after the loop")),
    );
}

/// An assignment to a sort key moves a thread within its container.
fn refiled(
    handling: &Handling,
    statement: &Statement,
    thread: Thread,
    enclosing: &[Loop],
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) {
    let disturbs = |visit: &&Loop| {
        thread != Thread::Local(visit.cursor) && facts.refile.iter().any(|place| visit.container.may_be(*place))
    };
    let Some(disturbed) = enclosing.iter().find(disturbs) else { return };
    let (container, cursor) =
        (format!("`{}`", handling.reference(disturbed.container)), handling.local(disturbed.cursor));
    let title = format!("{} re-files another thread than the one visited", handling.statement(statement));
    let label = format!("{container} is sorted by this; only that of {cursor} can be assigned here");
    diagnostics.push(
        handling
            .called(statement, Diagnostic::error("E0316", title, statement.at, label))
            .related(disturbed.at, format!("visits the threads of {container}"))
            .note("a `foreach` visits each thread that was there at its start, once; re-filing others would break that")
            .help("assign it before or after the loop"),
    );
}
