//! Everything that decides what a machine does next, as data that can be saved and restored.

use super::{Machine, Position, Rank, Slot, ThreadId, ThreadState};
use crate::policy::{AttributeId, ContainerId, ContainerKind, Value};

/// The policy's variables and the threads in its containers. Imports are the application's; threads in hand are in
/// none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Saved {
    /// In the order of [`crate::policy::Policy::variables`].
    pub variables: Vec<Value>,
    /// In the order of [`crate::policy::Policy::containers`], each with its threads in the order in which they would
    /// leave.
    pub containers: Vec<Vec<SavedThread>>,
    /// The time.
    pub now: i64,
}

/// A thread in a container.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SavedThread {
    /// The host's number.
    pub id: ThreadId,
    /// In the order of [`crate::policy::Policy::attributes`].
    pub attributes: Vec<Value>,
    /// The thread that each link names, in the order of [`crate::policy::Policy::links`].
    pub links: Vec<Option<ThreadId>>,
}

impl Machine<'_> {
    /// All that decides what this machine does next.
    pub fn save(&self) -> Saved {
        let thread = |slot: &usize| self.saved(*slot);
        Saved {
            variables: self.variables.clone(),
            containers: self.containers.iter().map(|container| container.values().map(thread).collect()).collect(),
            now: self.now,
        }
    }

    pub(super) fn saved(&self, slot: Slot) -> SavedThread {
        let thread = &self.threads[slot];
        let links = thread.links.iter().map(|to| to.map(|to| self.threads[to].id)).collect();
        SavedThread { id: thread.id, attributes: thread.attributes.clone(), links }
    }

    /// Puts this machine into the state of the saved one. Both must run the same policy.
    pub fn restore(&mut self, saved: &Saved) {
        let policy = self.verified.policy();
        self.variables.clone_from(&saved.variables);
        self.now = saved.now;
        self.imports = policy.imports.iter().map(|import| import.default).collect();
        self.containers.iter_mut().for_each(std::collections::BTreeMap::clear);
        self.threads.clear();
        self.numbers.clear();
        self.vacant.clear();
        self.timers.clear();
        self.links.clear();
        for (index, threads) in saved.containers.iter().enumerate() {
            let container = ContainerId(index);
            // Where the last to come leaves first, threads are inserted in reverse.
            let last_first = match policy.containers[index].kind {
                ContainerKind::Stack | ContainerKind::Pstack(_) => true,
                ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Pqueue(_) => false,
            };
            for place in 0..threads.len() {
                let thread = &threads[if last_first { threads.len() - 1 - place } else { place }];
                let slot = self.threads.len();
                self.threads.push(ThreadState {
                    id: thread.id,
                    attributes: thread.attributes.clone(),
                    links: vec![None; policy.links.len()],
                    imports: policy.thread_imports.iter().map(|import| import.default).collect(),
                    position: Position::Hand,
                    rank: Rank::default(),
                    node: None,
                });
                self.numbers.insert(thread.id, slot);
                for (attribute, value) in thread.attributes.iter().enumerate() {
                    self.assign(slot, AttributeId(attribute), *value);
                }
                self.insert(slot, container);
            }
        }
        for thread in saved.containers.iter().flatten() {
            let Some(slot) = self.numbers.get(&thread.id).copied() else { continue };
            for (link, to) in thread.links.iter().enumerate() {
                self.set_link(slot, link, to.and_then(|to| self.numbers.get(&to).copied()));
            }
        }
    }
}
