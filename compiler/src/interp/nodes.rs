//! The instances of a policy with nodes. Handlers run in one of them; the others are put aside.

use std::collections::BTreeMap;
use std::fmt;

use super::{Machine, Position, Rank, SavedThread, Slot, Stop, ThreadId};
use crate::policy::{AttributeId, Container, ContainerKind, Entity, Handler, Value};

/// The instances, and the threads on the way between them.
#[derive(Clone, Default)]
pub(super) struct Nodes {
    /// The node whose instance is in the machine.
    here: Option<ThreadId>,
    away: BTreeMap<ThreadId, Instance>,
    /// The threads sent since the last [`Machine::take_sent`], each with its node.
    sent: Vec<(ThreadId, ThreadId)>,
}

impl Nodes {
    pub(super) fn here(&self) -> Option<ThreadId> {
        self.here
    }
}

/// What a node has of its own; the parts that all share are not used here.
#[derive(Clone)]
struct Instance {
    variables: Vec<Value>,
    containers: Vec<BTreeMap<Rank, Slot>>,
}

/// All that decides what a machine with nodes does next, for comparisons: whichever node has been entered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SavedNodes {
    /// The variables and containers that all nodes share.
    shared: (Vec<Value>, Vec<Vec<SavedThread>>),
    /// The variables and containers of each node.
    nodes: Vec<(ThreadId, Vec<Value>, Vec<Vec<SavedThread>>)>,
    /// Threads that are in no container.
    in_hand: Vec<SavedThread>,
    now: i64,
}

impl SavedNodes {
    /// All values in it.
    pub fn values(&self) -> impl Iterator<Item = Value> + '_ {
        let threads = |containers: &'_ [Vec<SavedThread>]| -> Vec<Value> {
            containers.iter().flatten().flat_map(|thread| thread.attributes.iter().copied()).collect()
        };
        let of_nodes = self.nodes.iter();
        let of_nodes = of_nodes.flat_map(move |(_, own, held)| own.iter().copied().chain(threads(held)));
        let shared = self.shared.0.iter().copied().chain(threads(&self.shared.1));
        let in_hand = self.in_hand.iter().flat_map(|thread| thread.attributes.iter().copied());
        shared.chain(of_nodes).chain(in_hand)
    }
}

/// Nodes have numbers from here on.
const NODES: u32 = 1 << 31;

impl ThreadId {
    /// The node with this number, which is below 2^31. It is held and named as threads are.
    pub fn of_node(number: u32) -> ThreadId {
        ThreadId(number | NODES)
    }

    /// Its number, if it is a node.
    pub fn node(self) -> Option<u32> {
        (self.0 >= NODES).then_some(self.0 & !NODES)
    }
}

/// `thread 3`, `node 1`
impl fmt::Display for ThreadId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node() {
            Some(node) => write!(out, "node {node}"),
            None => write!(out, "thread {}", self.0),
        }
    }
}

