//! What a variable says about the number of threads in containers: `c <= |ready| + |other| + over`.
//!
//! From `c = |ready| + |other|;` on, each transfer or step of `c` changes `over`. Once `c` exceeds `over`, threads are
//! there.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::super::condition::sizes;
use super::{State, Why};
use crate::policy::{BinaryOperator, ContainerId, ContainerRef, Expression, Value};

/// By variable, as numbered in the state, and containers: the most by which the variable exceeds the number of threads
/// in all of these together.
pub(super) type Counted = Rc<BTreeMap<(usize, Together), i64>>;

/// Containers, each once and in order.
type Together = Rc<[ContainerId]>;

/// Greater differences are dropped, so that loops come to rest. No policy relies on them.
const MOST_OVER: i64 = 8;

/// So many containers are counted together.
const MOST_TOGETHER: usize = 16;

/// What is assigned to a variable.
#[derive(Clone, Copy, Debug)]
pub(in crate::verify) enum Assigned<'e> {
    /// A variable, perhaps the same one, plus this number, without wrapping.
    Step(usize, i64),
    Other(&'e Expression),
    /// Something, or the variable is not the one that is assigned.
    Perhaps,
}

impl State {
    /// After an assignment to the variable with this index.
    pub fn counting(&mut self, variable: usize, assigned: Assigned) {
        let from: Vec<(Together, i64)> = match assigned {
            Assigned::Step(from, by) => {
                let known = self.counted.iter().filter(|((of, _), _)| *of == from);
                known.map(|((_, containers), over)| (Rc::clone(containers), over.saturating_add(by))).collect()
            }
            Assigned::Other(value) => {
                let (sum, over) = less(value).unwrap_or((value, 0));
                // A sum that wraps is lower than the number of threads.
                summed(sum).map(|containers| (containers, over)).into_iter().collect()
            }
            Assigned::Perhaps => Vec::new(),
        };
        if from.is_empty() && !self.counted.keys().any(|(of, _)| *of == variable) {
            return;
        }
        let counted = Rc::make_mut(&mut self.counted);
        counted.retain(|(of, _), _| *of != variable);
        counted.extend(from.into_iter().map(|(containers, over)| ((variable, containers), over)));
        counted.retain(|_, over| is_kept(*over));
    }

    /// The state in which, besides, a variable exceeds the number of threads in a container by `over` at most.
    pub fn with_count(mut self, variable: usize, container: &ContainerRef, over: i64) -> State {
        if let Some(containers) = all_of(&[container]).filter(|_| is_kept(over)) {
            let known = Rc::make_mut(&mut self.counted).entry((variable, containers)).or_insert(over);
            *known = over.min(*known);
        }
        self
    }

    /// After a thread may have left each of `sources`, and has come to one of `targets`.
    pub(super) fn recounted(&mut self, sources: &[ContainerId], targets: &[ContainerId]) {
        if self.counted.is_empty() {
            return;
        }
        let counted = Rc::make_mut(&mut self.counted);
        for ((_, containers), over) in counted.iter_mut() {
            let leaves = sources.iter().any(|source| containers.contains(source));
            let comes = !targets.is_empty() && targets.iter().all(|target| containers.contains(target));
            *over += i64::from(leaves && !comes) - i64::from(comes && !leaves);
        }
        counted.retain(|_, over| is_kept(*over));
    }

    /// Applies what variables say about containers, once more is known of the variables. `None`: it cannot be.
    pub fn with_counted(mut self, why: Why) -> Option<State> {
        let counted = Rc::clone(&self.counted);
        for ((variable, containers), over) in counted.iter() {
            let least = self.value(*variable).least.saturating_sub(*over);
            let least = u64::try_from(least).unwrap_or(0);
            if least > 0 && containers.len() > 1 {
                self = self.with_some(containers.iter().copied().collect())?;
            }
            for container in containers.iter() {
                let mut others = containers.iter().filter(|other| *other != container);
                let most = others.try_fold(0_u64, |most, other| most.checked_add(self.size(*other).most?));
                let least = most.map_or(0, |most| least.saturating_sub(most));
                if least > self.size(*container).least {
                    self = self.with_size(*container, least, None, why)?;
                }
            }
        }
        Some(self)
    }

    /// Forgets what variables say about containers: something unknown may have been assigned.
    pub(super) fn uncounted(&mut self) {
        if !self.counted.is_empty() {
            self.counted = Rc::default();
        }
    }
}

/// What is known in both states. `fixed`: only if it is the same in both.
pub(super) fn in_both(one: &Counted, other: &Counted, fixed: bool) -> Counted {
    if one == other {
        return Rc::clone(one);
    }
    let both = one.iter().filter_map(|(key, over)| {
        let also = other.get(key).filter(|also| !fixed || *also == over)?;
        Some((key.clone(), *over.max(also)))
    });
    Rc::new(both.collect())
}

fn is_kept(over: i64) -> bool {
    (-MOST_OVER..=MOST_OVER).contains(&over)
}

/// What stands before `- 3`, and by how much all of it exceeds that: -3.
fn less(expression: &Expression) -> Option<(&Expression, i64)> {
    if let Expression::Binary(BinaryOperator::Subtract, sum, by) = expression
        && let Expression::Literal(Value::Int(by @ 0..=MOST_OVER)) = **by
    {
        return Some((sum, -by));
    }
    None
}

/// The containers of which an expression adds up the sizes.
fn summed(expression: &Expression) -> Option<Together> {
    let mut containers = Vec::new();
    sizes(expression, &mut containers).then(|| all_of(&containers))?
}

/// `None`: it is not known which they are, or one of them is named twice, or there are too many.
fn all_of(containers: &[&ContainerRef]) -> Option<Together> {
    if containers.iter().any(|container| container.index().is_some()) {
        return None;
    }
    let all: Vec<ContainerId> = containers.iter().flat_map(|container| container.candidates()).collect();
    let each: BTreeSet<ContainerId> = all.iter().copied().collect();
    (each.len() == all.len() && all.len() <= MOST_TOGETHER).then(|| each.into_iter().collect())
}
