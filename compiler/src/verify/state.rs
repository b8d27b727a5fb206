//! What is known of the containers and the named threads at one point of a handler: an abstract state.
//!
//! A state stands for all situations that agree with it. Every step here keeps that so: it may forget, it never invents.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::values::{self, Range};
use crate::policy::{At, ContainerId, ContainerKind, Handler, LocalId, Policy, Value};

/// An abstract state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    /// By container. Shared, as the places below: most statements change few of them, and there is a state for each statement.
    sizes: Rc<Vec<Size>>,
    /// Each: at least one of these containers holds a thread. None of them is known to be empty or to hold one.
    some: BTreeSet<BTreeSet<ContainerId>>,
    /// By local: where the thread can be. `None`: the local names no thread here.
    threads: Vec<Option<Rc<Places>>>,
    /// Of the variables of the policy, then of the handler. Most states share them.
    values: Rc<Vec<Range>>,
    /// The first statement so far that changed anything but locals.
    pub effect: Option<At>,
    /// Of a path by itself, the steps that led here.
    pub path: Vec<Step>,
}

/// How many threads a container holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// At least so many.
    pub least: u64,
    /// At most so many, if there is a bound.
    pub most: Option<u64>,
    /// Where this is known from.
    pub why: Why,
}

/// Where the size of a container is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// From several places, or from nowhere.
    Unknown,
    /// From all handlers together: none leaves it otherwise.
    Between,
    /// From the event type: it is so whenever the event is raised.
    Given,
    /// From a condition.
    Tested(At),
    /// From a transfer, a destruction or an assignment.
    Moved(At),
}

/// Why a size is known does not matter to what is known.
impl PartialEq for Size {
    fn eq(&self, other: &Self) -> bool {
        (self.least, self.most) == (other.least, other.most)
    }
}

/// The places in one of which a thread is.
pub(super) type Places = BTreeSet<Spot>;

