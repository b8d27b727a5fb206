//! Saves bytes for a small host. A line with which all branches of an `if` begin or end stands once, before or after
//! it. A threadref that all branches fill is a local until then. The way into a container is a function if several
//! statements lead there, and so is a loop that sorts threads. Where registers are few, code that runs rarely costs the
//! code beside it that runs often.

use super::handler::{Body, can_stop};
use super::names::Names;
use super::values;
use crate::policy::{
    Block, ContainerId, ContainerKind, ContainerRef, Expression, LocalId, LocalKind, Place, Policy, Source, Statement,
    StatementId, StatementKind, Thread,
};

/// The containers into which several statements move threads.
pub(super) fn often_entered(policy: &Policy) -> Vec<ContainerId> {
    let mut entries = vec![0; policy.containers.len()];
    // Handlers with one body, such as those of a family, are one function.
    let mut bodies: Vec<&Block> = Vec::new();
    for handler in &policy.events {
        let at = |block: &Block| block.first().map(|statement| statement.at);
        if !bodies.iter().any(|body| at(body) == at(&handler.body)) {
            bodies.push(&handler.body);
        }
    }
    bodies.iter().for_each(|body| count(body, &mut entries));
    let often = |id: &ContainerId| {
        policy.containers[id.0].element.is_none()
            && match policy.containers[id.0].kind {
                // An assignment is shorter than most calls.
                ContainerKind::Threadref => false,
                ContainerKind::Queue | ContainerKind::Stack | ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => {
                    entries[id.0] > 1
                }
            }
    };
    (0..entries.len()).map(ContainerId).filter(often).collect()
}

fn count(block: &Block, entries: &mut [usize]) {
    for statement in block {
        if let StatementKind::Transfer { destination: ContainerRef::One(id), .. } = &statement.kind {
            entries[id.0] += 1;
        }
        statement.blocks().for_each(|inner| count(inner, entries));
    }
}

/// The functions that lead into such containers. A host that keeps each function in its own file defines
/// CATAPULTS_SEPARATE, and in one file CATAPULTS_DEFINE_ with the function's name.
pub(super) fn ways_in(policy: &Policy, names: &Names) -> String {
    let parameters =
        names.host.parameters(&names.policy, &format!("{}t", names.host.pointer("struct catapults_thread")));
    let mut text = String::new();
    for (id, function) in &names.entrances {
        let container = &policy.containers[id.0];
        let member = format!("{}{}", names.host.instance.of_self(), names.containers[id.0]);
        let put = put(policy, names, *id, &member, "t", &names.numbers[id.0]);
        // There is one copy: it needs no call.
        let put = put.replace("catapults_list_append(", "catapults_list_append_here(");
        let about = format!("/* Into `{}`. */", container.name);
        text.push_str(&of_its_own(&about, function, &parameters, &format!(" {put} ")));
    }
    text
}

/// The loops that sort threads.
pub(super) fn loops(names: &Names) -> String {
    let (loops, parameters) = (names.loops.borrow(), names.host.parameters(&names.policy, ""));
    loops.iter().map(|(function, body)| of_its_own("", function, &parameters, &format!("\n{body}"))).collect()
}

/// A function that a host may want in a file of its own.
fn of_its_own(about: &str, function: &str, parameters: &str, body: &str) -> String {
    format!(
        "\n{about}{line}#if defined(CATAPULTS_SEPARATE) && !defined(CATAPULTS_DEFINE_{function})\n\
         void {function}({parameters});\n\
         #else\n\
         CATAPULTS_SHARED void {function}({parameters}) {{{body}}}\n\
         #endif\n",
        line = if about.is_empty() { "" } else { "\n" }
    )
}

/// The statement that puts a thread in hand into a container.
pub(super) fn put(policy: &Policy, names: &Names, id: ContainerId, member: &str, thread: &str, number: &str) -> String {
    let kind = &policy.containers[id.0].kind;
    let list = names.host.contract.list(kind);
    match kind {
        ContainerKind::Threadref => format!("catapults_slot_put(&{member}, {thread}, {number});"),
        ContainerKind::Queue => format!("catapults_{list}_append(&{member}, {thread}, {number});"),
        ContainerKind::Stack => format!("catapults_{list}_push(&{member}, {thread}, {number});"),
        ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => {
            let (order, ties) = (&names.orders[id.0], names.host.contract.ties_at_entry(kind));
            format!("catapults_sorted_insert(&{member}, {thread}, {number}, {order}{ties});")
        }
    }
}

