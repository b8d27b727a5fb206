//! Assignments and their consequences: a thread is re-filed, a timer is armed.

use super::super::arrays;
use super::super::expression::expression;
use super::Body;
use crate::policy::{AttributeId, BinaryOperator, Expression, Place, Statement, StatementId, Thread};

impl Body<'_> {
    pub(super) fn set(&mut self, statement: &Statement, place: &Place, value: &Expression) {
        let line = self.assignment(place, value);
        self.from(statement, &line);
        if let Place::Attribute(thread, _) = place {
            self.refile(statement.id, *thread);
        }
    }

    pub(super) fn assignment(&mut self, place: &Place, value: &Expression) -> String {
        let target = self.target(place);
        match place {
            Place::Attribute(thread, id) if self.is_timer(*id) => {
                let value = expression(self, value);
                let thread = self.thread(*thread);
                self.arm(&thread, *id, &value)
            }
            Place::Import(_) | Place::ThreadImport(..) if self.names.host.imports_point() => {
                let value = expression(self, value);
                let write = if self.is_float(place) { "catapults_write_float" } else { "CATAPULTS_WRITE" };
                format!("{write}({target}, {value});")
            }
            Place::Variable(_)
            | Place::VariableElement { .. }
            | Place::Local(_)
            | Place::Attribute(..)
            | Place::AttributeElement { .. }
            | Place::Import(_)
            | Place::ThreadImport(..) => match self.step(place, value) {
                Some((operator, operand)) if operand == "1" => format!("{target}{operator}{operator};"),
                Some((operator, operand)) => format!("{target} {operator}= {operand};"),
                None => {
                    let is_literal = matches!(value, Expression::Literal(_) | Expression::Constant(_));
                    let ty = self.policy.type_of(&self.handler.locals, value);
                    let value = expression(self, value);
                    let value = match (place, ty) {
                        (Place::Local(_), Some(ty)) if is_literal => self.may_count(ty, value),
                        _ => value,
                    };
                    format!("{target} = {value};")
                }
            },
        }
    }

    pub(super) fn arm(&mut self, thread: &str, timer: AttributeId, instant: &str) -> String {
        let timers = self.member(&self.names.timers);
        let member = &self.names.attributes[timer.0];
        format!("catapults_timers_set(&{timers}, &{}({thread})->{member}, {instant});", self.names.thread)
    }

    /// What is assigned. That does not count as reading it.
    fn target(&mut self, place: &Place) -> String {
        match place {
            Place::Local(local) => self.locals[local.0].clone(),
            Place::Variable(_)
            | Place::VariableElement { .. }
            | Place::Import(_)
            | Place::Attribute(..)
            | Place::AttributeElement { .. }
            | Place::ThreadImport(..) => self.place(place),
        }
    }

    /// `x = x + 1` as C writes it.
    fn step(&mut self, place: &Place, value: &Expression) -> Option<(&'static str, String)> {
        let Expression::Binary(operator, left, right) = value else { return None };
        let operator = if *operator == BinaryOperator::Add {
            "+"
        } else if *operator == BinaryOperator::Subtract {
            "-"
        } else {
            return None;
        };
        // C's `+=` does not turn a result that is not a number into 0.
        if **left != Expression::Read(place.clone()) || self.is_float(place) {
            return None;
        }
        Some((operator, expression(self, right)))
    }

    fn refile(&mut self, statement: StatementId, thread: Thread) {
        let verified = self.verified;
        for group in arrays::groups(self.policy, &verified.facts(statement).refile) {
            let thread = self.thread(thread);
            let (holds, number) = (group.holds(self.names, &thread), group.number(self.names, &thread));
            let order = &self.names.orders[group.id().0];
            let member = group.member(self.names, &thread);
            self.uses_self = true;
            let ties = self.names.host.contract.ties_at_entry(&self.policy.containers[group.id().0].kind);
            self.line(&format!("if ({holds})"));
            self.line(&format!("    catapults_sorted_refile(&{member}, {thread}, {number}, {order}{ties});"));
        }
    }
}
