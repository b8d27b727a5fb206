//! What is known of the containers and the named threads at one point of a handler: an abstract state.
//!
//! A state stands for all situations that agree with it. Every step here keeps that so: it may forget, it never invents.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::elements::Named;
use super::values::{self, Range};
use crate::policy::{At, ContainerId, ContainerKind, ContainerRef, Handler, LocalId, Place, Policy, Value};

/// An abstract state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    /// By container. Shared, as the places below: most statements change few of them, and there is a state for each statement.
    sizes: Rc<Vec<Size>>,
    /// Each: at least one of these containers holds a thread. None of them is known to be empty or to hold one.
    some: BTreeSet<BTreeSet<ContainerId>>,
    /// What is known of elements of arrays by their indices; each once.
    named: Vec<Named>,
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
            sizes: Rc::new(policy.containers.iter().map(|container| Size::any(policy, &container.kind)).collect()),
            some: BTreeSet::new(),
            named: Vec::new(),
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
            named: Vec::new(),
            threads: Vec::new(),
            values: Rc::new(policy.variables.iter().map(|variable| initial(variable.initial)).collect()),
            effect: None,
            path: Vec::new(),
        }
    }

    /// Nothing is known of what outlives handlers.
    pub fn nothing(policy: &Policy) -> Self {
        State {
            sizes: Rc::new(policy.containers.iter().map(|container| Size::any(policy, &container.kind)).collect()),
            some: BTreeSet::new(),
            named: Vec::new(),
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
        let mut sizes = self.sizes;
        if let Some(capacity) = policy.capacity.map(u64::from)
            && sizes.iter().any(|size| size.most.is_none_or(|most| most > capacity))
        {
            for size in Rc::make_mut(&mut sizes) {
                size.most = lower(size.most, Some(capacity));
            }
        }
        // An index made of locals names nothing there.
        State { sizes, threads: Vec::new(), named: Vec::new(), values, effect: None, path: Vec::new(), ..self }
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

    /// How many threads there are in what is named.
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

    /// Whether what is named certainly holds a thread.
    pub fn any_in(&self, container: &ContainerRef) -> bool {
        self.size_of(container).least > 0
    }

    /// Whether what is named is certainly empty.
    pub fn none_in(&self, container: &ContainerRef) -> bool {
        self.size_of(container).most == Some(0)
    }

    /// The containers that can be meant by what is named: of an array as a whole, those from which its next thread can be taken.
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

    /// Forgets what is known by indices that an assignment to this place can change.
    pub fn assigned(&mut self, place: &Place) {
        self.named.retain(|named| !named.depends_on(place));
    }

    /// Forgets all that is known by indices: something unknown may have been assigned.
    pub fn assigned_anything(&mut self) {
        self.named.clear();
    }

    /// The state in which, besides, there are between `least` and `most` threads in what is named. `None`: it cannot be.
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
        self.named.retain(|named| !named.depends_on_local(local));
        self.consistent()
    }

    /// The state in which a local no longer names a thread.
    pub fn without(mut self, local: LocalId) -> State {
        self.threads[local.0] = None;
        self.named.retain(|named| !named.depends_on_local(local));
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

    /// After the next thread of `from` went to `to` (nowhere: it was destroyed). There was one, and if `to` is a threadref it
    /// was empty: the caller has assumed both.
    pub fn after_container(mut self, from: &ContainerRef, to: Option<&ContainerRef>, at: At) -> Option<State> {
        self.effect = self.effect.or(Some(at));
        let sources = self.meant(from);
        let targets: Vec<ContainerId> = to.map(|to| to.candidates().collect()).unwrap_or_default();
        let named = self.named.iter().any(|named| named.is(from)) && to == Some(from);
        if named || sources.len() == 1 && sources == targets {
            return self.consistent();
        }
        self.remember(Some(from), to);
        for places in self.threads.iter_mut().flatten() {
            if sources.iter().any(|source| places.contains(&Spot::In(*source))) {
                widen(places, &spots(&targets));
            }
        }
        let sizes = Rc::make_mut(&mut self.sizes);
        for source in &sources {
            sizes[source.0].shrink(sources.len() == 1, at);
        }
        for target in &targets {
            sizes[target.0].grow(targets.len() == 1, at);
        }
        self.renamed(Some(from), &sources, to, &targets, at);
        self.weaken_some(&sources, &targets);
        self.consistent()
    }

    /// After a named thread went to `to` (nowhere: it was destroyed). If `to` is a threadref it was empty: the caller has
    /// assumed that, and that the thread is not gone.
    pub fn after_thread(mut self, local: LocalId, to: Option<&ContainerRef>, at: At) -> Option<State> {
        self.effect = self.effect.or(Some(at));
        self.remember(None, to);
        let before = self.threads[local.0].take()?;
        let sources: Vec<ContainerId> = before.iter().filter_map(|spot| spot.container()).collect();
        let targets: Vec<ContainerId> = to.map(|to| to.candidates().collect()).unwrap_or_default();
        // Two names can stand for one thread, if it can be where both can be.
        for places in self.threads.iter_mut().flatten() {
            if !places.is_disjoint(&before) {
                widen(places, &spots(&targets));
            }
        }
        let certain = before.len() == 1;
        let sizes = Rc::make_mut(&mut self.sizes);
        if let [target] = targets.as_slice() {
            for source in sources.iter().filter(|source| *source != target) {
                sizes[source.0].shrink(certain, at);
            }
            if !sources.contains(target) {
                sizes[target.0].grow(true, at);
            } else if !certain {
                sizes[target.0].grow(false, at);
            }
        } else {
            for source in &sources {
                sizes[source.0].shrink(certain, at);
            }
            for target in &targets {
                sizes[target.0].grow(false, at);
            }
        }
        self.threads[local.0] = Some(Rc::new(spots(&targets)));
        self.renamed(None, &sources, to, &targets, at);
        self.weaken_some(&sources, &targets);
        self.consistent()
    }

    /// Before a transfer: so that what it does to the elements that it names is known by their indices.
    fn remember(&mut self, from: Option<&ContainerRef>, to: Option<&ContainerRef>) {
        for container in [from, to].into_iter().flatten() {
            if matches!(container, ContainerRef::Element { .. }) {
                self.name(container, |_| {});
            }
        }
    }

    /// What a transfer does to what is known by indices.
    fn renamed(
        &mut self,
        from: Option<&ContainerRef>,
        sources: &[ContainerId],
        to: Option<&ContainerRef>,
        targets: &[ContainerId],
        at: At,
    ) {
        for named in &mut self.named {
            if sources.iter().any(|source| named.may_be(*source)) {
                named.size.shrink(from.is_some_and(|from| named.is(from)), at);
            }
            if targets.iter().any(|target| named.may_be(*target)) {
                named.size.grow(to.is_some_and(|to| named.is(to)), at);
            }
        }
        let moved = |slot: ContainerId| sources.contains(&slot) || targets.contains(&slot);
        self.named.retain(|named| !named.depends_on_slots(moved));
    }

    /// What is known whichever of two states it is.
    pub fn join(self, other: State) -> State {
        let some = common(&self, &other);
        let named = self.named_in_both(&other);
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
            named,
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
        let sizes = Rc::make_mut(&mut joined.sizes).iter_mut().zip(before.sizes.iter()).zip(any.sizes.iter());
        for ((size, old), any) in sizes {
            if size.least < old.least {
                size.least = 0;
            }
            if size.most != old.most {
                size.most = any.most;
            }
        }
        joined.some.retain(|fact| before.some.contains(fact));
        joined.named.retain_mut(|named| {
            let Some(old) = before.named.iter().find(|old| old.first == named.first && old.index == named.index) else {
                return false;
            };
            if named.size.least < old.size.least {
                named.size.least = 0;
            }
            if named.size.most != old.size.most {
                named.size.most = None;
            }
            true
        });
        joined
    }

    /// The same, but of values only what is known in another state.
    pub fn with_values_of(mut self, other: &State) -> State {
        self.values = Rc::clone(&other.values);
        self
    }

    /// What is known by indices in either state, as far as it holds in both.
    fn named_in_both(&self, other: &State) -> Vec<Named> {
        let mut both: Vec<Named> = Vec::new();
        for named in self.named.iter().chain(&other.named) {
            let container = named.container();
            if both.iter().any(|known| known.is(&container)) {
                continue;
            }
            let size = self.size_of(&container).join(other.size_of(&container));
            if both.len() < MOST_NAMED && (size.least > 0 || size.most.is_some()) {
                both.push(Named { size, ..named.clone() });
            }
        }
        both
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

    /// Forgets of which sets one member holds a thread, where the thread may have left the set.
    fn weaken_some(&mut self, sources: &[ContainerId], targets: &[ContainerId]) {
        let stays =
            |fact: &BTreeSet<ContainerId>| !targets.is_empty() && targets.iter().all(|target| fact.contains(target));
        self.some.retain(|fact| !sources.iter().any(|source| fact.contains(source)) || stays(fact));
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

/// As much is kept of elements by their indices.
const MOST_NAMED: usize = 16;

/// The spots of a thread that went to one of these; nowhere if there are none.
fn spots(targets: &[ContainerId]) -> Places {
    if targets.is_empty() {
        return Places::from([Spot::Gone]);
    }
    targets.iter().map(|target| Spot::In(*target)).collect()
}

/// The sets of which one member holds a thread in both states: the smallest unions of what is known in each.
fn common(a: &State, b: &State) -> BTreeSet<BTreeSet<ContainerId>> {
    // What holds a thread in both is kept as a size, and with it all sets that contain it.
    let certain = |container: &ContainerId| a.holds(*container) && b.holds(*container);
    let open = |state: &State| {
        let mut sets = state.all_some();
        sets.retain(|set| !set.iter().any(certain));
        sets
    };
    let (of_a, of_b) = (open(a), open(b));
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
    /// Nothing is known of a container, but that a threadref holds one thread at most, and any other all that can live.
    fn any(policy: &Policy, kind: &ContainerKind) -> Self {
        let most = if *kind == ContainerKind::Threadref { Some(1) } else { policy.capacity.map(u64::from) };
        Size { least: 0, most, why: Why::Unknown }
    }

    /// What is known if both are.
    fn both(self, other: Size) -> Size {
        let size = Size { least: self.least.max(other.least), most: lower(self.most, other.most), why: self.why };
        if size == self { self } else { Size { why: other.why, ..size } }
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

/// These places, too.
fn widen(places: &mut Rc<Places>, spots: &Places) {
    if !spots.is_subset(places) {
        Rc::make_mut(places).extend(spots);
    }
}

fn lower(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}
