//! The body of one handler.

use super::expression::{container, expression, place, referent, thread};
use super::names::{Names, Scope};
use super::{Unit, escaped, string};
use crate::emit::shape::Shape;
use crate::policy::text::Heads;
use crate::policy::{
    Block, ContainerId, ContainerRef, Expression, Handler, Leave, LocalId, LocalKind, Place, Policy, Reason, Source,
    Statement, StatementKind, Test, Type, UnaryOperator,
};
use crate::verify::{Guard, Verified};
use std::collections::BTreeSet;

/// A body that is being translated.
pub(super) struct Body<'a> {
    pub policy: &'a Policy,
    pub names: &'a Names,
    verified: &'a Verified<Policy>,
    handler: &'a Handler,
    shape: Shape,
    /// By local: its name.
    locals: Vec<String>,
    heads: Heads,
    /// What is imported for it.
    helpers: BTreeSet<&'static str>,
    /// For each enclosing loop, the innermost last: what must be done before its next turn.
    turns: Vec<Turn>,
    scope: Scope,
    depth: usize,
    text: String,
}

/// What Python does not do itself before the next turn of a loop.
#[derive(Clone, Default)]
struct Turn {
    /// The last part of a `for`.
    step: Block,
    /// Of a loop that tests last: its condition.
    until: Option<Expression>,
}

/// The parameters of a handler, and its statements, indented twice.
pub(super) fn body(unit: &mut Unit, handler: &Handler, shape: Shape) -> (Vec<String>, String) {
    let mut body = Body {
        policy: unit.policy,
        names: &unit.names,
        verified: unit.verified,
        handler,
        shape,
        locals: vec![String::new(); handler.locals.len()],
        heads: Heads::of(unit.policy, handler),
        helpers: BTreeSet::new(),
        turns: Vec::new(),
        scope: unit.names.file.clone(),
        depth: 2,
        text: String::new(),
    };
    for (index, local) in handler.locals.iter().enumerate() {
        let named = index < handler.parameters || matches!(local.kind, LocalKind::Value(_));
        if named {
            body.locals[index] = body.scope.take(&local.name);
        }
    }
    body.block(&handler.body);
    if shape == Shape::Dispatch && !ends(&handler.body) {
        body.line("return None");
    } else if body.text.is_empty() {
        body.line("pass");
    }
    let parameters = body.locals[..handler.parameters].to_vec();
    let (helpers, text) = (body.helpers, body.text);
    unit.helpers.extend(helpers);
    (parameters, text)
}

