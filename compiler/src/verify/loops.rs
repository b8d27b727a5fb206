//! The body of a `foreach` moves no thread but the one visited, so that every thread that was there is visited, once.
//!
//! `check` refuses this in source, with the same code. All that is known of loops rests on it, and a policy can also come as
//! text: so it is verified here too, and more strictly, since a `foreach` within a `foreach` can move no thread at all.

use super::{Handling, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{At, Block, ContainerId, LocalId, Source, Statement, StatementKind};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    block(handling, &handling.handler.body, &[], diagnostics);
}

/// A `foreach` that encloses the statement looked at.
#[derive(Clone, Copy)]
struct Loop {
    cursor: LocalId,
    container: ContainerId,
    at: At,
}

fn block(handling: &Handling, statements: &Block, enclosing: &[Loop], diagnostics: &mut Diagnostics) {
    for statement in statements {
        let mut inner = enclosing.to_vec();
        match &statement.kind {
            StatementKind::Transfer { source, .. } | StatementKind::Destroy { source } => {
                moved(handling, statement, *source, enclosing, diagnostics);
            }
            StatementKind::Foreach { cursor, container, .. } => {
                inner.push(Loop { cursor: *cursor, container: *container, at: statement.at });
            }
            StatementKind::Set { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::If { .. }
            | StatementKind::Return { .. }
            | StatementKind::Fail { .. } => {}
        }
        for body in walk::blocks(statement) {
            block(handling, body, &inner, diagnostics);
        }
    }
}

fn moved(
    handling: &Handling,
    statement: &Statement,
    source: Source,
    enclosing: &[Loop],
    diagnostics: &mut Diagnostics,
) {
    // The outermost loop whose visit is disturbed.
    let Some(disturbed) = enclosing.iter().find(|visit| source != Source::Thread(visit.cursor)) else { return };
    let (container, cursor) = (handling.name(disturbed.container), handling.local(disturbed.cursor));
    let title = format!("{} moves another thread than the one visited", handling.statement(statement));
    let label = format!("only {cursor} can be moved here");
    diagnostics.push(
        Diagnostic::error("E0316", title, statement.at, label)
            .related(disturbed.at, format!("visits the threads of {container}"))
            .note("a `foreach` visits each thread that was there at its start, once; moving others would break that")
            .help(format!("move {cursor}, or move the other thread after the loop")),
    );
}
