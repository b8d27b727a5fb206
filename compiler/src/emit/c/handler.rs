//! The body of one handler.

mod assignments;
mod loops;
mod transfers;

use std::cell::OnceCell;

use super::arrays::{Helpers, Site};
use super::economy::Shared;
use super::expression::expression;
use super::host::Memory;
use super::names::{Names, Scope};
use super::{comment, string, values, verbatim};
use crate::emit::shape::Shape;
use crate::policy::text::Heads;
use crate::policy::{
    Block, ContainerId, ContainerRef, Expression, Handler, LocalId, LocalKind, Place, Policy, Reason, Source,
    Statement, StatementKind, Type,
};
use crate::verify::{Guard, Verified};

/// A body that is being translated, and what it turns out to need.
pub(super) struct Body<'a> {
    pub verified: &'a Verified<Policy>,
    pub policy: &'a Policy,
    pub names: &'a Names,
    pub handler: &'a Handler,
    /// A function that dispatches returns the thread, and the stop through a pointer.
    pub shape: Shape,
    /// By local: its name where it is in scope.
    pub(super) locals: Vec<String>,
    /// Its statements as written in the source, made when the first one is quoted.
    heads: OnceCell<Heads>,
    /// Which locals are read.
    pub used: Vec<bool>,
    /// Whether the instance is read or written.
    pub uses_self: bool,
    /// Whether a stop can be returned.
    pub uses_stop: bool,
    /// The same, known before the first statement is translated.
    can_stop: bool,
    /// Whether a thread is taken out of one of many containers.
    pub uses_take: bool,
    /// The functions over all elements of an array that it calls.
    pub helpers: Helpers,
    /// What several statements share, written once.
    pub(super) shared: Shared,
    /// After a statement: a local that holds the thread of a threadref.
    held: Option<(ContainerId, String)>,
    /// For each enclosing loop, the innermost last.
    turns: Vec<loops::Turn>,
    pub(super) scope: Scope,
    pub(super) depth: usize,
    pub(super) text: String,
}

/// Translates the statements. `text` of the result stands between the braces, indented once.
pub(super) fn body<'a>(
    verified: &'a Verified<Policy>,
    names: &'a Names,
    handler: &'a Handler,
    shape: Shape,
) -> Body<'a> {
    let mut scope = names.file.within();
    for taken in ["self", "self_", "stop", "guard", "refusal"] {
        scope.take(taken);
    }
    let mut body = Body {
        verified,
        policy: verified.policy(),
        names,
        handler,
        shape,
        locals: vec![String::new(); handler.locals.len()],
        heads: OnceCell::new(),
        used: vec![false; handler.locals.len()],
        uses_self: false,
        uses_stop: false,
        can_stop: can_stop(verified, &handler.body),
        uses_take: false,
        helpers: Helpers::new(),
        shared: Shared::default(),
        held: None,
        turns: Vec::new(),
        scope,
        depth: 1,
        text: String::new(),
    };
    for parameter in 0..handler.parameters {
        body.declare(LocalId(parameter));
    }
    body.block(&handler.body);
    let returning = body.returning();
    if shape != Shape::Query && !ends(&handler.body) && returning != "return;" {
        body.line(returning);
    }
    body
}

/// Whether a statement of a block can stop the handler.
pub(super) fn can_stop(verified: &Verified<Policy>, block: &Block) -> bool {
    block.iter().any(|statement| {
        matches!(statement.kind, StatementKind::Fail { .. })
            || !verified.facts(statement.id).guards.is_empty()
            || statement.blocks().any(|inner| can_stop(verified, inner))
    })
}

/// The text of a reason for a host that fills the values in: in the place of each stands a character that is its type.
fn marked(reason: &Reason) -> String {
    let mut texts = reason.texts.iter();
    let mut text = texts.next().cloned().unwrap_or_default();
    for ((_, ty), after) in reason.values.iter().zip(texts) {
        text.push(match ty {
            Type::Int | Type::Float => '\u{1}',
            Type::Time => '\u{2}',
            Type::Bool => '\u{3}',
        });
        text.push_str(after);
    }
    text
}

