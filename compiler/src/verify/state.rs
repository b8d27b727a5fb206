//! What is known of the containers and the named threads at one point of a handler: an abstract state.
//!
//! A state stands for all situations that agree with it. Every step keeps that so: it may forget, but never invents.

mod counted;
mod join;
mod moves;
mod size;

pub(super) use counted::Assigned;
pub(super) use size::{Size, Why};

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::elements::Named;
use super::situation::entity;
use super::values::{self, Range};
use crate::policy::{At, ContainerId, ContainerRef, Entity, Expression, Handler, LocalId, Place, Policy, Value};
use counted::Counted;
use size::lower;

/// An abstract state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    /// By container. Shared, like the places below: each statement has a state, and most statements change little.
    sizes: Rc<Vec<Size>>,
    /// Of each set, at least one container holds a thread. No member is known to be empty or to hold one.
    some: BTreeSet<BTreeSet<ContainerId>>,
    /// What is known of elements of arrays by their indices; each once.
    named: Vec<Named>,
    /// By local: where the thread can be. `None`: the local names no thread here.
    threads: Vec<Option<Rc<Places>>>,
    /// The values of the policy's variables, then of the handler's. Most states share them.
    values: Rc<Vec<Range>>,
    /// By local and attribute: the attributes of threads that locals name, if anything is known of them.
    attributes: Rc<BTreeMap<(usize, usize), Range>>,
    /// What variables say about the numbers of threads.
    counted: Counted,
    /// The first statement so far that changed anything but locals.
    pub effect: Option<At>,
    /// Whether, as far as is known, a path that can be taken leads here: each decision on it is open ([`super::open`]).
    pub sure: bool,
    /// For a path followed by itself: the steps that led here.
    pub path: Vec<Step>,
}

/// The places where a thread can be.
pub(super) type Places = BTreeSet<Spot>;

/// Where a thread can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spot {
    /// In no container yet.
    Hand,
    /// In this container.
    In(ContainerId),
    /// Destroyed, or sent to a node.
    Gone,
    /// RUNNING on another processor, and so in no container here. Only for threads that a link names.
    Elsewhere,
}

/// Something done on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// A condition, a transfer, a loop.
    pub at: At,
    /// In words.
    pub what: String,
}

impl State {
    /// Nothing is known, except that a threadref holds one thread at most and that parameters are in some container.
    pub fn unknown(policy: &Policy, handler: &Handler) -> Self {
        let (locals, parameters) = (handler.locals.len(), handler.parameters);
        let all = |entity: Entity| Rc::new(policy.holding(entity).map(Spot::In).collect::<Places>());
        let anywhere = [all(Entity::Thread), all(Entity::Node)];
        let anywhere = |local: usize| match entity(handler, local) {
            Entity::Thread => anywhere[0].clone(),
            Entity::Node => anywhere[1].clone(),
        };
        State {
            sizes: Rc::new(policy.containers.iter().map(|container| Size::any(policy, container)).collect()),
            some: BTreeSet::new(),
            named: Vec::new(),
            threads: (0..locals).map(|local| (local < parameters).then(|| anywhere(local))).collect(),
            values: Rc::new(values::unknown(policy, handler.locals.iter().map(|local| local.kind))),
            attributes: Rc::default(),
            counted: Counted::default(),
            effect: None,
            sure: true,
            path: Vec::new(),
        }
    }

    /// A policy that has just been loaded: its containers are empty, and its variables have their declared values.
    pub fn loaded(policy: &Policy) -> Self {
        let empty = Size { least: 0, most: Some(0), why: Why::Between };
        let initial = |value: Value| Range::of(value).because(Why::Between);
        State {
            sizes: Rc::new(policy.containers.iter().map(|_| empty).collect()),
            some: BTreeSet::new(),
            named: Vec::new(),
            threads: Vec::new(),
            values: Rc::new(policy.variables.iter().map(|variable| initial(variable.initial)).collect()),
            attributes: Rc::default(),
            counted: Counted::default(),
            effect: None,
            sure: true,
            path: Vec::new(),
        }
    }

    /// Nothing is known of what outlives handlers.
    pub fn nothing(policy: &Policy) -> Self {
        State {
            sizes: Rc::new(policy.containers.iter().map(|container| Size::any(policy, container)).collect()),
            some: BTreeSet::new(),
            named: Vec::new(),
            threads: Vec::new(),
            values: Rc::new(values::unknown(policy, std::iter::empty())),
            attributes: Rc::default(),
            counted: Counted::default(),
            effect: None,
            sure: true,
            path: Vec::new(),
        }
    }

