//! What is to come of it. Goals are judged by medians of misses per 10,000 jobs of the honest threads.

use super::Row;
use super::count::Repeat;
use super::hosts::{CORTEX_CBS, CORTEX_EDF, DEADLINE, NATIVE_CBS, NATIVE_EDF};
use crate::results::Goal;

/// All goals, reached or not.
pub fn of(rows: &[Row]) -> Vec<Goal> {
    let row = |scheduler: &str, liar: bool| rows.iter().find(|row| row.scheduler == scheduler && row.liar == liar);
    let honest = |scheduler: &str, liar: bool| row(scheduler, liar).map_or(f64::NAN, |row| row.missed(Repeat::honest));
    // A bound that was measured has no more digits than are shown. Rounding both changes no order.
    let rounded = |value: f64| (value * 100.0).round() / 100.0;
    let goal = |what: &str, value: f64, target: f64| Goal {
        what: format!("deadlines: {what}"),
        value: rounded(value),
        target: rounded(target),
        at_most: true,
        unit: "per 10,000",
        why: None,
    };
    // If the kernel refuses the class, there is nothing to be compared with, which is a miss.
    let beside_deadline =
        |what: &str, scheduler: &str, liar: bool| match row(DEADLINE, liar).and_then(|row| row.refused.clone()) {
            Some(why) => Goal { why: Some(why), ..goal(what, f64::NAN, 0.0) },
            None => goal(what, honest(scheduler, liar), honest(DEADLINE, liar)),
        };
    vec![
        beside_deadline("misses under native edf, beside those under SCHED_DEADLINE", NATIVE_EDF, false),
        goal(
            "misses of honest threads beside a liar under native cbs, and without it",
            honest(NATIVE_CBS, true),
            honest(NATIVE_CBS, false),
        ),
        beside_deadline(
            "misses of honest threads beside a liar under native cbs, and under SCHED_DEADLINE",
            NATIVE_CBS,
            true,
        ),
        goal("misses on FreeRTOS under edf", honest(CORTEX_EDF, false), 0.0),
        goal(
            "misses of honest threads beside a liar on FreeRTOS under cbs, and without it",
            honest(CORTEX_CBS, true),
            honest(CORTEX_CBS, false),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::count::Thread;
    use super::*;

    fn row(scheduler: &'static str, liar: bool, missed: &[u32]) -> Row {
        let repeat = |missed: &u32| {
            let lines = [format!("fast 100 {missed} {}", i64::from(*missed > 0)), "liar 100 100 900".to_owned()];
            Repeat { threads: lines.iter().map(|line| Thread::read(line).unwrap()).collect(), stolen: 0.0 }
        };
        Row { machine: "", scheduler, liar, repeats: missed.iter().map(repeat).collect(), refused: None }
    }

    fn rows() -> Vec<Row> {
        vec![
            row(NATIVE_EDF, false, &[0, 1, 1]),
            row(DEADLINE, false, &[3, 1, 0]),
            row(NATIVE_CBS, false, &[0, 0, 0]),
            row(NATIVE_CBS, true, &[0, 7, 0]),
            row(DEADLINE, true, &[2, 2, 2]),
            row(CORTEX_EDF, false, &[0]),
            row(CORTEX_CBS, false, &[1]),
            row(CORTEX_CBS, true, &[1]),
        ]
    }

    #[test]
    fn no_more_than_the_other() {
        let goals = of(&rows());
        assert!(goals.iter().all(Goal::reached), "{goals:?}");
        assert_eq!((goals[0].value, goals[0].target), (100.0, 100.0));
    }

    #[test]
    fn one_more_is_a_loss() {
        let mut rows = rows();
        rows[0] = row(NATIVE_EDF, false, &[2, 2, 2]);
        rows[3] = row(NATIVE_CBS, true, &[1, 1, 0]);
        rows[5] = row(CORTEX_EDF, false, &[1]);
        rows[7] = row(CORTEX_CBS, true, &[2]);
        let reached: Vec<bool> = of(&rows).iter().map(Goal::reached).collect();
        assert_eq!(reached, [false, false, true, false, false]);
    }

    #[test]
    fn what_did_not_run_is_not_reached() {
        let mut rows = rows();
        rows[1] = Row { refused: Some("not allowed".to_owned()), ..row(DEADLINE, false, &[]) };
        let goals = of(&rows);
        assert!(!goals[0].reached() && goals[1].reached());
        assert_eq!(goals[0].why.as_deref(), Some("not allowed"));
    }
}
