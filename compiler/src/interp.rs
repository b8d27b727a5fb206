//! What a policy means: the reference for every host.
//!
//! A [`Machine`] is a policy with its threads. It evaluates the guards that `verify` left, and checks everything that
//! `verify` claims to have proved. A claim that does not hold is [`Stop::Unproved`], which no accepted policy ever
//! reaches.

mod application;
mod arithmetic;
mod inherit;
mod links;
mod nodes;
mod random;
mod saved;
mod shown;
mod step;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use application::{Application, Variables};
pub use nodes::SavedNodes;
pub use random::state as random_state;
pub use saved::{Saved, SavedThread};

use crate::policy::{
    AttributeId, ContainerId, ContainerKind, Handler, Leave, LocalKind, Policy, SortKey, StateClass, Value, cost,
};
use crate::verify::Verified;

use step::Step;

/// The host's number for a thread, unique while the thread lives; or for a node, see [`ThreadId::of_node`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// In no container yet; or on the way from node to node.
    Hand,
    /// In this container; for a thread on a node, that of the node's instance.
    In(ContainerId),
}

/// An armed timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout<'a> {
    /// When it expires.
    pub instant: i64,
    /// The thread to which it belongs.
    pub thread: ThreadId,
    /// The event that is raised then.
    pub event: &'a str,
}

/// Why a handler stopped early. It has changed nothing since the statement that stopped it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A guard did not hold: the policy is out.
    Guard {
        /// In the policy's source; 0 in a default handler of the framework.
        line: u32,
        /// As [`Verified::guard_text`] says it.
        text: String,
    },
    /// The loops of the handler took more than [`Machine::MOST_TURNS`]: the policy is out. What the handler has done
    /// stays.
    Overrun {
        /// Of the loop, in the policy's source.
        line: u32,
    },
    /// `fail`: the request is refused.
    Fail {
        /// In the policy's source.
        line: u32,
        /// With its values.
        reason: String,
    },
    /// Something that `verify` claims to have proved does not hold: an error of the compiler.
    Unproved {
        /// In the policy's source.
        line: u32,
        /// What does not hold.
        text: String,
    },
    /// The caller raised an event or asked a query that the policy does not have, or named the wrong threads.
    Misuse(String),
}

/// A policy at work: its variables, its threads, and which container holds each.
#[derive(Clone)]
pub struct Machine<'a> {
    verified: &'a Verified<Policy>,
    events: HashMap<&'a str, &'a Handler>,
    queries: HashMap<&'a str, &'a Handler>,
    variables: Vec<Value>,
    /// The values of imports that the application has not registered.
    imports: Vec<Value>,
    containers: Vec<BTreeMap<Rank, Slot>>,
    threads: Vec<ThreadState>,
    numbers: HashMap<ThreadId, Slot>,
    vacant: Vec<Slot>,
    /// The armed timers: when each expires, its thread, and the index of its attribute.
    timers: BTreeSet<(i64, ThreadId, usize)>,
    /// Links: the thread that is named, whose link it is, and which of its links.
    links: BTreeSet<(Slot, Slot, usize)>,
    /// Counts insertions.
    clock: i64,
    /// The line of the statement that last moved a thread.
    moved_by: u32,
    /// The value of `now`.
    now: i64,
    /// The generator for `random(n)`.
    random: random::Random,
    nodes: nodes::Nodes,
    /// What [`Machine::show`] hides of threads that run.
    hidden: BTreeMap<ThreadId, RunningSet>,
    /// The locals of the handler that runs, kept between handlers for its memory.
    locals: Vec<LocalState>,
    /// See [`Machine::steps`].
    steps: u64,
}

/// What one of several processors has in the RUNNING containers; empty at first.
#[derive(Clone, Default)]
pub struct RunningSet(Vec<BTreeMap<Rank, Slot>>);

/// An index into [`Machine::threads`].
type Slot = usize;

/// A thread's place in its container; the least leaves first. The sort keys come first, then the number of the
/// insertion, which is negated where the last to come leaves first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    keys: Vec<i64>,
    inserted: i64,
}

#[derive(Clone)]
struct ThreadState {
    id: ThreadId,
    attributes: Vec<Value>,
    /// The threads that its links name.
    links: Vec<Option<Slot>>,
    /// The values of imports that the application has not registered for this thread.
    imports: Vec<Value>,
    position: Position,
    rank: Rank,
    /// In a policy with nodes: the node where it is in a container.
    node: Option<ThreadId>,
}

#[derive(Clone, Copy)]
enum LocalState {
    Unset,
    Thread(Slot),
    Value(Value),
}

