//! A loop that empties: each turn takes a thread out of a container into which no turn puts one.

use std::collections::BTreeSet;

use super::limits::Multiple;
use super::ways::Ways;
use super::{Facts, Handling, walk};
use crate::policy::{Block, ContainerId, ContainerRef, Leave, Source, Statement, StatementKind};

/// Whether each turn takes a thread from where no turn brings it back: such ways run out, so the turns end.
pub(super) fn empties(handling: &Handling, facts: &[Facts], body: &Block, step: &Block) -> bool {
    let ways = ways(facts, body, step);
    takes(handling, facts, body, &ways) || takes(handling, facts, step, &ways)
}

/// How many turns there are then: a thread is taken from each of some containers once. `None`: this is no such loop.
pub(super) fn most_times(handling: &Handling, facts: &[Facts], body: &Block, step: &Block) -> Option<Multiple> {
    if !empties(handling, facts, body, step) {
        return None;
    }
    let ways = ways(facts, body, step);
    let (mut taken, mut reached) = (BTreeSet::new(), BTreeSet::new());
    for block in [body, step] {
        walk::statements(block, &mut |statement| {
            let Some((source, destination)) = statement.moves() else { return };
            let to = ways.reached(destination.into_iter().flat_map(ContainerRef::candidates));
            let from = sources(facts, statement, source);
            if !from.iter().any(|from| to.contains(from)) {
                taken.extend(from);
                reached.extend(to);
            }
        });
    }
    // From where a thread is taken it comes to no other place from which it is taken, or perhaps to each of them.
    let each = if taken.is_disjoint(&reached) { 1 } else { taken.len() as u64 };
    let holds = |id: &ContainerId| handling.container(*id).holds;
    let of = taken.first().map(holds)?;
    taken.iter().all(|id| holds(id) == of).then_some(Multiple { of, each, more: 0 })
}

fn ways(facts: &[Facts], body: &Block, step: &Block) -> Ways {
    let mut ways = Ways::default();
    for block in [body, step] {
        walk::statements(block, &mut |statement| {
            if let StatementKind::Transfer { source, destination } = &statement.kind {
                ways.add(sources(facts, statement, source), destination);
            }
        });
    }
    ways
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
