//! What a variable says about the number of threads in a container: `c <= |ready| + over`.
//!
//! From `c = |ready|;` on, each transfer or step of `c` changes `over`. Once `c` exceeds `over`, threads are there.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{State, Why};
use crate::policy::{BinaryOperator, ContainerId, ContainerRef, Expression, Value};

/// By variable, as numbered in the state, and container: the most by which the variable exceeds the number of threads.
pub(super) type Counted = Rc<BTreeMap<(usize, ContainerId), i64>>;

/// Greater differences are dropped, so that loops come to rest. No policy relies on them.
const MOST_OVER: i64 = 8;

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
        let from: Vec<(ContainerId, i64)> = match assigned {
            Assigned::Step(from, by) => {
                let known = self.counted.iter().filter(|((of, _), _)| *of == from);
                known.map(|((_, container), over)| (*container, over.saturating_add(by))).collect()
            }
            Assigned::Other(Expression::Size(ContainerRef::One(container))) => vec![(*container, 0)],
            Assigned::Other(Expression::Binary(BinaryOperator::Subtract, size, less)) => match (&**size, &**less) {
                (
                    Expression::Size(ContainerRef::One(container)),
                    Expression::Literal(Value::Int(less @ 0..=MOST_OVER)),
                ) => {
                    vec![(*container, -less)]
                }
                _ => Vec::new(),
            },
            Assigned::Other(_) | Assigned::Perhaps => Vec::new(),
        };
        if from.is_empty() && !self.counted.keys().any(|(of, _)| *of == variable) {
            return;
        }
        let counted = Rc::make_mut(&mut self.counted);
        counted.retain(|(of, _), _| *of != variable);
        counted.extend(from.into_iter().map(|(container, over)| ((variable, container), over)));
        counted.retain(|_, over| is_kept(*over));
    }

    /// After a thread may have left each of `sources`, and has come to one of `targets`.
    pub(super) fn recounted(&mut self, sources: &[ContainerId], targets: &[ContainerId]) {
        if self.counted.is_empty() {
            return;
        }
        let counted = Rc::make_mut(&mut self.counted);
        for ((_, container), over) in counted.iter_mut() {
            if sources.contains(container) {
                *over += 1;
            } else if targets == [*container] {
                *over -= 1;
            }
        }
        counted.retain(|_, over| is_kept(*over));
    }

    /// Applies what variables say about containers, once more is known of the variables. `None`: it cannot be.
    pub fn with_counted(mut self, why: Why) -> Option<State> {
        let counted = Rc::clone(&self.counted);
        for ((variable, container), over) in counted.iter() {
            let least = self.value(*variable).least.saturating_sub(*over);
            let least = u64::try_from(least).unwrap_or(0);
            if least > self.size(*container).least {
                self = self.with_size(*container, least, None, why)?;
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
        Some((*key, *over.max(also)))
    });
    Rc::new(both.collect())
}

fn is_kept(over: i64) -> bool {
    (-MOST_OVER..=MOST_OVER).contains(&over)
}