/// How a block ended.
enum Flow {
    Next,
    /// The enclosing loop goes on with its next turn, or ends.
    Left(Leave),
    Dispatched(ThreadId),
    Returned(Option<Value>),
}

impl<'a> Machine<'a> {
    /// How many turns the loops of a handler can take together. With more, it counts as one that does not end.
    pub const MOST_TURNS: u64 = cost::MOST_TURNS;

    /// A policy that has just been loaded: no threads, every variable at its initial value.
    pub fn new(verified: &'a Verified<Policy>) -> Self {
        let policy = verified.policy();
        Machine {
            verified,
            events: policy.events.iter().map(|handler| (handler.name.as_str(), handler)).collect(),
            queries: policy.queries.iter().map(|handler| (handler.name.as_str(), handler)).collect(),
            variables: policy.variables.iter().map(|variable| variable.initial).collect(),
            imports: policy.imports.iter().map(|import| import.default).collect(),
            containers: policy.containers.iter().map(|_| BTreeMap::new()).collect(),
            threads: Vec::new(),
            numbers: HashMap::new(),
            vacant: Vec::new(),
            timers: BTreeSet::new(),
            links: BTreeSet::new(),
            clock: 0,
            moved_by: 0,
            now: 0,
            random: random::Random::new(random::Random::SEED),
            nodes: nodes::Nodes::default(),
            hidden: BTreeMap::new(),
            locals: Vec::new(),
            steps: 0,
        }
    }

    /// A new thread, in hand, with the attributes that the policy gives it.
    ///
    /// # Errors
    /// [`Stop::Misuse`] if a living thread has this number, or if as many threads live as can.
    pub fn spawn(&mut self, id: ThreadId) -> Result<(), Stop> {
        if self.numbers.contains_key(&id) {
            return Err(Stop::Misuse(format!("thread {} lives already", id.0)));
        }
        let policy = self.verified.policy();
        if let Some(most) = policy.capacity.filter(|most| id.node().is_none() && self.threads() >= *most as usize) {
            return Err(Stop::Misuse(format!("no more than {most} threads can live at a time")));
        }
        let thread = ThreadState {
            id,
            attributes: policy.attributes.iter().map(|attribute| attribute.initial).collect(),
            links: vec![None; policy.links.len()],
            imports: policy.thread_imports.iter().map(|import| import.default).collect(),
            position: Position::Hand,
            rank: Rank::default(),
            node: None,
        };
        let slot = self.vacant.pop().unwrap_or(self.threads.len());
        match self.threads.get_mut(slot) {
            Some(old) => *old = thread,
            None => self.threads.push(thread),
        }
        self.numbers.insert(id, slot);
        Ok(())
    }

    /// Takes a thread away without any event, wherever it is: a new one that the policy refused, or one that has ended.
    pub fn discard(&mut self, id: ThreadId) {
        if let Some(slot) = self.numbers.get(&id).copied() {
            self.remove(slot);
            self.forget(slot);
        }
    }

    /// Sets the time, in nanoseconds from an arbitrary start. It is `now` in all handlers until it is set again. A host
    /// sets it before it raises an event; its clock never goes back.
    pub fn set_now(&mut self, nanoseconds: i64) {
        self.now = nanoseconds;
    }

    /// Begins another sequence of draws, as a host does when the policy comes into force. At first, the seed is 1.
    pub fn seed(&mut self, seed: u64) {
        self.random = random::Random::new(seed);
    }

