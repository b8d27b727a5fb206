//! The final verdicts on expectations.

use catapults_compiler::scenario::{Exact, Expected, Measure, Statistic, Unit};

use super::{Distribution, Measures, Tally, Verdict, Watch, many};
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
            Expected::Runs(of, _) | Expected::Reason(of, _) | Expected::Says(of, _) => vec![*of],
        };
        let text = watch.expectation.text.clone();
        Verdict { text, holds, found, since: watch.since.filter(|_| !holds), thread: seen(watch.thread), kinds }
    }

    /// Judges an expectation that was not seen to fail.
    ///
    /// # Errors
    /// There is nothing to judge, and why. Then the expectation does not hold.
    fn judged(&self, watch: &Watch<'_>) -> Result<(bool, String), String> {
        let name = |kind: usize| &self.scenario.threads[kind].name;
        match &watch.expectation.what {
            Expected::Measure { measure, of, window, relation, bound, tolerance } => {
                let value = self.value(*measure, *of, *window, watch.tally.as_ref())?;
                let holds = |value: Exact| relation.holds(value, *bound, *tolerance);
                // A number that is not the expected one must look different.
                let is_told = |rounded: Exact, digits: u32| {
                    holds(rounded) == holds(value) && (holds(value) || is_apart(value, *bound, rounded, digits))
                };
                let tally = watch.tally.as_ref().or(of.map(|of| &self.tallies[of]));
                let found = match (measure, tally.and_then(Tally::worst_response)) {
                    (Measure::Response(Statistic::Worst), Some((taken, true))) => {
                        format!("one has taken {} and is not done", exact(taken))
                    }
                    _ => shown(value, measure.unit(), is_told),
                };
                Ok((holds(value), found))
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
            Expected::Reason(of, _) | Expected::Says(of, _) if self.tallies[*of].refusals == 0 => {
                Err("none was refused".to_owned())
            }
            Expected::Says(..) if watch.is_said => Ok((true, "it does".to_owned())),
            Expected::Says(..) => Err(format!("one was refused because \"{}\"", watch.said)),
            Expected::Reason(..) => Ok((true, "each time".to_owned())),
        }
    }

    /// # Errors
    /// There is no such number, and why.
    fn value(
        &self,
        measure: Measure,
        of: Option<usize>,
        window: Option<(i64, i64)>,
        windowed: Option<&Tally>,
    ) -> Result<Exact, String> {
        let (from, to) = window.unwrap_or((0, self.now));
        if to > self.now {
            return Err(format!("the simulation was over at {}", exact(self.now)));
        }
        let capacity = self.capacity(from, to);
        let hundredths = |ran: i128| {
            if capacity > 0 { Ok(Exact::new(100 * ran, capacity)) } else { Err("it took no time".to_owned()) }
        };
        let Some(of) = of else {
            let all = windowed.map_or_else(|| self.tallies.iter().map(|tally| tally.ran).sum(), |tally| tally.ran);
            return hundredths(capacity - all);
        };
        match self.first[of] {
            None => return Err("none came".to_owned()),
            Some(first) if first > to => return Err(format!("none came before {}", exact(first))),
            Some(_) => {}
        }
        let tally = windowed.unwrap_or(&self.tallies[of]);
        let statistic = |all: &Distribution, which, nothing: &str| all.exactly(which).ok_or_else(|| nothing.to_owned());
        match measure {
            Measure::Share | Measure::Idle => hundredths(tally.ran),
            Measure::Response(Statistic::Worst) => match tally.worst_response() {
                // The job takes longer than this, but not known to be a whole nanosecond longer.
                Some((taken, true)) => Ok(Exact::new(2 * i128::from(taken) + 1, 2)),
                Some((taken, false)) => Ok(Exact::from(taken)),
                None => Err("no job is done".to_owned()),
            },
            Measure::Response(which) => statistic(&tally.response, which, "no job is done"),
            Measure::Latency(which) => statistic(&tally.latency, which, "none ever ran"),
            Measure::Misses if tally.jobs + tally.misses == 0 => Err("no job was done or due".to_owned()),
            Measure::Misses => Ok(many(tally.misses)),
            Measure::Jobs => Ok(many(tally.jobs)),
            Measure::Dispatches => Ok(many(tally.dispatches)),
            Measure::Preemptions => Ok(many(tally.preemptions)),
            Measure::Refusals if tally.came + tally.refusals == 0 => Err("none came".to_owned()),
            Measure::Refusals => Ok(many(tally.refusals)),
            Measure::End => self.end(of).map(Exact::from).ok_or_else(|| "not all have ended".to_owned()),
        }
    }

    /// When the last thread ended, if all that are to come have come.
    fn end(&self, kind: usize) -> Option<i64> {
        let Tally { came, refusals, end, .. } = &self.tallies[kind];
        let thread = &self.scenario.threads[kind];
        let all = thread.count.filter(|_| !thread.spawned).map_or(0, u64::from);
        end.filter(|_| came + refusals >= all)
    }
}

/// The value with enough digits to show whether it is as expected: `is_told` decides for each number of digits.
fn shown(value: Exact, unit: Unit, is_told: impl Fn(Exact, u32) -> bool) -> String {
    match unit {
        Unit::Percent => {
            let mut rounded = (2..=12).map(|digits| (value.rounded(digits), digits));
            match rounded.find(|(rounded, digits)| is_told(*rounded, *digits)) {
                Some((rounded, digits)) => format!("{}%", decimal(rounded, digits)),
                None => match value.rest() {
                    Some((rest, of)) => format!("{} and {rest}/{of}%", value.floor()),
                    None => format!("{}%", value.floor()),
                },
            }
        }
        Unit::Time => {
            let whole = exact(i64::try_from(value.floor()).unwrap_or(i64::MAX));
            value.rest().map_or(whole.clone(), |(rest, of)| format!("{whole} and {rest}/{of}ns"))
        }
        Unit::Count => value.floor().to_string(),
    }
}

/// For a number that is not negative and has no more digits than these.
fn decimal(value: Exact, digits: u32) -> String {
    let Some((rest, of)) = value.rest() else { return value.floor().to_string() };
    let ten = 10_i128.saturating_pow(digits);
    let part = format!("{:0digits$}", rest * (ten / of), digits = digits as usize);
    format!("{}.{}", value.floor(), part.trim_end_matches('0'))
}

/// Whether the rounded value differs from the expected one, unless the two are equal.
fn is_apart(value: Exact, expected: Exact, rounded: Exact, digits: u32) -> bool {
    value == expected || expected.rounded(digits) != rounded
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_told_from_the_expected_one() {
        let is = |value: Exact, expected: &str| {
            let expected = Exact::decimal(expected).unwrap();
            shown(value, Unit::Percent, |rounded, digits| {
                rounded != expected && is_apart(value, expected, rounded, digits)
            })
        };
        let ninth = Exact::new(100, 9);
        assert_eq!(is(ninth, "11.11"), "11.111%");
        assert_eq!(is(ninth, "11.1"), "11.11%");
        assert_eq!(is(ninth, "11.111111111"), "11.1111111111%");
        assert_eq!(is(ninth, "11.1111111111111"), "11 and 1/9%");
        assert_eq!(is(ninth, "80"), "11.11%");
        assert_eq!(is(Exact::from(7), "7.00000000000001"), "7%");
        // A value may be equal to the bound and fail, as with `<`.
        assert_eq!(shown(Exact::from(50), Unit::Percent, |_, _| true), "50%");
        assert_eq!(shown(Exact::from(50), Unit::Percent, |_, _| false), "50%");
    }
}
