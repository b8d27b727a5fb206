//! The longest response of each task under fixed priorities.
//!
//! The stretch is followed in which nobody less urgent runs, from an instant at which all come that are as urgent or more, as late as
//! they can within their jitter, and one less urgent has just kept the processor. Tasks that are as urgent as each other count as more
//! urgent than each other, since either may be first.
//!
//! Sources: M. Joseph, P. Pandya: Finding response times in a real-time system, 1986; J. P. Lehoczky: Fixed priority scheduling of
//! periodic task sets with arbitrary deadlines, 1990; K. Tindell, A. Burns, A. Wellings: An extendible approach for analyzing fixed
//! priority hard real-time tasks, 1994.

use super::work::Work;
use super::{Load, Order, Share, Task, Worst};

/// What the longest response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// This. If it is late, there may be longer ones.
    Exactly(i128),
    /// Those who are as urgent or more ask for more than there is.
    Unbounded,
    /// It would take too long.
    Unknown,
}

impl Found {
    pub(super) fn shown(self) -> Worst {
        match self {
            Found::Exactly(response) => Worst::Response(response),
            Found::Unbounded => Worst::Unbounded,
            Found::Unknown => Worst::Unknown,
        }
    }
}

/// So many jobs of a stretch are looked at once one of them is late.
const AFTER_LATE: u32 = 1000;

/// For each task.
pub(super) fn all(tasks: &[&Task], order: Order, work: &mut Work) -> Vec<Found> {
    (0..tasks.len()).map(|index| of(tasks, index, order, work)).collect()
}

fn of(tasks: &[&Task], index: usize, order: Order, work: &mut Work) -> Found {
    let (task, own) = (tasks[index], order.rank(tasks[index]));
    let others = || tasks.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| *other);
    let above: Vec<&Task> = others().filter(|other| order.rank(other) <= own).collect();
    let below = others().filter(|other| order.rank(other) > own);
    let blocking = i128::from(task.blocking) + below.map(|other| i128::from(other.section)).sum::<i128>();
    if !work.take(tasks.len()) {
        return Found::Unknown;
    }
    let load: Load = above.iter().chain([&task]).map(|task| (1, task.budget, task.period)).collect();
    if load.at_most(1) { longest(task, &above, blocking, work) } else { Found::Unbounded }
}

fn longest(task: &Task, above: &[&Task], blocking: i128, work: &mut Work) -> Found {
    let (budget, period, jitter) = (i128::from(task.budget), i128::from(task.period), i128::from(task.jitter));
    let (mut worst, mut since_late) = (0, 0);
    let load: Load = above.iter().map(|task| (1, task.budget, task.period)).collect();
    let rest = load.share().most_rest();
    let mut end = blocking;
    for job in 0i128.. {
        let own = blocking + (job + 1) * budget;
        // What is above takes at least its share of any stretch: it is no shorter than this.
        let least = own.checked_mul(i128::try_from(Share::ONE).unwrap_or(1)).filter(|_| rest > 0);
        end = end.max(least.map_or(own, |parts| parts / rest));
        loop {
            if !work.take(above.len()) {
                return Found::Unknown;
            }
            let next = own + above.iter().map(|other| before(other, end)).sum::<i128>();
            if next == end {
                break;
            }
            end = next;
        }
        worst = worst.max(end + jitter - job * period);
        since_late += u32::from(worst > i128::from(task.deadline));
        if end + jitter <= (job + 1) * period || since_late > AFTER_LATE {
            break;
        }
    }
    Found::Exactly(worst)
}

/// What a more urgent task can take of a stretch of this length.
fn before(other: &Task, length: i128) -> i128 {
    let jobs = (length + i128::from(other.jitter) + i128::from(other.period) - 1) / i128::from(other.period);
    jobs * i128::from(other.budget)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::tests::{task, with_deadline};

    fn by_period(tasks: &[Task]) -> Vec<Found> {
        let tasks: Vec<&Task> = tasks.iter().collect();
        all(&tasks, Order::RateMonotonic, &mut Work::new())
    }

    #[test]
    fn responses_are_those_of_the_books() {
        // A. Burns, A. Wellings: Real-Time Systems and Programming Languages, 3rd edition, table 13.4.
        let found = by_period(&[task("a", 7, 3), task("b", 12, 3), task("c", 20, 5)]);
        assert_eq!(found, [3, 6, 20].map(Found::Exactly));
    }

    #[test]
    fn later_jobs_can_be_slower() {
        // J. P. Lehoczky, 1990: the responses of the second task in its first stretch are 114, 102, 116, 104, 118, 106, 94.
        let found = by_period(&[with_deadline("a", 70, 26, 70), with_deadline("b", 100, 62, 120)]);
        assert_eq!(found, [26, 118].map(Found::Exactly));
    }

    #[test]
    fn blocking_and_jitter_make_it_longer() {
        let blocked = Task { blocking: 2, ..task("a", 10, 3) };
        let late = Task { jitter: 1, ..task("b", 20, 4) };
        assert_eq!(by_period(&[blocked, late]), [5, 8].map(Found::Exactly));
        // The less urgent task has a lock for 3 at the most.
        let holder = Task { section: 3, ..task("b", 20, 4) };
        assert_eq!(by_period(&[task("a", 10, 3), holder]), [6, 7].map(Found::Exactly));
        // 2 late, the first comes 8 after it came: within 9 it comes twice.
        let jittery = Task { jitter: 2, ..task("a", 10, 3) };
        assert_eq!(by_period(&[jittery, task("b", 20, 6)]), [5, 12].map(Found::Exactly));
    }

    #[test]
    fn equals_count_as_more_urgent() {
        assert_eq!(by_period(&[task("a", 10, 3), task("b", 10, 4)]), [7, 7].map(Found::Exactly));
    }

    #[test]
    fn too_much_has_no_bound_and_too_long_is_not_known() {
        assert_eq!(by_period(&[task("a", 10, 6), task("b", 20, 9)]), [Found::Exactly(6), Found::Unbounded]);
        let (fast, slow) = (task("a", 1_000_001, 1_000_000), task("b", 4_000_000_000_000, 3_999_000));
        let tasks = [&fast, &slow];
        assert_eq!(all(&tasks, Order::RateMonotonic, &mut Work::little(5))[1], Found::Unknown);
    }
}
