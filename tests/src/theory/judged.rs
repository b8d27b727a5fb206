//! What `catapults admit` says of a set, compared with the analysis here, which shares no code with it, and with the schedule by force.

use catapults_simulator::admission::{self, Judgement, Order, Processors, Worst};

use super::Job;
use super::analysis::{self, Bound};
use super::sets::{TaskSet, Under};

/// Whether the set was compared: there is a test for it.
///
/// # Errors
/// What differs.
pub(super) fn compare(set: &TaskSet, done: &[Vec<Job>]) -> Result<bool, String> {
    let order = match set.under {
        Under::RateMonotonic => Order::RateMonotonic,
        Under::DeadlineMonotonic => Order::DeadlineMonotonic,
        Under::FixedPriority => Order::Priorities,
        Under::EarliestDeadline => Order::EarliestDeadline,
        Under::GlobalFixedPriority => return Ok(false),
    };
    let tasks = set.tasks.iter().map(|task| admission::Task {
        name: task.name.clone(),
        period: task.period,
        budget: task.cost(),
        deadline: task.deadline,
        priority: i64::try_from(task.priority).ok(),
        jitter: 0,
        blocking: 0,
        section: task.longest_section(),
    });
    let judged = admission::TaskSet::new(tasks.collect()).map_err(|wrong| wrong.what)?;
    let judgement = admission::judge(&judged, order, Processors::Any(1)).map_err(|none| none.what)?;
    for (place, row) in judgement.rows.iter().enumerate() {
        let name = &set.tasks[place].name;
        if let (Some(Bound::Exactly(bound) | Bound::AtMost(bound)), Worst::Response(response)) =
            (analysis::response(set, place), row.worst)
            && response != i128::from(bound)
        {
            return Err(format!("the response of {name} is judged to be {response} ns, and is {bound} ns by analysis"));
        }
        if row.kept == Some(true) && judgement.admitted && set.misses(place, &done[place]) > 0 {
            return Err(format!("{name} is judged to keep its deadlines, and misses some by force"));
        }
    }
    let beyond = too_much_within(&judgement).is_some_and(|within| within > i128::from(set.duration));
    match analysis::is_feasible(set) {
        Some(feasible) if feasible != judgement.admitted && !(feasible && beyond) => {
            Err(format!("it is judged, admitted: {}; by the demand here: {feasible}", judgement.admitted))
        }
        Some(_) | None => Ok(true),
    }
}

/// The shortest time within which too much is due; of too great a utilization, none is told.
fn too_much_within(judgement: &Judgement) -> Option<i128> {
    let within = judgement.rows.iter().filter_map(|row| match row.worst {
        Worst::Demand(demand, within) if demand > within => Some(within),
        Worst::Demand(..) | Worst::Response(_) | Worst::Unbounded | Worst::Share(_) | Worst::Unknown => None,
    });
    let over = judgement.steps.first().is_some_and(|step| step.holds == Some(false));
    within.min().or(over.then_some(i128::MAX))
}
