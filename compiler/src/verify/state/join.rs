//! Two states that become one: what holds in both.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::super::elements::Named;
use super::super::values::Range;
use super::counted::in_both;
use super::{MOST_NAMED, Size, State};
use crate::policy::{ContainerId, Type};

impl State {
    /// What is known if either of two states holds.
    pub fn join(self, other: State) -> State {
        let some = common(&self, &other);
        let sure = [&self, &other].map(|state| state.sure.then(|| state.clone()));
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
        let attributes = known_in_both(&self.attributes, &other.attributes, Range::join);
        let counted = in_both(&self.counted, &other.counted, false);
        let joined = State {
            sizes,
            some,
            named,
            threads: threads.collect(),
            values,
            attributes,
            counted,
            effect: self.effect.or(other.effect),
            sure: false,
            path: Vec::new(),
        };
        // A state that stands for more than either of them has not been seen to be reachable.
        let sure = sure.iter().flatten().any(|state| state.says_as_much_as(&joined));
        State { sure, ..joined }
    }

    /// Joins `self` with `next` and gives up bounds that still move, so that a loop comes to rest. Bounds of values
    /// move to the next of `steps`, or without one to the end of the type.
    pub fn widen(self, next: State, any: &State, steps: &[i64]) -> State {
        let before = self.clone();
        let moved = !Rc::ptr_eq(&self.values, &next.values) && self.values != next.values;
        let values = if moved {
            let each = self.values.iter().zip(next.values.iter()).zip(any.values.iter());
            Rc::new(each.map(|((one, next), any)| one.widen(*next, steps, *any)).collect())
        } else {
            Rc::clone(&self.values)
        };
        let attributes = known_in_both(&self.attributes, &next.attributes, |one, next| {
            let any = Range { least: i64::MIN, most: i64::MAX, ..one };
            one.widen(next, steps, any)
        });
        let counted = in_both(&self.counted, &next.counted, true);
        let mut joined = self.join(next);
        joined.counted = counted;
        joined.values = values;
        joined.attributes = attributes;
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
        joined.sure &= before.says_as_much_as(&joined);
        joined
    }

    fn says_as_much_as(&self, other: &State) -> bool {
        self.sizes == other.sizes
            && self.values == other.values
            && self.attributes == other.attributes
            && self.threads == other.threads
            && self.some == other.some
            && self.named == other.named
            && self.counted == other.counted
    }

    /// How much would be forgotten if two states became one: what tests show rather than numbers. 0: nothing such.
    pub fn loss(&self, other: &State) -> usize {
        let holding = |size: Size| (size.least > 0, size.most == Some(0));
        let sizes = self.sizes.iter().zip(other.sizes.iter()).filter(|(a, b)| holding(**a) != holding(**b)).count();
        let threads = self.threads.iter().zip(&other.threads).filter(|(a, b)| a != b).count();
        let sign = |range: &Range| (range.least.signum(), range.most.signum());
        let values = self.values.iter().zip(other.values.iter()).filter(|(a, b)| sign(a) != sign(b));
        let values: usize = values.map(|(range, _)| if range.ty == Type::Bool { 4 } else { 2 }).sum();
        let alone = |one: &State, other: &State| {
            let said = |named: &Named| {
                one.named.iter().any(|it| it.is(&named.container()) && holding(it.size) == holding(named.size))
            };
            other.named.iter().filter(|named| holding(named.size) != (false, false) && !said(named)).count()
        };
        2 * sizes + threads + values + 4 * (alone(self, other) + alone(other, self))
    }

    /// What either state knows by indices, as far as it holds in both.
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

    /// The sets of which one member holds a thread, including those with one member.
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
            if both != known || (both.why, both.open) != (known.why, known.open) {
                Rc::make_mut(&mut one)[index] = both;
            }
        }
    }
    one
}

/// What both states know of attributes, combined by `together`.
fn known_in_both(
    one: &Rc<BTreeMap<(usize, usize), Range>>,
    other: &Rc<BTreeMap<(usize, usize), Range>>,
    together: impl Fn(Range, Range) -> Range,
) -> Rc<BTreeMap<(usize, usize), Range>> {
    if one == other {
        return Rc::clone(one);
    }
    let both = one.iter().filter_map(|(key, range)| Some((*key, together(*range, *other.get(key)?))));
    Rc::new(both.collect())
}

/// More facts than this are not kept: no policy needs them, and their number could double with every branch.
const MOST_FACTS: usize = 64;

/// The sets of which one member holds a thread in both states: the smallest unions of one set from each state.
fn common(a: &State, b: &State) -> BTreeSet<BTreeSet<ContainerId>> {
    // A container that holds a thread in both is kept as a size. That covers all sets that contain it.
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
