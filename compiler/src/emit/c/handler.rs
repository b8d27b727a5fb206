//! The body of one handler.

use std::cell::OnceCell;

use super::arrays::{self, Group, Helper, Helpers, Site};
use super::economy::{self, Shared};
use super::expression::expression;
use super::names::{Names, Scope};
use super::{Style, values, verbatim};
use crate::policy::text::Heads;
use crate::policy::{
    AttributeId, BinaryOperator, Block, ContainerId, ContainerKind, ContainerRef, Expression, Handler, LocalId,
    LocalKind, Place, Policy, Source, Statement, StatementId, StatementKind, Test, Thread,
};
use crate::verify::{Guard, Verified};

/// What a handler returns to its host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// An event: a stop, or NULL.
    Event,
    /// An event that may dispatch: the thread to run or NULL, and the stop through a pointer.
    Dispatch,
    /// A query: its answer.
    Query,
}

/// A body under translation, and what it has turned out to need.
pub(super) struct Body<'a> {
    pub verified: &'a Verified<Policy>,
    pub policy: &'a Policy,
    pub names: &'a Names,
    pub handler: &'a Handler,
    pub shape: Shape,
    /// The source file's name, for comments.
    source: &'a str,
    /// By local: its name where it is in scope.
    pub(super) locals: Vec<String>,
    /// Its statements as the source has them, once one is to be quoted.
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
    /// The functions over all elements of an array that are called.
    pub helpers: Helpers,
    /// What is written once for several statements.
    pub(super) shared: Shared,
    pub(super) scope: Scope,
    pub(super) depth: usize,
    pub(super) text: String,
}

/// Translates the statements; `text` of the result is what stands between the braces, indented once.
pub(super) fn body<'a>(
    verified: &'a Verified<Policy>,
    names: &'a Names,
    source: &'a str,
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
        source,
        locals: vec![String::new(); handler.locals.len()],
        heads: OnceCell::new(),
        used: vec![false; handler.locals.len()],
        uses_self: false,
        uses_stop: false,
        can_stop: can_stop(verified, &handler.body),
        uses_take: false,
        helpers: Helpers::new(),
        shared: Shared::default(),
        scope,
        depth: 1,
        text: String::new(),
    };
    for parameter in 0..handler.parameters {
        body.declare(LocalId(parameter));
    }
    body.block(&handler.body);
    if shape != Shape::Query && !ends(&handler.body) && body.returning() != "return;" {
        body.line("return NULL;");
    }
    body
}

/// Whether a statement can stop the handler.
pub(super) fn can_stop(verified: &Verified<Policy>, block: &Block) -> bool {
    block.iter().any(|statement| {
        matches!(statement.kind, StatementKind::Fail { .. })
            || !verified.facts(statement.id).guards.is_empty()
            || statement.blocks().any(|inner| can_stop(verified, inner))
    })
}