/// Whether control never reaches the end of a block.
fn ends(block: &Block) -> bool {
    block.last().is_some_and(|statement| match &statement.kind {
        StatementKind::If { then, otherwise, .. } => ends(then) && ends(otherwise),
        StatementKind::Set { .. }
        | StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::Return { .. }
        | StatementKind::Fail { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Verbatim { .. }
        | StatementKind::Loop { .. } => statement.ends(),
    })
}

impl Body<'_> {
    /// A name that is imported.
    pub(super) fn help(&mut self, helper: &'static str) {
        self.helpers.insert(helper);
    }

    /// A local's name.
    pub(super) fn local(&self, id: LocalId) -> String {
        self.locals[id.0].clone()
    }

    /// A member of what all nodes share; without nodes, of the one scheduler.
    pub(super) fn shared(&self, name: &str) -> String {
        let within = if self.policy.has_nodes() && !self.handler.global { "self.nodes" } else { "self" };
        format!("{within}.{name}")
    }

    /// An array of containers.
    pub(super) fn array(&self, first: ContainerId) -> String {
        format!("self.{}", self.names.containers[first.0])
    }

    /// A container that is known before run time.
    pub(super) fn container(&self, id: ContainerId) -> String {
        let element = self.policy.containers[id.0].element;
        element.map_or(self.array(id), |element| format!("{}[{}]", self.array(id), element.index))
    }

    /// The type of an expression. Every expression of a policy has one.
    pub(super) fn type_of(&self, expression: &Expression) -> Type {
        self.policy.type_of(&self.handler.locals, expression).unwrap_or(Type::Int)
    }

    /// How wide a number is.
    pub(super) fn bits(&self, ty: Type) -> u8 {
        match ty {
            Type::Int => self.policy.int_bits,
            Type::Time => 64,
            Type::Bool | Type::Float => 0,
        }
    }

    /// The function that keeps a number at the width of its type.
    pub(super) fn wrap(&mut self, ty: Type) -> &'static str {
        let wrap = match self.bits(ty) {
            16 => "int16",
            32 => "int32",
            _ => "int64",
        };
        self.help(wrap);
        wrap
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(&"    ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A line that comes from a statement, and says so.
    fn from(&mut self, statement: &Statement, line: &str) {
        let origin = match statement.at.line {
            0 => "default".to_owned(),
            _ => self.policy.place(statement.at).replace(char::is_control, " "),
        };
        self.line(&format!("{line}  # {origin}"));
    }

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn nested(&mut self, block: &Block) {
        self.depth += 1;
        let before = self.text.len();
        self.block(block);
        if self.text.len() == before {
            self.line("pass");
        }
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        self.guards(statement);
        match &statement.kind {
            StatementKind::Set { place, value } => self.set(statement, place, value),
            StatementKind::Link { thread, link, to } => {
                let (thread, to) = (self::thread(self, *thread), referent(self, to));
                let link = string(&self.names.links[link.0]);
                self.from(statement, &format!("{thread}.link({link}, {to})"));
            }
            StatementKind::Transfer { source, destination } => {
                let destination = container(self, destination);
                let source = self.source(source);
                self.from(statement, &format!("{destination}.put({source})"));
            }
            StatementKind::Send { source, node } => {
                let (send, source) = (self.shared("send"), self.source(source));
                let node = thread(self, *node);
                self.from(statement, &format!("{send}({source}, {node})"));
            }
            StatementKind::Destroy { source } => {
                let source = self.source(source);
                self.from(statement, &format!("{source}.destroy()"));
            }
            StatementKind::Dispatch { slot } => {
                let slot = self.container(*slot);
                self.from(statement, &format!("return {slot}.first"));
            }
            StatementKind::If { .. } => self.branch(statement, "if"),
            StatementKind::Foreach { cursor, container, body } => {
                let visited = match container {
                    ContainerRef::Whole { first, .. } => {
                        self.help("every");
                        format!("every({})", self.array(*first))
                    }
                    ContainerRef::One(_) | ContainerRef::Element { .. } => self::container(self, container),
                };
                self.visit(statement, *cursor, &visited, body);
            }
            StatementKind::Follow { cursor, thread, link, body } => {
                self.help("named");
                let thread = self::thread(self, *thread);
                let visited = format!("named({thread}.{})", self.names.links[link.0]);
                self.visit(statement, *cursor, &visited, body);
            }
            StatementKind::Loop { condition, test, body, step } => {
                self.repetition(statement, condition, *test, body, step);
            }
            StatementKind::Return { value: Some(value) } => {
                let value = expression(self, value);
                self.from(statement, &format!("return {value}"));
            }
            StatementKind::Return { value: None } => {
                let line = if self.shape == Shape::Dispatch { "return None" } else { "return" };
                self.from(statement, line);
            }
            StatementKind::Leave { what } => self.leave(statement, *what),
            StatementKind::Fail { reason } => {
                self.help("Refused");
                let (line, reason) = (self.policy.line(statement), self.reason(reason));
                self.from(statement, &format!("raise Refused({line}, {reason})"));
            }
            // No policy with text in another language gets here, unless the text has a meaning of its own.
            StatementKind::Verbatim { otherwise, .. } => otherwise.iter().for_each(|block| self.block(block)),
        }
    }

    /// The thread that leaves its container.
    fn source(&mut self, source: &Source) -> String {
        match source {
            Source::Container(from) => format!("{}.first", container(self, from)),
            Source::Thread(local) => self.local(*local),
        }
    }

    fn set(&mut self, statement: &Statement, place: &Place, value: &Expression) {
        let (assigned, value) = (self::place(self, place), expression(self, value));
        self.from(statement, &format!("{assigned} = {value}"));
        let (Place::Attribute(thread, attribute), false) = (place, self.verified.facts(statement.id).refile.is_empty())
        else {
            return;
        };
        // Where it is sorted by what has changed, it comes anew.
        let (thread, key) = (self::thread(self, *thread), string(&self.names.attributes[attribute.0]));
        self.line(&format!("{thread}.refile({key})"));
    }

    /// Evaluates the guards that are left.
    fn guards(&mut self, statement: &Statement) {
        let verified = self.verified;
        for guard in &verified.facts(statement.id).guards {
            let failed = match guard {
                Guard::Holds(ContainerRef::Whole { first, .. }) => format!("not any(map(len, {}))", self.array(*first)),
                Guard::Holds(held) => format!("not {}", container(self, held)),
                Guard::Vacant(vacant) => container(self, vacant),
            };
            let text = string(&verified.guard_text(&self.heads, statement, guard));
            self.help("Guard");
            self.line(&format!("if {failed}:"));
            self.line(&format!("    raise Guard({}, {text})", self.policy.line(statement)));
        }
    }

    fn branch(&mut self, statement: &Statement, word: &str) {
        let StatementKind::If { condition, then, otherwise } = &statement.kind else { return };
        let condition = expression(self, condition);
        self.from(statement, &format!("{word} {condition}:"));
        self.nested(then);
        match otherwise.as_slice() {
            [] => {}
            [only] if matches!(only.kind, StatementKind::If { .. }) => self.branch(only, "elif"),
            _ => {
                self.line("else:");
                self.nested(otherwise);
            }
        }
    }

    /// Runs the body for each of several threads. The name of the cursor is free again after it.
    fn visit(&mut self, statement: &Statement, cursor: LocalId, visited: &str, body: &Block) {
        let scope = self.scope.clone();
        self.locals[cursor.0] = self.scope.take(&self.handler.locals[cursor.0].name);
        self.from(statement, &format!("for {} in {visited}:", self.locals[cursor.0]));
        self.in_turns(body, Turn::default());
        self.scope = scope;
    }

    fn repetition(&mut self, statement: &Statement, condition: &Expression, test: Test, body: &Block, step: &Block) {
        let until = match test {
            Test::Before => {
                let condition = expression(self, condition);
                self.from(statement, &format!("while {condition}:"));
                None
            }
            Test::After => {
                self.line("while True:");
                Some(condition.clone())
            }
        };
        let turn = Turn { step: step.clone(), until };
        self.in_turns(body, turn.clone());
        self.depth += 1;
        self.next_turn(&turn);
        self.depth -= 1;
    }

    fn in_turns(&mut self, body: &Block, turn: Turn) {
        self.turns.push(turn);
        self.nested(body);
        self.turns.pop();
    }

    /// What comes between two turns of a loop.
    fn next_turn(&mut self, turn: &Turn) {
        self.block(&turn.step);
        if let Some(until) = &turn.until {
            let until = expression(self, &Expression::Unary(UnaryOperator::Not, Box::new(until.clone())));
            self.line(&format!("if {until}:"));
            self.line("    break");
        }
    }

    fn leave(&mut self, statement: &Statement, what: Leave) {
        if what == Leave::Turn {
            let turn = self.turns.last().cloned().unwrap_or_default();
            self.next_turn(&turn);
        }
        self.from(statement, what.word());
    }

    /// Why a request is refused.
    fn reason(&mut self, reason: &Reason) -> String {
        if let Some(text) = reason.constant() {
            return string(text);
        }
        let mut texts = reason.texts.iter().map(|text| escaped(text).replace('{', "{{").replace('}', "}}"));
        let mut whole = texts.next().unwrap_or_default();
        for (value, ty) in &reason.values {
            let value = expression(self, value);
            let told = match ty {
                Type::Int | Type::Float => value,
                Type::Time => {
                    self.help("told_time");
                    format!("told_time({value})")
                }
                Type::Bool => {
                    self.help("told_bool");
                    format!("told_bool({value})")
                }
            };
            whole.push_str(&format!("{{{told}}}{}", texts.next().unwrap_or_default()));
        }
        format!("f\"{whole}\"")
    }
}
