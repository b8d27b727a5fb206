//! A thread whose attributes are read or assigned is there. Inside an expression nothing can be guarded, so this is proved.

use super::condition::assume;
use super::state::{Spot, State};
use super::{Handling, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{At, BinaryOperator, Expression, Place, Statement, StatementKind, Thread};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    walk::statements(&handling.handler.body, &mut |statement| {
        let Some(state) = handling.before(statement.id) else { return };
        let wrong = read(handling, statement, state);
        // What is not known where paths have met may be known on each of them.
        if wrong.has_errors()
            && handling.all_before(statement.id).any(|state| read(handling, statement, state).has_errors())
        {
            diagnostics.append(wrong);
        }
    });
}

/// What is wrong with a statement that is reached in this state.
fn read(handling: &Handling, statement: &Statement, state: &State) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut reader = Reader { handling, statement, diagnostics: &mut diagnostics };
    for expression in statement.expressions() {
        reader.expression(expression, state);
    }
    if let StatementKind::Set { place, .. } = &statement.kind {
        reader.place(place, state);
    }
    if let StatementKind::Send { node, .. } = &statement.kind {
        reader.thread(*node, state);
    }
    if let StatementKind::Verbatim { text, .. } = &statement.kind {
        text.threads().for_each(|thread| reader.thread(thread, state));
    }
    diagnostics
}

struct Reader<'a, 'd> {
    handling: &'a Handling<'a>,
    statement: &'a Statement,
    diagnostics: &'d mut Diagnostics,
}

impl Reader<'_, '_> {
    fn expression(&mut self, expression: &Expression, state: &State) {
        match expression {
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ConstantElement { .. }
            | Expression::Now
            | Expression::Size(_)
            | Expression::Unary(..)
            | Expression::Convert(..)
            | Expression::NotZero(_) => {}
            Expression::Read(place) => self.place(place, state),
            Expression::In(thread, _) => self.thread(*thread, state),
            Expression::Binary(operator, left, right) => {
                self.expression(left, state);
                match operator {
                    BinaryOperator::And => self.after(left, true, right, state),
                    BinaryOperator::Or => self.after(left, false, right, state),
                    BinaryOperator::Add
                    | BinaryOperator::Subtract
                    | BinaryOperator::Multiply
                    | BinaryOperator::Divide
                    | BinaryOperator::Remainder
                    | BinaryOperator::Equal
                    | BinaryOperator::NotEqual
                    | BinaryOperator::Less
                    | BinaryOperator::LessOrEqual
                    | BinaryOperator::Greater
                    | BinaryOperator::GreaterOrEqual => self.expression(right, state),
                }
                return;
            }
            Expression::Verbatim { text, .. } => text.threads().for_each(|thread| self.thread(thread, state)),
        }
        expression.parts().for_each(|part| self.expression(part, state));
    }

    /// The right operand of `&&` or `||`, which is evaluated only if the left one is `outcome`.
    fn after(&mut self, left: &Expression, outcome: bool, right: &Expression, state: &State) {
        if let Some(state) = assume(self.handling.policy, state.clone(), left, outcome, self.statement.at) {
            self.expression(right, &state);
        }
    }

    fn place(&mut self, place: &Place, state: &State) {
        if let Some(thread) = place.thread() {
            self.thread(thread, state);
        }
    }

    fn thread(&mut self, thread: Thread, state: &State) {
        let at: At = self.statement.at;
        match thread {
            Thread::Slot(slot) if !state.holds(slot) => {
                let name = &self.handling.container(slot).name;
                let declared = self.handling.container(slot).at;
                let certainty = if state.empty(slot) { "is" } else { "may be" };
                let held = self.handling.container(slot).holds.word();
                let title = format!("`{name}` {certainty} empty where its {held} is looked at");
                let diagnostic = self.handling.called(self.statement, Diagnostic::error("E0402", title, at, ""));
                self.diagnostics.push(
                    diagnostic.related(declared, format!("`{name}` holds one {held} or none")).help(format!(
                        "test it first: `if (|{name}| == 1)`, or `|{name}| == 1 && …` within a condition"
                    )),
                );
            }
            Thread::Local(local) => {
                let gone = state.places(local).is_none_or(|places| places.contains(&Spot::Gone));
                if gone {
                    let name = self.handling.local(local);
                    let diagnostic = Diagnostic::error(
                        "E0402",
                        format!("{name} may name no {} here", self.handling.entity(local).word()),
                        at,
                        "",
                    );
                    let leaves = if self.handling.sends() { "goes to a node" } else { "is destroyed" };
                    self.diagnostics.push(
                        self.handling
                            .called(self.statement, diagnostic)
                            .help(format!("look at {name} before it {leaves}, and within its `foreach`")),
                    );
                }
            }
            Thread::Slot(_) => {}
        }
    }
}
