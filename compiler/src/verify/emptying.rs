//! A loop that empties: each turn takes a thread out of a container into which no turn puts one.

use super::ways::Ways;
use super::{Facts, Handling, walk};
use crate::policy::{Block, ContainerId, ContainerRef, Leave, Source, Statement, StatementKind};

/// Whether each turn takes a thread from where no turn brings it back: such ways run out, so the turns end.
pub(super) fn empties(handling: &Handling, facts: &[Facts], body: &Block, step: &Block) -> bool {
    let mut ways = Ways::default();
    for block in [body, step] {
        walk::statements(block, &mut |statement| {
            if let StatementKind::Transfer { source, destination } = &statement.kind {
                ways.add(sources(facts, statement, source), destination);
            }
        });
    }
    takes(handling, facts, body, &ways) || takes(handling, facts, step, &ways)
}

/// Whether every path to the end of a block takes a thread from where it cannot come back.
fn takes(handling: &Handling, facts: &[Facts], block: &Block, ways: &Ways) -> bool {
    walk::certainly(block, &|statement| {
        // It visits at least one thread.
        if let StatementKind::Foreach { container, body, .. } = &statement.kind {
            let mut states = handling.all_before(statement.id).peekable();
            return states.peek().is_some()
                && !body.iter().any(|inner| inner.leaves(Leave::Loop))
                && states.all(|state| state.any_in(container))
                && takes(handling, facts, body, ways);
        }
        statement.moves().is_some_and(|(source, destination)| {
            let reached = ways.reached(destination.into_iter().flat_map(ContainerRef::candidates));
            let back = |from: &ContainerId| reached.contains(from);
            !is_in_hand(facts, statement, source) && !sources(facts, statement, source).iter().any(back)
        })
    })
}

/// Where the thread can come from.
fn sources(facts: &[Facts], statement: &Statement, source: &Source) -> Vec<ContainerId> {
    match source {
        Source::Container(container) => container.candidates().collect(),
        Source::Thread(_) => facts[statement.id.0].positions.clone(),
    }
}

/// Whether the thread can be in no container.
fn is_in_hand(facts: &[Facts], statement: &Statement, source: &Source) -> bool {
    match source {
        Source::Container(_) => false,
        Source::Thread(_) => facts[statement.id.0].in_hand,
    }
}
