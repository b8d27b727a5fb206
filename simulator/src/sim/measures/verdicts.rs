//! Whether what was measured is as expected, when it is over.

use catapults_compiler::scenario::{Expected, Measure, Unit};

use super::{Distribution, Measures, Tally, Verdict, Watch};
use crate::sim::exact;

impl Measures<'_> {
    pub(super) fn verdict(&self, watch: &Watch<'_>) -> Verdict {
        let (holds, found) = match (&watch.found, self.judged(watch)) {
            (Some(found), _) => (false, found.clone()),
            (None, Ok(judged)) => judged,
            (None, Err(nothing)) => (false, nothing),
        };
        let seen = |thread: Option<u64>| thread.filter(|_| !holds);
        let kinds = match &watch.expectation.what {
            Expected::Measure { of, .. } => of.iter().copied().collect(),
            Expected::Order(kinds) | Expected::Dispatched(kinds) => kinds.clone(),
            Expected::NeverOverlaps(left, right) => vec![*left, *right],
            Expected::Runs(of, _) | Expected::Reason(of, _) => vec![*of],
        };
        let text = watch.expectation.text.clone();
        Verdict { text, holds, found, since: watch.since.filter(|_| !holds), thread: seen(watch.thread), kinds }
    }

    /// Of what has not been seen to fail.
    ///
    /// # Errors
    /// Why there is nothing that could be as expected or not: that is not as expected.
    fn judged(&self, watch: &Watch<'_>) -> Result<(bool, String), String> {
        let name = |kind: usize| &self.scenario.threads[kind].name;
        match &watch.expectation.what {
            Expected::Measure { measure, of, window, relation, bound, tolerance } => {
                let value = self.value(*measure, *of, *window, watch.tally.as_ref())?;
                let holds = |value: f64| relation.holds(value, *bound, *tolerance);
                Ok((holds(value), shown(value, measure.unit(), holds)))
            }
            Expected::Order(kinds) => match kinds.iter().find(|kind| self.end(**kind).is_none()) {
                Some(kind) => Err(format!("`{}` has not ended", name(*kind))),
                None => Ok((true, "they do".to_owned())),
            },
            Expected::Dispatched(kinds) if watch.next < kinds.len() => Err(format!("there are only {}", watch.next)),
            Expected::Dispatched(_) => Ok((true, "they are".to_owned())),
            Expected::NeverOverlaps(left, right) => {
                let idle = [*left, *right].into_iter().find(|kind| self.tallies[*kind].dispatches == 0);
                match (idle, self.tallies[*left].came) {
                    (Some(kind), _) => Err(format!("no `{}` ever ran", name(kind))),
                    (None, 1) if left == right => Err(format!("only one `{}` came", name(*left))),
                    (None, _) => Ok((true, "they never do".to_owned())),
                }
            }
            Expected::Runs(of, _) if self.tallies[*of].came == 0 => Err("none came".to_owned()),
            Expected::Runs(..) => Ok((true, "always".to_owned())),
            Expected::Reason(of, _) if self.tallies[*of].refusals == 0 => Err("none was refused".to_owned()),
            Expected::Reason(..) => Ok((true, "each time".to_owned())),
        }
    }

    /// # Errors
    /// There is no such number: why.
    fn value(
        &self,
        measure: Measure,
        of: Option<usize>,
        window: Option<(i64, i64)>,
        windowed: Option<&Tally>,
    ) -> Result<f64, String> {
        let (from, to) = window.unwrap_or((0, self.now));
        if to > self.now {
            return Err(format!("all was over at {}", exact(self.now)));
        }
        let capacity = self.capacity(from, to) as f64;
        let part =
            |ran: i128| if capacity > 0.0 { Ok(ran as f64 / capacity) } else { Err("it took no time".to_owned()) };
        let Some(of) = of else {
            let all = windowed.map_or_else(|| self.tallies.iter().map(|tally| tally.ran).sum(), |tally| tally.ran);
            return part(all).map(|ran| 100.0 * (1.0 - ran));
        };
        match self.first[of] {
            None => return Err("none came".to_owned()),
            Some(first) if first > to => return Err(format!("none came before {}", exact(first))),
            Some(_) => {}
        }
        let tally = windowed.unwrap_or(&self.tallies[of]);
        let statistic = |all: &Distribution, which, nothing: &str| {
            all.statistic(which).map(|value| value as f64).ok_or_else(|| nothing.to_owned())
        };
        match measure {
            Measure::Share | Measure::Idle => part(tally.ran).map(|ran| 100.0 * ran),
            Measure::Response(which) => statistic(&tally.response, which, "no job is done"),
            Measure::Latency(which) => statistic(&tally.latency, which, "none ever ran"),
            Measure::Misses if tally.jobs + tally.misses == 0 => Err("no job was done or due".to_owned()),
            Measure::Misses => Ok(tally.misses as f64),
            Measure::Jobs => Ok(tally.jobs as f64),
            Measure::Dispatches => Ok(tally.dispatches as f64),
            Measure::Preemptions => Ok(tally.preemptions as f64),
            Measure::Refusals if tally.came + tally.refusals == 0 => Err("none came".to_owned()),
            Measure::Refusals => Ok(tally.refusals as f64),
            Measure::End => self.end(of).map(|end| end as f64).ok_or_else(|| "not all have ended".to_owned()),
        }
    }

    /// When the last one of all that there are to be ended.
    fn end(&self, kind: usize) -> Option<i64> {
        let Tally { came, refusals, end, .. } = &self.tallies[kind];
        let thread = &self.scenario.threads[kind];
        let all = thread.count.filter(|_| !thread.spawned).map_or(0, u64::from);
        end.filter(|_| came + refusals >= all)
    }
}

/// With as many digits as show whether it is as expected.
fn shown(value: f64, unit: Unit, holds: impl Fn(f64) -> bool) -> String {
    match unit {
        Unit::Percent => {
            let rounded = (2..9).map(|digits| 10_f64.powi(digits)).map(|power| (value * power).round() / power);
            format!("{}%", rounded.into_iter().find(|rounded| holds(*rounded) == holds(value)).unwrap_or(value))
        }
        Unit::Time => exact(value as i64),
        Unit::Count => format!("{value}"),
    }
}
