//! Statements: resolves names, expands shorthand, and allows each statement only where it makes sense.

use crate::diagnostics::Diagnostic;
use crate::policy::{
    BinaryOperator, Block, ContainerKind, ContainerRef, Entity, Expression, LocalId, Place, Reason, Source, Statement,
    StatementId, StatementKind, Thread,
};
use crate::syntax::ast::{self, Name, Reference};
use crate::syntax::parser::DEEPEST;
use crate::vocabulary::{At, Type, Value};

use super::expressions::{Lowering, Reach, builtin, converting};
use super::functions::{Answer, Calls};
use super::scope::Binding;
use super::shared;
use super::symbols::{Symbol, Wanted};

/// What a handler may do, by the events that it handles.
pub(super) struct Rights<'a> {
    /// The first of its events that does not dispatch.
    pub(super) no_dispatch: Option<&'a str>,
    /// The events of the framework that dispatch.
    pub(super) dispatching: Vec<&'a str>,
    /// The first of its events that may not fail.
    pub(super) no_fail: Option<&'a str>,
    /// `None` for an event, the type of the answer for a query.
    pub(super) returns: Option<Type>,
}

/// The bodies of one handler.
pub(super) struct Body<'a, 'b, 'c: 'a + 'b> {
    pub(super) lowering: Lowering<'a, 'b>,
    pub(super) rights: &'c Rights<'c>,
    /// The cursors of the open `foreach` loops, with their places.
    pub(super) loops: Vec<(LocalId, At)>,
    /// How many loops are open in this handler, or in the function that is being inlined.
    pub(super) turns: usize,
    pub(super) calls: Calls<'c>,
}

