//! Whether more is due within some time than there is of it, under EDF.
//!
//! Points of time are gone through from the latest that matters backwards, and most are skipped: if less is due by then, the next one to look
//! at is by that much earlier (quick processor-demand analysis).
//!
//! Sources: S. K. Baruah, L. E. Rosier, R. R. Howell, 1990; M. Spuri: Analysis of deadline scheduled real-time systems, 1996 (jitter, blocking);
//! F. Zhang, A. Burns: Schedulability analysis for real-time systems with EDF scheduling, IEEE TC 58(9), 2009.

use super::load::divisor;
use super::work::Work;
use super::{Load, Share, Task};

/// What the demand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Never too much. Where the least is left, of the points that were looked at: the demand, and within which time.
    Holds(Option<(i128, i128)>),
    /// Too much here; if that is not far from the beginning, here first.
    Exceeds { demand: i128, within: i128 },
    /// It would take too long.
    Unknown,
}

/// What all tasks can need that is released and due within this time, and how long someone due later can keep them from running.
pub(super) fn until(tasks: &[&Task], within: i128) -> i128 {
    let needed = tasks.iter().map(|task| {
        let (due, period) = (i128::from(task.due()), i128::from(task.period));
        if within < due { 0 } else { ((within - due) / period + 1) * i128::from(task.budget) }
    });
    needed.sum::<i128>() + blocking(tasks, within)
}

/// Of those who are due within this time. Each of those due later can be within a lock.
fn blocking(tasks: &[&Task], within: i128) -> i128 {
    let due = tasks.iter().filter(|task| i128::from(task.due()) <= within);
    let longest = due.map(|task| {
        let later = tasks.iter().filter(|other| other.due() > task.due());
        i128::from(task.blocking) + later.map(|other| i128::from(other.section)).sum::<i128>()
    });
    longest.max().unwrap_or(0)
}

/// The tasks ask for no more than one processor.
pub(super) fn check(tasks: &[&Task], work: &mut Work) -> Found {
    let Some(last) = last(tasks, work) else { return Found::Unknown };
    let cost = if tasks.iter().all(|task| task.section == 0) { tasks.len() } else { tasks.len() * tasks.len() };
    let mut nearest: Option<(i128, i128)> = None;
    let mut next = before(tasks, last + 1);
    while let Some(within) = next {
        if !work.take(cost) {
            return Found::Unknown;
        }
        let demand = until(tasks, within);
        if demand > within {
            let (demand, within) = first(tasks, within, work).unwrap_or((demand, within));
            return Found::Exceeds { demand, within };
        }
        if nearest.is_none_or(|(least, at)| within - demand < at - least) {
            nearest = Some((demand, within));
        }
        // Nothing is due between the latest deadline by then and then.
        next = before(tasks, within.min(demand + 1));
    }
    Found::Holds(nearest)
}

/// The latest deadline before this, if all come as soon as they can.
fn before(tasks: &[&Task], instant: i128) -> Option<i128> {
    let latest = tasks.iter().filter_map(|task| {
        let (due, period) = (i128::from(task.due()), i128::from(task.period));
        (due < instant).then(|| due + (instant - 1 - due) / period * period)
    });
    latest.max()
}

/// How many points are looked at to find the first.
const MOST_POINTS: usize = 10_000;

/// The first point before this one at which there is too much.
fn first(tasks: &[&Task], end: i128, work: &mut Work) -> Option<(i128, i128)> {
    let mut from = 0;
    for _ in 0..MOST_POINTS {
        let next = tasks.iter().map(|task| {
            let (due, period) = (i128::from(task.due()), i128::from(task.period));
            if from < due { due } else { due + ((from - due) / period + 1) * period }
        });
        let within = next.min().filter(|next| *next < end && work.take(tasks.len()))?;
        let demand = until(tasks, within);
        if demand > within {
            return Some((demand, within));
        }
        from = within;
    }
    None
}

/// How often the length of a stretch is corrected.
const MOST_ROUNDS: usize = 1000;

/// After this, nothing can be the first to be late.
fn last(tasks: &[&Task], work: &mut Work) -> Option<i128> {
    let blocked = tasks.iter().map(|task| i128::from(task.blocking)).max().unwrap_or(0);
    let blocked = blocked + tasks.iter().map(|task| i128::from(task.section)).sum::<i128>();
    let latest = tasks.iter().map(|task| i128::from(task.due())).max().unwrap_or(0);
    let by_load = by_load(tasks, blocked).map(|last| last.max(latest));
    let by_stretch = stretch(tasks, blocked, work);
    match (by_stretch, by_load) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (Some(one), None) | (None, Some(one)) => Some(one),
        (None, None) => Some(latest + common_period(tasks)?),
    }
}

