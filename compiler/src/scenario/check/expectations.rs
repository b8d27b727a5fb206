//! What a scenario expects: resolves threads, and checks that bounds have the unit of what is measured.

use super::Checker;
use crate::diagnostics::Diagnostic;
use crate::scenario::expect::{MEASURES, STATISTICS};
use crate::scenario::reader::{ExpectationDraft, ExpectedDraft, MeasureDraft, Quantity};
use crate::scenario::{Exact, Expectation, Expected, Measure, Relation, Statistic, Unit};
use crate::syntax::ast::{ExpressionKind, Name};
use crate::vocabulary::{Type, Value};

impl<'a> Checker<'a, '_> {
    pub(super) fn expectation(&mut self, draft: &'a ExpectationDraft) -> Vec<Expectation> {
        let one = |what: Expected| Expectation { what, text: draft.text.clone(), at: draft.at };
        match &draft.what {
            ExpectedDraft::Order(names) => {
                self.threads_there(names).map(Expected::Order).map(one).into_iter().collect()
            }
            ExpectedDraft::Dispatched(names) => {
                self.threads_there(names).map(Expected::Dispatched).map(one).into_iter().collect()
            }
            ExpectedDraft::NeverOverlaps(left, right) => match (self.thread_there(left), self.thread_there(right)) {
                (Some(left), Some(right)) => vec![one(Expected::NeverOverlaps(left, right))],
                (_, _) => Vec::new(),
            },
            ExpectedDraft::Runs(name, within) => match (self.thread_there(name), self.time(within, 0)) {
                (Some(thread), Some(within)) => vec![one(Expected::Runs(thread, within))],
                (_, _) => Vec::new(),
            },
            ExpectedDraft::Says(name, text) => {
                let of = self.thread_there(name);
                of.map(|of| one(Expected::Says(of, text.clone()))).into_iter().collect()
            }
            ExpectedDraft::Measure(measured) => self.measured(draft, measured).into_iter().flatten().map(one).collect(),
        }
    }

    fn measured(&mut self, draft: &'a ExpectationDraft, measured: &'a MeasureDraft) -> Option<Vec<Expected>> {
        let MeasureDraft { statistic, measure: word, of, window, relation, bound, tolerance, because } = measured;
        let measure = self.measure(statistic.as_ref(), word)?;
        let of = match of {
            Some(_) if measure == Measure::Idle => {
                let title = "`idle` is measured for the processors, not for a thread";
                self.diagnostics.push(Diagnostic::error("E0704", title, draft.at, "").help("leave `of` out"));
                return None;
            }
            Some(of) => Some(self.thread_there(of)?),
            None if measure == Measure::Idle => None,
            None => {
                let title = format!("`{}` is measured for a thread, and none is named", word.text);
                let whose = Diagnostic::error("E0704", title, word.at, "");
                self.diagnostics.push(whose.help(format!("write `{} of` and its name", word.text)));
                return None;
            }
        };
        let window = match window {
            Some((from, to)) => {
                let (from, to_instant) = (self.time(from, 0)?, self.time(to, 0)?);
                if from >= to_instant {
                    let title = "this stretch of time ends before it starts";
                    self.diagnostics.push(Diagnostic::error("E0704", title, to.at, ""));
                    return None;
                }
                Some((from, to_instant))
            }
            None => None,
        };
        let unit = measure.unit();
        let bound = self.quantity(bound, unit)?;
        let tolerance = match tolerance {
            Some(tolerance) if unit != Unit::Percent && tolerance.percent => {
                self.quantity(tolerance, Unit::Percent)?.hundredths_of(bound)
            }
            Some(tolerance) => self.quantity(tolerance, unit)?,
            None => Exact::from(0),
        };
        let relation = match relation.as_str() {
            "=" => Relation::Equal,
            "<" => Relation::Less,
            "<=" => Relation::LessOrEqual,
            ">" => Relation::Greater,
            _ => Relation::GreaterOrEqual,
        };
        let mut all = vec![Expected::Measure { measure, of, window, relation, bound, tolerance }];
        if let Some(reason) = because {
            match of.filter(|_| measure == Measure::Refusals) {
                Some(of) => all.push(Expected::Reason(of, reason.clone())),
                None => {
                    let title = "only refusals have a reason";
                    self.diagnostics.push(Diagnostic::error("E0704", title, word.at, "").help("leave `because` out"));
                }
            }
        }
        Some(all)
    }

    fn measure(&mut self, statistic: Option<&Name>, word: &Name) -> Option<Measure> {
        let which = statistic.map_or(Statistic::Worst, |name| match name.text.as_str() {
            "mean" => Statistic::Mean,
            "median" => Statistic::Quantile(500),
            "p90" => Statistic::Quantile(900),
            "p95" => Statistic::Quantile(950),
            "p99" => Statistic::Quantile(990),
            "p999" => Statistic::Quantile(999),
            _ => Statistic::Worst,
        });
        assert!(MEASURES.contains(&word.text.as_str()));
        let measure = match word.text.as_str() {
            "share" => Measure::Share,
            "idle" => Measure::Idle,
            "response" => Measure::Response(which),
            "latency" => Measure::Latency(which),
            "misses" => Measure::Misses,
            "jobs" => Measure::Jobs,
            "dispatches" => Measure::Dispatches,
            "preemptions" => Measure::Preemptions,
            "refusals" => Measure::Refusals,
            _ => Measure::End,
        };
        if let Some(statistic) = statistic
            && !matches!(measure, Measure::Response(_) | Measure::Latency(_))
        {
            assert!(STATISTICS.contains(&statistic.text.as_str()));
            let title = format!("`{}` has no `{}`: it is a single number", word.text, statistic.text);
            let useless = Diagnostic::error("E0704", title, statistic.at, "");
            self.diagnostics.push(useless.help(format!("leave `{}` out", statistic.text)));
            return None;
        }
        Some(measure)
    }

    /// A number with this unit.
    fn quantity(&mut self, quantity: &'a Quantity, unit: Unit) -> Option<Exact> {
        let Quantity { value, written, percent } = quantity;
        let percent = *percent;
        if percent != (unit == Unit::Percent) {
            let help = match unit {
                Unit::Percent => "write hundredths: `50%`",
                Unit::Time => "write a duration: `5ms`",
                Unit::Count => "write a number: `5`",
            };
            self.diagnostics.push(Diagnostic::error("E0704", "this is of another unit", value.at, "").help(help));
            return None;
        }
        if unit == Unit::Time {
            return self.time(value, 0).map(Exact::from);
        }
        let float = percent && matches!(value.kind, ExpressionKind::Float(_));
        match self.compute(value, if float { Type::Float } else { Type::Int })? {
            Value::Int(value) => Some(Exact::from(value)),
            // In parentheses, it is what a `float` holds.
            Value::Float(held) => {
                let exact = Exact::decimal(written).or_else(|| Exact::decimal(&held.get().to_string()));
                if exact.is_none() {
                    let large = Diagnostic::error("E0704", "this is too large a number", value.at, "");
                    self.diagnostics.push(large.help("every share is from 0% to 100%"));
                }
                exact
            }
            Value::Bool(_) | Value::Time(_) => None,
        }
    }
}
