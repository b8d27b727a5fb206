//! Tests for several processors, all of them sufficient: a set that they refuse may keep its deadlines all the same.
//!
//! Source of the global one: J. Goossens, S. Funk, S. Baruah: Priority-driven scheduling of periodic task systems on multiprocessors,
//! Real-Time Systems 25, 2003; with deadlines before the end of the period: M. Bertogna, M. Cirinei, G. Lipari, 2005.

use super::work::Work;
use super::{Figure, Judgement, Load, NoTest, Order, Processors, Row, Share, Step, Task, Test, Worst, on_one};

/// Global EDF: the sum of all shares is at most m - (m - 1) of the greatest.
pub(super) fn any(tasks: &[&Task], order: Order, count: u32) -> Result<Judgement, NoTest> {
    if order != Order::EarliestDeadline {
        let what = format!("there is no test here for this order on {count} processors that each take any task");
        let help = "write --partitioned, so that each task stays on one processor; or --policy edf";
        return Err(NoTest { what, help, task: None });
    }
    without_locks(tasks)?;
    let share = |task: &&Task| Load::from_iter([(1, task.budget, task.span())]).share();
    let greatest = |one: &&&Task, other: &&&Task| {
        let (one, other) = (**one, **other);
        (i128::from(one.budget) * i128::from(other.span())).cmp(&(i128::from(other.budget) * i128::from(one.span())))
    };
    let greatest = tasks.iter().max_by(greatest).copied();
    // With the greatest counted m times, the bound is m.
    let all: Load = tasks.iter().map(|task| (1, task.budget, task.span())).collect();
    let weighed = tasks.iter().map(|task| (1, task.budget, task.span()));
    let weighed: Load = weighed.chain(greatest.map(|task| (u64::from(count) - 1, task.budget, task.span()))).collect();
    let admitted = weighed.at_most(count);
    let others = greatest.map(|task| Load::from_iter([(u64::from(count) - 1, task.budget, task.span())]).share());
    let limit = Share::whole(count).beyond(others.unwrap_or(Share::whole(0)));
    let found = Some((Figure::Share(all.share()), Figure::Share(limit)));
    let kept = admitted.then_some(true);
    let rows = tasks.iter().map(|task| Row { processor: None, worst: Worst::Share(share(task)), kept }).collect();
    let holds = Some(admitted);
    Ok(Judgement { admitted, steps: vec![Step { test: Test::Global, holds, exact: false, found, task: None }], rows })
}

/// Tasks that ask for the greatest share come first, each on the first processor that keeps all deadlines with it.
pub(super) fn own(tasks: &[&Task], order: Order, count: u32, work: &mut Work) -> Result<Judgement, NoTest> {
    without_locks(tasks)?;
    let mut by_share: Vec<usize> = (0..tasks.len()).collect();
    by_share.sort_by(|one, other| {
        let (one, other) = (tasks[*one], tasks[*other]);
        (i128::from(other.budget) * i128::from(one.span())).cmp(&(i128::from(one.budget) * i128::from(other.span())))
    });
    let mut processors: Vec<Vec<usize>> = vec![Vec::new(); count as usize];
    let mut left_out = None;
    for index in by_share {
        let fits = processors.iter_mut().find(|there| {
            let with: Vec<&Task> = there.iter().chain([&index]).map(|index| tasks[*index]).collect();
            on_one(&with, order, work).admitted
        });
        match fits {
            Some(there) => there.push(index),
            None => {
                left_out = left_out.or(Some(index));
            }
        }
    }
    let mut rows = vec![Row { processor: None, worst: Worst::Unknown, kept: None }; tasks.len()];
    let mut emptiest = Share::whole(1);
    for (number, there) in (0..).zip(&processors) {
        let with: Vec<&Task> = there.iter().map(|index| tasks[*index]).collect();
        let load: Load = with.iter().map(|task| (1, task.budget, task.period)).collect();
        if load.share().billionths() < emptiest.billionths() {
            emptiest = load.share();
        }
        if with.is_empty() {
            continue;
        }
        for (index, row) in there.iter().zip(on_one(&with, order, work).rows) {
            rows[*index] = Row { processor: Some(number), ..row };
        }
    }
    // What the task asks for, and what is left of the emptiest processor.
    let found = left_out.map(|index| {
        let asked = Load::from_iter([(1, tasks[index].budget, tasks[index].period)]).share();
        (Figure::Share(asked), Figure::Share(Share::whole(1).beyond(emptiest)))
    });
    let admitted = left_out.is_none();
    let step = Step { test: Test::FirstFit, holds: Some(admitted), exact: false, found, task: left_out };
    Ok(Judgement { admitted, steps: vec![step], rows })
}

/// How long a task on another processor can keep a lock is not known here.
fn without_locks(tasks: &[&Task]) -> Result<(), NoTest> {
    match tasks.iter().position(|task| task.blocking > 0 || task.section > 0) {
        None => Ok(()),
        Some(index) => {
            let what = format!(
                "`{}` can be blocked, or blocks others: there is no test for that on several processors",
                tasks[index].name
            );
            let help =
                "judge the tasks of each processor in a file of its own, with all that can block them as `blocking`";
            Err(NoTest { what, help, task: Some(index) })
        }
    }
}

impl Processors {
    /// How many.
    pub fn count(self) -> u32 {
        match self {
            Processors::Any(count) | Processors::Own(count) => count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::tests::task;

    fn judged(tasks: &[Task], own: bool, count: u32) -> Judgement {
        let tasks: Vec<&Task> = tasks.iter().collect();
        let (order, mut work) = (Order::EarliestDeadline, Work::new());
        if own { super::own(&tasks, order, count, &mut work) } else { any(&tasks, order, count) }.unwrap()
    }

    #[test]
    fn the_greatest_share_counts_for_all_processors_but_one() {
        // 0.5 + 0.5 + 0.5 = 2 - 0.5, exactly.
        assert!(judged(&[task("a", 10, 5), task("b", 10, 5), task("c", 10, 5)], false, 2).admitted);
        assert!(!judged(&[task("a", 10, 5), task("b", 10, 5), task("c", 9, 5)], false, 2).admitted);
        // Dhall's: small shares, and one of a whole processor.
        assert!(!judged(&[task("a", 100, 1), task("b", 100, 1), task("c", 101, 101)], false, 2).admitted);
    }

    #[test]
    fn each_task_is_where_it_fits() {
        let tasks = [task("a", 10, 4), task("b", 10, 6), task("c", 10, 5), task("d", 10, 5)];
        let judged = judged(&tasks, true, 2);
        assert!(judged.admitted);
        let places: Vec<_> = judged.rows.iter().map(|row| row.processor).collect();
        assert_eq!(places, [Some(0), Some(0), Some(1), Some(1)]);
    }

    #[test]
    fn what_fits_nowhere_is_named() {
        let tasks = [task("a", 10, 6), task("b", 10, 6), task("c", 10, 6)];
        let judged = judged(&tasks, true, 2);
        assert_eq!((judged.admitted, judged.steps[0].task, judged.rows[2].kept), (false, Some(2), None));
    }

    #[test]
    fn what_has_no_test_is_said() {
        let tasks = [task("a", 10, 1)];
        assert!(any(&tasks.iter().collect::<Vec<_>>(), Order::RateMonotonic, 2).is_err());
        let locked = Task { section: 1, ..task("a", 10, 1) };
        assert!(any(&[&locked], Order::EarliestDeadline, 2).is_err());
    }
}