/// Whether control never reaches the end.
fn ends(block: &Block) -> bool {
    block.last().is_some_and(|statement| match &statement.kind {
        StatementKind::Dispatch { .. } | StatementKind::Return { .. } | StatementKind::Fail { .. } => true,
        StatementKind::If { then, otherwise, .. } => ends(then) && ends(otherwise),
        StatementKind::Set { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Foreach { .. }
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
        format!("{}{name}", self.names.style.of_self())
    }

    /// A container.
    pub(super) fn container(&mut self, id: ContainerId) -> String {
        self.member(&self.names.containers[id.0])
    }

    /// Whether the function has no means of saying that it stopped: an event of an embedded host that cannot.
    pub(super) fn is_silent(&self) -> bool {
        self.embedded() && self.shape != Shape::Query && !self.can_stop
    }

    /// The end of a handler before its end.
    fn returning(&self) -> &'static str {
        if self.is_silent() && self.shape == Shape::Event { "return;" } else { "return NULL;" }
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
            line => format!("{}:{line}", self.source),
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

    /// Declares the values that belong to this block: mentioned in several of its statements, and not first by an assignment of
    /// the block itself, which declares what it assigns.
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
                self.line(&format!("{} {name} = {};", super::type_name(ty), super::zero(ty)));
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
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
            StatementKind::Destroy { source } => self.destroy(statement, source, from),
            StatementKind::Dispatch { slot } => {
                let slot = self.container(*slot);
                self.from(statement, &format!("return {slot};"));
            }
            StatementKind::If { .. } => {
                self.before_branches(statement);
                let filled = self.filled_last(statement);
                self.branch(statement, "");
                self.line("}");
                if let Some(slot) = filled {
                    self.after_branches(slot);
                }
            }
            StatementKind::Foreach { cursor, container, body } => {
                let start = self.text.len();
                let seen = std::mem::replace(&mut self.used, vec![false; self.handler.locals.len()]);
                self.foreach(statement, *cursor, container, body);
                self.apart(statement, container, body, start);
                self.used.iter_mut().zip(seen).for_each(|(used, seen)| *used |= seen);
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
                // A string that goes on in the next line would grow.
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
            StatementKind::Fail { reason } => {
                self.line(&format!(
                    "static const struct catapults_stop refusal = {{CATAPULTS_STOP_FAIL, {}, {}}};",
                    statement.at.line,
                    self.names.style.text(reason)
                ));
                self.stop(statement, "refusal");
            }
        }
    }

    /// The first assignment to a value declares it.
    fn initialise(&mut self, statement: &Statement, local: LocalId, value: &Expression) {
        let LocalKind::Value(ty) = self.handler.locals[local.0].kind else { return };
        let value = expression(self, value);
        let name = self.declare(local);
        self.from(statement, &format!("{} {name} = {value};", super::type_name(ty)));
        if !values::read_in(&self.handler.body, local) {
            self.line(&format!("(void){name};"));
        }
    }

    /// Leaves the handler with a stop.
    fn stop(&mut self, statement: &Statement, name: &str) {
        self.uses_stop = true;
        match self.shape {
            Shape::Event | Shape::Query => self.from(statement, &format!("return &{name};")),
            Shape::Dispatch => {
                self.line(&format!("*stop = &{name};"));
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
            StatementKind::Destroy { source } => (taken(self, source), None),
            StatementKind::Dispatch { slot } => (Some(self.site(&ContainerRef::One(*slot), "from")), None),
            StatementKind::Set { .. }
            | StatementKind::If { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Return { .. }
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
                    arrays::empty(self.names.style, &self.policy.containers[from.id.0].kind, &from.member)
                }
                (Guard::Vacant(_), _, Some(to)) => format!("{} != NULL", to.member),
                (Guard::Holds(_), None, _) | (Guard::Vacant(_), _, None) => continue,
            };
            self.line(&format!("if (CATAPULTS_UNLIKELY({failed})) {{"));
            self.depth += 1;
            self.line(&format!(
                "static const struct catapults_stop guard = {{CATAPULTS_STOP_GUARD, {}, {}}};",
                statement.at.line,
                self.names.style.text(&text)
            ));
            self.stop(statement, "guard");
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

    fn set(&mut self, statement: &Statement, place: &Place, value: &Expression) {
        let line = self.assignment(place, value);
        self.from(statement, &line);
        if let Place::Attribute(thread, _) = place {
            self.refile(statement.id, *thread);
        }
    }

    fn assignment(&mut self, place: &Place, value: &Expression) -> String {
        let target = self.target(place);
        match place {
            Place::Attribute(thread, id) if self.is_timer(*id) => {
                let value = expression(self, value);
                let thread = self.thread(*thread);
                self.arm(&thread, *id, &value)
            }
            Place::Import(_) | Place::ThreadImport(..) if !self.embedded() => {
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
                    let value = expression(self, value);
                    format!("{target} = {value};")
                }
            },
        }
    }

    fn arm(&mut self, thread: &str, timer: AttributeId, instant: &str) -> String {
        let timers = self.member(&self.names.timers);
        let member = &self.names.attributes[timer.0];
        format!("catapults_timers_set(&{timers}, &{}({thread})->{member}, {instant});", self.names.thread)
    }

    /// What is assigned; being assigned is not being read.
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
        // What would be no number is 0: C's `+=` knows nothing of that.
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
            let member = self.member(&group.member(self.names, &thread));
            let ties = super::ties_at_entry(self.names.style, &self.policy.containers[group.id().0].kind);
            self.line(&format!("if ({holds})"));
            self.line(&format!("    catapults_sorted_refile(&{member}, {thread}, {number}, {order}{ties});"));
        }
    }

    fn transfer(&mut self, statement: &Statement, source: &Source, from: Option<Site>, to: &Site) {
        let thread = self.taken(statement, source, from);
        let Site { member, number, id: destination } = to;
        let entrance = self.names.entrances.get(destination);
        let put = match entrance {
            Some(function) => format!("{function}({thread});"),
            None if self.shared.is_unwritten(statement.id) => format!("{member} = {thread};"),
            None => economy::put(self.policy, self.names, *destination, member, &thread, number),
        };
        self.from(statement, &put);
    }

    /// The thread of a transfer or destruction, out of where it was.
    fn taken(&mut self, statement: &Statement, source: &Source, from: Option<Site>) -> String {
        match (source, from) {
            (Source::Container(_), Some(from)) => self.pop(&from),
            (Source::Container(_), None) => String::new(),
            (Source::Thread(local), _) => {
                self.remove(statement.id, *local);
                self.local(*local)
            }
        }
    }

    fn destroy(&mut self, statement: &Statement, source: &Source, from: Option<Site>) {
        let thread = self.taken(statement, source, from);
        let timers: Vec<AttributeId> =
            (0..self.policy.attributes.len()).map(AttributeId).filter(|id| self.is_timer(*id)).collect();
        if timers.is_empty() {
            return self.from(statement, &format!("{thread}->container = 0;"));
        }
        // Its record may be used anew: no timer is to find it.
        let scope = self.scope.clone();
        let gone = self.scope.take("gone");
        self.from(statement, "{");
        self.depth += 1;
        self.line(&format!("struct catapults_thread *{gone} = {thread};"));
        self.line(&format!("{gone}->container = 0;"));
        for timer in timers {
            let disarmed = self.arm(&gone, timer, "0");
            self.line(&disarmed);
        }
        self.depth -= 1;
        self.line("}");
        self.scope = scope;
    }

    fn pop(&self, from: &Site) -> String {
        let member = &from.member;
        match &self.policy.containers[from.id.0].kind {
            ContainerKind::Threadref => format!("catapults_slot_take(&{member})"),
            kind @ (ContainerKind::Queue | ContainerKind::Stack) => {
                format!("catapults_{}_pop(&{member})", super::list(self.names.style, kind))
            }
            kind @ (ContainerKind::Pqueue(_) | ContainerKind::Pstack(_)) => {
                format!("catapults_sorted_pop(&{member}, {})", super::ties(kind))
            }
        }
    }

    /// Takes a named thread out of where it is, as far as that is known.
    fn remove(&mut self, statement: StatementId, local: LocalId) {
        let verified = self.verified;
        let thread = self.local(local);
        if self.shared.is_taken(statement) {
            return;
        }
        let facts = verified.facts(statement);
        match arrays::groups(self.policy, &facts.positions).as_slice() {
            [] => {}
            [only] => {
                let removal = self.removal(only, &thread);
                if facts.in_hand {
                    self.line(&format!("if ({})", only.holds(self.names, &thread)));
                    self.line(&format!("    {removal}"));
                } else {
                    self.line(&removal);
                }
            }
            [first, second] if !facts.in_hand => {
                let (one, other) = (self.removal(first, &thread), self.removal(second, &thread));
                self.line(&format!("if ({})", first.holds(self.names, &thread)));
                self.line(&format!("    {one}"));
                self.line("else");
                self.line(&format!("    {other}"));
            }
            [_, ..] => {
                self.uses_self = true;
                self.uses_take = true;
                let instance = if self.names.style == Style::Loaded { "self, " } else { "" };
                self.line(&format!("{}({instance}{thread});", self.names.take));
            }
        }
    }

    fn removal(&mut self, group: &Group, thread: &str) -> String {
        self.uses_self = true;
        super::removal(self.policy, self.names, group, thread)
    }

    /// Visits the threads that are in the container now, although the body may move the one visited, even back into it.
    fn foreach(&mut self, statement: &Statement, cursor: LocalId, container: &ContainerRef, block: &Block) {
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
        let pointer =
            if self.shape == Shape::Query { "const struct catapults_thread *" } else { "struct catapults_thread *" };
        let mut step = None;
        let head = match kind {
            ContainerKind::Threadref => {
                step = Some(format!("{pointer}{t} = {member};"));
                format!("if ({member} != NULL) {{")
            }
            // What is pushed comes before all that is left.
            ContainerKind::Queue | ContainerKind::Stack
                if self.moves(block) && self.embedded() && (*kind == ContainerKind::Stack || !puts(block, id)) =>
            {
                let next = self.scope.take("next");
                step = Some(format!("{next} = {t}->next;"));
                format!("for ({pointer}{t} = {member}.first, *{next}; {t} != NULL; {t} = {next}) {{")
            }
            ContainerKind::Queue | ContainerKind::Stack if self.moves(block) => {
                let (last, next) = (self.scope.take("last"), self.scope.take("next"));
                step = Some(format!("{next} = {t} == {last} ? NULL : {t}->next;"));
                format!(
                    "for ({pointer}{t} = {member}.first, *{last} = {member}.last, *{next}; {t} != NULL; {t} = {next}) {{"
                )
            }
            ContainerKind::Queue | ContainerKind::Stack => {
                format!("for ({pointer}{t} = {member}.first; {t} != NULL; {t} = {t}->next) {{")
            }
            ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) if self.moves(block) => {
                let next = self.scope.take("next");
                step = Some(format!("{next} = {t}->walk;"));
                let walk = format!("catapults_sorted_walk(&{member}, {})", super::ties(kind));
                format!("for ({pointer}{t} = {walk}, *{next}; {t} != NULL; {t} = {next}) {{")
            }
            ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => {
                let ties = super::ties(kind);
                let first = format!("catapults_sorted_first(&{member}, {ties})");
                format!(
                    "for ({pointer}{t} = {first}; {t} != NULL; {t} = catapults_sorted_next(&{member}, {t}, {ties})) {{"
                )
            }
        };
        self.from(statement, &head);
        self.depth += 1;
        if let Some(step) = step {
            self.line(&step);
        }
        self.depth -= 1;
        self.nested(block);
        if matches!(kind, ContainerKind::Threadref) && !self.used[cursor.0] {
            self.line(&format!("    (void){t};"));
        }
        self.line("}");
        (self.scope, self.locals) = (scope, locals);
    }

    /// The same for all elements of an array.
    fn foreach_element(&mut self, statement: &Statement, cursor: LocalId, container: &ContainerRef, block: &Block) {
        let (policy, length) = (self.policy, container.candidates().count());
        let Some(first) = container.candidates().next() else { return };
        let pointer =
            if self.shape == Shape::Query { "const struct catapults_thread *" } else { "struct catapults_thread *" };
        if self.moves(block) {
            let walk = self.help(Helper::Walk, container);
            let t = self.declare(cursor);
            let next = self.scope.take("next");
            self.from(statement, &format!("for ({pointer}{t} = {walk}, *{next}; {t} != NULL; {t} = {next}) {{"));
            self.line(&format!("    {next} = {t}->walk;"));
            self.nested(block);
            self.line("}");
            return;
        }
        let array = self.array(first);
        let (t, which) = (self.declare(cursor), self.scope.take("which"));
        self.from(statement, &format!("for (unsigned {which} = 0; {which} < {length}; {which}++) {{"));
        self.depth += 1;
        let head = arrays::visit(&policy.containers[first.0].kind, &format!("{array}[{which}]"), &t, pointer);
        self.line(&format!("{head} {{"));
        self.nested(block);
        self.line("}");
        self.depth -= 1;
        self.line("}");
    }

    /// `int i = 0;` and the `for` that alone mentions it, as one line of C; whether these statements are such.
    fn counted(&mut self, first: &Statement, looping: &Statement, after: &[Statement]) -> bool {
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
        let name = self.declare(*local);
        let start = format!("{} {name} = {value}", super::type_name(ty));
        self.repetition(looping, &start, condition, Test::Before, body, step);
        (self.scope, self.locals) = (scope, locals);
        true
    }

    /// A loop other than `foreach`.
    fn repetition(
        &mut self,
        statement: &Statement,
        start: &str,
        condition: &Expression,
        test: Test,
        body: &Block,
        step: &Block,
    ) {
        let condition = expression(self, condition);
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
        self.nested(body);
        if in_header.is_none() {
            self.nested(step);
        }
        if test == Test::After {
            self.from(statement, &format!("}} while ({condition});"));
        } else {
            self.line("}");
        }
    }

    /// The last part of a `for` as C has it: one assignment that is one expression.
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
    pub(super) fn moves(&self, block: &Block) -> bool {
        block.iter().any(|statement| match &statement.kind {
            StatementKind::Transfer { .. } | StatementKind::Destroy { .. } => true,
            StatementKind::Set { .. } => !self.verified.facts(statement.id).refile.is_empty(),
            StatementKind::If { then, otherwise, .. } => self.moves(then) || self.moves(otherwise),
            StatementKind::Foreach { body, .. } => self.moves(body),
            StatementKind::Loop { body, step, .. } => self.moves(body) || self.moves(step),
            StatementKind::Dispatch { .. }
            | StatementKind::Return { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Fail { .. } => false,
        })
    }
}

/// Whether a block can put a thread into a container.
fn puts(block: &Block, container: ContainerId) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StatementKind::Transfer { destination, .. } => destination.may_be(container),
        StatementKind::Set { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::If { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Loop { .. }
        | StatementKind::Verbatim { .. }
        | StatementKind::Return { .. }
        | StatementKind::Fail { .. } => statement.blocks().any(|inner| puts(inner, container)),
    })
}