    /// The part of this state that outlives a handler.
    pub fn between(self, policy: &Policy) -> State {
        let mut values = self.values;
        if values.len() > policy.variables.len() {
            Rc::make_mut(&mut values).truncate(policy.variables.len());
        }
        let mut sizes = self.sizes;
        if let Some(capacity) = policy.capacity.map(u64::from)
            && sizes.iter().any(|size| size.most.is_none_or(|most| most > capacity))
        {
            for (size, container) in Rc::make_mut(&mut sizes).iter_mut().zip(&policy.containers) {
                size.most = lower(size.most, Size::all(policy, container.holds));
            }
        }
        // Between handlers, an index made of locals names nothing.
        State {
            sizes,
            threads: Vec::new(),
            named: Vec::new(),
            values,
            attributes: Rc::default(),
            counted: Counted::default(),
            effect: None,
            sure: true,
            path: Vec::new(),
            ..self
        }
    }

    /// The state at the start of a handler: nothing is known of what is local to it.
    pub fn entering(&self, policy: &Policy, handler: &Handler) -> State {
        let nothing = State::unknown(policy, handler);
        let mut values = nothing.values.to_vec();
        for (index, (value, known)) in values.iter_mut().zip(self.values.iter()).enumerate() {
            // Handlers of other nodes can assign it, whatever their state.
            if policy.variables.get(index).is_some_and(|variable| variable.global) {
                continue;
            }
            let why = if known == value { Why::Unknown } else { Why::Between };
            *value = known.because(why);
        }
        let mut sizes = self.sizes.to_vec();
        for (size, unknown) in sizes.iter_mut().zip(nothing.sizes.iter()) {
            size.why = if size == unknown { Why::Unknown } else { Why::Between };
        }
        State { sizes: Rc::new(sizes), some: self.some.clone(), values: Rc::new(values), ..nothing }
    }

    /// How many threads a container holds.
    pub fn size(&self, container: ContainerId) -> Size {
        self.sizes[container.0]
    }

    /// How many threads there are in what `container` names.
    pub fn size_of(&self, container: &ContainerRef) -> Size {
        let none = Size { least: 0, most: Some(0), why: Why::Unknown };
        match container {
            ContainerRef::One(only) => self.sizes[only.0],
            ContainerRef::Element { .. } => {
                let hull = container.candidates().map(|id| self.sizes[id.0]).reduce(Size::join).unwrap_or(none);
                match self.named.iter().find(|named| named.is(container)) {
                    Some(named) => named.size.both(hull),
                    None => hull,
                }
            }
            ContainerRef::Whole { .. } => {
                let sum = container.candidates().map(|id| self.sizes[id.0]).reduce(|one, other| Size {
                    least: one.least.saturating_add(other.least),
                    most: one.most.zip(other.most).and_then(|(one, other)| one.checked_add(other)),
                    why: if one.why == other.why { one.why } else { Why::Unknown },
                });
                let sum = sum.unwrap_or(none);
                let in_it = |spot: &Spot| spot.container().is_some_and(|id| container.may_be(id));
                let certain = self.some.iter().any(|fact| fact.iter().all(|id| container.may_be(*id)))
                    || self.threads.iter().flatten().any(|places| !places.is_empty() && places.iter().all(in_it));
                Size { least: sum.least.max(u64::from(certain)), ..sum }
            }
        }
    }

    /// Whether what `container` names certainly holds a thread.
    pub fn any_in(&self, container: &ContainerRef) -> bool {
        self.size_of(container).least > 0
    }

    /// Whether what `container` names is certainly empty.
    pub fn none_in(&self, container: &ContainerRef) -> bool {
        self.size_of(container).most == Some(0)
    }

    /// The containers that a reference can mean. For a whole array: those from which its next thread can be taken.
    pub fn meant(&self, container: &ContainerRef) -> Vec<ContainerId> {
        let possible = container.candidates().filter(|id| !self.empty(*id));
        match container {
            ContainerRef::One(only) => vec![*only],
            ContainerRef::Element { .. } => possible.collect(),
            ContainerRef::Whole { .. } => {
                let mut meant = Vec::new();
                for id in possible {
                    meant.push(id);
                    if self.holds(id) {
                        break;
                    }
                }
                meant
            }
        }
    }

    /// After an assignment: forgets what is known by indices that it can change. What is known by the index that is
    /// assigned is now also known by this place.
    pub fn assigned(&mut self, place: &Place, value: &Expression) {
        let copied = |named: &&Named| named.index == *value && !named.depends_on(place);
        let copies: Vec<Named> = match place {
            Place::Variable(_) | Place::Local(_) => self.named.iter().filter(copied).cloned().collect(),
            Place::VariableElement { .. }
            | Place::Import(_)
            | Place::Attribute(..)
            | Place::AttributeElement { .. }
            | Place::ThreadImport(..) => Vec::new(),
        };
        self.named.retain(|named| !named.depends_on(place));
        let index = || Expression::Read(place.clone());
        self.named.extend(copies.into_iter().map(|named| Named { index: index(), ..named }));
        let most = self.named.len().saturating_sub(MOST_NAMED);
        self.named.drain(..most);
    }

