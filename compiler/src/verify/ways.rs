//! From which containers to which others threads can go.

use std::collections::BTreeSet;

use crate::policy::{ContainerId, ContainerRef};

/// Each way leads from a container to any of those that one destination can name, which have consecutive numbers. So
/// there are as many ways as containers that threads can leave, and not one per pair of elements of an array.
#[derive(Debug, Default)]
pub(super) struct Ways(BTreeSet<(ContainerId, Targets)>);

/// The first container, and their number.
type Targets = (ContainerId, usize);

impl Ways {
    /// Adds ways from each of these to whatever the destination can name.
    pub fn add(&mut self, sources: impl IntoIterator<Item = ContainerId>, destination: &ContainerRef) {
        let targets = destination.numbers();
        self.0.extend(sources.into_iter().map(|from| (from, (ContainerId(targets.start), targets.len()))));
    }

    /// Adds those. Returns whether any is new.
    pub fn extend(&mut self, others: Ways) -> bool {
        let before = self.0.len();
        self.0.extend(others.0);
        self.0.len() > before
    }

    /// Where threads can be that were in one of these containers and then went any of these ways, in any order.
    pub fn reached(&self, places: impl IntoIterator<Item = ContainerId>) -> BTreeSet<ContainerId> {
        let mut reached: BTreeSet<ContainerId> = places.into_iter().collect();
        let mut pending: Vec<ContainerId> = reached.iter().copied().collect();
        let mut gone = BTreeSet::new();
        while let Some(from) = pending.pop() {
            let first = (ContainerId(0), 0);
            let ways = self.0.range((from, first)..).take_while(|(start, _)| *start == from);
            for (first, count) in ways.map(|(_, targets)| *targets).filter(|targets| gone.insert(*targets)) {
                let targets = (first.0..first.0 + count).map(ContainerId);
                pending.extend(targets.filter(|to| reached.insert(*to)));
            }
        }
        reached
    }
}
