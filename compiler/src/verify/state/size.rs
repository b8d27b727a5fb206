//! How many threads a container holds, and where that is known from.

use crate::policy::{At, Container, ContainerKind, Entity, Policy};

/// How many threads a container holds.
#[derive(Clone, Copy, Debug)]
pub(in crate::verify) struct Size {
    /// At least so many.
    pub least: u64,
    /// At most so many, if there is a bound.
    pub most: Option<u64>,
    /// Where this is known from.
    pub why: Why,
}

/// Where the size of a container is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::verify) enum Why {
    /// From several places, or from nowhere.
    Unknown,
    /// From all handlers together: no handler leaves it otherwise.
    Between,
    /// From the event type: it is so whenever the event is raised.
    Given,
    /// From a condition.
    Tested(At),
    /// From a transfer, a destruction or an assignment.
    Moved(At),
}

/// Where a size is known from makes no difference to what is known.
impl PartialEq for Size {
    fn eq(&self, other: &Self) -> bool {
        (self.least, self.most) == (other.least, other.most)
    }
}

impl Size {
    /// Nothing is known, except that a threadref holds at most one thread, and others at most all that can live.
    pub(super) fn any(policy: &Policy, container: &Container) -> Self {
        let most =
            if container.kind == ContainerKind::Threadref { Some(1) } else { Size::all(policy, container.holds) };
        Size { least: 0, most, why: Why::Unknown }
    }

    /// How many threads can live. There can be any number of nodes.
    pub(super) fn all(policy: &Policy, holds: Entity) -> Option<u64> {
        match holds {
            Entity::Thread => policy.capacity.map(u64::from),
            Entity::Node => None,
        }
    }

    /// What is known if both hold.
    pub(super) fn both(self, other: Size) -> Size {
        let size = Size { least: self.least.max(other.least), most: lower(self.most, other.most), why: self.why };
        if size == self { self } else { Size { why: other.why, ..size } }
    }

    pub(super) fn join(self, other: Size) -> Size {
        let most = match (self.most, other.most) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (None, _) | (_, None) => None,
        };
        let why = match (self.why, other.why) {
            (one, same) if one == same => one,
            // The same on both paths, for two reasons: what was done says more than what was tested.
            (moved @ Why::Moved(_), _) | (_, moved @ Why::Moved(_)) if self == other => moved,
            _ => Why::Unknown,
        };
        Size { least: self.least.min(other.least), most, why }
    }

    /// One thread less, or perhaps one less if not `certain`.
    pub(super) fn shrink(&mut self, certain: bool, at: At) {
        self.least = self.least.saturating_sub(1);
        if certain {
            self.most = self.most.map(|most| most.saturating_sub(1));
        }
        self.why = Why::Moved(at);
    }

    /// One thread more, or perhaps one more if not `certain`.
    pub(super) fn grow(&mut self, certain: bool, at: At) {
        if certain {
            self.least = self.least.saturating_add(1);
        }
        self.most = self.most.map(|most| most.saturating_add(1));
        self.why = Why::Moved(at);
    }
}

pub(super) fn lower(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}