    /// Adds to what is known of an element by its index how many threads `now` holds, the container it is at present.
    pub fn named_as(&mut self, element: &ContainerRef, now: &ContainerRef) {
        let size = self.size_of(now);
        if size.least > 0 || size.most == Some(0) {
            self.name(element, |known| *known = known.both(size));
        }
    }

    /// Forgets all that is known by indices: something unknown may have been assigned.
    pub fn assigned_anything(&mut self) {
        self.named.clear();
    }

    /// The state if, in addition, what `container` names holds between `least` and `most` threads. `None`: it cannot.
    pub fn with_size_of(mut self, container: &ContainerRef, least: u64, most: Option<u64>, why: Why) -> Option<State> {
        if let ContainerRef::One(only) = container {
            return self.with_size(*only, least, most, why);
        }
        let known = self.size_of(container);
        let asked = Size { least, most, why };
        if known.both(asked).least > known.both(asked).most.unwrap_or(u64::MAX) {
            return None;
        }
        match container {
            ContainerRef::One(_) => {}
            ContainerRef::Element { .. } => self.name(container, |size| *size = size.both(asked)),
            ContainerRef::Whole { .. } => {
                let sizes = Rc::make_mut(&mut self.sizes);
                for id in container.candidates() {
                    let size = &mut sizes[id.0];
                    *size = size.both(Size { least: 0, most, why });
                }
            }
        }
        if least > 0 && known.least == 0 {
            self.some.insert(container.candidates().collect());
        }
        self.consistent()
    }

    /// Changes what is known of an element by its index.
    fn name(&mut self, container: &ContainerRef, change: impl FnOnce(&mut Size)) {
        let size = self.size_of(container);
        let place = match self.named.iter().position(|named| named.is(container)) {
            Some(place) => place,
            None => {
                let Some(named) = Named::of(container) else { return };
                if self.named.len() == MOST_NAMED {
                    self.named.remove(0);
                }
                self.named.push(named);
                self.named.len() - 1
            }
        };
        self.named[place].size = size;
        change(&mut self.named[place].size);
    }

    /// Whether a container certainly holds a thread.
    pub fn holds(&self, container: ContainerId) -> bool {
        self.sizes[container.0].least > 0
    }

    /// Whether a container is certainly empty.
    pub fn empty(&self, container: ContainerId) -> bool {
        self.sizes[container.0].most == Some(0)
    }

    /// What a variable can hold, by its index among the values.
    pub fn value(&self, index: usize) -> Range {
        self.values[index]
    }

    /// What an attribute of a named thread can be, if anything is known of it.
    pub fn attribute(&self, local: LocalId, attribute: usize) -> Option<Range> {
        self.attributes.get(&(local.0, attribute)).copied()
    }

    /// The state in which an attribute of a named thread has one of these values.
    pub fn with_attribute(mut self, local: LocalId, attribute: usize, range: Range) -> State {
        Rc::make_mut(&mut self.attributes).insert((local.0, attribute), range);
        self
    }

    /// The state after one of these attributes of some thread may have been assigned one of these values.
    pub fn with_some_attribute(mut self, attributes: std::ops::Range<usize>, range: Range) -> State {
        if self.attributes.keys().any(|(_, attribute)| attributes.contains(attribute)) {
            for ((_, attribute), known) in Rc::make_mut(&mut self.attributes) {
                if attributes.contains(attribute) {
                    *known = Range { open: false, ..known.join(range) };
                }
            }
        }
        self
    }

    /// Forgets the attributes of the thread that a local names.
    fn without_attributes(&mut self, local: LocalId) {
        if self.attributes.keys().any(|(owner, _)| *owner == local.0) {
            Rc::make_mut(&mut self.attributes).retain(|(owner, _), _| *owner != local.0);
        }
    }

    /// The state in which a variable has one of these values.
    pub fn with_value(mut self, index: usize, range: Range) -> State {
        let old = self.values[index];
        if old != range || (old.why, old.open) != (range.why, range.open) {
            Rc::make_mut(&mut self.values)[index] = range;
        }
        self
    }

    /// The same state, without the knowledge that it can be reached.
    pub fn unsure(self) -> State {
        State { sure: false, ..self }
    }

    /// The same state, but with what `other` knows of values.
    pub fn with_values_of(mut self, other: &State) -> State {
        self.values = Rc::clone(&other.values);
        self.attributes = Rc::clone(&other.attributes);
        self.uncounted();
        self
    }

    /// Containers, this one among them, of which it is only known that one holds a thread.
    pub fn one_of(&self, container: ContainerId) -> Option<&BTreeSet<ContainerId>> {
        self.some.iter().find(|containers| containers.contains(&container))
    }

