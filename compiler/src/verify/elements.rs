//! What is known of an element of an array by the index that names it: `ready[i]`, whichever element that is.
//!
//! Such knowledge holds as long as the index keeps its value. So only the handler may change what an index consists of,
//! and when it assigns a part of an index, the knowledge is forgotten.

use super::state::{Size, Why};
use crate::policy::{ContainerId, ContainerRef, Expression, LocalId, Place, Thread};

/// An element that an index names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    /// The first element of the array.
    pub first: ContainerId,
    /// The length of the array.
    pub length: usize,
    /// The index into it.
    pub index: Expression,
    /// How many threads it holds.
    pub size: Size,
}

impl Named {
    /// An element of which nothing is known. `None`: its index is not steady.
    pub fn of(container: &ContainerRef) -> Option<Named> {
        let ContainerRef::Element { first, length, index } = container else { return None };
        let size = Size { least: 0, most: None, why: Why::Unknown };
        is_steady(index).then(|| Named { first: *first, length: *length, index: (**index).clone(), size })
    }

    /// As the policy names it.
    pub fn container(&self) -> ContainerRef {
        ContainerRef::Element { first: self.first, length: self.length, index: Box::new(self.index.clone()) }
    }

    /// Whether this is the element that `container` names.
    pub fn is(&self, container: &ContainerRef) -> bool {
        match container {
            ContainerRef::Element { first, index, .. } => *first == self.first && **index == self.index,
            ContainerRef::One(_) | ContainerRef::Whole { .. } => false,
        }
    }

    /// The containers that it can be.
    pub fn candidates(&self) -> impl Iterator<Item = ContainerId> + use<> {
        (self.first.0..self.first.0 + self.length).map(ContainerId)
    }

    /// Whether it can be this container.
    pub fn may_be(&self, container: ContainerId) -> bool {
        (self.first.0..self.first.0 + self.length).contains(&container.0)
    }

    /// Whether an assignment to this place can change the index.
    pub fn depends_on(&self, place: &Place) -> bool {
        any_read(&self.index, &|read| overlap(read, place))
    }

    /// Whether the index changes when this local names another thread.
    pub fn depends_on_local(&self, local: LocalId) -> bool {
        any_read(&self.index, &|read| read.thread() == Some(Thread::Local(local)))
    }

    /// Whether the index changes when another thread is in one of these containers.
    pub fn depends_on_slots(&self, moved: impl Fn(ContainerId) -> bool) -> bool {
        any_read(&self.index, &|read| match read.thread() {
            Some(Thread::Slot(slot) | Thread::First(slot)) => moved(slot),
            Some(Thread::Local(_)) | None => false,
        })
    }
}

/// Whether an index keeps its value until the handler changes a part of it.
fn is_steady(index: &Expression) -> bool {
    let names = index.names();
    // Not steady: imports (the application changes them at any time), the contents of containers (any transfer does),
    // what a cursor names (each round does), the first thread of a container (an assignment can), and verbatim text.
    // `now` is steady throughout a handler.
    let steady = names.container.is_none()
        && names.threads[0].is_none()
        && names.verbatim.is_none()
        && !matches!(names.place, Some(Place::Import(_) | Place::ThreadImport(..)))
        && !matches!(names.place.and_then(Place::thread), Some(Thread::First(_)));
    steady && index.parts().all(is_steady)
}

/// Whether an expression reads such a place, at any depth.
fn any_read(expression: &Expression, such: &impl Fn(&Place) -> bool) -> bool {
    let itself = expression.names().place.is_some_and(such);
    itself || expression.parts().any(|part| any_read(part, such))
}

/// Whether two places can be the same. Two names can stand for one thread.
fn overlap(one: &Place, other: &Place) -> bool {
    let share = |a: std::ops::Range<usize>, b: std::ops::Range<usize>| a.start < b.end && b.start < a.end;
    one == other || share(one.variables(), other.variables()) || share(one.attributes(), other.attributes())
}