/// What all branches share, written once.
#[derive(Default)]
pub(super) struct Shared {
    /// Statements whose thread has already been taken out of its threadref.
    taken: Vec<StatementId>,
    /// Statements after which the thread's place is still to be written, and the local for the threadref until then.
    unwritten: Vec<(StatementId, Option<String>)>,
}

/// A threadref that every branch of an `if` fills last.
pub(super) struct Filled {
    slot: ContainerId,
    /// What holds the thread until then, if nothing looks at the threadref.
    local: Option<String>,
}

impl Shared {
    pub(super) fn is_taken(&self, statement: StatementId) -> bool {
        self.taken.contains(&statement)
    }

    pub(super) fn is_unwritten(&self, statement: StatementId) -> bool {
        self.unwritten.iter().any(|(unwritten, _)| *unwritten == statement)
    }

    /// The local that is filled in place of the threadref.
    pub(super) fn local_of(&self, statement: StatementId) -> Option<&str> {
        let (_, local) = self.unwritten.iter().find(|(unwritten, _)| *unwritten == statement)?;
        local.as_deref()
    }
}

impl Body<'_> {
    /// Before an `if` of which every branch begins by taking the same thread out of the same threadref.
    pub(super) fn before_branches(&mut self, statement: &Statement) {
        let mut found = Vec::new();
        let Some((thread, slot)) = self.taken_first(std::slice::from_ref(statement), &mut found) else { return };
        if !self.is_small() || found.iter().all(|id| self.shared.is_taken(*id)) {
            return;
        }
        self.local(thread);
        let slot = self.container(slot);
        self.line(&format!("{slot} = NULL;"));
        self.shared.taken.extend(found);
    }

    fn taken_first(&self, block: &[Statement], found: &mut Vec<StatementId>) -> Option<(LocalId, ContainerId)> {
        let first = block.first()?;
        let facts = self.verified.facts(first.id);
        match &first.kind {
            StatementKind::Transfer { source: Source::Thread(thread), destination: ContainerRef::One(_) }
            | StatementKind::Destroy { source: Source::Thread(thread) } => {
                let [slot] = facts.positions[..] else { return None };
                let is_slot = self.policy.containers[slot.0].kind == ContainerKind::Threadref;
                found.push(first.id);
                (is_slot && !facts.in_hand && facts.guards.is_empty()).then_some((*thread, slot))
            }
            StatementKind::If { condition, then, otherwise } => {
                let taken = self.taken_first(then, found)?;
                let same = self.taken_first(otherwise, found)? == taken;
                (same && !condition.any(&|part| looks_into(part, taken.1))).then_some(taken)
            }
            StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Return { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => None,
        }
    }

    /// The threadref that all branches of an `if` fill last. [`Body::after_branches`] writes the thread's place, once.
    pub(super) fn filled_last(&mut self, statement: &Statement) -> Option<Filled> {
        let (mut found, mut asked) = (Vec::new(), false);
        let slot = self.put_last(std::slice::from_ref(statement), &mut found, &mut asked)?;
        if !self.is_small() || found.iter().all(|id| self.shared.is_unwritten(*id)) {
            return None;
        }
        let local = (!asked).then(|| {
            let local = self.scope.take("chosen");
            self.line(&format!("struct catapults_thread *{local};"));
            local
        });
        self.shared.unwritten.extend(found.into_iter().map(|id| (id, local.clone())));
        Some(Filled { slot, local })
    }

    /// After the `if`. Returns the local that holds the thread now, for the next statement.
    pub(super) fn after_branches(&mut self, filled: Filled) -> Option<(ContainerId, String)> {
        let (number, slot) = (self.names.numbers[filled.slot.0].clone(), self.container(filled.slot));
        let Some(local) = filled.local else {
            self.line(&format!("{slot}->container = {number};"));
            return None;
        };
        self.line(&format!("{local}->container = {number};"));
        self.line(&format!("{slot} = {local};"));
        Some((filled.slot, local))
    }

    /// `asked`: set if an assignment after a transfer looks into the threadref.
    fn put_last(&self, block: &[Statement], found: &mut Vec<StatementId>, asked: &mut bool) -> Option<ContainerId> {
        // Assignments do not matter, unless they ask where threads are.
        let index = block.iter().rposition(|statement| !self.is_indifferent(statement))?;
        let (last, after) = (&block[index], &block[index + 1..]);
        let slot = match &last.kind {
            StatementKind::Transfer { source: Source::Container(_), destination: ContainerRef::One(slot) } => {
                found.push(last.id);
                (self.policy.containers[slot.0].kind == ContainerKind::Threadref).then_some(*slot)?
            }
            StatementKind::If { then, otherwise, .. } => {
                let slot = self.put_last(then, found, asked)?;
                (self.put_last(otherwise, found, asked)? == slot).then_some(slot)?
            }
            StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Return { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => return None,
        };
        *asked |= after.iter().any(|statement| asks(statement, slot));
        Some(slot)
    }

    fn is_indifferent(&self, statement: &Statement) -> bool {
        let asks = |part: &Expression| matches!(part, Expression::In(..) | Expression::Verbatim { .. });
        matches!(statement.kind, StatementKind::Set { .. })
            && self.verified.facts(statement.id).refile.is_empty()
            && !statement.expressions().any(|value| value.any(&asks))
    }
}

impl Body<'_> {
    /// Moves what was written since `start`, a loop over a container that moves threads, into a function, if it needs
    /// nothing of the handler around it.
    pub(super) fn apart(&mut self, statement: &Statement, container: &ContainerRef, block: &Block, start: usize) {
        let ContainerRef::One(id) = container else { return };
        let outside = |index: usize| !self.locals[index].is_empty();
        let value = |index: usize| matches!(self.handler.locals[index].kind, LocalKind::Value(_));
        let needed = (0..self.locals.len()).any(|index| {
            outside(index) && (self.used[index] || value(index) && values::mentions(statement, LocalId(index)))
        });
        if !self.is_small() || !self.moves(block) || needed || can_stop(self.verified, block) || leaves(block) {
            return;
        }
        let body = self.text.split_off(start);
        let margin = "    ".repeat(self.depth - 1);
        let body: String =
            body.lines().map(|line| format!("{}\n", line.strip_prefix(margin.as_str()).unwrap_or(line))).collect();
        let function = self.names.sorting(statement.at.line, body);
        let member = self.container(*id);
        let first = match self.policy.containers[id.0].kind {
            ContainerKind::Threadref => member,
            ContainerKind::Queue | ContainerKind::Stack | ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => {
                format!("{member}.first")
            }
        };
        self.from(statement, &format!("if ({first} != NULL)"));
        self.line(&format!("    {function}({});", self.names.host.instance.arguments("")));
    }
}

/// Whether an assignment reads what depends on a container, or assigns to the thread in it.
fn asks(statement: &Statement, container: ContainerId) -> bool {
    let assigned = match &statement.kind {
        StatementKind::Set { place, .. } => looks_into(&Expression::Read(place.clone()), container),
        StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
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
        | StatementKind::Fail { .. } => true,
    };
    assigned || statement.expressions().any(|value| value.any(&|part| looks_into(part, container)))
}

/// Whether a handler can end within a block.
fn leaves(block: &Block) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StatementKind::Dispatch { .. } | StatementKind::Return { .. } | StatementKind::Fail { .. } => true,
        StatementKind::Verbatim { .. } => true,
        StatementKind::Set { .. }
        | StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::If { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Loop { .. } => statement.blocks().any(leaves),
    })
}

/// Whether an expression depends on what a container holds.
fn looks_into(part: &Expression, container: ContainerId) -> bool {
    let names = part.names();
    names.threads.iter().any(Option::is_some)
        || names.verbatim.is_some()
        || names.container.is_some_and(|other| other.may_be(container))
        || names.place.and_then(Place::thread).and_then(Thread::held_by) == Some(container)
}
