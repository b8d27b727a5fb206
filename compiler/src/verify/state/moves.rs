//! What becomes of a state when a thread is moved or destroyed.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::{Places, Spot, State, Why};
use crate::policy::{At, ContainerId, ContainerRef, LocalId};

impl State {
    /// After the next thread of `from` went to `to` (`None`: it is gone). The caller has assumed that there was a
    /// thread and, if `to` is a threadref, that it was empty.
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
        self.recounted(&sources, &targets);
        self.renamed(Some(from), &sources, to, &targets, at);
        self.weaken_some(&sources, &targets);
        self.consistent()?.with_counted(Why::Moved(at))
    }

    /// After a named thread went to `to` (`None`: it is gone). The caller has assumed that it was not gone before and,
    /// if `to` is a threadref, that this was empty.
    pub fn after_thread(mut self, local: LocalId, to: Option<&ContainerRef>, at: At) -> Option<State> {
        self.effect = self.effect.or(Some(at));
        self.remember(None, to);
        let before = self.threads[local.0].take()?;
        let sources: Vec<ContainerId> = before.iter().filter_map(|spot| spot.container()).collect();
        let targets: Vec<ContainerId> = to.map(|to| to.candidates().collect()).unwrap_or_default();
        // Two names can stand for one thread if there is a place where both can be.
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
        self.recounted(&sources, &targets);
        self.renamed(None, &sources, to, &targets, at);
        self.weaken_some(&sources, &targets);
        self.consistent()?.with_counted(Why::Moved(at))
    }

    /// Before a transfer: remembers the elements that it names, to know its effect by their indices.
    fn remember(&mut self, from: Option<&ContainerRef>, to: Option<&ContainerRef>) {
        for container in [from, to].into_iter().flatten() {
            if matches!(container, ContainerRef::Element { .. }) {
                self.name(container, |_| {});
            }
        }
    }

    /// Applies a transfer to what is known by indices.
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

    /// Forgets that one member of a set holds a thread, if the thread may have left the set.
    fn weaken_some(&mut self, sources: &[ContainerId], targets: &[ContainerId]) {
        let stays =
            |fact: &BTreeSet<ContainerId>| !targets.is_empty() && targets.iter().all(|target| fact.contains(target));
        self.some.retain(|fact| !sources.iter().any(|source| fact.contains(source)) || stays(fact));
    }
}

/// Where a thread can be that went to one of these; gone if there are none.
fn spots(targets: &[ContainerId]) -> Places {
    if targets.is_empty() {
        return Places::from([Spot::Gone]);
    }
    targets.iter().map(|target| Spot::In(*target)).collect()
}

/// Adds these places.
fn widen(places: &mut Rc<Places>, spots: &Places) {
    if !spots.is_subset(places) {
        Rc::make_mut(places).extend(spots);
    }
}
