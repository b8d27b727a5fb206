//! What the statements and expressions of a handler do.

use super::{Application, Flow, LocalState, Machine, Position, Slot, Stop, arithmetic};
use crate::policy::cost;
use crate::policy::text::Heads;
use crate::policy::{
    AttributeId, Block, ContainerId, ContainerKind, ContainerRef, Element, Expression, Handler, Leave, LocalId, Place,
    Source, Statement, StatementKind, Test, Thread, Value,
};
use crate::verify::Guard;

/// A handler that runs.
pub(super) struct Step<'m, 'a, 'p> {
    pub(super) machine: &'m mut Machine<'a>,
    pub(super) handler: &'a Handler,
    pub(super) application: &'p mut dyn Application,
    /// Of all its loops so far.
    pub(super) turns: u64,
    /// What it has cost so far, by the rules of [`cost`].
    pub(super) steps: u64,
}

impl Step<'_, '_, '_> {
    pub(super) fn block(&mut self, block: &Block) -> Result<Flow, Stop> {
        for statement in block {
            match self.statement(statement)? {
                Flow::Next => {}
                end @ (Flow::Dispatched(_) | Flow::Returned(_) | Flow::Left(_)) => return Ok(end),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Flow, Stop> {
        let line = self.machine.verified.policy().line(statement);
        self.steps += cost::STATEMENT;
        match &statement.kind {
            StatementKind::Set { place, value } => {
                let value = self.value(value, line)?;
                self.assign(place, value, statement)?;
            }
            StatementKind::Transfer { source, destination } => {
                self.guards(statement)?;
                let to = self.container(destination, line)?;
                let slot = self.source(source, statement)?;
                let occupied = !self.machine.containers[to.0].is_empty();
                if occupied && self.kind(to) == &ContainerKind::Threadref {
                    return Err(self.unproved_guard(statement, &Guard::Vacant(destination.clone())));
                }
                self.remove(slot);
                self.insert(slot, to);
                self.machine.moved_by = line;
            }
            StatementKind::Send { source, node } => {
                self.guards(statement)?;
                let (slot, node) = (self.source(source, statement)?, self.thread(*node, line)?);
                self.remove(slot);
                self.machine.send(slot, node);
            }
            StatementKind::Destroy { source } => {
                self.guards(statement)?;
                let slot = self.source(source, statement)?;
                self.remove(slot);
                self.steps += cost::LINK * self.machine.links_of(slot);
                self.machine.forget(slot);
                self.machine.moved_by = line;
            }
            StatementKind::Dispatch { slot } => {
                self.guards(statement)?;
                let Some(thread) = self.machine.first(*slot) else {
                    return Err(self.unproved_guard(statement, &Guard::Holds(ContainerRef::One(*slot))));
                };
                return Ok(Flow::Dispatched(self.machine.threads[thread].id));
            }
            StatementKind::If { condition, then, otherwise } => {
                let branch = if arithmetic::truth(self.value(condition, line)?) { then } else { otherwise };
                return self.block(branch);
            }
            StatementKind::Foreach { cursor, container, body } => {
                let places = self.containers(container, line)?;
                let visited: Vec<Slot> =
                    places.flat_map(|place| self.machine.containers[place].values().copied()).collect();
                for slot in visited {
                    self.steps += cost::TURN;
                    self.machine.locals[cursor.0] = LocalState::Thread(slot);
                    match self.block(body)? {
                        Flow::Next | Flow::Left(Leave::Turn) => {}
                        Flow::Left(Leave::Loop) => break,
                        end @ (Flow::Dispatched(_) | Flow::Returned(_)) => return Ok(end),
                    }
                }
            }
            StatementKind::Link { thread, link, to } => {
                let to = self.referent(to, line)?;
                let slot = self.thread(*thread, line)?;
                self.machine.set_link(slot, link.0, to);
            }
            StatementKind::Follow { cursor, thread, link, body } => {
                let Some(slot) = self.followed(*thread, *link, line)? else { return Ok(Flow::Next) };
                self.steps += cost::TURN;
                self.machine.locals[cursor.0] = LocalState::Thread(slot);
                match self.block(body)? {
                    Flow::Next | Flow::Left(_) => {}
                    end @ (Flow::Dispatched(_) | Flow::Returned(_)) => return Ok(end),
                }
            }
            StatementKind::Loop { condition, test, body, step } => {
                let mut tested = *test == Test::After;
                while tested || arithmetic::truth(self.value(condition, line)?) {
                    tested = false;
                    self.turn(line)?;
                    for block in [body, step] {
                        match self.block(block)? {
                            Flow::Next | Flow::Left(Leave::Turn) => {}
                            Flow::Left(Leave::Loop) => return Ok(Flow::Next),
                            end @ (Flow::Dispatched(_) | Flow::Returned(_)) => return Ok(end),
                        }
                    }
                }
            }
            StatementKind::Return { value: None } => return Ok(Flow::Returned(None)),
            StatementKind::Return { value: Some(value) } => return Ok(Flow::Returned(Some(self.value(value, line)?))),
            StatementKind::Leave { what } => return Ok(Flow::Left(*what)),
            StatementKind::Fail { reason } => {
                let values = reason.values.iter().map(|(value, _)| self.value(value, line));
                let values = values.collect::<Result<Vec<_>, Stop>>()?;
                return Err(Stop::Fail { line, reason: reason.filled(&values) });
            }
            StatementKind::Verbatim { otherwise: Some(otherwise), .. } => return self.block(otherwise),
            StatementKind::Verbatim { otherwise: None, text } => return Err(untranslated(&text.language, line)),
        }
        Ok(Flow::Next)
    }

    /// Counts a turn of a loop.
    fn turn(&mut self, line: u32) -> Result<(), Stop> {
        self.turns += 1;
        self.steps += cost::TURN;
        if self.turns > Machine::MOST_TURNS { Err(Stop::Overrun { line }) } else { Ok(()) }
    }

    /// Evaluates the guards that `verify` left.
    fn guards(&mut self, statement: &Statement) -> Result<(), Stop> {
        for guard in &self.machine.verified.facts(statement.id).guards {
            let (Guard::Holds(container) | Guard::Vacant(container)) = guard;
            self.steps += cost::GUARD;
            let mut places = self.containers(container, self.machine.verified.policy().line(statement))?;
            let empty = places.all(|place| self.machine.containers[place].is_empty());
            let holds = match guard {
                Guard::Holds(_) => !empty,
                Guard::Vacant(_) => empty,
            };
            if !holds {
                let text = self.guard_text(statement, guard);
                return Err(Stop::Guard { line: self.machine.verified.policy().line(statement), text });
            }
        }
        Ok(())
    }

    /// The thread that a transfer, a send or a destruction takes.
    fn source(&mut self, source: &Source, statement: &Statement) -> Result<Slot, Stop> {
        let line = self.machine.verified.policy().line(statement);
        match source {
            Source::Container(container) => {
                let first = self.containers(container, line)?.find_map(|place| self.machine.first(ContainerId(place)));
                first.ok_or_else(|| self.unproved_guard(statement, &Guard::Holds(container.clone())))
            }
            Source::Thread(local) => {
                let slot = self.thread(Thread::Local(*local), line)?;
                let facts = self.machine.verified.facts(statement.id);
                let expected = match self.machine.threads[slot].position {
                    Position::Hand => facts.in_hand,
                    Position::In(container) => facts.positions.contains(&container),
                };
                if expected {
                    Ok(slot)
                } else {
                    Err(unproved(line, "the position of the thread is among those expected"))
                }
            }
        }
    }

    fn assign(&mut self, place: &Place, value: Value, statement: &Statement) -> Result<(), Stop> {
        let line = self.machine.verified.policy().line(statement);
        match place {
            Place::Variable(variable) => self.machine.variables[variable.0] = value,
            Place::VariableElement { first, length, index } => {
                let element = first.0 + self.element(index, *length, line)?;
                self.machine.variables[element] = value;
            }
            Place::Local(local) => self.machine.locals[local.0] = LocalState::Value(value),
            Place::Import(import) => {
                if self.application.has_import(*import) {
                    self.application.set_import(*import, value);
                } else {
                    self.machine.imports[import.0] = value;
                }
            }
            Place::Attribute(thread, attribute) => {
                let slot = self.thread(*thread, line)?;
                self.machine.assign(slot, *attribute, value);
                self.refile(slot, *attribute, statement)?;
            }
            Place::AttributeElement { thread, first, length, index } => {
                let element = first.0 + self.element(index, *length, line)?;
                let slot = self.thread(*thread, line)?;
                // No container is sorted by elements of an array.
                self.machine.threads[slot].attributes[element] = value;
            }
            Place::ThreadImport(thread, import) => {
                let slot = self.thread(*thread, line)?;
                let id = self.machine.threads[slot].id;
                if self.application.has_thread_import(id, *import) {
                    self.application.set_thread_import(id, *import, value);
                } else {
                    self.machine.threads[slot].imports[import.0] = value;
                }
            }
        }
        Ok(())
    }

    /// Takes a thread out of a container that is sorted by this attribute and puts it back, as if it had just come.
    fn refile(&mut self, slot: Slot, attribute: AttributeId, statement: &Statement) -> Result<(), Stop> {
        let Position::In(container) = self.machine.threads[slot].position else { return Ok(()) };
        let sorted = match self.kind(container) {
            ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys) => {
                keys.iter().any(|key| key.attribute == attribute)
            }
            ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => false,
        };
        if !sorted {
            return Ok(());
        }
        if !self.machine.verified.facts(statement.id).refile.contains(&container) {
            return Err(unproved(
                self.machine.verified.policy().line(statement),
                "the sorted container of the thread is among those expected",
            ));
        }
        self.remove(slot);
        self.insert(slot, container);
        Ok(())
    }

    /// Takes a thread out of the container in which it is, if it is in one.
    fn remove(&mut self, slot: Slot) {
        if let Position::In(container) = self.machine.threads[slot].position {
            self.steps += self.moving(container);
            self.machine.remove(slot);
        }
    }

    fn insert(&mut self, slot: Slot, container: ContainerId) {
        self.machine.insert(slot, container);
        self.steps += self.moving(container);
    }

    /// What it costs to move the thread that is the last to come to a container, or the first to go.
    fn moving(&self, container: ContainerId) -> u64 {
        cost::moving(self.kind(container), self.machine.containers[container.0].len() as u64)
    }

    fn value(&mut self, expression: &Expression, line: u32) -> Result<Value, Stop> {
        let bits = self.machine.verified.policy().int_bits;
        if !cost::is_free(expression) {
            self.steps += cost::PART;
        }
        Ok(match expression {
            Expression::Literal(value) => *value,
            Expression::Constant(constant) => self.machine.verified.policy().constants[constant.0].value,
            Expression::ConstantElement { first, length, index } => {
                let element = first.0 + self.element(index, *length, line)?;
                self.machine.verified.policy().constants[element].value
            }
            Expression::Read(place) => self.read(place, line)?,
            Expression::Convert(_, operand) => arithmetic::convert(self.value(operand, line)?, bits),
            Expression::Now => Value::Time(self.machine.now),
            Expression::Size(container) => {
                let places = self.containers(container, line)?;
                arithmetic::size(places.map(|place| self.machine.containers[place].len()).sum(), bits)
            }
            Expression::In(thread, container, _) => {
                let slot = self.thread(*thread, line)?;
                let mut places = self.containers(container, line)?;
                Value::Bool(places.any(|place| self.machine.threads[slot].position == Position::In(ContainerId(place))))
            }
            Expression::Same(one, other) => {
                Value::Bool(self.thread(Thread::Local(*one), line)? == self.thread(Thread::Local(*other), line)?)
            }
            Expression::Linked { thread, link, to } => {
                Value::Bool(self.followed(*thread, *link, line)? == self.referent(to, line)?)
            }
            Expression::Unary(operator, operand) => arithmetic::unary(*operator, self.value(operand, line)?, bits),
            Expression::Binary(operator, left, right) => {
                let left = self.value(left, line)?;
                match arithmetic::decided(*operator, left) {
                    Some(value) => value,
                    None => arithmetic::binary(*operator, left, self.value(right, line)?, bits),
                }
            }
            Expression::Choose(condition, one, other) => {
                let chosen = if arithmetic::truth(self.value(condition, line)?) { one } else { other };
                self.value(chosen, line)?
            }
            Expression::Random(below) => {
                let below = arithmetic::number(self.value(below, line)?);
                let chosen = self.application.draw(below);
                Value::Int(chosen.unwrap_or_else(|| self.machine.random.below(below)))
            }
            Expression::NotZero(operand) => Value::Bool(arithmetic::truth(self.value(operand, line)?)),
            Expression::Verbatim { otherwise: Some(otherwise), .. } => self.value(otherwise, line)?,
            Expression::Verbatim { otherwise: None, text, .. } => return Err(untranslated(&text.language, line)),
        })
    }

    /// The element that an index names, from 0.
    fn element(&mut self, index: &Expression, length: usize, line: u32) -> Result<usize, Stop> {
        Ok(Element::nearest(arithmetic::number(self.value(index, line)?), length))
    }

    /// The numbers of the containers that are named: one, or all of an array.
    fn containers(&mut self, container: &ContainerRef, line: u32) -> Result<std::ops::Range<usize>, Stop> {
        self.steps += cost::looked_through(container);
        Ok(match container {
            ContainerRef::One(only) => only.0..only.0 + 1,
            ContainerRef::Whole { first, length } => first.0..first.0 + length,
            ContainerRef::Element { first, length, index } => {
                let element = first.0 + self.element(index, *length, line)?;
                element..element + 1
            }
        })
    }

    /// The only container that is named.
    pub(super) fn container(&mut self, container: &ContainerRef, line: u32) -> Result<ContainerId, Stop> {
        let only = self.containers(container, line)?;
        if only.len() == 1 {
            Ok(ContainerId(only.start))
        } else {
            Err(unproved(line, "a thread goes to one container"))
        }
    }

    fn read(&mut self, place: &Place, line: u32) -> Result<Value, Stop> {
        Ok(match place {
            Place::Variable(variable) => self.machine.variables[variable.0],
            Place::VariableElement { first, length, index } => {
                let element = first.0 + self.element(index, *length, line)?;
                self.machine.variables[element]
            }
            Place::Local(local) => self.local(*local, line)?,
            Place::Import(import) => self.application.import(*import).unwrap_or(self.machine.imports[import.0]),
            Place::Attribute(thread, attribute) => {
                self.machine.threads[self.thread(*thread, line)?].attributes[attribute.0]
            }
            Place::AttributeElement { thread, first, length, index } => {
                let element = first.0 + self.element(index, *length, line)?;
                self.machine.threads[self.thread(*thread, line)?].attributes[element]
            }
            Place::ThreadImport(thread, import) => {
                let thread = &self.machine.threads[self.thread(*thread, line)?];
                self.application.thread_import(thread.id, *import).unwrap_or(thread.imports[import.0])
            }
        })
    }

    fn local(&self, local: LocalId, line: u32) -> Result<Value, Stop> {
        match self.machine.locals[local.0] {
            LocalState::Value(value) => Ok(value),
            LocalState::Unset | LocalState::Thread(_) => {
                let name = &self.handler.locals[local.0].name;
                Err(unproved(line, format!("`{name}` has a value")))
            }
        }
    }

    pub(super) fn thread(&self, thread: Thread, line: u32) -> Result<Slot, Stop> {
        match thread {
            Thread::Slot(slot) | Thread::First(slot) => self.machine.first(slot).ok_or_else(|| {
                let name = &self.machine.verified.policy().containers[slot.0].name;
                unproved(line, format!("`{name}` holds a thread"))
            }),
            Thread::Local(local) => match self.machine.locals[local.0] {
                LocalState::Thread(slot) if self.alive(slot) => Ok(slot),
                LocalState::Thread(_) | LocalState::Unset | LocalState::Value(_) => {
                    let name = &self.handler.locals[local.0].name;
                    Err(unproved(line, format!("`{name}` names a thread that lives")))
                }
            },
        }
    }

    fn alive(&self, slot: Slot) -> bool {
        self.machine.numbers.get(&self.machine.threads[slot].id) == Some(&slot)
    }

    fn kind(&self, container: ContainerId) -> &ContainerKind {
        &self.machine.verified.policy().containers[container.0].kind
    }

    fn guard_text(&self, statement: &Statement, guard: &Guard) -> String {
        let verified = self.machine.verified;
        verified.guard_text(&Heads::of(verified.policy(), self.handler), statement, guard)
    }

    fn unproved_guard(&self, statement: &Statement, guard: &Guard) -> Stop {
        let text = self.guard_text(statement, guard);
        unproved(self.machine.verified.policy().line(statement), format!("it is not so that {text}"))
    }
}

/// See [`Verified::uninterpretable`].
fn untranslated(language: &str, line: u32) -> Stop {
    Stop::Misuse(format!("line {line} is text in `{language}` without an `else` part"))
}

fn unproved(line: u32, text: impl Into<String>) -> Stop {
    Stop::Unproved { line, text: text.into() }
}
