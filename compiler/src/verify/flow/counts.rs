//! What a `foreach` counts: after `foreach t in ready { if (…) n++; }`, `n` exceeds the number of threads in `ready` by
//! what it was before at most, because each thread is visited once.

use crate::policy::{BinaryOperator, Block, Expression, Place, Policy, Statement, StatementKind, Value};
use crate::verify::state::State;
use crate::verify::{values, walk};

/// The variables that count the threads in a container, and what each was at most before, by index in the states.
pub(super) fn counts(policy: &Policy, before: &[State], body: &Block) -> Vec<(usize, i64)> {
    let mut assigned: Vec<usize> = Vec::new();
    let mut stays = true;
    walk::statements(body, &mut |statement| {
        stays &= statement.moves().is_none() && !matches!(statement.kind, StatementKind::Verbatim { .. });
        if let StatementKind::Set { place, .. } = &statement.kind {
            match values::index(policy, place) {
                Some(variable) => assigned.push(variable),
                None => assigned.extend(place.variables()),
            }
        }
    });
    let mut raised = Vec::new();
    if stays {
        raised_once(policy, body, &mut raised);
    }
    // Raised in two places, it can be raised twice in a turn.
    raised.retain(|variable| assigned.iter().filter(|other| *other == variable).count() == 1);
    let most = |variable: usize| before.iter().map(|state| state.value(variable).most).max();
    raised.into_iter().filter_map(|variable| Some((variable, most(variable)?))).collect()
}

/// Variables to which a statement adds 1, unless it stands in a further loop.
fn raised_once(policy: &Policy, block: &[Statement], raised: &mut Vec<usize>) {
    for statement in block.iter().filter(|statement| !statement.is_loop()) {
        if let StatementKind::Set { place, value } = &statement.kind {
            raised.extend(values::index(policy, place).filter(|_| adds_one(place, value)));
        }
        statement.blocks().for_each(|inner| raised_once(policy, inner, raised));
    }
}

fn adds_one(place: &Place, value: &Expression) -> bool {
    let Expression::Binary(BinaryOperator::Add, left, right) = value else { return false };
    matches!(&**left, Expression::Read(read) if read == place) && **right == Expression::Literal(Value::Int(1))
}
