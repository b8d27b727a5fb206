//! Where an attribute of a thread is used, there is a thread. Expressions have no guards, so this is proved.

use super::condition::branch;
use super::state::{Spot, State};
use super::{Handling, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{At, Expression, Place, Statement, StatementKind, Thread};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    walk::statements(&handling.handler.body, &mut |statement| {
        let Some(state) = handling.before(statement.id) else { return };
        let wrong = read(handling, statement, state);
        // What is not known where paths have met may be known on each of the paths.
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
    statement.links().for_each(|thread| reader.thread(thread, None, state));
    if let StatementKind::Send { node, .. } = &statement.kind {
        reader.thread(*node, None, state);
    }
    if let StatementKind::Verbatim { text, .. } = &statement.kind {
        text.threads().for_each(|thread| reader.thread(thread, None, state));
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
        if let Expression::Binary(operator, left, right) = expression
            && let Some(outcome) = operator.goes_on_if()
        {
            self.expression(left, state);
            self.after(left, outcome, right, state);
            return;
        }
        if let Expression::Choose(condition, one, other) = expression {
            self.expression(condition, state);
            self.after(condition, true, one, state);
            self.after(condition, false, other, state);
            return;
        }
        let names = expression.names();
        if let Some(place) = names.place {
            self.place(place, state);
        }
        for thread in names.threads.into_iter().flatten() {
            self.thread(thread, Some(expression), state);
        }
        if let Some(text) = names.verbatim {
            text.threads().for_each(|thread| self.thread(thread, None, state));
        }
        expression.parts().for_each(|part| self.expression(part, state));
    }

    /// Reads the right operand of `&&` or `||`, or one of two values. It is evaluated only if `left` is `outcome`.
    fn after(&mut self, left: &Expression, outcome: bool, right: &Expression, state: &State) {
        if let Some(state) = branch(self.handling.policy, state, left, outcome, self.statement.at) {
            self.expression(right, &state);
        }
    }

    fn place(&mut self, place: &Place, state: &State) {
        if let Some(thread) = place.thread() {
            self.thread(thread, Some(&Expression::Read(place.clone())), state);
        }
    }

    /// `part`: the part of the statement that looks at the thread.
    fn thread(&mut self, thread: Thread, part: Option<&Expression>, state: &State) {
        let at: At = self.statement.at;
        let pointed = |diagnostic: Diagnostic| match part {
            Some(part) => diagnostic.of_part(self.handling.heads().expression(part), ""),
            None => diagnostic,
        };
        match thread {
            Thread::Slot(slot) | Thread::First(slot) if !state.holds(slot) => {
                let (some, many) = if matches!(thread, Thread::Slot(_)) {
                    ("== 1", "or none")
                } else {
                    ("> 0", "or several, or none")
                };
                let name = &self.handling.container(slot).name;
                let declared = self.handling.container(slot).at;
                let certainty = if state.empty(slot) { "is" } else { "may be" };
                let held = self.handling.container(slot).holds.word();
                let title = format!("`{name}` {certainty} empty where its {held} is looked at");
                let diagnostic = pointed(Diagnostic::error("E0402", title, at, ""));
                let diagnostic = self.handling.called(self.statement, diagnostic);
                self.diagnostics.push(diagnostic.related(declared, format!("`{name}` holds one {held} {many}")).help(
                    format!("test it first: `if (|{name}| {some})`, or `|{name}| {some} && …` within a condition"),
                ));
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
                    let diagnostic = pointed(diagnostic);
                    let leaves = if self.handling.sends() { "goes to a node" } else { "is destroyed" };
                    self.diagnostics.push(
                        self.handling
                            .called(self.statement, diagnostic)
                            .help(format!("look at {name} before it {leaves}, and within its `foreach`")),
                    );
                }
            }
            Thread::Slot(_) | Thread::First(_) => {}
        }
    }
}
