use super::*;

/// With its deadline at the end of its period.
pub(super) fn task(name: &str, period: i64, budget: i64) -> Task {
    with_deadline(name, period, budget, period)
}

pub(super) fn with_deadline(name: &str, period: i64, budget: i64, deadline: i64) -> Task {
    Task { name: name.to_owned(), period, budget, deadline, priority: None, jitter: 0, blocking: 0, section: 0 }
}

fn judged(tasks: Vec<Task>, order: Order) -> Judgement {
    judge(&TaskSet::new(tasks).unwrap(), order, Processors::Any(1)).unwrap()
}

#[test]
fn bounds_come_first_and_analysis_decides() {
    // Harmonic: all of the processor, which the bounds refuse.
    let full = judged(vec![task("a", 10, 5), task("b", 20, 10)], Order::RateMonotonic);
    let steps: Vec<_> = full.steps.iter().map(|step| (step.test, step.holds)).collect();
    assert!(full.admitted);
    assert_eq!(steps, [(Test::LiuLayland, Some(false)), (Test::Hyperbolic, Some(false)), (Test::Response, Some(true))]);
    assert_eq!(full.steps[2].found, Some((Figure::Time(20), Figure::Time(20))));
}

#[test]
fn the_response_that_is_late_is_told() {
    let late = judged(vec![task("a", 50, 25), task("b", 70, 33)], Order::RateMonotonic);
    assert!(!late.admitted && late.rows[0].kept == Some(true) && late.rows[1].kept == Some(false));
    let last = late.steps.last().unwrap();
    assert_eq!((last.task, last.found), (Some(1), Some((Figure::Time(83), Figure::Time(70)))));
}

#[test]
fn deadlines_decide_by_utilization_or_demand() {
    let whole = judged(vec![task("a", 50, 25), task("b", 70, 35)], Order::EarliestDeadline);
    assert!(whole.admitted && whole.steps.len() == 1);
    let tight = judged(vec![with_deadline("a", 50, 25, 30), with_deadline("b", 70, 30, 40)], Order::LeastLaxity);
    assert!(!tight.admitted && tight.steps[1].found == Some((Figure::Time(55), Figure::Time(40))));
    assert_eq!(tight.rows.iter().map(|row| row.kept).collect::<Vec<_>>(), [None, Some(false)]);
    let over = judged(vec![task("a", 50, 25), task("b", 70, 36)], Order::EarliestDeadline);
    assert!(!over.admitted && over.steps[0].test == Test::Utilization);
}

#[test]
fn senseless_sets_are_refused() {
    let refused = |task: Task| TaskSet::new(vec![task]).unwrap_err().field;
    assert_eq!(refused(task("a", 10, 11)), "budget");
    assert_eq!(refused(task("a", 0, 0)), "period");
    assert_eq!(refused(task("a", 10, 0)), "budget");
    assert_eq!(refused(task("a", 10, -1)), "budget");
    assert_eq!(refused(with_deadline("a", 10, 5, 4)), "budget");
    assert_eq!(refused(Task { jitter: 6, ..task("a", 10, 5) }), "budget");
    assert_eq!(refused(Task { jitter: -1, ..task("a", 10, 5) }), "jitter");
    assert_eq!(refused(task("a", i64::MAX, 5)), "period");
    assert_eq!(TaskSet::new(vec![task("a", 10, 1), task("a", 10, 1)]).unwrap_err().task, 1);
}

#[test]
fn the_longest_times_overflow_nothing() {
    let tasks: Vec<Task> = (0..64)
        .map(|number| Task {
            jitter: LONGEST / 2,
            blocking: LONGEST,
            ..with_deadline(&number.to_string(), LONGEST, LONGEST / 64, LONGEST)
        })
        .collect();
    for order in [Order::RateMonotonic, Order::EarliestDeadline] {
        assert!(!judged(tasks.clone(), order).admitted);
    }
    let plain: Vec<Task> = (0..64).map(|number| task(&number.to_string(), LONGEST - number, LONGEST / 65)).collect();
    for order in [Order::RateMonotonic, Order::EarliestDeadline] {
        assert!(judged(plain.clone(), order).admitted);
    }
}

#[test]
fn priorities_must_be_there() {
    let set = TaskSet::new(vec![Task { priority: Some(1), ..task("a", 10, 1) }, task("b", 10, 1)]).unwrap();
    assert_eq!(judge(&set, Order::Priorities, Processors::Any(1)).unwrap_err().task, Some(1));
}