    /// The locals that name threads or nodes here, each with where that can be.
    pub fn named_threads(&self) -> impl Iterator<Item = (LocalId, &Places)> {
        let all = self.threads.iter().enumerate();
        all.filter_map(|(local, places)| places.as_deref().map(|places| (LocalId(local), places)))
    }

    /// Where a named thread can be; `None` if the local names none here.
    pub fn places(&self, local: LocalId) -> Option<&Places> {
        self.threads[local.0].as_deref()
    }

    /// The state if a thread is only where `keep` holds. `None`: it cannot be.
    pub fn with_places(mut self, local: LocalId, keep: impl Fn(Spot) -> bool) -> Option<State> {
        if let Some(places) = &mut self.threads[local.0] {
            narrow(places, keep);
        }
        self.consistent()
    }

    /// The state in which a thread is in one of these places, whatever was known of it.
    pub fn placed(mut self, local: LocalId, places: Places) -> Option<State> {
        self.threads[local.0] = Some(Rc::new(places));
        self.without_attributes(local);
        self.named.retain(|named| !named.depends_on_local(local));
        self.consistent()
    }

    /// Where a thread can be if it is only known that it lives.
    pub fn anywhere(&self, policy: &Policy) -> Places {
        let in_hand = self.threads.iter().flatten().any(|places| places.contains(&Spot::Hand));
        let all = policy.holding(Entity::Thread).map(Spot::In);
        all.chain(in_hand.then_some(Spot::Hand)).chain([Spot::Elsewhere]).collect()
    }

    /// The state in which a local no longer names a thread.
    pub fn without(mut self, local: LocalId) -> State {
        self.threads[local.0] = None;
        self.without_attributes(local);
        self.named.retain(|named| !named.depends_on_local(local));
        self
    }

    /// The state if, in addition, a container holds between `least` and `most` threads. `None`: it cannot.
    pub fn with_size(mut self, container: ContainerId, least: u64, most: Option<u64>, why: Why) -> Option<State> {
        let before = self.size(container);
        let size = Size { least: before.least.max(least), most: lower(before.most, most), why };
        if size != before {
            Rc::make_mut(&mut self.sizes)[container.0] = size;
        }
        self.consistent()
    }

    /// The state if, in addition, one of these containers holds a thread. `None`: none can.
    pub fn with_some(mut self, containers: BTreeSet<ContainerId>) -> Option<State> {
        self.some.insert(containers);
        self.consistent()
    }

    /// Draws conclusions from each piece of knowledge about the others. `None`: they contradict each other.
    fn consistent(mut self) -> Option<State> {
        loop {
            let mut changed = false;
            if self.sizes.iter().any(|size| size.most.is_some_and(|most| size.least > most)) {
                return None;
            }
            for places in self.threads.iter_mut().flatten() {
                let empty = |container: ContainerId| self.sizes[container.0].most == Some(0);
                narrow(places, |spot| !spot.container().is_some_and(empty));
                match places.first() {
                    None => return None,
                    Some(Spot::In(only)) if places.len() == 1 && self.sizes[only.0].least == 0 => {
                        Rc::make_mut(&mut self.sizes)[only.0].least = 1;
                        changed = true;
                    }
                    Some(_) => {}
                }
            }
            if self.named.iter().any(|named| named.size.most.is_some_and(|most| named.size.least > most)) {
                return None;
            }
            for named in self.named.iter().filter(|named| named.size.least > 0) {
                self.some.insert(named.candidates().collect());
            }
            let mut some = BTreeSet::new();
            for fact in &self.some {
                if fact.iter().any(|container| self.sizes[container.0].least > 0) {
                    continue;
                }
                let possible: BTreeSet<_> =
                    fact.iter().copied().filter(|container| self.sizes[container.0].most != Some(0)).collect();
                match possible.first() {
                    None => return None,
                    Some(only) if possible.len() == 1 => {
                        Rc::make_mut(&mut self.sizes)[only.0].least = 1;
                        changed = true;
                    }
                    Some(_) => {
                        some.insert(possible);
                    }
                }
            }
            self.some = some;
            if !changed {
                return Some(self);
            }
        }
    }
}

/// So many elements are remembered by their indices.
const MOST_NAMED: usize = 16;

impl Spot {
    /// The container, if it is one.
    pub fn container(self) -> Option<ContainerId> {
        match self {
            Spot::In(container) => Some(container),
            Spot::Hand | Spot::Gone | Spot::Elsewhere => None,
        }
    }
}

/// Keeps only these places. A shared set that does not change stays shared.
fn narrow(places: &mut Rc<Places>, keep: impl Fn(Spot) -> bool) {
    if !places.iter().all(|spot| keep(*spot)) {
        Rc::make_mut(places).retain(|spot| keep(*spot));
    }
}