/// By then, what is due at once at the beginning is made up for by what is left of the processor.
fn by_load(tasks: &[&Task], blocked: i128) -> Option<i128> {
    let load: Load = tasks.iter().map(|task| (1, task.budget, task.period)).collect();
    let rest = load.share().rest();
    let early = tasks.iter().map(|task| {
        let period = i128::from(task.period);
        let sooner = (period - i128::from(task.due())).max(0);
        (sooner * i128::from(task.budget) + period - 1) / period
    });
    let early = early.sum::<i128>() + blocked;
    let parts = early.checked_mul(i128::try_from(Share::ONE).ok()?)?;
    (rest > 0).then(|| parts / rest + 1)
}

/// The longest time for which the processor is not idle, beginning with a release of all.
fn stretch(tasks: &[&Task], blocked: i128, work: &mut Work) -> Option<i128> {
    let mut stretch = blocked + tasks.iter().map(|task| i128::from(task.budget)).sum::<i128>();
    for _ in 0..MOST_ROUNDS {
        if !work.take(tasks.len()) {
            return None;
        }
        let jobs =
            |task: &Task| (stretch + i128::from(task.jitter) + i128::from(task.period) - 1) / i128::from(task.period);
        let next = blocked + tasks.iter().map(|task| jobs(task) * i128::from(task.budget)).sum::<i128>();
        if next == stretch {
            return Some(stretch);
        }
        stretch = next;
    }
    None
}

/// After it all begins anew: only where the whole processor is asked for is nothing shorter known.
fn common_period(tasks: &[&Task]) -> Option<i128> {
    let common = tasks.iter().try_fold(1i128, |common, task| {
        let rest = u64::try_from(common % i128::from(task.period)).ok()?;
        common.checked_mul(i128::from(task.period.unsigned_abs() / divisor(task.period.unsigned_abs(), rest)))
    });
    common.filter(|common| *common < i128::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::tests::with_deadline;

    fn checked(tasks: &[Task]) -> Found {
        check(&tasks.iter().collect::<Vec<_>>(), &mut Work::new())
    }

    #[test]
    fn what_is_due_must_fit() {
        // 2 + 2 + 2 within 5.
        let tight = [with_deadline("a", 10, 2, 5), with_deadline("b", 10, 2, 5), with_deadline("c", 10, 2, 5)];
        assert_eq!(checked(&tight), Found::Exceeds { demand: 6, within: 5 });
        let loose = [with_deadline("a", 10, 2, 5), with_deadline("b", 10, 2, 5), with_deadline("c", 10, 2, 6)];
        assert_eq!(checked(&loose), Found::Holds(Some((6, 6))));
    }

    #[test]
    fn it_is_the_same_as_looking_at_each_deadline() {
        let mut rng = fastrand::Rng::with_seed(11);
        let mut exceeding = 0;
        for _ in 0..3000 {
            let tasks: Vec<Task> = (0..rng.usize(1..5))
                .map(|number| {
                    let period = rng.i64(2..25);
                    let budget = rng.i64(1..=(period / 2).max(1));
                    let jitter = rng.i64(0..3);
                    let deadline = rng.i64(budget + jitter..=(2 * period).max(budget + jitter));
                    Task { jitter, ..with_deadline(&number.to_string(), period, budget, deadline) }
                })
                .collect();
            let tasks: Vec<&Task> = tasks.iter().collect();
            let load: Load = tasks.iter().map(|task| (1, task.budget, task.period)).collect();
            if !load.at_most(1) {
                continue;
            }
            let by_all = (1..60_000).find(|within| until(&tasks, *within) > *within);
            match check(&tasks, &mut Work::new()) {
                Found::Holds(_) => assert_eq!(by_all, None, "{tasks:?}"),
                Found::Exceeds { demand, within } => {
                    assert!(by_all.is_some() && until(&tasks, within) == demand && demand > within, "{tasks:?}");
                    exceeding += 1;
                }
                Found::Unknown => panic!("{tasks:?}"),
            }
        }
        assert!(exceeding > 100, "{exceeding}");
    }

    #[test]
    fn blocking_is_part_of_it() {
        let short = Task { blocking: 3, ..with_deadline("a", 10, 3, 5) };
        assert_eq!(checked(&[short, with_deadline("b", 20, 4, 20)]), Found::Exceeds { demand: 6, within: 5 });
        let holder = Task { section: 3, ..with_deadline("b", 20, 4, 20) };
        assert_eq!(checked(&[with_deadline("a", 10, 3, 5), holder]), Found::Exceeds { demand: 6, within: 5 });
    }

    #[test]
    fn too_long_is_not_known() {
        let tasks = [
            with_deadline("a", 1_000_001, 1_000_000, 1_000_000),
            with_deadline("b", 4_000_000_000_000, 3_999_000, 3_999_999),
        ];
        let tasks: Vec<&Task> = tasks.iter().collect();
        assert_eq!(check(&tasks, &mut Work::little(100)), Found::Unknown);
    }
}