/// Whether there is a loop in a block, of whatever kind.
fn has_loop(block: &Block) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StatementKind::Foreach { .. } | StatementKind::Loop { .. } => true,
        StatementKind::Dispatch { .. }
        | StatementKind::Return { .. }
        | StatementKind::Fail { .. }
        | StatementKind::If { .. }
        | StatementKind::Set { .. }
        | StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Verbatim { .. } => statement.blocks().any(has_loop),
    })
}

/// Whether control never reaches the end of a block.
fn ends(block: &Block) -> bool {
    block.last().is_some_and(|statement| match &statement.kind {
        StatementKind::Dispatch { .. } | StatementKind::Return { .. } | StatementKind::Fail { .. } => true,
        StatementKind::If { then, otherwise, .. } => ends(then) && ends(otherwise),
        StatementKind::Set { .. }
        | StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Verbatim { .. }
        | StatementKind::Loop { .. } => false,
    })
}

impl Body<'_> {
    /// The statements, without the braces around them.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The name of a parameter.
    pub(super) fn parameter(&self, index: usize) -> &str {
        &self.locals[index]
    }

    /// A local's name where it is read.
    pub(super) fn local(&mut self, id: LocalId) -> String {
        self.used[id.0] = true;
        self.locals[id.0].clone()
    }

    /// A member of the instance.
    pub(super) fn member(&mut self, name: &str) -> String {
        self.uses_self = true;
        format!("{}{name}", self.names.host.instance.of_self())
    }

    /// A member of what all nodes' instances share; without nodes, of the one instance.
    pub(super) fn shared_member(&mut self, name: &str) -> String {
        if self.policy.has_nodes() && !self.handler.global {
            let shared = self.member(&self.names.shared_member);
            return format!("{shared}->{name}");
        }
        self.member(name)
    }

    /// A container.
    pub(super) fn container(&mut self, id: ContainerId) -> String {
        self.member(&self.names.containers[id.0])
    }

    /// Whether the function returns no stop: it cannot stop, and stands in no table with those that can.
    pub(super) fn is_silent(&self) -> bool {
        self.names.host.is_included_often() && self.shape != Shape::Query && !self.can_stop
    }

    /// The `return` of a handler that ends early.
    fn returning(&self) -> &'static str {
        match (self.shape, self.names.host.memory) {
            (Shape::Event, _) if self.is_silent() => "return;",
            (Shape::Event, Memory::Arena) => "return 0;",
            (Shape::Event | Shape::Dispatch | Shape::Query, _) => "return NULL;",
        }
    }

    fn declare(&mut self, id: LocalId) -> String {
        let name = self.scope.take(&self.handler.locals[id.0].name);
        self.locals[id.0].clone_from(&name);
        name
    }

    pub(super) fn line(&mut self, line: &str) {
        let depth = if line.is_empty() { 0 } else { self.depth };
        for _ in 0..depth {
            self.text.push_str("    ");
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A line that comes from a statement, and says so.
    pub(super) fn from(&mut self, statement: &Statement, line: &str) {
        let origin = match statement.at.line {
            0 => "default".to_owned(),
            _ => comment(&self.policy.place(statement.at)),
        };
        self.line(&format!("{line} /* {origin} */"));
    }

    /// What is declared in a block ends with it.
    fn block(&mut self, block: &Block) {
        let (scope, locals) = (self.scope.clone(), self.locals.clone());
        self.declare_values(block);
        let mut rest = block.as_slice();
        while let [statement, after @ ..] = rest {
            rest = after;
            match after {
                [looping, last @ ..] if self.counted(statement, looping, last) => rest = last,
                _ => self.statement(statement),
            }
        }
        (self.scope, self.locals) = (scope, locals);
    }

    fn nested(&mut self, block: &Block) {
        self.depth += 1;
        self.block(block);
        self.depth -= 1;
    }

    /// Declares the values that belong to this block: several of its statements mention them, and the first is not an
    /// assignment, which would declare what it assigns.
    fn declare_values(&mut self, block: &Block) {
        for index in self.handler.parameters..self.handler.locals.len() {
            let local = LocalId(index);
            let LocalKind::Value(ty) = self.handler.locals[index].kind else { continue };
            if !self.locals[index].is_empty() {
                continue;
            }
            let mut mentions = block.iter().filter(|statement| values::mentions(statement, local));
            let (Some(first), Some(_)) = (mentions.next(), mentions.next()) else { continue };
            if !values::assigns(first, local) {
                let name = self.declare(local);
                let zero = self.may_count(ty, super::zero(ty).to_owned());
                self.line(&format!("{} {name} = {zero};", super::type_name(ty)));
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let held = self.held.take();
        let (from, to) = self.sites(statement);
        self.guards(statement, from.as_ref(), to.as_ref());
        match &statement.kind {
            StatementKind::Set { place: Place::Local(local), value } if self.locals[local.0].is_empty() => {
                self.initialise(statement, *local, value);
            }
            StatementKind::Set { place, value } => self.set(statement, place, value),
            StatementKind::Transfer { source, .. } => {
                if let Some(to) = to {
                    self.transfer(statement, source, from, &to);
                }
            }
            StatementKind::Send { source, node } => self.send(statement, source, from, *node),
            StatementKind::Destroy { source } => self.destroy(statement, source, from),
            StatementKind::Dispatch { slot } => {
                let thread = match held {
                    Some((filled, local)) if filled == *slot => local,
                    _ => self.container(*slot),
                };
                self.from(statement, &format!("return {thread};"));
            }
            StatementKind::If { .. } => {
                self.before_branches(statement);
                let filled = self.filled_last(statement);
                self.branch(statement, "");
                self.line("}");
                self.held = filled.and_then(|filled| self.after_branches(filled));
            }
            StatementKind::Foreach { cursor, container, body } => {
                let start = self.text.len();
                let seen = std::mem::replace(&mut self.used, vec![false; self.handler.locals.len()]);
                self.foreach(statement, *cursor, container, body);
                self.apart(statement, container, body, start);
                self.used.iter_mut().zip(seen).for_each(|(used, seen)| *used |= seen);
            }
            StatementKind::Link { thread, link, to } => {
                let (link, to) = (self.link(*thread, *link), self.referent(to));
                self.from(statement, &format!("{}(&{link}, {to});", self.names.link));
            }
            StatementKind::Follow { cursor, thread, link, body } => {
                self.follow(statement, *cursor, (*thread, *link), body);
            }
            StatementKind::Loop { condition, test, body, step } => {
                self.repetition(statement, "", condition, *test, body, step);
            }
            StatementKind::Return { value: Some(value) } => {
                let value = expression(self, value);
                self.from(statement, &format!("return {value};"));
            }
            StatementKind::Verbatim { text, .. } => {
                let lines = verbatim::statement(self, text);
                self.from(statement, "{");
                // A string that continues on the next line would grow.
                let continued = lines.iter().any(|line| line.ends_with('\\'));
                let depth = self.depth;
                self.depth = if continued { 0 } else { depth + 1 };
                lines.iter().for_each(|line| self.line(line));
                self.depth = depth;
                self.line("}");
            }
            StatementKind::Return { value: None } => {
                let line = self.returning();
                self.from(statement, line);
            }
            StatementKind::Leave { what } => self.leave(statement, *what),
            StatementKind::Fail { reason } => match reason.constant() {
                Some(text) => self.stop(statement, "refusal", "FAIL", text),
                None => self.tell(statement, reason),
            },
        }
    }

    /// The first assignment to a value declares it.
    fn initialise(&mut self, statement: &Statement, local: LocalId, value: &Expression) {
        let LocalKind::Value(ty) = self.handler.locals[local.0].kind else { return };
        let value = expression(self, value);
        let value = self.may_count(ty, value);
        let name = self.declare(local);
        self.from(statement, &format!("{} {name} = {value};", super::type_name(ty)));
        if !values::read_in(&self.handler.body, local) {
            self.line(&format!("(void){name};"));
        }
    }

    /// A number from which a loop may count. A verifier that knew it would follow each turn.
    pub(super) fn may_count(&self, ty: Type, value: String) -> String {
        match ty {
            Type::Int | Type::Time if has_loop(&self.handler.body) => self.names.host.counted(&value),
            Type::Int | Type::Time | Type::Bool | Type::Float => value,
        }
    }

    /// Leaves the handler with a stop, a constant of this name where it is no number.
    fn stop(&mut self, statement: &Statement, name: &str, why: &'static str, text: &str) {
        let (line, host) = (statement.at.line, self.names.host);
        let stop = match host.memory {
            Memory::Own => {
                let text = host.contract.text(text);
                self.line(&format!(
                    "static const struct catapults_stop {name} = {{CATAPULTS_STOP_{why}, {line}, {text}}};"
                ));
                format!("&{name}")
            }
            Memory::Arena => self.names.stop(why, line, text).to_string(),
        };
        self.leave_with(statement, &stop);
    }

    /// Leaves the handler with a stop that has values.
    fn tell(&mut self, statement: &Statement, reason: &Reason) {
        let told = self.shared_member(&self.names.told);
        if self.names.host.memory == Memory::Arena {
            for (index, (value, _)) in reason.values.iter().enumerate() {
                let value = expression(self, value);
                self.line(&format!("{told}[{index}] = {value};"));
            }
            let stop = self.names.stop("FAIL", statement.at.line, &marked(reason));
            return self.leave_with(statement, &stop.to_string());
        }
        self.line(&format!("catapults_tell(&{told}, {});", statement.at.line));
        let mut texts = reason.texts.iter();
        let mut text = |body: &mut Self| {
            if let Some(text) = texts.next().filter(|text| !text.is_empty()) {
                body.line(&format!("catapults_tell_text(&{told}, {});", string(text)));
            }
        };
        text(self);
        for (value, ty) in &reason.values {
            let value = expression(self, value);
            self.line(&format!("catapults_tell_{}(&{told}, {value});", ty.word()));
            text(self);
        }
        self.leave_with(statement, &format!("&{told}.stop"));
    }

    fn leave_with(&mut self, statement: &Statement, stop: &str) {
        self.uses_stop = true;
        match self.shape {
            Shape::Event | Shape::Query => self.from(statement, &format!("return {stop};")),
            Shape::Dispatch => {
                self.line(&format!("*stop = {stop};"));
                self.from(statement, "return NULL;");
            }
        }
    }

    /// Where a statement takes a thread from, and where it moves it.
    fn sites(&mut self, statement: &Statement) -> (Option<Site>, Option<Site>) {
        let taken = |body: &mut Self, source: &Source| match source {
            Source::Container(container) => Some(body.site(container, "from")),
            Source::Thread(_) => None,
        };
        match &statement.kind {
            StatementKind::Transfer { source, destination } => {
                let from = taken(self, source);
                (from, Some(self.site(destination, "to")))
            }
            StatementKind::Destroy { source } | StatementKind::Send { source, .. } => (taken(self, source), None),
            StatementKind::Dispatch { slot } => (Some(self.site(&ContainerRef::One(*slot), "from")), None),
            StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::If { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Return { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => (None, None),
        }
    }

    fn guards(&mut self, statement: &Statement, from: Option<&Site>, to: Option<&Site>) {
        let verified = self.verified;
        for guard in &verified.facts(statement.id).guards {
            let heads = self.heads.get_or_init(|| Heads::of(self.policy, self.handler));
            let text = verified.guard_text(heads, statement, guard);
            let failed = match (guard, from, to) {
                (Guard::Holds(_), Some(from), _) => {
                    self.names.host.contract.empty(&self.policy.containers[from.id.0].kind, &from.member)
                }
                (Guard::Vacant(_), _, Some(to)) => format!("{} != NULL", to.member),
                (Guard::Holds(_), None, _) | (Guard::Vacant(_), _, None) => continue,
            };
            self.line(&format!("if (CATAPULTS_UNLIKELY({failed})) {{"));
            self.depth += 1;
            self.stop(statement, "guard", "GUARD", &text);
            self.depth -= 1;
            self.line("}");
        }
    }

    fn branch(&mut self, statement: &Statement, before: &str) {
        let StatementKind::If { condition, then, otherwise } = &statement.kind else { return };
        let condition = expression(self, condition);
        self.from(statement, &format!("{before}if ({condition}) {{"));
        self.nested(then);
        match otherwise.as_slice() {
            [] => {}
            [only] if matches!(only.kind, StatementKind::If { .. }) => self.branch(only, "} else "),
            _ => {
                self.line("} else {");
                self.nested(otherwise);
            }
        }
    }
}
