//! What is to be reached: so many instructions for an operation, beside pthreads, and ahead of every peer. A ratio to a bare switch would not
//! travel: a yield takes 1.1 times as long on one processor, and 2.3 times on another.

use super::{COMPILED_IN, Figures, LOADED, PRIORITIES, instructions_of};
use crate::results::Goal;
use crate::statistics::median;

const PTHREADS: &str = "pthreads, glibc";

/// An operation: as programs and as readers call it, by which of ours, how many instructions it may take there, and what it may be beside
/// pthreads.
struct Operation {
    figure: &'static str,
    title: &'static str,
    ours: &'static str,
    /// Of x86-64, by the compiler of Debian 12: 2 % above what they were when the decision core had got a folder of its own.
    instructions: f64,
    of_pthreads: Option<f64>,
}

const fn operation(figure: &'static str, title: &'static str, instructions: f64) -> Operation {
    Operation { figure, title, ours: COMPILED_IN, instructions, of_pthreads: None }
}

const OPERATIONS: [Operation; 9] = [
    operation("yield_2", "yield, 2 threads", 84.0),
    operation("yield_100", "yield, 100 threads", 98.0),
    operation("yield_10000", "yield, 10,000 threads", 101.0),
    Operation { ours: PRIORITIES, ..operation("priority", "priorities, 10,000 ready", 158.0) },
    operation("create_join", "create and join", 600.0),
    Operation { of_pthreads: Some(0.5), ..operation("mutex", "a free mutex", 34.0) },
    Operation { of_pthreads: Some(0.006), ..operation("condition", "hand-off by a condition", 650.0) },
    Operation { of_pthreads: Some(0.015), ..operation("lock", "100 threads, one lock", 130.0) },
    operation("lock_held", "the same, yielding while it is held", 410.0),
];

/// All of them, whatever was measured: one of which a figure is missing has no value, and is missed.
pub fn of(figures: &Figures) -> Vec<Goal> {
    let values = |program: &str, figure: &str| figures.get(program)?.get(figure).filter(|values| !values.is_empty());
    let mut goals = Vec::new();
    let mut add = |what: String, value: f64, target: f64, unit: &'static str| {
        goals.push(Goal { what, value, target, at_most: true, unit, why: None });
    };
    for operation in &OPERATIONS {
        let ours = values(operation.ours, operation.figure);
        let counted = values(operation.ours, &instructions_of(operation.figure));
        let counted = counted.map_or(f64::NAN, |counted| median(counted));
        add(format!("{}, instructions", operation.title), counted, operation.instructions, "");
        if let Some(target) = operation.of_pthreads {
            let theirs = values(PTHREADS, operation.figure);
            add(format!("{} / pthreads", operation.title), ratio(ours, theirs), target, "×");
        }
        let best = figures
            .iter()
            .filter(|(program, _)| !program.starts_with("Catapults"))
            .filter_map(|(program, _)| Some((program, values(program, operation.figure)?)))
            .min_by(|one, other| median(one.1).total_cmp(&median(other.1)));
        let name = best.map_or(String::new(), |(best, _)| format!(", {best}"));
        let theirs = best.map(|(_, theirs)| theirs);
        add(format!("{} / the best peer{name}", operation.title), ratio(ours, theirs), 1.0, "×");
        if operation.figure.starts_with("yield") {
            let loaded = values(LOADED, operation.figure);
            add(format!("{}, shared object / compiled in", operation.title), ratio(loaded, ours), 1.3, "×");
        }
    }
    for (figure, title, target, unit) in [
        ("memory_10000 resident_bytes", "an idle thread of 10,000", 4200.0, "bytes"),
        ("memory_1000000 resident_bytes", "an idle thread of 1,000,000", 4200.0, "bytes"),
        ("memory_1000000 create", "creating 1,000,000 threads, each", 3000.0, "ns"),
    ] {
        add(title.to_owned(), values(COMPILED_IN, figure).map_or(f64::NAN, |ours| median(ours)), target, unit);
    }
    goals
}

/// The median of the ratios of each round: what changes on the machine in between changes both. NaN, if one is missing.
fn ratio(ours: Option<&Vec<f64>>, theirs: Option<&Vec<f64>>) -> f64 {
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return f64::NAN };
    median(&ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_loses_is_told_so() {
        let mut figures = Figures::new();
        let mut note = |program: &str, figure: &str, value: f64| {
            figures.entry(program.to_owned()).or_default().insert(figure.to_owned(), vec![value; 3]);
        };
        note(COMPILED_IN, "yield_2", 10.0);
        note(COMPILED_IN, "yield_2 instructions", 85.0);
        note("one", "yield_2", 12.0);
        note("other", "yield_2", 8.0);
        let goals = of(&figures);
        let told: Vec<(&str, f64, bool)> = goals
            .iter()
            .filter(|goal| !goal.value.is_nan())
            .map(|goal| (goal.what.as_str(), goal.value, goal.reached()))
            .collect();
        assert_eq!(
            told,
            [("yield, 2 threads, instructions", 85.0, false), ("yield, 2 threads / the best peer, other", 1.25, false)]
        );
    }

    #[test]
    fn what_was_not_measured_is_missed() {
        let goals = of(&Figures::new());
        let missed = |what: &str| goals.iter().any(|goal| goal.what == what && !goal.reached());
        assert!(missed("yield, 2 threads, instructions"));
        assert!(missed("a free mutex / the best peer"));
        assert!(missed("an idle thread of 1,000,000"));
        assert_eq!(goals.iter().filter(|goal| goal.reached()).count(), 0);
    }
}
