//! What is known of a set without following it: response times under fixed priorities, and the demand of processors by deadlines.
//!
//! Sources: M. Joseph, P. Pandya: Finding response times in a real-time system, 1986; J. P. Lehoczky: Fixed priority scheduling of periodic
//! task sets with arbitrary deadlines, 1990; L. Sha, R. Rajkumar, J. P. Lehoczky: Priority inheritance protocols, 1990; S. K. Baruah,
//! L. E. Rosier, R. R. Howell: Algorithms and complexity concerning the preemptive scheduling of periodic, real-time tasks, 1990.

use super::sets::{Task, TaskSet, Under};

/// What the worst response of a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// This.
    Exactly(i64),
    /// No longer than this.
    AtMost(i64),
}

/// Of a task on one processor under fixed priorities. `None`: it is not known, since priorities are not fixed, or the same, or the
/// analysis leads beyond what is looked at.
pub(super) fn response(set: &TaskSet, place: usize) -> Option<Bound> {
    if matches!(set.under, Under::EarliestDeadline | Under::GlobalFixedPriority) {
        return None;
    }
    let rank = |place: usize| set.urgency(place, 0);
    let others = |wanted: fn(&i64, &i64) -> bool| {
        let own = rank(place);
        (0..set.tasks.len()).filter(move |other| *other != place && wanted(&rank(*other), &own))
    };
    if others(i64::eq).next().is_some() {
        return None;
    }
    let higher: Vec<&Task> = others(i64::lt).map(|other| &set.tasks[other]).collect();
    // Each that is less urgent can be in one of its critical sections.
    let blocking: i64 = others(i64::gt).map(|other| set.tasks[other].longest_section()).sum();
    let (worst, busy) = longest(&set.tasks[place], &higher, blocking, set.duration)?;
    // All jobs of the first busy stretch are seen, if nobody comes later and nobody is in the way.
    let is_exact = set.is_synchronous() && !set.has_locks();
    if is_exact && busy > set.duration {
        return None;
    }
    Some(if is_exact { Bound::Exactly(worst) } else { Bound::AtMost(worst) })
}

/// The longest response in the longest stretch in which nobody less urgent runs, and how long that is.
fn longest(task: &Task, higher: &[&Task], blocking: i64, most: i64) -> Option<(i64, i64)> {
    let mut worst = 0;
    for job in 0.. {
        let own = blocking + (job + 1) * task.cost();
        let mut end = own;
        loop {
            let before: i64 = higher.iter().map(|other| parts(end, other.period) * other.cost()).sum();
            if own + before == end {
                break;
            }
            end = own + before;
            // A stretch without end, or one that is not looked at.
            if end > 4 * most {
                return None;
            }
        }
        worst = worst.max(end - job * task.period);
        if end <= (job + 1) * task.period {
            return Some((worst, end));
        }
    }
    None
}

/// Whether no job is late by deadlines, released together or not: in no stretch of time more is due than there is time. `None`: it is not known.
pub(super) fn is_feasible(set: &TaskSet) -> Option<bool> {
    if set.under != Under::EarliestDeadline || set.has_locks() {
        return None;
    }
    let demand = |until: i64| -> i64 {
        let jobs = |task: &Task| if until < task.deadline { 0 } else { (until - task.deadline) / task.period + 1 };
        set.tasks.iter().map(|task| jobs(task) * task.cost()).sum()
    };
    let dues = set
        .tasks
        .iter()
        .flat_map(|task| (0..).map(|job| task.deadline + job * task.period).take_while(|due| *due <= set.duration));
    Some(dues.into_iter().all(|due| demand(due) <= due))
}

fn parts(time: i64, of: i64) -> i64 {
    (time + of - 1) / of
}