/// Where a thread can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spot {
    /// In no container yet.
    Hand,
    /// In this container.
    In(ContainerId),
    /// Destroyed.
    Gone,
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
    /// Nothing is known, but that a threadref holds one thread at most and that parameters are in some container.
    pub fn unknown(policy: &Policy, handler: &Handler) -> Self {
        let (locals, parameters) = (handler.locals.len(), handler.parameters);
        let anywhere: Rc<Places> =
            Rc::new((0..policy.containers.len()).map(|index| Spot::In(ContainerId(index))).collect());
        State {
            sizes: Rc::new(policy.containers.iter().map(|container| Size::any(&container.kind)).collect()),
            some: BTreeSet::new(),
            threads: (0..locals).map(|local| (local < parameters).then(|| anywhere.clone())).collect(),
            values: Rc::new(values::unknown(policy, handler.locals.iter().map(|local| local.kind))),
            effect: None,
            path: Vec::new(),
        }
    }

    /// A policy that has just been loaded: its containers are empty, its variables hold what they are declared with.
    pub fn loaded(policy: &Policy) -> Self {
        let empty = Size { least: 0, most: Some(0), why: Why::Between };
        let initial = |value: Value| Range::of(value).because(Why::Between);
        State {
            sizes: Rc::new(policy.containers.iter().map(|_| empty).collect()),
            some: BTreeSet::new(),
            threads: Vec::new(),
            values: Rc::new(policy.variables.iter().map(|variable| initial(variable.initial)).collect()),
            effect: None,
            path: Vec::new(),
        }
    }

    /// Nothing is known of what outlives handlers.
    pub fn nothing(policy: &Policy) -> Self {
        State {
            sizes: Rc::new(policy.containers.iter().map(|container| Size::any(&container.kind)).collect()),
            some: BTreeSet::new(),
            threads: Vec::new(),
            values: Rc::new(values::unknown(policy, std::iter::empty())),
            effect: None,
            path: Vec::new(),
        }
    }

    /// What of this state outlives a handler.
    pub fn between(self, policy: &Policy) -> State {
        let mut values = self.values;
        if values.len() > policy.variables.len() {
            Rc::make_mut(&mut values).truncate(policy.variables.len());
        }
        State { threads: Vec::new(), values, effect: None, path: Vec::new(), ..self }
    }

    /// The start of a handler: nothing is known besides of what is local to it.
    pub fn entering(&self, policy: &Policy, handler: &Handler) -> State {
        let nothing = State::unknown(policy, handler);
        let mut values = nothing.values.to_vec();
        for (value, known) in values.iter_mut().zip(self.values.iter()) {
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

    /// The state in which a variable holds one of these values.
    pub fn with_value(mut self, index: usize, range: Range) -> State {
        let old = self.values[index];
        if old != range || old.why != range.why {
            Rc::make_mut(&mut self.values)[index] = range;
        }
        self
    }

    /// Containers of which one holds a thread, this one among them, if that is all that is known.
    pub fn one_of(&self, container: ContainerId) -> Option<&BTreeSet<ContainerId>> {
        self.some.iter().find(|containers| containers.contains(&container))
    }

    /// Where a named thread can be; `None` if the local names none here.
    pub fn places(&self, local: LocalId) -> Option<&Places> {
        self.threads[local.0].as_deref()
    }

    /// The state in which a thread is in one of these places only. `None`: it cannot be.
    pub fn with_places(mut self, local: LocalId, keep: impl Fn(Spot) -> bool) -> Option<State> {
        if let Some(places) = &mut self.threads[local.0] {
            narrow(places, keep);
        }
        self.consistent()
    }

    /// The state in which a thread is somewhere in these places, whatever was known of it.
    pub fn placed(mut self, local: LocalId, places: Places) -> Option<State> {
        self.threads[local.0] = Some(Rc::new(places));
        self.consistent()
    }

    /// The state in which a local no longer names a thread.
    pub fn without(mut self, local: LocalId) -> State {
        self.threads[local.0] = None;
        self
    }

    /// The state in which, besides, a container holds between `least` and `most` threads. `None`: it cannot be.
    pub fn with_size(mut self, container: ContainerId, least: u64, most: Option<u64>, why: Why) -> Option<State> {
        let before = self.size(container);
        let size = Size { least: before.least.max(least), most: lower(before.most, most), why };
        if size != before {
            Rc::make_mut(&mut self.sizes)[container.0] = size;
        }
        self.consistent()
    }

    /// The state in which, besides, one of these containers holds a thread. `None`: it cannot be.
    pub fn with_some(mut self, containers: BTreeSet<ContainerId>) -> Option<State> {
        self.some.insert(containers);
        self.consistent()
    }

    /// After the next thread of a container went to `to` (nowhere: it was destroyed). The container held one, and if `to`
    /// is a threadref it was empty: the caller has assumed both.
    pub fn after_container(mut self, from: ContainerId, to: Option<ContainerId>, at: At) -> Option<State> {
        self.effect = self.effect.or(Some(at));
        if to == Some(from) {
            return self.consistent();
        }
        for places in self.threads.iter_mut().flatten() {
            if places.contains(&Spot::In(from)) {
                widen(places, to.map_or(Spot::Gone, Spot::In));
            }
        }
        let sizes = Rc::make_mut(&mut self.sizes);
        sizes[from.0].shrink(true, at);
        if let Some(to) = to {
            sizes[to.0].grow(true, at);
        }
        self.weaken_some(&BTreeSet::from([from]), to);
        self.consistent()
    }

    /// After a named thread went to `to` (nowhere: it was destroyed). If `to` is a threadref it was empty: the caller has
    /// assumed that, and that the thread is not gone.
    pub fn after_thread(mut self, local: LocalId, to: Option<ContainerId>, at: At) -> Option<State> {
        self.effect = self.effect.or(Some(at));
        let before = self.threads[local.0].take()?;
        let sources: BTreeSet<ContainerId> = before.iter().filter_map(|spot| spot.container()).collect();
        let spot = to.map_or(Spot::Gone, Spot::In);
        // Two names can stand for one thread, if it can be where both can be.
        for places in self.threads.iter_mut().flatten() {
            if !places.is_disjoint(&before) {
                widen(places, spot);
            }
        }
        let certain = before.len() == 1;
        let sizes = Rc::make_mut(&mut self.sizes);
        for source in sources.iter().filter(|source| Some(**source) != to) {
            sizes[source.0].shrink(certain, at);
        }
        if let Some(to) = to {
            if !sources.contains(&to) {
                sizes[to.0].grow(true, at);
            } else if !certain {
                sizes[to.0].grow(false, at);
            }
        }
        self.threads[local.0] = Some(Rc::new(BTreeSet::from([spot])));
        self.weaken_some(&sources, to);
        self.consistent()
    }

    /// What is known whichever of two states it is.
    pub fn join(self, other: State) -> State {
        let some = common(&self, &other);
        let sizes = if Rc::ptr_eq(&self.sizes, &other.sizes) {
            self.sizes
        } else {
            Rc::new(self.sizes.iter().zip(other.sizes.iter()).map(|(a, b)| a.join(*b)).collect())
        };
        let threads = self.threads.into_iter().zip(other.threads).map(|places| match places {
            (Some(a), Some(b)) if Rc::ptr_eq(&a, &b) || b.is_subset(&a) => Some(a),
            (Some(a), Some(b)) => Some(Rc::new(&*a | &*b)),
            (None, _) | (_, None) => None,
        });
        let values = joined(self.values, &other.values);
        State {
            sizes,
            some,
            threads: threads.collect(),
            values,
            effect: self.effect.or(other.effect),
            path: Vec::new(),
        }
    }

    /// `self` joined with `next`, and bounds that still move given up, so that a loop comes to rest. Of values, the bounds
    /// move to the next of `steps`; without any, to the end.
    pub fn widen(self, next: State, any: &State, steps: &[i64]) -> State {
        let before = self.clone();
        let moved = !Rc::ptr_eq(&self.values, &next.values) && self.values != next.values;
        let values = if moved {
            let each = self.values.iter().zip(next.values.iter()).zip(any.values.iter());
            Rc::new(each.map(|((one, next), any)| one.widen(*next, steps, *any)).collect())
        } else {
            Rc::clone(&self.values)
        };
        let mut joined = self.join(next);
        joined.values = values;
        for (size, old) in Rc::make_mut(&mut joined.sizes).iter_mut().zip(before.sizes.iter()) {
            if size.least < old.least {
                size.least = 0;
            }
            if size.most != old.most {
                size.most = None;
            }
        }
        joined.some.retain(|fact| before.some.contains(fact));
        joined
    }

    /// The same, but of values only what is known in another state.
    pub fn with_values_of(mut self, other: &State) -> State {
        self.values = Rc::clone(&other.values);
        self
    }

    /// Draws the conclusions that one piece of knowledge allows on another. `None`: they contradict each other.
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

    /// Forgets of which sets one member holds a thread, where the thread may have left the set.
    fn weaken_some(&mut self, sources: &BTreeSet<ContainerId>, to: Option<ContainerId>) {
        self.some.retain(|fact| fact.is_disjoint(sources) || to.is_some_and(|to| fact.contains(&to)));
    }

    /// The sets of which one member holds a thread, with those of one member.
    fn all_some(&self) -> Vec<BTreeSet<ContainerId>> {
        let holding = (0..self.sizes.len()).map(ContainerId).filter(|container| self.holds(*container));
        self.some.iter().cloned().chain(holding.map(|container| BTreeSet::from([container]))).collect()
    }
}

/// The values of two states that become one.
fn joined(mut one: Rc<Vec<Range>>, other: &Rc<Vec<Range>>) -> Rc<Vec<Range>> {
    if !Rc::ptr_eq(&one, other) {
        for (index, range) in other.iter().enumerate() {
            let known = one[index];
            let both = known.join(*range);
            if both != known || both.why != known.why {
                Rc::make_mut(&mut one)[index] = both;
            }
        }
    }
    one
}

/// More facts than this are not kept: no policy needs them, and their number could double with every branch.
const MOST_FACTS: usize = 64;

/// The sets of which one member holds a thread in both states: the smallest unions of what is known in each.
fn common(a: &State, b: &State) -> BTreeSet<BTreeSet<ContainerId>> {
    let (of_a, of_b) = (a.all_some(), b.all_some());
    let mut unions: Vec<_> = of_a.iter().flat_map(|one| of_b.iter().map(move |other| one | other)).collect();
    unions.sort_by(|one, other| one.len().cmp(&other.len()).then_with(|| one.cmp(other)));
    let mut smallest: Vec<BTreeSet<ContainerId>> = Vec::new();
    for union in unions {
        if smallest.len() < MOST_FACTS && !smallest.iter().any(|known| known.is_subset(&union)) {
            smallest.push(union);
        }
    }
    // Sets of one member are kept as sizes.
    smallest.into_iter().filter(|fact| fact.len() > 1).collect()
}

impl Size {
    /// Nothing is known of a container, but that a threadref holds one thread at most.
    fn any(kind: &ContainerKind) -> Self {
        let most = if *kind == ContainerKind::Threadref { Some(1) } else { None };
        Size { least: 0, most, why: Why::Unknown }
    }

    fn join(self, other: Size) -> Size {
        let most = match (self.most, other.most) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (None, _) | (_, None) => None,
        };
        let why = match (self.why, other.why) {
            (one, same) if one == same => one,
            // The same on both paths, for two reasons: what was done says more than what was asked.
            (moved @ Why::Moved(_), _) | (_, moved @ Why::Moved(_)) if self == other => moved,
            _ => Why::Unknown,
        };
        Size { least: self.least.min(other.least), most, why }
    }

    /// One thread less; or, if not certain, perhaps.
    fn shrink(&mut self, certain: bool, at: At) {
        self.least = self.least.saturating_sub(1);
        if certain {
            self.most = self.most.map(|most| most.saturating_sub(1));
        }
        self.why = Why::Moved(at);
    }

    /// One thread more; or, if not certain, perhaps.
    fn grow(&mut self, certain: bool, at: At) {
        if certain {
            self.least = self.least.saturating_add(1);
        }
        self.most = self.most.map(|most| most.saturating_add(1));
        self.why = Why::Moved(at);
    }
}

impl Spot {
    /// The container, if it is one.
    pub fn container(self) -> Option<ContainerId> {
        match self {
            Spot::In(container) => Some(container),
            Spot::Hand | Spot::Gone => None,
        }
    }
}

/// Only these places. What is shared and does not change stays shared.
fn narrow(places: &mut Rc<Places>, keep: impl Fn(Spot) -> bool) {
    if !places.iter().all(|spot| keep(*spot)) {
        Rc::make_mut(places).retain(|spot| keep(*spot));
    }
}

/// This place, too.
fn widen(places: &mut Rc<Places>, spot: Spot) {
    if !places.contains(&spot) {
        Rc::make_mut(places).insert(spot);
    }
}

fn lower(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}
