//! Loops: over the threads of a container, and those with a condition.

use super::super::arrays::{self, Helper, Site};
use super::super::expression::expression;
use super::super::values;
use super::Body;
use crate::emit::shape::Shape;
use crate::policy::{
    Block, ContainerId, ContainerKind, ContainerRef, Expression, Leave, LinkId, LocalId, LocalKind, Place, Statement,
    StatementKind, Test, Thread,
};

/// What must stand before `break` and `continue` in C, where the loop differs.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    before_break: Option<String>,
    /// What is done after each turn.
    before_continue: Block,
}

impl Body<'_> {
    /// The pointer to the thread that a loop visits, up to its name.
    fn cursor(&self) -> String {
        let constant = if self.shape == Shape::Query { "const " } else { "" };
        self.names.host.pointer(&format!("{constant}struct catapults_thread"))
    }

    /// Visits the threads that are in the container now, although the body may move the one visited, even back into it.
    pub(super) fn foreach(&mut self, statement: &Statement, cursor: LocalId, container: &ContainerRef, block: &Block) {
        if matches!(container, ContainerRef::Whole { .. }) {
            let (scope, locals) = (self.scope.clone(), self.locals.clone());
            self.foreach_element(statement, cursor, container, block);
            (self.scope, self.locals) = (scope, locals);
            return;
        }
        let Site { member, id, .. } = self.site(container, "which");
        let (scope, locals) = (self.scope.clone(), self.locals.clone());
        let policy = self.policy;
        let kind = &policy.containers[id.0].kind;
        let t = self.declare(cursor);
        let left = self.names.host.looping(&format!("{t} != NULL"));
        let pointer = self.cursor();
        let mut step = None;
        let head = match kind {
            ContainerKind::Threadref => {
                if block.iter().any(|inner| inner.leaves(Leave::Loop) || inner.leaves(Leave::Turn)) {
                    // `break` needs a loop in C.
                    format!("for ({pointer}{t} = {member}; {t} != NULL; {t} = NULL) {{")
                } else {
                    step = Some(format!("{pointer}{t} = {member};"));
                    format!("if ({member} != NULL) {{")
                }
            }
            // A pushed thread comes before all that are left.
            ContainerKind::Queue | ContainerKind::Stack
                if self.moves(block) && self.is_small() && (*kind == ContainerKind::Stack || !puts(block, id)) =>
            {
                let next = self.scope.take("next");
                step = Some(format!("{next} = {t}->next;"));
                format!("for ({pointer}{t} = {member}.first, *{next}; {left}; {t} = {next}) {{")
            }
            ContainerKind::Queue | ContainerKind::Stack if self.moves(block) => {
                let (last, next) = (self.scope.take("last"), self.scope.take("next"));
                step = Some(format!("{next} = {t} == {last} ? NULL : {t}->next;"));
                format!(
                    "for ({pointer}{t} = {member}.first, *{last} = {member}.last, *{next}; {left}; {t} = {next}) {{"
                )
            }
            ContainerKind::Queue | ContainerKind::Stack => {
                format!("for ({pointer}{t} = {member}.first; {left}; {t} = {t}->next) {{")
            }
            ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) if self.moves(block) => {
                let next = self.scope.take("next");
                step = Some(format!("{next} = {t}->walk;"));
                let walk = format!("catapults_sorted_walk(&{member}, {})", super::super::ties(kind));
                format!("for ({pointer}{t} = {walk}, *{next}; {left}; {t} = {next}) {{")
            }
            ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => {
                let ties = super::super::ties(kind);
                let first = format!("catapults_sorted_first(&{member}, {ties})");
                format!("for ({pointer}{t} = {first}; {left}; {t} = catapults_sorted_next(&{member}, {t}, {ties})) {{")
            }
        };
        self.from(statement, &head);
        self.depth += 1;
        if let Some(step) = step {
            self.line(&step);
        }
        self.depth -= 1;
        self.in_turns(block, Turn::default());
        if matches!(kind, ContainerKind::Threadref) && !self.used[cursor.0] {
            self.line(&format!("    (void){t};"));
        }
        self.line("}");
        (self.scope, self.locals) = (scope, locals);
    }

    /// Visits the thread that a link names at the start, if there is one.
    pub(super) fn follow(&mut self, statement: &Statement, cursor: LocalId, of: (Thread, LinkId), block: &Block) {
        let (scope, locals) = (self.scope.clone(), self.locals.clone());
        let linked = self.linked(of.0, of.1);
        let t = self.declare(cursor);
        let pointer = self.cursor();
        // `break` needs a loop in C, so it is one.
        self.from(statement, &format!("for ({pointer}{t} = {linked}; {t} != NULL; {t} = NULL) {{"));
        self.in_turns(block, Turn::default());
        self.line("}");
        (self.scope, self.locals) = (scope, locals);
    }

    /// Like [`Body::foreach`], for all elements of an array.
    fn foreach_element(&mut self, statement: &Statement, cursor: LocalId, container: &ContainerRef, block: &Block) {
        let (policy, length) = (self.policy, container.candidates().count());
        let Some(first) = container.candidates().next() else { return };
        let pointer = self.cursor();
        if self.moves(block) {
            let walk = self.help(Helper::Walk, container);
            let t = self.declare(cursor);
            let next = self.scope.take("next");
            let left = self.names.host.looping(&format!("{t} != NULL"));
            self.from(statement, &format!("for ({pointer}{t} = {walk}, *{next}; {left}; {t} = {next}) {{"));
            self.line(&format!("    {next} = {t}->walk;"));
            self.in_turns(block, Turn::default());
            self.line("}");
            return;
        }
        let array = self.array(first);
        let (t, which) = (self.declare(cursor), self.scope.take("which"));
        // In C, there are two loops: a `break` of the inner one must end the outer one, too.
        let turn = if block.iter().any(|inner| inner.leaves(Leave::Loop)) {
            Turn { before_break: Some(format!("{which} = {length} - 1;")), ..Turn::default() }
        } else {
            Turn::default()
        };
        let (start, turns) = (self.names.host.counted("0"), self.names.host.looping(&format!("{which} < {length}")));
        self.from(statement, &format!("for (unsigned {which} = {start}; {turns}; {which}++) {{"));
        self.depth += 1;
        let head = arrays::visit(
            self.names.host,
            &policy.containers[first.0].kind,
            &self.names.host.element(&array, &which),
            &t,
            &pointer,
        );
        self.line(&format!("{head} {{"));
        self.in_turns(block, turn);
        self.line("}");
        self.depth -= 1;
        self.line("}");
    }

    /// Writes `int i = 0;` and a `for`, where `i` is mentioned nowhere else, as one line. Returns whether it could.
    pub(super) fn counted(&mut self, first: &Statement, looping: &Statement, after: &[Statement]) -> bool {
        let StatementKind::Set { place: Place::Local(local), value } = &first.kind else { return false };
        let StatementKind::Loop { condition, test: Test::Before, body, step } = &looping.kind else { return false };
        let LocalKind::Value(ty) = self.handler.locals[local.0].kind else { return false };
        let elsewhere = after.iter().any(|statement| values::mentions(statement, *local));
        let declared = !self.locals[local.0].is_empty();
        if declared || elsewhere || step.is_empty() || !values::read_in(&self.handler.body, *local) {
            return false;
        }
        let (scope, locals) = (self.scope.clone(), self.locals.clone());
        let value = expression(self, value);
        let value = self.may_count(ty, value);
        let name = self.declare(*local);
        let start = format!("{} {name} = {value}", super::super::type_name(ty));
        self.repetition(looping, &start, condition, Test::Before, body, step);
        (self.scope, self.locals) = (scope, locals);
        true
    }

    /// A loop other than `foreach`.
    pub(super) fn repetition(
        &mut self,
        statement: &Statement,
        start: &str,
        condition: &Expression,
        test: Test,
        body: &Block,
        step: &Block,
    ) {
        let condition = expression(self, condition);
        let condition = self.names.host.looping(&condition);
        let in_header = self.header_step(step);
        if test == Test::After {
            self.line("do {");
        } else if let Some(step) = &in_header {
            let condition = if condition == "true" { String::new() } else { format!(" {condition}") };
            self.from(statement, &format!("for ({start};{condition}; {step}) {{"));
        } else {
            if !start.is_empty() {
                self.line(&format!("{start};"));
            }
            self.from(statement, &format!("while ({condition}) {{"));
        }
        let before_continue = if in_header.is_none() { step.clone() } else { Block::new() };
        self.in_turns(body, Turn { before_continue, ..Turn::default() });
        if in_header.is_none() {
            self.nested(step);
        }
        if test == Test::After {
            self.from(statement, &format!("}} while ({condition});"));
        } else {
            self.line("}");
        }
    }

    /// The body of a loop.
    fn in_turns(&mut self, body: &Block, turn: Turn) {
        self.turns.push(turn);
        self.nested(body);
        self.turns.pop();
    }

    /// `break;`, `continue;`
    pub(super) fn leave(&mut self, statement: &Statement, what: Leave) {
        let turn = self.turns.last().cloned().unwrap_or_default();
        match what {
            Leave::Loop => turn.before_break.iter().for_each(|line| self.line(line)),
            Leave::Turn if !turn.before_continue.is_empty() => {
                self.line("{");
                self.nested(&turn.before_continue);
                self.line("}");
            }
            Leave::Turn => {}
        }
        self.from(statement, &format!("{};", what.word()));
    }

    /// The last part of a `for` in C: one assignment that is one expression.
    fn header_step(&mut self, step: &Block) -> Option<String> {
        let [only] = step.as_slice() else { return None };
        let StatementKind::Set { place, value } = &only.kind else { return None };
        let plain = match place {
            Place::Variable(_) | Place::VariableElement { .. } | Place::Local(_) | Place::AttributeElement { .. } => {
                true
            }
            Place::Attribute(..) => self.verified.facts(only.id).refile.is_empty(),
            Place::Import(_) | Place::ThreadImport(..) => false,
        };
        plain.then(|| self.assignment(place, value).trim_end_matches(';').to_owned())
    }

    /// Whether a block moves, destroys or re-files a thread.
    pub(in crate::emit::c) fn moves(&self, block: &Block) -> bool {
        block.iter().any(|statement| match &statement.kind {
            StatementKind::Transfer { .. } | StatementKind::Send { .. } | StatementKind::Destroy { .. } => true,
            StatementKind::Set { .. } => !self.verified.facts(statement.id).refile.is_empty(),
            StatementKind::If { then, otherwise, .. } => self.moves(then) || self.moves(otherwise),
            StatementKind::Foreach { body, .. } | StatementKind::Follow { body, .. } => self.moves(body),
            StatementKind::Loop { body, step, .. } => self.moves(body) || self.moves(step),
            StatementKind::Link { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::Return { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => false,
        })
    }
}

/// Whether a block can put a thread into a container.
fn puts(block: &Block, container: ContainerId) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StatementKind::Transfer { destination, .. } => destination.may_be(container),
        StatementKind::Set { .. }
        | StatementKind::Link { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::If { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Loop { .. }
        | StatementKind::Verbatim { .. }
        | StatementKind::Return { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Fail { .. } => statement.blocks().any(|inner| puts(inner, container)),
    })
}
