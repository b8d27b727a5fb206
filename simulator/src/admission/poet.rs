//! Sets for POET, which makes a certificate for each task that the proofs of Prosa check: https://prosa.mpi-sws.org/poet.html.

use std::fmt::Write;

use super::load::divisor;
use super::{Order, Task, TaskSet};

/// Why there is nothing to write, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotExported {
    /// What POET does not have.
    pub what: String,
    /// What to do about it.
    pub help: &'static str,
}

/// The file that POET reads. Its numbers are small, because the proofs count to them: all times are multiples of the greatest that
/// divides all.
///
/// # Errors
/// POET has no such order, or no such tasks.
pub fn to_poet(set: &TaskSet, order: Order) -> Result<String, NotExported> {
    let tasks = set.tasks();
    let beyond = tasks.iter().find(|task| task.jitter > 0 || task.blocking > 0 || task.section > 0);
    if let Some(beyond) = beyond {
        let what = format!("`{}` has jitter, or blocking: POET has neither", beyond.name);
        return Err(NotExported { what, help: "leave --poet out: our own analysis has both" });
    }
    let policy = match order {
        Order::RateMonotonic | Order::DeadlineMonotonic | Order::Priorities => "FP",
        Order::EarliestDeadline => "EDF",
        Order::LeastLaxity => {
            let what = "POET has fixed priorities and EDF only, not the least laxity".to_owned();
            return Err(NotExported { what, help: "write --policy edf: on one processor it keeps the same sets" });
        }
    };
    let times = tasks.iter().flat_map(|task| [task.period, task.budget, task.deadline]);
    let unit = times.fold(0, |unit, time| divisor(time.unsigned_abs(), unit)).max(1);
    let in_units = |time: i64| time.unsigned_abs() / unit;
    let mut ranks: Vec<i128> = tasks.iter().map(|task| order.rank(task)).collect();
    ranks.sort_unstable_by(|one, other| other.cmp(one));
    ranks.dedup();
    let priority = |task: &Task| ranks.partition_point(|rank| *rank > order.rank(task)) + 1;
    let mut text =
        format!("# Written by catapults admit. The unit of time is {unit} ns.\nscheduling policy: {policy}\n");
    text.push_str("preemption model: FP\ntask set:\n");
    for (index, task) in tasks.iter().enumerate() {
        let name: String = task.name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        let (budget, period, deadline) = (in_units(task.budget), in_units(task.period), in_units(task.deadline));
        let _ = write!(
            text,
            "\n- id: {} # {name}\n  worst-case execution time: {budget}\n  period: {period}\n  deadline: {deadline}\n  priority: {}\n",
            index + 1,
            priority(task)
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::tests::{task, with_deadline};
    use crate::admission::{Kind, Unit, read};

    #[test]
    fn numbers_are_small_and_read_back() {
        let set =
            TaskSet::new(vec![with_deadline("slow", 30_000, 6_000, 20_000), task("fast", 10_000, 2_000)]).unwrap();
        let text = to_poet(&set, Order::RateMonotonic).unwrap();
        assert!(
            text.contains("The unit of time is 2000 ns") && text.contains("period: 15\n") && text.contains("# slow"),
            "{text}"
        );
        assert!(
            text.contains("deadline: 10\n  priority: 1\n") && text.contains("deadline: 5\n  priority: 2\n"),
            "{text}"
        );
        let back = read(&text, Kind::Poet, Unit::Microseconds).unwrap();
        assert_eq!(back.order, Some(Order::Priorities));
        let times: Vec<_> = back.set.tasks().iter().map(|task| (task.period, task.budget, task.deadline)).collect();
        assert_eq!(times, [(15_000, 3_000, 10_000), (5_000, 1_000, 5_000)]);
    }

    #[test]
    fn what_poet_lacks_is_refused() {
        let set = |task| TaskSet::new(vec![task]).unwrap();
        assert!(to_poet(&set(Task { jitter: 1, ..task("a", 10, 1) }), Order::RateMonotonic).is_err());
        assert!(to_poet(&set(task("a", 10, 1)), Order::LeastLaxity).is_err());
    }
}
