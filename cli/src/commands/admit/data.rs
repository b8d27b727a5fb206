//! What was judged, for programs: `docs/messages.md` describes the object.

use super::Judged;
use catapults_simulator::admission::{Figure, Processors, Row, Step, Task, Worst};
use serde_json::{Value, json};

pub fn object(judged: &Judged<'_>) -> Value {
    let (tasks, judgement) = (judged.found.set.tasks(), judged.judgement);
    let tests: Vec<Value> = judgement.steps.iter().map(|step| test(step, tasks)).collect();
    let rows: Vec<Value> = tasks.iter().zip(&judgement.rows).map(|(task, row)| of_task(task, row)).collect();
    json!({
        "type": "judged",
        "file": judged.file.display().to_string(),
        "order": judged.order.word(),
        "processors": judged.processors.count(),
        "partitioned": matches!(judged.processors, Processors::Own(_)),
        "admitted": judgement.admitted,
        "by": super::decisive(judgement).map_or("", |step| step.test.word()),
        "tests": tests,
        "tasks": rows,
        "notes": judged.found.notes,
    })
}

fn test(step: &Step, tasks: &[Task]) -> Value {
    let figures = step.found.map(|(found, limit)| (number(found), number(limit)));
    let unit = step.found.map(|(found, _)| match found {
        Figure::Share(_) => "billionths",
        Figure::Time(_) => "ns",
    });
    json!({
        "name": step.test.word(),
        "holds": step.holds,
        "exact": step.exact,
        "found": figures.map(|(found, _)| found),
        "limit": figures.map(|(_, limit)| limit),
        "unit": unit,
        "task": step.task.map(|task| tasks[task].name.as_str()),
    })
}

fn of_task(task: &Task, row: &Row) -> Value {
    let (mut response, mut demand, mut within) = (None, None, None);
    match row.worst {
        Worst::Response(worst) => response = Some(number(Figure::Time(worst))),
        Worst::Demand(needed, time) => {
            demand = Some(number(Figure::Time(needed)));
            within = Some(number(Figure::Time(time)));
        }
        Worst::Share(_) | Worst::Unbounded | Worst::Unknown => {}
    }
    json!({
        "name": task.name,
        "period": task.period,
        "budget": task.budget,
        "deadline": task.deadline,
        "processor": row.processor,
        "response": response,
        "demand": demand,
        "within": within,
        "kept": row.kept,
    })
}

/// What does not fit is the greatest number.
fn number(figure: Figure) -> u64 {
    match figure {
        Figure::Share(share) => u64::try_from(share.billionths()).unwrap_or(u64::MAX),
        Figure::Time(time) => u64::try_from(time.max(0)).unwrap_or(u64::MAX),
    }
}