    /// The timer that expires next. A host raises its event with its thread once that instant has come, one timer after
    /// the other.
    pub fn next_timeout(&self) -> Option<Timeout<'a>> {
        if self.nodes.here().is_some() {
            return self.armed().into_iter().next();
        }
        let (instant, thread, index) = *self.timers.first()?;
        let event = self.verified.policy().attributes[index].timer.as_deref()?;
        Some(Timeout { instant, thread, event })
    }

    /// The armed timers in the order in which they expire: by instant, then by the number of the thread, then as
    /// declared. In a policy with nodes, those of the node that has been entered.
    pub fn armed(&self) -> Vec<Timeout<'a>> {
        let policy = self.verified.policy();
        let timers = policy.attributes.iter().enumerate();
        let timers = timers.filter_map(|(index, attribute)| Some((index, attribute.timer.as_deref()?)));
        let armed = timers.flat_map(|(index, event)| {
            let here = |slot: &Slot| self.threads[*slot].node == self.nodes.here();
            let threads = self.numbers.iter().filter(move |(_, slot)| here(slot));
            threads.filter_map(move |(thread, slot)| match self.threads[*slot].attributes[index] {
                Value::Time(instant) if instant != 0 => Some((Timeout { instant, thread: *thread, event }, index)),
                Value::Time(_) | Value::Int(_) | Value::Bool(_) | Value::Float(_) => None,
            })
        });
        let mut armed: Vec<(Timeout, usize)> = armed.collect();
        armed.sort_by_key(|(timeout, index)| (timeout.instant, timeout.thread, *index));
        armed.into_iter().map(|(timeout, _)| timeout).collect()
    }

    /// The time that [`Machine::set_now`] set last.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Whether the policy has a handler for this event.
    pub fn handles(&self, event: &str) -> bool {
        self.events.contains_key(event)
    }

    /// The handler of an event, for [`Machine::run`].
    pub fn handler(&self, event: &str) -> Option<&'a Handler> {
        self.events.get(event).copied()
    }

    /// Like [`Machine::raise`], for a host that has looked the handler up before.
    ///
    /// # Errors
    /// As [`Machine::raise`].
    pub fn run(
        &mut self,
        handler: &'a Handler,
        threads: &[ThreadId],
        application: &mut dyn Application,
    ) -> Result<Option<ThreadId>, Stop> {
        match self.handle(handler, threads, application)? {
            Flow::Dispatched(thread) => Ok(Some(thread)),
            Flow::Next | Flow::Left(_) | Flow::Returned(_) => Ok(None),
        }
    }

    /// The line of the policy's source that last moved a thread; 0 for a default handler of the framework.
    pub fn moved_by(&self) -> u32 {
        self.moved_by
    }

    /// Exchanges the contents of the RUNNING containers. With several processors and one instance, each processor has
    /// its own, as `struct catapults_policy` says (`frameworks/shared/catapults/policy.h`).
    pub fn exchange_running(&mut self, others: &mut RunningSet) {
        let policy = self.verified.policy();
        let running = policy.containers.iter().enumerate().filter(|(_, one)| one.class == StateClass::Running);
        for (place, (index, _)) in running.enumerate() {
            if others.0.len() <= place {
                others.0.push(BTreeMap::new());
            }
            std::mem::swap(&mut self.containers[index], &mut others.0[place]);
        }
    }

    /// Runs the handler of an event. Returns the thread that it dispatched, if any.
    ///
    /// # Errors
    /// After [`Stop::Fail`] nothing has changed. After [`Stop::Guard`] the policy is out: statements before the guard
    /// have had their effect.
    pub fn raise(
        &mut self,
        event: &str,
        threads: &[ThreadId],
        application: &mut dyn Application,
    ) -> Result<Option<ThreadId>, Stop> {
        let handler = self.events.get(event).copied();
        let handler =
            handler.ok_or_else(|| Stop::Misuse(format!("the policy has no handler for the event `{event}`")))?;
        self.run(handler, threads, application)
    }

    /// Runs the handler of a query.
    ///
    /// # Errors
    /// [`Stop::Misuse`] if there is none; [`Stop::Unproved`] if it has no value.
    pub fn ask(&mut self, query: &str, threads: &[ThreadId], application: &mut dyn Application) -> Result<Value, Stop> {
        let handler = self.queries.get(query).copied();
        let handler =
            handler.ok_or_else(|| Stop::Misuse(format!("the policy has no handler for the query `{query}`")))?;
        match self.handle(handler, threads, application)? {
            Flow::Returned(Some(value)) => Ok(value),
            Flow::Returned(None) | Flow::Next | Flow::Left(_) | Flow::Dispatched(_) => {
                Err(Stop::Unproved { line: handler.at.line, text: format!("the query `{query}` has a value") })
            }
        }
    }

    /// The threads in a container, in the order in which they would leave it.
    pub fn contents(&self, container: ContainerId) -> Vec<ThreadId> {
        self.containers[container.0].values().map(|slot| self.threads[*slot].id).collect()
    }

    /// Where a thread is; `None` if there is none of this number.
    pub fn position(&self, thread: ThreadId) -> Option<Position> {
        self.numbers.get(&thread).map(|slot| self.threads[*slot].position)
    }

    /// What the policy keeps for a thread.
    pub fn attribute(&self, thread: ThreadId, attribute: AttributeId) -> Option<Value> {
        self.numbers.get(&thread).map(|slot| self.threads[*slot].attributes[attribute.0])
    }

    /// Which of two READY threads leaves first: [`Policy::ready_order`]. `None`: the policy has no such order.
    pub fn ready_order(&self, one: ThreadId, other: ThreadId) -> Option<Ordering> {
        let (_, keys) = self.verified.policy().ready_order()?;
        let one = self.keys_of(*self.numbers.get(&one)?, keys);
        Some(one.cmp(self.keys_of(*self.numbers.get(&other)?, keys)))
    }

    /// How many threads live.
    pub fn threads(&self) -> usize {
        self.numbers.keys().filter(|id| id.node().is_none()).count()
    }

    /// How many steps the last handler took ([`cost`]), also if it stopped early.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The policy's own variables, in the order of [`Policy::variables`].
    pub fn variables(&self) -> &[Value] {
        &self.variables
    }

    fn handle(
        &mut self,
        handler: &'a Handler,
        threads: &[ThreadId],
        application: &mut dyn Application,
    ) -> Result<Flow, Stop> {
        if threads.len() != handler.parameters {
            let (name, takes, given) = (&handler.name, handler.parameters, threads.len());
            return Err(Stop::Misuse(format!("`{name}` takes {takes} threads, not {given}")));
        }
        self.belongs(handler)?;
        self.locals.clear();
        for (thread, local) in threads.iter().zip(&handler.locals) {
            let Some(slot) = self.numbers.get(thread) else {
                return Err(Stop::Misuse(format!("there is no {thread}")));
            };
            if thread.node().is_some() != (local.kind == LocalKind::Node) {
                return Err(Stop::Misuse(format!("`{}` does not take {thread} as `{}`", handler.name, local.name)));
            }
            let place = &self.threads[*slot];
            if thread.node().is_none() && place.position != Position::Hand && place.node != self.nodes.here() {
                return Err(Stop::Misuse(format!("{thread} is on another node")));
            }
            self.locals.push(LocalState::Thread(*slot));
        }
        self.locals.resize(handler.locals.len(), LocalState::Unset);
        let mut step = Step { machine: self, handler, application, turns: 0, steps: 0 };
        let done = step.block(&handler.body);
        self.steps = step.steps;
        done
    }

    /// The thread that would leave a container next.
    fn first(&self, container: ContainerId) -> Option<Slot> {
        self.containers[container.0].first_key_value().map(|(_, slot)| *slot)
    }

    /// The values by which a thread is sorted; the least leaves first.
    fn keys_of<'k>(&self, slot: Slot, keys: &'k [SortKey]) -> impl Iterator<Item = i64> + use<'k, '_, 'a> {
        let attributes = &self.threads[slot].attributes;
        keys.iter().map(|key| {
            let value = arithmetic::number(attributes[key.attribute.0]);
            if key.reverse { value } else { !value }
        })
    }

    fn remove(&mut self, slot: Slot) {
        let thread = &mut self.threads[slot];
        if let Position::In(container) = thread.position {
            self.containers[container.0].remove(&thread.rank);
            thread.position = Position::Hand;
        }
    }

    fn insert(&mut self, slot: Slot, container: ContainerId) {
        self.clock += 1;
        let (keys, falling) = match &self.verified.policy().containers[container.0].kind {
            ContainerKind::Threadref | ContainerKind::Queue => (&[][..], false),
            ContainerKind::Stack => (&[][..], true),
            ContainerKind::Pqueue(keys) => (keys.as_slice(), false),
            ContainerKind::Pstack(keys) => (keys.as_slice(), true),
        };
        let keys = self.keys_of(slot, keys).collect();
        let thread = &mut self.threads[slot];
        thread.rank = Rank { keys, inserted: if falling { -self.clock } else { self.clock } };
        thread.position = Position::In(container);
        thread.node = if thread.id.node().is_some() { None } else { self.nodes.here() };
        self.containers[container.0].insert(thread.rank.clone(), slot);
    }

    /// Assigns an attribute. If it is a timer, this arms or disarms it.
    fn assign(&mut self, slot: Slot, attribute: AttributeId, value: Value) {
        let thread = &mut self.threads[slot];
        let before = std::mem::replace(&mut thread.attributes[attribute.0], value);
        if self.verified.policy().attributes[attribute.0].timer.is_none() {
            return;
        }
        let id = thread.id;
        if let Value::Time(instant) = before {
            self.timers.remove(&(instant, id, attribute.0));
        }
        if let Value::Time(instant) = value
            && instant != 0
        {
            self.timers.insert((instant, id, attribute.0));
        }
    }

    /// Disarms all timers of a thread.
    fn disarm(&mut self, slot: Slot) {
        let policy = self.verified.policy();
        for (index, _) in policy.attributes.iter().enumerate().filter(|(_, attribute)| attribute.timer.is_some()) {
            self.assign(slot, AttributeId(index), Value::Time(0));
        }
    }

    /// Frees the memory of a thread that is in no container; for a node, its instance, too.
    fn forget(&mut self, slot: Slot) {
        let id = self.threads[slot].id;
        if id.node().is_some() {
            self.evacuate(id);
        }
        self.disarm(slot);
        self.unlink(slot);
        self.numbers.remove(&id);
        self.vacant.push(slot);
    }
}
