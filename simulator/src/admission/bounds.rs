//! Bounds on shares under fixed priorities: who keeps them keeps all deadlines, and many who do not do so, too.
//!
//! A task whose deadline is before the end of its period counts as one with the deadline for its period, which asks for more.

use super::{Figure, Load, Order, Share, Step, Task, Test};

/// Products are kept in parts of 2 to this power, rounded up: a product beyond the bound is less than 4 of these.
const BITS: u32 = 60;
const ONE: u128 = 1 << BITS;

/// Whether the bounds hold for this order: the shortest period, or the shortest deadline in its place, is first.
pub(super) fn apply(tasks: &[&Task], order: Order) -> bool {
    let undisturbed = tasks.iter().all(|task| task.jitter == 0 && task.blocking == 0 && task.section == 0);
    undisturbed
        && match order {
            Order::RateMonotonic => tasks.iter().all(|task| task.deadline >= task.period),
            Order::DeadlineMonotonic => tasks.iter().all(|task| task.deadline <= task.period),
            Order::Priorities | Order::EarliestDeadline | Order::LeastLaxity => false,
        }
}

/// The sum of n shares is at most n (2^(1/n) - 1), which is the same as (1 + U/n)^n <= 2.
pub(super) fn liu_layland(tasks: &[&Task]) -> Step {
    let load: Load = tasks.iter().map(|task| (1, task.budget, task.span())).collect();
    let count = tasks.len() as u64;
    // The mean, rounded up.
    let mean: u128 = tasks.iter().map(|task| share(task)).sum::<u128>().div_ceil(u128::from(count.max(1)));
    let holds = product(tasks.iter().map(|_| mean)) <= 2 * ONE;
    let limit = count as f64 * (2f64.powf(1.0 / count.max(1) as f64) - 1.0);
    let found = Some((Figure::Share(load.share()), Figure::Share(Share::near(limit))));
    Step { test: Test::LiuLayland, holds: Some(holds), exact: false, found, task: None }
}

/// The product of all (1 + share) is at most 2.
pub(super) fn hyperbolic(tasks: &[&Task]) -> Step {
    let found = product(tasks.iter().map(|task| share(task)));
    let figure = |parts: u128| Figure::Share(Share::near(parts as f64 / ONE as f64));
    let holds = Some(found <= 2 * ONE);
    Step { test: Test::Hyperbolic, holds, exact: false, found: Some((figure(found), figure(2 * ONE))), task: None }
}

/// In parts, rounded up.
fn share(task: &Task) -> u128 {
    (u128::from(task.budget.unsigned_abs()) << BITS).div_ceil(task.span().unsigned_abs().into())
}

/// Of all (1 + share), until it is far beyond the bound.
fn product(shares: impl Iterator<Item = u128>) -> u128 {
    shares.fold(ONE, |product, share| if product > 4 * ONE { product } else { (product * (ONE + share)).div_ceil(ONE) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::tests::{task, with_deadline};

    fn both(tasks: &[Task]) -> (Option<bool>, Option<bool>) {
        let tasks: Vec<&Task> = tasks.iter().collect();
        (liu_layland(&tasks).holds, hyperbolic(&tasks).holds)
    }

    #[test]
    fn the_hyperbolic_bound_admits_more() {
        // 0.5 + 0.33: both are beyond 0.828, and (1.5)(1.33) is just below 2.
        assert_eq!(both(&[task("A", 100, 50), task("B", 100, 33)]), (Some(false), Some(true)));
        assert_eq!(both(&[task("A", 100, 50), task("B", 100, 34)]), (Some(false), Some(false)));
        assert_eq!(both(&[task("A", 100, 41), task("B", 100, 41)]), (Some(true), Some(true)));
        assert_eq!(both(&[task("A", 100, 100)]), (Some(true), Some(true)));
    }

    #[test]
    fn deadlines_stand_for_shorter_periods() {
        assert_eq!(
            both(&[with_deadline("A", 100, 25, 50), with_deadline("B", 100, 20, 50)]),
            (Some(false), Some(false))
        );
    }

    #[test]
    fn they_hold_for_their_order_only() {
        let (short, long) = (with_deadline("A", 100, 10, 50), with_deadline("B", 100, 10, 200));
        assert!(apply(&[&short], Order::DeadlineMonotonic) && !apply(&[&short], Order::RateMonotonic));
        assert!(apply(&[&long], Order::RateMonotonic) && !apply(&[&long, &short], Order::DeadlineMonotonic));
        assert!(!apply(&[&task("A", 10, 1)], Order::Priorities));
        assert!(!apply(&[&Task { jitter: 1, ..task("A", 10, 1) }], Order::RateMonotonic));
    }
}
