//! Whether a policy knows that threads can have no period or deadline: it asks whether the import is above 0. One that
//! does not ask takes the default for a time like any other, sooner than all that are given.

use crate::policy::{AttributeId, Block, Expression, LocalId, Place, Policy, StatementKind, ThreadImportId};
use crate::vocabulary::Value;

/// Follows what holds the import, or was computed from it.
struct Held<'a> {
    policy: &'a Policy,
    import: ThreadImportId,
    attributes: Vec<AttributeId>,
    /// Each with its handler.
    locals: Vec<(usize, LocalId)>,
    /// Whether it is compared with a number no greater than 0, or read by verbatim text.
    is_asked: bool,
}

/// Whether the default would be the soonest time for ever.
pub(super) fn is_taken_for_a_time(policy: &Policy, import: ThreadImportId) -> bool {
    let of = &policy.thread_imports[import.0];
    if !matches!(of.default, Value::Time(default) if default <= 0) {
        return false;
    }
    let mut held = Held { policy, import, attributes: Vec::new(), locals: Vec::new(), is_asked: false };
    let handlers = || policy.events.iter().chain(&policy.queries).enumerate();
    loop {
        let before = (held.attributes.len(), held.locals.len());
        handlers().for_each(|(handler, one)| held.goes_through(handler, &one.body));
        if held.is_asked || before == (held.attributes.len(), held.locals.len()) {
            let is_kept = !held.attributes.is_empty() || !held.locals.is_empty();
            return is_kept && !held.is_asked;
        }
    }
}

impl Held<'_> {
    fn goes_through(&mut self, handler: usize, block: &Block) {
        for statement in block {
            for expression in statement.expressions() {
                self.is_asked |= self.asks(handler, expression);
            }
            match &statement.kind {
                StatementKind::Set { place, value } if self.has(handler, value) => match place {
                    Place::Local(local) if !self.locals.contains(&(handler, *local)) => {
                        self.locals.push((handler, *local));
                    }
                    Place::Attribute(_, attribute) if !self.attributes.contains(attribute) => {
                        self.attributes.push(*attribute);
                    }
                    Place::Variable(_)
                    | Place::VariableElement { .. }
                    | Place::Local(_)
                    | Place::Import(_)
                    | Place::Attribute(..)
                    | Place::AttributeElement { .. }
                    | Place::ThreadImport(..) => {}
                },
                StatementKind::Verbatim { text, .. } => {
                    self.is_asked |= text.places().any(|place| self.is_it(handler, place));
                }
                StatementKind::Set { .. }
                | StatementKind::Link { .. }
                | StatementKind::Transfer { .. }
                | StatementKind::Send { .. }
                | StatementKind::Destroy { .. }
                | StatementKind::Dispatch { .. }
                | StatementKind::If { .. }
                | StatementKind::Foreach { .. }
                | StatementKind::Follow { .. }
                | StatementKind::Loop { .. }
                | StatementKind::Return { .. }
                | StatementKind::Leave { .. }
                | StatementKind::Fail { .. } => {}
            }
            for block in statement.blocks() {
                self.goes_through(handler, block);
            }
        }
    }

    fn is_it(&self, handler: usize, place: &Place) -> bool {
        match place {
            Place::ThreadImport(_, import) => *import == self.import,
            Place::Attribute(_, attribute) => self.attributes.contains(attribute),
            Place::Local(local) => self.locals.contains(&(handler, *local)),
            Place::Variable(_) | Place::VariableElement { .. } | Place::Import(_) | Place::AttributeElement { .. } => {
                false
            }
        }
    }

    fn has(&self, handler: usize, expression: &Expression) -> bool {
        match expression {
            Expression::Read(place) => self.is_it(handler, place),
            Expression::Unary(_, one) | Expression::Convert(_, one) | Expression::NotZero(one) => {
                self.has(handler, one)
            }
            Expression::Binary(_, left, right) => self.has(handler, left) || self.has(handler, right),
            Expression::Choose(..) => expression.parts().any(|part| self.has(handler, part)),
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ConstantElement { .. }
            | Expression::Now
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Random(_)
            | Expression::Verbatim { .. } => false,
        }
    }

    fn asks(&self, handler: usize, expression: &Expression) -> bool {
        match expression {
            Expression::NotZero(one) => self.has(handler, one),
            Expression::Unary(_, one) | Expression::Convert(_, one) => self.asks(handler, one),
            Expression::Choose(..) => expression.parts().any(|part| self.asks(handler, part)),
            Expression::Binary(operator, left, right) => {
                let compares = operator.goes_on_if().is_none();
                let with = |one: &Expression, other: &Expression| self.has(handler, one) && self.is_nothing(other);
                compares && (with(left, right) || with(right, left))
                    || self.asks(handler, left)
                    || self.asks(handler, right)
            }
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ConstantElement { .. }
            | Expression::Now
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Random(_)
            | Expression::Verbatim { .. }
            | Expression::Read(_) => false,
        }
    }

    fn is_nothing(&self, expression: &Expression) -> bool {
        let value = if let Expression::Literal(value) = expression {
            *value
        } else if let Expression::Constant(constant) = expression {
            self.policy.constants[constant.0].value
        } else {
            return false;
        };
        matches!(value, Value::Time(value) | Value::Int(value) if value <= 0)
    }
}
