//! Where a handler mentions its values, which decides where C declares them.

use crate::policy::{Block, Expression, LocalId, Place, Statement, StatementKind, Verbatim};

/// Whether a statement, or one inside it, reads or assigns the value.
pub(super) fn mentions(statement: &Statement, local: LocalId) -> bool {
    assigns(statement, local)
        || reads(statement, local, true)
        || statement.blocks().any(|block| block.iter().any(|inner| mentions(inner, local)))
}

/// Whether a statement is an assignment to the value that does not read it.
pub(super) fn assigns(statement: &Statement, local: LocalId) -> bool {
    matches!(&statement.kind, StatementKind::Set { place: Place::Local(place), value } if *place == local && !within(value, local))
}

/// Whether the value is used for anything but stepping it.
pub(super) fn read_in(block: &Block, local: LocalId) -> bool {
    block
        .iter()
        .any(|statement| reads(statement, local, false) || statement.blocks().any(|inner| read_in(inner, local)))
}

/// Whether the statement itself reads the value. `own`: even to assign it, as in `x = x + 1`.
fn reads(statement: &Statement, local: LocalId, own: bool) -> bool {
    match &statement.kind {
        StatementKind::Set { place: Place::Local(place), value } => (own || *place != local) && within(value, local),
        StatementKind::Verbatim { text, .. } => verbatim(text, local),
        StatementKind::Set { .. }
        | StatementKind::Link { .. }
        | StatementKind::If { .. }
        | StatementKind::Loop { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Return { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Fail { .. } => statement.expressions().any(|expression| within(expression, local)),
    }
}

fn within(value: &Expression, local: LocalId) -> bool {
    let names = value.names();
    let own = names.place == Some(&Place::Local(local)) || names.verbatim.is_some_and(|text| verbatim(text, local));
    own || value.parts().any(|part| within(part, local))
}

fn verbatim(text: &Verbatim, local: LocalId) -> bool {
    text.places().any(|place| *place == Place::Local(local))
}