impl Body<'_, '_, '_> {
    /// The statements of a block, in a scope of their own. Those with errors are left out.
    pub(super) fn block(&mut self, block: &ast::Block) -> Block {
        let mut lowered = Block::new();
        if self.calls.depth > 2 * DEEPEST {
            let title =
                format!("with the functions that are called this is nested more than {} levels deep", 2 * DEEPEST);
            let diagnostic = Diagnostic::error("E0322", title, block.at, "one level too many");
            self.lowering.diagnostics.push(diagnostic.help("call fewer functions within functions"));
            return lowered;
        }
        self.calls.depth += 1;
        self.lowering.scope.open();
        for statement in &block.statements {
            self.statement(statement, &mut lowered);
        }
        self.lowering.scope.close();
        self.calls.depth -= 1;
        lowered
    }

    fn statement(&mut self, statement: &ast::Statement, block: &mut Block) {
        let kind = match &statement.kind {
            ast::StatementKind::Declare(variables) => {
                for variable in variables {
                    self.declaration(variable, block);
                }
                return;
            }
            ast::StatementKind::DeclareCursor(names) => {
                for name in names {
                    self.lowering.scope.declare_cursor(name, self.lowering.symbols, self.lowering.diagnostics);
                }
                return;
            }
            ast::StatementKind::Block(inner) => {
                block.extend(self.block(inner));
                return;
            }
            ast::StatementKind::Verbatim { alternatives, otherwise } => {
                self.verbatim(alternatives, otherwise.as_ref(), statement.at, block);
                return;
            }
            ast::StatementKind::Lost => return,
            ast::StatementKind::Transfer { source, destination } => {
                self.make_calls_of(source, block);
                self.make_calls_of(destination, block);
                self.transfer(source, destination, statement.at)
            }
            ast::StatementKind::Destroy(source) => {
                self.make_calls_of(source, block);
                self.destroy(source, statement.at)
            }
            ast::StatementKind::Dispatch(slot) => self.dispatch(slot, statement.at),
            ast::StatementKind::Assign { place, operator, value }
                if self.lowering.is_link(place)
                    || operator.is_none() && self.lowering.is_meant_as_link(place, value) =>
            {
                self.make_calls_in(place, block);
                self.linking(place, *operator, value)
            }
            ast::StatementKind::Assign {
                place,
                operator: None,
                value: ast::Expression { kind: ast::ExpressionKind::Call(call), at },
            } if builtin(&call.name.text).is_none() => {
                self.make_calls_in(place, block);
                let place = self.assignable(place);
                let ty = place.as_ref().map(|(_, ty)| *ty);
                if let Some(inlined) = self.prepared(call, ty, *at, block)
                    && let Some((place, _)) = place
                {
                    self.inline(inlined, Answer::Place(place), block);
                }
                return;
            }
            ast::StatementKind::Call(call) => {
                if let Some(inlined) = self.prepared(call, None, statement.at, block) {
                    self.inline(inlined, Answer::Nobody, block);
                }
                return;
            }
            ast::StatementKind::Return(Some(ast::Expression { kind: ast::ExpressionKind::Call(call), at }))
                if self.returns().is_some() && builtin(&call.name.text).is_none() =>
            {
                if let Some(inlined) = self.prepared(call, self.returns(), *at, block) {
                    self.inline(inlined, Answer::Caller, block);
                }
                return;
            }
            ast::StatementKind::Assign { place, operator, value } => {
                self.make_calls_in(place, block);
                self.make_calls(value, block);
                match self.assignment(place, *operator, value) {
                    Some(StatementKind::Set { place, value }) => {
                        Some(StatementKind::Set { place, value: self.drawn(value, block) })
                    }
                    other => other,
                }
            }
            ast::StatementKind::If { condition, then, otherwise } => {
                self.make_calls(condition, block);
                let condition = self.lowering.condition(condition);
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                condition.map(|condition| StatementKind::If { condition, then, otherwise })
            }
            ast::StatementKind::Foreach { cursor, container, body } => {
                self.make_calls_of(container, block);
                self.visit(cursor, container, body)
            }
            ast::StatementKind::Follow { cursor, thread, link, body } => {
                self.make_calls_of(thread, block);
                self.follow(cursor, thread, link, body)
            }
            ast::StatementKind::Loop { start, condition, test, body, step } => {
                self.lowering.scope.open();
                if let Some(start) = start {
                    self.statement(start, block);
                }
                let condition = match condition {
                    Some(condition) => self.lowering.condition(condition),
                    None => Some(Expression::Literal(Value::Bool(true))),
                };
                self.turns += 1;
                let body = self.block(body);
                self.turns -= 1;
                let mut stepped = Block::new();
                if let Some(step) = step {
                    self.statement(step, &mut stepped);
                }
                self.lowering.scope.close();
                condition.map(|condition| StatementKind::Loop { condition, test: *test, body, step: stepped })
            }
            ast::StatementKind::Return(value) => {
                if let Some(value) = value {
                    self.make_calls(value, block);
                }
                self.ending(value.as_ref(), statement.at)
            }
            ast::StatementKind::Leave(what) if self.turns > 0 => Some(StatementKind::Leave { what: *what }),
            ast::StatementKind::Leave(what) => {
                let title = format!("`{}` is not in a loop", what.word());
                let diagnostic = Diagnostic::error("E0332", title, statement.at, "nothing to leave");
                self.lowering.diagnostics.push(diagnostic.help("`return` leaves the handler or function"));
                None
            }
            ast::StatementKind::Fail(reason) => {
                let may = shared::may(self.lowering.symbols, "`fail`", statement.at, self.lowering.diagnostics);
                if may { self.failure(reason, statement.at, block) } else { None }
            }
        };
        block.extend(kind.map(|kind| at(statement.at, kind)));
    }

    /// A local variable holds its initialiser, or else 0 or `false`.
    fn declaration(&mut self, variable: &ast::Variable, block: &mut Block) {
        if let Some(ast::Expression { kind: ast::ExpressionKind::Call(call), at }) = &variable.initial
            && builtin(&call.name.text).is_none()
        {
            let inlined = self.prepared(call, Some(variable.ty), *at, block);
            let Lowering { scope, symbols, diagnostics, .. } = &mut self.lowering;
            let place = Place::Local(scope.declare_value(&variable.name, variable.ty, symbols, diagnostics));
            if let Some(inlined) = inlined {
                self.inline(inlined, Answer::Place(place), block);
            }
            return;
        }
        if let Some(expression) = &variable.initial {
            self.make_calls(expression, block);
        }
        let value = match &variable.initial {
            Some(expression) => self.lowering.of_type(expression, variable.ty),
            None => Some(Expression::Literal(Value::zero(variable.ty))),
        };
        let value = value.map(|value| self.drawn(value, block));
        let Lowering { scope, symbols, diagnostics, .. } = &mut self.lowering;
        let place = Place::Local(scope.declare_value(&variable.name, variable.ty, symbols, diagnostics));
        let end = variable.initial.as_ref().map_or(variable.name.at, |expression| expression.at);
        block.extend(value.map(|value| at(variable.name.at.to(end), StatementKind::Set { place, value })));
    }

    fn transfer(&mut self, source: &Reference, destination: &Reference, at: At) -> Option<StatementKind> {
        let source = self.source(source);
        if let Some(node) = self.node(source.as_ref(), destination) {
            let (source, node) = (source?, node?);
            self.only_the_visited(&source, at);
            return self.sent(source, node, at);
        }
        let target = self.lowering.reference(destination);
        let source = source?;
        self.only_the_visited(&source, at);
        let target = target?;
        let (moved, held) = (self.entity(&source), self.lowering.holds(&target));
        if moved != held {
            let title =
                format!("a {} cannot go to `{}`, which holds {}s", moved.word(), destination.name.text, held.word());
            let mixed = Diagnostic::error("E0330", title, destination.at, format!("holds {}s", held.word()));
            self.lowering.diagnostics.push(match moved {
                Entity::Thread => mixed.help("a thread goes to one node: `t => n;`, where `n` names the node"),
                Entity::Node => mixed.help("declare a collection for it: `nodes { queue all; }`"),
            });
            return None;
        }
        if matches!(target, ContainerRef::Whole { .. }) {
            let name = &destination.name.text;
            let title = format!("a thread cannot go to all elements of `{name}`");
            let diagnostic = Diagnostic::error("E0327", title, destination.at, "expected one element");
            self.lowering.diagnostics.push(diagnostic.help(format!("write which: `{name}[0]`")));
            return None;
        }
        self.none_into_held(&target, at);
        Some(StatementKind::Transfer { source, destination: target })
    }

    /// The node that a thread goes to, if the destination is a node. `Some(None)`: it is unknown which.
    fn node(&mut self, source: Option<&Source>, destination: &Reference) -> Option<Option<Thread>> {
        let thread = source.is_none_or(|source| self.entity(source) == Entity::Thread);
        let named = match self.lowering.scope.find(&destination.name.text) {
            Some(Binding::Thread(local)) => Thread::Local(local),
            Some(Binding::Held(slot)) => Thread::Slot(slot),
            Some(Binding::Value(..) | Binding::Cursor) => return None,
            None => {
                let Some((Symbol::Container(id), _)) = self.lowering.symbols.find(&destination.name.text) else {
                    return None;
                };
                let slot = self.lowering.policy.containers.get(id.0)?;
                let is_slot = slot.holds == Entity::Node && slot.kind == ContainerKind::Threadref;
                return (thread && is_slot).then(|| self.lowering.slot(destination).map(Thread::Slot));
            }
        };
        (self.lowering.entity(named) == Entity::Node)
            .then(|| if destination.index.is_some() { self.lowering.thread(destination) } else { Some(named) })
    }

    /// `t => n;`
    fn sent(&mut self, source: Source, node: Thread, at: At) -> Option<StatementKind> {
        if self.entity(&source) == Entity::Thread {
            return Some(StatementKind::Send { source, node });
        }
        let title = "a node cannot go to a node";
        let mixed = Diagnostic::error("E0330", title, at, "both are nodes");
        self.lowering.diagnostics.push(mixed.help("threads go to nodes; a node goes to a collection of `nodes { … }`"));
        None
    }

    /// Whether threads or nodes are moved.
    fn entity(&self, source: &Source) -> Entity {
        match source {
            Source::Thread(local) => self.lowering.scope.entity(*local),
            Source::Container(container) => self.lowering.holds(container),
        }
    }

    /// A function that was given a threadref moves no thread there, so that its parameter never names another thread:
    /// once the thread has left, the threadref is known to be empty.
    fn none_into_held(&mut self, target: &ContainerRef, at: At) {
        let Some(held) = self.calls.held.iter().rev().find(|held| target.may_be(held.slot)) else { return };
        let name = self.lowering.policy.containers.get(held.slot.0).map_or("", |slot| slot.name.as_str());
        let title = format!("no thread can go to `{name}` while a function names the thread in it");
        let diagnostic =
            Diagnostic::error("E0324", title, at, format!("`{}` would name another thread", held.parameter))
                .related(held.at, "called here")
                .help(format!("name the thread itself: `foreach t in {name} {{ … }}`"));
        self.lowering.diagnostics.push(diagnostic);
    }

    fn destroy(&mut self, source: &Reference, at: At) -> Option<StatementKind> {
        let source = self.source(source)?;
        self.only_the_visited(&source, at);
        Some(StatementKind::Destroy { source })
    }

    /// The source of a transfer. A thread is found wherever it is.
    fn source(&mut self, reference: &Reference) -> Option<Source> {
        let name = &reference.name;
        match self.lowering.scope.find(&name.text) {
            Some(Binding::Thread(id)) if reference.index.is_none() => Some(Source::Thread(id)),
            Some(Binding::Held(slot)) if reference.index.is_none() => Some(Source::Container(slot.into())),
            Some(Binding::Thread(_) | Binding::Held(_) | Binding::Value(..) | Binding::Cursor) => {
                self.lowering.reference(reference).map(Source::Container)
            }
            None if self.lowering.symbols.find(&name.text).is_some() => {
                self.lowering.reference(reference).map(Source::Container)
            }
            None => {
                let fits = |symbol| matches!(symbol, Symbol::Container(_));
                let Lowering { scope, symbols, diagnostics, .. } = &mut self.lowering;
                symbols.unknown(name, Wanted::ThreadOrContainer, Some(scope), fits, diagnostics);
                None
            }
        }
    }

    /// Within `foreach t in c` only `t` moves, so that the threads still to be visited stay where they are.
    fn only_the_visited(&mut self, source: &Source, at: At) {
        // A thread can move while nodes are visited.
        let moved = self.entity(source);
        let mut loops = self.loops.iter().copied().filter(|(cursor, _)| self.lowering.scope.entity(*cursor) == moved);
        let Some((cursor, loop_at)) = loops.next() else {
            return;
        };
        if loops.next().is_none() && *source == Source::Thread(cursor) {
            return;
        }
        let visited = self.lowering.scope.locals.get(cursor.0).map_or("", |local| local.name.as_str());
        let title = format!("within this `foreach` only `{visited}` can be moved or destroyed");
        let what = moved.word();
        let mut diagnostic = Diagnostic::error("E0316", title, at, format!("moves another {what}"));
        // If the function itself has the loop, the call does not matter.
        if let Some((call, 1..)) = self.calls.from {
            diagnostic = diagnostic.related(call, "called here");
        }
        let diagnostic = diagnostic
            .related(loop_at, format!("visits each {what} as `{visited}`"))
            .note(format!("a {what} that moves while others are visited could be visited twice or never"));
        self.lowering.diagnostics.push(diagnostic.help("move the others before or after the loop"));
    }

    fn dispatch(&mut self, reference: &Reference, at: At) -> Option<StatementKind> {
        let name = &reference.name;
        if let Some(event) = self.rights.no_dispatch {
            let note = match self.rights.dispatching.as_slice() {
                [] => "no event of this framework dispatches".to_owned(),
                some => format!("events that dispatch: {}", list(some)),
            };
            let title = format!("`{event}` cannot dispatch a thread");
            let diagnostic = Diagnostic::error("E0314", title, at, "not in this handler").note(note);
            self.lowering.diagnostics.push(
                diagnostic.help("move the thread to a container from which the handler of such an event takes it"),
            );
            return None;
        }
        if let Some(Binding::Thread(_) | Binding::Held(_)) = self.lowering.scope.find(&name.text) {
            let title = "only a threadref can be dispatched";
            let help = format!("move the thread there first: `{} => current; dispatch current;`", name.text);
            self.lowering
                .diagnostics
                .push(Diagnostic::error("E0314", title, name.at, "a thread, not a threadref").help(help));
            return None;
        }
        let slot = self.lowering.container(name)?;
        let container = self.lowering.policy.containers.get(slot.0)?;
        if container.holds == Entity::Node {
            let title = "only a threadref can be dispatched";
            let node = Diagnostic::error("E0314", title, name.at, "a node, not a threadref");
            self.lowering.diagnostics.push(node.help("a thread is sent to a node with `t => n;`"));
            return None;
        }
        if container.kind == ContainerKind::Threadref {
            return Some(StatementKind::Dispatch { slot: self.lowering.slot(reference)? });
        }
        let diagnostic =
            Diagnostic::error("E0314", "only a threadref can be dispatched", name.at, "holds any number of threads")
                .related(container.at, "declared here");
        let help = format!("move a thread to a threadref first: `{} => current; dispatch current;`", name.text);
        self.lowering.diagnostics.push(diagnostic.help(help));
        None
    }

    fn assignment(
        &mut self,
        place: &ast::Place,
        operator: Option<BinaryOperator>,
        value: &ast::Expression,
    ) -> Option<StatementKind> {
        let moved = matches!(&value.kind, ast::ExpressionKind::Place(ast::Place::Name(name)) if self.is_moved(name))
            || self.lowering.is_none(value);
        let Some((place, ty)) = self.assignable(place) else {
            // The value's errors are reported too, unless it names what was to be moved.
            if !moved {
                self.lowering.expression(value);
            }
            return None;
        };
        let Some(operator) = operator else {
            return Some(StatementKind::Set { place, value: self.lowering.of_type(value, ty)? });
        };
        if ty == Type::Bool {
            let title = "expected a variable of type `int`, found one of type `bool`";
            self.lowering.diagnostics.push(
                Diagnostic::error("E0303", title, value.at, "cannot be added to a `bool`")
                    .help("assign `true` or `false`"),
            );
            return None;
        }
        let (right, of_right) = self.lowering.expression(value)?;
        let made = self.lowering.joined(operator, ty, of_right, value.at)?;
        if made != ty {
            let title = format!("expected a value of type `{}`, found one of type `{}`", ty.word(), made.word());
            let label = format!("`{}` {} `{}`", ty.word(), operator.word(), of_right.word());
            let diagnostic = Diagnostic::error("E0303", title, value.at, label);
            self.lowering.diagnostics.push(converting(diagnostic, made, ty));
            return None;
        }
        let value = Expression::Binary(operator, Box::new(Expression::Read(place.clone())), Box::new(right));
        Some(StatementKind::Set { place, value })
    }

    /// Whether a name stands for a thread or a container.
    fn is_moved(&self, name: &Name) -> bool {
        match self.lowering.scope.find(&name.text) {
            Some(Binding::Thread(_) | Binding::Held(_) | Binding::Cursor) => true,
            Some(Binding::Value(..)) => false,
            None => matches!(self.lowering.symbols.find(&name.text), Some((Symbol::Container(_), _))),
        }
    }

    fn assignable(&mut self, place: &ast::Place) -> Option<(Place, Type)> {
        let array = match place {
            ast::Place::Element { array, .. } => array,
            ast::Place::Name(_) | ast::Place::Member { .. } => place,
        };
        if let ast::Place::Name(name) = array {
            let refused = match (self.lowering.scope.find(&name.text), self.lowering.symbols.find(&name.text)) {
                (Some(Binding::Thread(_) | Binding::Held(_) | Binding::Cursor), _) => {
                    Some(("a thread", None, "a thread is moved with `=>`; assign to its attributes: `t.x = …`"))
                }
                (Some(Binding::Value(..)), _) | (None, None | Some((Symbol::Variable(_) | Symbol::Import(_), _))) => {
                    None
                }
                (None, Some((Symbol::Constant(_), at))) => {
                    Some(("a constant", Some(at), "declare it without `const` if it changes"))
                }
                (None, Some((Symbol::Function(_), at))) => Some(("a function", Some(at), "a function is called")),
                (None, Some((Symbol::Family(_), at))) => {
                    Some(("a family of nodes", Some(at), "ask of a node which it is of: `n is …`"))
                }
                (None, Some((Symbol::Container(_), at))) => {
                    Some(("a container", Some(at), "threads are moved with `=>`"))
                }
            };
            if let Some((what, declared, help)) = refused {
                let title = format!("`{}` is {what} and cannot be assigned", name.text);
                let diagnostic = Diagnostic::error("E0310", title, name.at, "cannot be assigned").help(help);
                self.lowering.diagnostics.push(match declared {
                    Some(at) => diagnostic.related(at, "declared here"),
                    None => diagnostic,
                });
                return None;
            }
        }
        let (assigned, ty) = self.lowering.place(place)?;
        if let Some(Thread::First(container)) = assigned.thread() {
            let name = &self.lowering.policy.containers.get(container.0)?.name;
            let title = format!("attributes and imports of the first thread of `{name}` can only be read");
            let diagnostic = Diagnostic::error("E0310", title, place.at(), "cannot be assigned");
            let help = format!("visit it: `foreach t in {name} {{ t.ATTRIBUTE = …; break; }}`");
            self.lowering.diagnostics.push(diagnostic.help(help));
            return None;
        }
        if assigned.thread().is_some_and(|thread| self.lowering.entity(thread) == Entity::Node) {
            let title = "a property of a node cannot be assigned";
            let property = Diagnostic::error("E0310", title, place.at(), "cannot be assigned");
            self.lowering.diagnostics.push(property.note("the host sets the properties of a node"));
            return None;
        }
        if self.lowering.reach == Reach::Shared && self.lowering.policy.is_timer(&assigned) {
            let title = "a timer is armed in the instance of a node, and this handler runs in none";
            let timer = Diagnostic::error("E0329", title, place.at(), "cannot be assigned here");
            let timer = timer.note("a thread that goes to a node has no timer armed");
            self.lowering.diagnostics.push(timer.help("arm it in the event of a thread that arrives at its node"));
            return None;
        }
        Some((assigned, ty))
    }

    fn visit(&mut self, cursor: &Name, container: &Reference, body: &ast::Block) -> Option<StatementKind> {
        let container = self.lowering.reference(container);
        self.lowering.scope.open();
        let entity = container.as_ref().map_or(Entity::Thread, |container| self.lowering.holds(container));
        let id = self.lowering.scope.visit(cursor, entity, self.lowering.symbols, self.lowering.diagnostics);
        self.loops.push((id, cursor.at));
        self.turns += 1;
        let body = self.block(body);
        self.turns -= 1;
        self.loops.pop();
        self.lowering.scope.close();
        Some(StatementKind::Foreach { cursor: id, container: container?, body })
    }

    fn ending(&mut self, value: Option<&ast::Expression>, at: At) -> Option<StatementKind> {
        match (self.returns(), value) {
            (None, None) => Some(StatementKind::Return { value: None }),
            (Some(ty), Some(value)) => Some(StatementKind::Return { value: Some(self.lowering.of_type(value, ty)?) }),
            (None, Some(value)) => {
                let title = if self.calls.within.is_some() {
                    "a function without a type returns no value"
                } else {
                    "an event handler returns no value"
                };
                self.lowering.diagnostics.push(
                    Diagnostic::error("E0313", title, value.at, "no caller receives this value")
                        .help("write `return;`"),
                );
                None
            }
            (Some(ty), None) => {
                let what = if self.calls.within.is_some() { "function has" } else { "query answers with" };
                let title = format!("this {what} a value of type `{}`", ty.word());
                self.lowering
                    .diagnostics
                    .push(Diagnostic::error("E0313", title, at, "returns nothing").help("write `return VALUE;`"));
                None
            }
        }
    }

    fn failure(&mut self, reason: &ast::Reason, at: At, block: &mut Block) -> Option<StatementKind> {
        if let Some(event) = self.rights.no_fail {
            let title = format!("`{event}` cannot fail");
            let diagnostic = Diagnostic::error("E0315", title, at, "not in this handler")
                .note("the host could not undo what has already happened; only an event that the framework describes with `may fail` can be refused");
            self.lowering.diagnostics.push(diagnostic);
            return None;
        }
        if let Some(value) = reason.values.get(Reason::MOST_VALUES) {
            let title = format!("a reason has more than {} values", Reason::MOST_VALUES);
            let diagnostic = Diagnostic::error("E0334", title, value.at, "one too many");
            self.lowering.diagnostics.push(diagnostic.help("say only those that explain the decision"));
            return None;
        }
        let mut values = Vec::new();
        for value in &reason.values {
            self.make_calls(value, block);
            let (lowered, ty) = self.lowering.expression(value)?;
            if ty == Type::Float {
                let title = "a reason cannot say a `float`";
                let diagnostic = Diagnostic::error("E0334", title, value.at, "of type `float`");
                self.lowering.diagnostics.push(diagnostic.help("say `int(…)` of it"));
                return None;
            }
            values.push((lowered, ty));
        }
        let lowered = Reason { texts: reason.texts.clone(), values };
        let longest = lowered.longest();
        if lowered.constant().is_none() && longest > Reason::MOST_BYTES {
            let most = Reason::MOST_BYTES;
            let title = format!("this reason can have {longest} bytes, and a reason with values at most {most}");
            let diagnostic = Diagnostic::error("E0334", title, reason.at, "too long");
            let widths = "an `int` has up to 20 bytes, a `time` 22 and a `bool` 5";
            self.lowering.diagnostics.push(diagnostic.note(widths).help("shorten its text, or say fewer values"));
            return None;
        }
        Some(StatementKind::Fail { reason: lowered })
    }
}

/// A statement. It is numbered when all handlers are known.
pub(super) fn at(at: At, kind: StatementKind) -> Statement {
    Statement { id: StatementId(0), kind, at, called: None }
}

/// `a`, `b`
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
