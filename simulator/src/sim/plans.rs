//! What is to happen, and when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What can be planned.
pub(super) trait Planned: Copy + Ord {
    /// Its values order what happens at one instant.
    type Order: Copy + Ord;

    fn order(&self) -> Self::Order;
}

/// A queue in the order of instants, for one instant of kinds, and for one kind of planning.
///
/// What was planned for a turn that has ended cannot happen any more. A long turn that is often interrupted plans its
/// end each time. So such plans are removed once there are more than twice as many plans as were left the last time,
/// and memory is bounded by what can still happen. The caller knows what can; what once cannot, never can again.
pub(super) struct Plans<H: Planned> {
    heap: BinaryHeap<Reverse<Plan<H::Order, H>>>,
    made: u64,
    most: usize,
}

/// The instant, the kind, how many plans were made before it, and what is to happen.
type Plan<O, H> = (i64, O, u64, H);

/// Up to how many plans none are removed.
const FEW: usize = 64;

impl<H: Planned> Plans<H> {
    pub(super) fn new() -> Self {
        Plans { heap: BinaryHeap::new(), made: 0, most: FEW }
    }

    pub(super) fn add(&mut self, instant: i64, happening: H, can_happen: impl Fn(&H) -> bool) {
        if self.heap.len() >= self.most {
            self.heap.retain(|Reverse((.., planned))| can_happen(planned));
            self.most = FEW + 2 * self.heap.len();
        }
        self.made += 1;
        self.heap.push(Reverse((instant, happening.order(), self.made, happening)));
    }

    /// The next plan's instant.
    pub(super) fn first(&mut self, can_happen: impl Fn(&H) -> bool) -> Option<i64> {
        loop {
            let Reverse((instant, .., planned)) = self.heap.peek()?;
            if can_happen(planned) {
                return Some(*instant);
            }
            self.heap.pop();
        }
    }

    /// The next happening, if it is planned for now and its kind is `order` or an earlier one.
    pub(super) fn take(&mut self, now: i64, order: H::Order, can_happen: impl Fn(&H) -> bool) -> Option<H> {
        self.first(can_happen).filter(|instant| *instant <= now)?;
        self.heap.peek().filter(|Reverse((_, next, ..))| *next <= order)?;
        self.heap.pop().map(|Reverse((.., happening))| happening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Planned for char {
        type Order = bool;

        fn order(&self) -> bool {
            self.is_lowercase()
        }
    }

    impl Planned for i32 {
        type Order = ();

        fn order(&self) {}
    }

    #[test]
    fn what_is_planned_for_one_instant_happens_in_the_order_of_kinds_and_then_of_planning() {
        let mut plans = Plans::new();
        for (instant, happening) in [(5, 'a'), (3, 'z'), (5, 'c'), (5, 'K'), (3, 'b'), (5, 'A')] {
            plans.add(instant, happening, |_| true);
        }
        assert_eq!(plans.first(|_| true), Some(3));
        assert_eq!(plans.take(2, true, |_| true), None);
        assert_eq!(plans.take(5, false, |_| true), None);
        let order: String = std::iter::from_fn(|| plans.take(5, true, |_| true)).collect();
        assert_eq!(order, "zbKAac");
    }

    #[test]
    fn turns_that_were_interrupted_leave_nothing() {
        let mut plans = Plans::new();
        let living = 100;
        for thread in 0..living {
            plans.add(i64::MAX, thread, |_| true);
        }
        let mut most = 0;
        for turn in living..1_000_000 {
            plans.add(1_000_000_000, turn, |one| *one < living || *one >= turn - 1);
            most = most.max(plans.heap.len());
        }
        assert!(most <= FEW + 2 * (living + 2) as usize, "{most}");
        assert_eq!(plans.take(1_000_000_000, (), |one| *one < living || *one == 999_999), Some(999_999));
        assert_eq!(plans.take(1_000_000_000, (), |one| *one < living), None);
        assert_eq!(plans.take(i64::MAX, (), |one| *one < living), Some(0));
    }
}
