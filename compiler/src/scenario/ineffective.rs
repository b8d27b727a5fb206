//! Finds what has no effect in a scenario: expectations that cannot fail, whatever the policy does, and what is planned
//! for after the end. Such a line tests nothing, although its author believes so.

use crate::diagnostics::Diagnostic;
use crate::vocabulary::{At, in_unit};

use super::check::Checker;
use super::{Action, Exact, Expectation, Expected, Measure, Relation, Scenario, Unit};

impl Checker<'_, '_> {
    /// Refuses expectations that cannot fail, and instants after the end.
    pub(super) fn refuse_ineffective(&mut self, scenario: &Scenario) {
        self.after_the_end(scenario);
        // A thread with another error is in no list, and then it is not known which threads are meant.
        if scenario.threads.len() < self.draft.threads.len() {
            return;
        }
        for expectation in &scenario.expectations {
            let ineffective = self.cannot_be(scenario, expectation).or_else(|| cannot_fail(scenario, expectation));
            if let Some(ineffective) = ineffective {
                self.diagnostics.push(ineffective);
            }
        }
    }

    /// Without a duration, the end is not known before the simulation.
    fn after_the_end(&mut self, scenario: &Scenario) {
        let Some(duration) = scenario.duration else { return };
        for (at, instant) in std::mem::take(&mut self.instants) {
            if instant >= duration {
                let title = "this never happens: the scenario is over by then".to_owned();
                self.diagnostics.push(self.over(title, at, duration));
            }
        }
    }

    /// What contradicts the scenario itself.
    fn cannot_be(&self, scenario: &Scenario, expectation: &Expectation) -> Option<Diagnostic> {
        match &expectation.what {
            Expected::Measure { measure: Measure::End, window: Some(_), .. } => {
                let title = "the end is one instant, not a stretch of time";
                Some(Diagnostic::error("E0704", title, expectation.at, "").help("leave `from … to …` out"))
            }
            Expected::Measure { window: Some((_, to)), .. } if scenario.duration.is_some_and(|end| *to > end) => {
                let title = "this stretch of time ends after the scenario".to_owned();
                Some(self.over(title, expectation.at, scenario.duration?))
            }
            Expected::Order(kinds) => {
                let again = |(place, kind): (usize, &usize)| kinds[..place].contains(kind).then_some(*kind);
                let twice = &scenario.threads[kinds.iter().enumerate().find_map(again)?].name;
                let title = format!("`{twice}` is twice in an order of ends");
                Some(
                    Diagnostic::error("E0704", title, expectation.at, "")
                        .help("each thread has one place: leave one out"),
                )
            }
            Expected::Measure { .. }
            | Expected::Dispatched(_)
            | Expected::NeverOverlaps(..)
            | Expected::Runs(..)
            | Expected::Reason(..)
            | Expected::Says(..) => None,
        }
    }

    fn over(&self, title: String, at: At, duration: i64) -> Diagnostic {
        let (count, unit) = in_unit(duration);
        let over = Diagnostic::error("E0704", title, at, "");
        let said = self.draft.settings.iter().find(|setting| setting.word.text == "duration");
        let over = match said {
            Some(said) => over.related(said.word.at, format!("it ends at {count}{unit}")),
            None => over,
        };
        over.help("let the scenario be longer, or this be earlier")
    }
}

/// Why an expectation holds, whatever the policy does.
fn cannot_fail(scenario: &Scenario, expectation: &Expectation) -> Option<Diagnostic> {
    let ineffective = |title: String| Diagnostic::error("E0707", title, expectation.at, "cannot fail");
    match &expectation.what {
        Expected::Measure { measure: Measure::Misses, of: Some(of), .. }
            if scenario.threads[*of].deadline.is_none() =>
        {
            let thread = &scenario.threads[*of];
            let title = format!("`{}` has no deadline that it could miss", thread.name);
            let ineffective = ineffective(title).related(thread.at, "neither `period` nor `deadline`");
            Some(ineffective.help("say when its jobs are to be done, `deadline 80ms`, or how long they may take: `expect response of A <= 80ms;`"))
        }
        Expected::Measure { measure, relation, bound, tolerance, .. } => {
            let (least, most) = range(*measure, scenario.duration)?;
            always(*relation, *bound, *tolerance, least, most).then(|| {
                let title = match measure.unit() {
                    Unit::Percent => "every share is from 0% to 100%".to_owned(),
                    Unit::Time if *bound > Exact::from(0) => {
                        format!("no {} is longer than the scenario", measure.word())
                    }
                    Unit::Time | Unit::Count => format!("`{}` is never less than 0", measure.word()),
                };
                ineffective(title).help("say a bound that a policy can miss")
            })
        }
        Expected::Runs(_, within) if scenario.duration.is_some_and(|duration| *within >= duration) => {
            let title = "no wait can be this long: the scenario ends before".to_owned();
            Some(ineffective(title).help("say a shorter time, or let the scenario be longer"))
        }
        Expected::NeverOverlaps(left, right) if left == right && is_alone(scenario, *left) => {
            let thread = &scenario.threads[*left];
            let title = format!("`{}` is one thread, and runs once at a time", thread.name);
            Some(ineffective(title).help(format!("`thread {} * 2` makes two of it", thread.name)))
        }
        Expected::NeverOverlaps(..) if processors(scenario) == 1 => {
            let title = "on one processor no two threads run at once".to_owned();
            Some(ineffective(title).help("say how many there are: `processors 2;`"))
        }
        Expected::Order(_)
        | Expected::Dispatched(_)
        | Expected::NeverOverlaps(..)
        | Expected::Runs(..)
        | Expected::Reason(..)
        | Expected::Says(..) => None,
    }
}

/// The lowest and the highest number that can be measured; `None`: there is no highest. `None` for both: there may be
/// no number, which is not as expected either.
fn range(measure: Measure, duration: Option<i64>) -> Option<(Exact, Option<Exact>)> {
    let none = Exact::from(0);
    match measure {
        Measure::Share | Measure::Idle => Some((none, Some(Exact::from(100)))),
        // None is ready for longer.
        Measure::Latency(_) => Some((none, duration.map(Exact::from))),
        Measure::Misses | Measure::Jobs | Measure::Dispatches | Measure::Preemptions | Measure::Refusals => {
            Some((none, None))
        }
        // A job may not be done, and a thread may not end.
        Measure::Response(_) | Measure::End => None,
    }
}

/// Whether all numbers between two are as expected.
fn always(relation: Relation, bound: Exact, tolerance: Exact, least: Exact, most: Option<Exact>) -> bool {
    match relation {
        Relation::Equal => bound - tolerance <= least && most.is_some_and(|most| bound + tolerance >= most),
        Relation::Less => most.is_some_and(|most| most < bound),
        Relation::LessOrEqual => most.is_some_and(|most| most <= bound),
        Relation::Greater => least > bound,
        Relation::GreaterOrEqual => least >= bound,
    }
}

fn is_alone(scenario: &Scenario, thread: usize) -> bool {
    let thread = &scenario.threads[thread];
    thread.count == Some(1) && !thread.spawned
}

/// The most that there ever are.
fn processors(scenario: &Scenario) -> u32 {
    let later = scenario.moments.iter().flat_map(|moment| &moment.actions);
    let later = later.filter_map(|action| if let Action::Processors(count) = action { Some(*count) } else { None });
    later.chain([scenario.processors]).max().unwrap_or(1)
}
