//! Two states that become one: what holds in both.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::super::elements::Named;
use super::super::values::Range;
use super::{MOST_NAMED, State};
use crate::policy::ContainerId;

impl State {
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
