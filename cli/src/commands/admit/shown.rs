//! What was judged, for people.

use super::Judged;
use crate::table;
use catapults_simulator::admission::{Figure, Judgement, Processors, Row, Share, Step, Task, Test, Worst};
use catapults_simulator::sim::exact;
use std::fmt::Write;

pub fn text(judged: &Judged<'_>) -> String {
    let (tasks, judgement) = (judged.found.set.tasks(), judged.judgement);
    let processors = match judged.processors {
        Processors::Any(1) | Processors::Own(1) => "1 processor".to_owned(),
        Processors::Any(count) => format!("each task on any of {count} processors"),
        Processors::Own(count) => format!("each task on one of {count} processors"),
    };
    let mut text = format!("{} under {}, {processors}\n\n", judged.file.display(), judged.order.word());
    let mut rows = vec![heading(judgement)];
    rows.extend(tasks.iter().zip(&judgement.rows).map(|(task, row)| line(task, row, judgement)));
    table::table(&mut text, &rows);
    text.push('\n');
    for step in &judgement.steps {
        let holds = match (step.holds, step.exact) {
            (Some(true), _) => "holds",
            (Some(false), true) => "does not hold",
            (Some(false), false) => "does not hold, but is only sufficient",
            (None, _) => "is not decided: it would take too long",
        };
        let _ = writeln!(
            text,
            "  {}: {}{holds}",
            step.test.word(),
            said(step, tasks).map_or(String::new(), |said| format!("{said}; "))
        );
    }
    text.push('\n');
    for note in &judged.found.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text + &verdict(judgement, tasks)
}

fn has_places(judgement: &Judgement) -> bool {
    judgement.rows.iter().any(|row| row.processor.is_some())
}

fn heading(judgement: &Judgement) -> Vec<String> {
    let of = |wanted: fn(&Worst) -> bool| judgement.rows.iter().any(|row| wanted(&row.worst));
    let worst = if of(|worst| matches!(worst, Worst::Demand(..))) {
        "demand"
    } else if of(|worst| matches!(worst, Worst::Share(_))) {
        "share"
    } else {
        "response"
    };
    let mut names = vec!["task"];
    names.extend(has_places(judgement).then_some("processor"));
    names.extend(["period", "budget", "deadline", worst, "slack", "verdict"]);
    names.into_iter().map(str::to_owned).collect()
}

fn line(task: &Task, row: &Row, judgement: &Judgement) -> Vec<String> {
    let none = || "–".to_owned();
    let (worst, slack) = match row.worst {
        Worst::Response(response) => (time(response), signed(i128::from(task.deadline) - response)),
        Worst::Demand(demand, within) if within == i128::from(task.deadline) => (time(demand), signed(within - demand)),
        Worst::Demand(demand, within) => (format!("{} in {}", time(demand), time(within)), signed(within - demand)),
        Worst::Share(share) => (percent(share), none()),
        Worst::Unbounded => ("no bound".to_owned(), none()),
        Worst::Unknown => (none(), none()),
    };
    let verdict = match row.kept {
        Some(true) => "kept",
        Some(false) => "late",
        None => "not known",
    };
    let mut cells = vec![task.name.clone()];
    if has_places(judgement) {
        cells.push(row.processor.map_or_else(none, |processor| processor.to_string()));
    }
    cells.extend([exact(task.period), exact(task.budget), exact(task.deadline), worst, slack, verdict.to_owned()]);
    cells
}

/// What was found, and its limit.
fn said(step: &Step, tasks: &[Task]) -> Option<String> {
    let (found, limit) = step.found?;
    let than = if is_more(found, limit) { ">" } else { "<=" };
    let name = step.task.map_or("", |task| tasks[task].name.as_str());
    let (what, between) = match step.test {
        Test::LiuLayland | Test::Utilization | Test::Global => {
            ("the sum of all shares is".to_owned(), format!(" {than} "))
        }
        Test::Hyperbolic => ("the product of all shares and 1 each is".to_owned(), format!(" {than} ")),
        Test::Response => (format!("the response of `{name}` is"), format!(" {than} ")),
        Test::Demand => ("what is due is".to_owned(), " in ".to_owned()),
        Test::FirstFit => (format!("`{name}` asks for"), " where at most there is left ".to_owned()),
    };
    Some(format!("{what} {}{between}{}", figure(found, true), figure(limit, false)))
}

fn is_more(found: Figure, limit: Figure) -> bool {
    match (found, limit) {
        (Figure::Share(found), Figure::Share(limit)) => found.billionths() > limit.billionths(),
        (Figure::Time(found), Figure::Time(limit)) => found > limit,
        (Figure::Share(_), Figure::Time(_)) | (Figure::Time(_), Figure::Share(_)) => false,
    }
}

/// The last line.
fn verdict(judgement: &Judgement, tasks: &[Task]) -> String {
    let Some(step) = super::decisive(judgement) else { return String::new() };
    let by = step.test.word();
    let name = step.task.map_or("", |task| tasks[task].name.as_str());
    let difference = match step.found {
        Some((Figure::Share(found), Figure::Share(limit))) if judgement.admitted => {
            figure(Figure::Share(limit.beyond(found)), false)
        }
        Some((Figure::Share(found), Figure::Share(limit))) => figure(Figure::Share(found.beyond(limit)), true),
        Some((Figure::Time(found), Figure::Time(limit))) => time((limit - found).abs()),
        Some(_) | None => String::new(),
    };
    let said = said(step, tasks).unwrap_or_default();
    match (judgement.admitted, step.holds) {
        (true, _) if said.is_empty() => format!("admitted by {by}\n"),
        (true, _) => format!("admitted by {by}: {said}, {difference} to spare\n"),
        (false, None) => format!(
            "refused: {by} is not decided, because it would take too long; round the periods to a common unit\n"
        ),
        (false, Some(_)) if said.is_empty() => {
            format!(
                "refused by {by}: the responses of `{name}` have no bound, because what is at least as urgent asks for more than the processor\n"
            )
        }
        (false, Some(_)) if step.exact => format!("refused by {by}: {said}, too much by {difference}\n"),
        (false, Some(_)) => {
            let besides = "this test is only sufficient: such tasks may keep their deadlines all the same";
            format!("refused by {by}: {said}, too much by {difference}; {besides}\n")
        }
    }
}

fn figure(figure: Figure, up: bool) -> String {
    match figure {
        Figure::Share(share) if up => percent(share),
        Figure::Share(share) => in_percent(share.billionths() / 1000),
        Figure::Time(nanoseconds) => time(nanoseconds),
    }
}

/// To four digits behind the point, not below what it is.
fn percent(share: Share) -> String {
    in_percent(share.billionths().div_ceil(1000))
}

fn in_percent(millionths: u128) -> String {
    let text = format!("{}.{:04}", millionths / 10_000, millionths % 10_000);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

fn time(nanoseconds: i128) -> String {
    i64::try_from(nanoseconds).map_or_else(|_| "more than 292 years".to_owned(), exact)
}

fn signed(nanoseconds: i128) -> String {
    if nanoseconds < 0 { format!("-{}", time(-nanoseconds)) } else { time(nanoseconds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_rounded_to_the_safe_side() {
        let share = Share::whole(1);
        assert_eq!(percent(share), "100%");
        assert_eq!(in_percent(828_427), "82.8427%");
        assert_eq!((time(1_500_000), signed(-13_000_000)), ("1500us".to_owned(), "-13ms".to_owned()));
        assert_eq!(time(i128::MAX), "more than 292 years");
    }
}