impl Machine<'_> {
    /// From now on, events of threads and queries go to the instance of this node. A node that is entered for the first
    /// time gets a new instance.
    ///
    /// # Errors
    /// [`Stop::Misuse`] if there is no such node.
    pub fn enter(&mut self, node: ThreadId) -> Result<(), Stop> {
        if node.node().is_none() || !self.numbers.contains_key(&node) {
            return Err(Stop::Misuse(format!("there is no {node}")));
        }
        if self.nodes.here == Some(node) {
            return Ok(());
        }
        let policy = self.verified.policy();
        let mut next = self.nodes.away.remove(&node).unwrap_or_else(|| Instance {
            variables: policy.variables.iter().map(|variable| variable.initial).collect(),
            containers: policy.containers.iter().map(|_| BTreeMap::new()).collect(),
        });
        if let Some(families) = &policy.families
            && let Some(here) = families.here
        {
            next.variables[here.0] = self.threads[self.numbers[&node]].attributes[families.of_node.0];
        }
        self.exchange(&mut next);
        if let Some(before) = self.nodes.here.replace(node) {
            self.nodes.away.insert(before, next);
        }
        Ok(())
    }

    /// The node whose instance has been entered.
    pub fn entered(&self) -> Option<ThreadId> {
        self.nodes.here
    }

    /// The threads that handlers have sent to nodes since the last call, each with its node. They are in hand: the host
    /// raises on that node the event of a thread that comes.
    pub fn take_sent(&mut self) -> Vec<(ThreadId, ThreadId)> {
        std::mem::take(&mut self.nodes.sent)
    }

    /// On which node a thread is; `None` if it is on none, or the policy has none.
    pub fn node_of(&self, thread: ThreadId) -> Option<ThreadId> {
        let state = self.numbers.get(&thread).map(|slot| &self.threads[*slot])?;
        state.node.filter(|_| state.position != Position::Hand)
    }

    /// All that decides what this machine does next.
    pub fn save_nodes(&self) -> SavedNodes {
        let policy = self.verified.policy();
        let thread = |slot: &Slot| self.saved(*slot);
        let held = |all: &[BTreeMap<Rank, Slot>], entity: Entity| {
            policy.holding(entity).map(|id| all[id.0].values().map(thread).collect()).collect::<Vec<Vec<_>>>()
        };
        let of = |all: &[Value], global: bool| {
            let variables = policy.variables.iter().zip(all).filter(|(variable, _)| variable.global == global);
            variables.map(|(_, value)| *value).collect::<Vec<Value>>()
        };
        let away = self.nodes.away.iter().map(|(node, instance)| (*node, &instance.variables, &instance.containers));
        let here = self.nodes.here.map(|node| (node, &self.variables, &self.containers));
        let instances = away.chain(here);
        let mut nodes: Vec<_> = instances
            .map(|(node, variables, containers)| (node, of(variables, false), held(containers, Entity::Thread)))
            .collect();
        nodes.sort_by_key(|(node, ..)| *node);
        let in_hand = self.numbers.values().filter(|slot| self.threads[**slot].position == Position::Hand);
        let mut in_hand: Vec<SavedThread> = in_hand.map(thread).collect();
        in_hand.sort_by_key(|thread| thread.id);
        let shared = (of(&self.variables, true), held(&self.containers, Entity::Node));
        SavedNodes { shared, nodes, in_hand, now: self.now }
    }

    /// All nodes.
    pub fn nodes(&self) -> Vec<ThreadId> {
        let mut nodes: Vec<ThreadId> = self.numbers.keys().copied().filter(|id| id.node().is_some()).collect();
        nodes.sort_unstable();
        nodes
    }

    /// Sets what the host says of a node. If nodes are sorted by it, this one is re-filed.
    ///
    /// # Errors
    /// [`Stop::Misuse`] if there is no such node.
    pub fn set_property(&mut self, node: ThreadId, property: AttributeId, value: Value) -> Result<(), Stop> {
        let slot = self.numbers.get(&node).copied().filter(|_| node.node().is_some());
        let slot = slot.ok_or_else(|| Stop::Misuse(format!("there is no {node}")))?;
        self.threads[slot].attributes[property.0] = value;
        if let Position::In(container) = self.threads[slot].position
            && is_sorted_by(&self.verified.policy().containers[container.0], property)
        {
            self.remove(slot);
            self.insert(slot, container);
        }
        Ok(())
    }

    /// Takes everything from a node that leaves: its threads are in hand then, and its instance is gone.
    pub(super) fn evacuate(&mut self, node: ThreadId) {
        let policy = self.verified.policy();
        if self.nodes.here == Some(node) {
            let mut gone = Instance {
                variables: policy.variables.iter().map(|variable| variable.initial).collect(),
                containers: policy.containers.iter().map(|_| BTreeMap::new()).collect(),
            };
            self.exchange(&mut gone);
            self.nodes.here = None;
        }
        self.nodes.away.remove(&node);
        for slot in 0..self.threads.len() {
            if self.threads[slot].node == Some(node) {
                self.threads[slot].position = Position::Hand;
                self.release(slot);
            }
        }
    }

    /// Sends a thread that is in hand to a node.
    pub(super) fn send(&mut self, slot: Slot, node: Slot) {
        self.release(slot);
        self.nodes.sent.push((self.threads[slot].id, self.threads[node].id));
    }

    /// Whether a handler can run now. One that runs in a node's instance needs a node that has been entered.
    pub(super) fn belongs(&self, handler: &Handler) -> Result<(), Stop> {
        if self.verified.policy().has_nodes() && !handler.global && self.nodes.here.is_none() {
            return Err(Stop::Misuse(format!("`{}` is of a node, and none has been entered", handler.name)));
        }
        Ok(())
    }

    /// Takes a thread from its node. On the way, no timer is armed.
    pub(super) fn release(&mut self, slot: Slot) {
        self.threads[slot].node = None;
        self.disarm(slot);
    }

    /// Exchanges the data of an instance.
    fn exchange(&mut self, other: &mut Instance) {
        let policy = self.verified.policy();
        for (index, variable) in policy.variables.iter().enumerate() {
            if !variable.global {
                std::mem::swap(&mut self.variables[index], &mut other.variables[index]);
            }
        }
        for container in policy.holding(Entity::Thread) {
            std::mem::swap(&mut self.containers[container.0], &mut other.containers[container.0]);
        }
    }
}

fn is_sorted_by(container: &Container, attribute: AttributeId) -> bool {
    match &container.kind {
        ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys) => keys.iter().any(|key| key.attribute == attribute),
        ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => false,
    }
}
