//! How time passes: before each event none, or as much as one of the durations that the policy mentions, up to an end. So an event
//! comes before, at and after each instant that such a duration leads to; what comes between them, or later, is not looked at.

use std::collections::BTreeSet;

use catapults_compiler::policy::{Block, Expression, Policy, Value};

/// The steps of the clock.
#[derive(Debug)]
pub(super) struct Clock {
    /// Whether the policy looks at it; else it stands.
    pub ticks: bool,
    /// In nanoseconds, 0 the first, then the shortest.
    pub steps: Vec<i64>,
    /// It goes no further.
    pub end: i64,
    /// Times in variables and attributes are followed from minus this to this.
    pub bound: i64,
}

/// More steps than this make too many instants.
const MOST_STEPS: usize = 3;
/// If the policy mentions no duration.
const USUAL: i64 = 1_000_000;
/// So often the longest step fits before the end.
const LONGEST_STEPS: i64 = 4;

impl Clock {
    /// Looks through a policy.
    pub fn of(policy: &Policy) -> Self {
        let mut durations = BTreeSet::new();
        let constants = policy.constants.iter().map(|constant| constant.value);
        let initial = policy.variables.iter().map(|variable| variable.initial);
        let of_threads = policy.attributes.iter().map(|attribute| attribute.initial);
        constants.chain(initial).chain(of_threads).for_each(|value| mention(value, &mut durations));
        for handler in policy.events.iter().chain(&policy.queries) {
            block(&handler.body, &mut durations);
        }
        let mut steps: Vec<i64> = durations.into_iter().collect();
        if steps.is_empty() {
            steps.push(USUAL);
        }
        let longest = steps.last().copied().unwrap_or(USUAL);
        if steps.len() > MOST_STEPS {
            steps.truncate(MOST_STEPS - 1);
            steps.push(longest);
        }
        let end = longest.saturating_mul(LONGEST_STEPS);
        steps.insert(0, 0);
        Clock {
            ticks: policy.uses_now() || policy.timers().next().is_some(),
            steps,
            end,
            bound: end.saturating_mul(LONGEST_STEPS),
        }
    }

    /// What time it can be at the next event.
    pub fn after(&self, now: i64) -> Vec<i64> {
        if !self.ticks {
            return vec![now];
        }
        let later = self.steps.iter().map(|step| now.saturating_add(*step));
        later.filter(|instant| *instant <= self.end).collect()
    }
}

impl Clock {
    /// The same for an event that comes at an instant at the earliest: that instant is looked at, too.
    pub fn not_before(&self, now: i64, earliest: i64) -> Vec<i64> {
        let mut instants = self.after(now);
        instants.retain(|instant| *instant >= earliest);
        if earliest > now && earliest <= self.end && !instants.contains(&earliest) {
            instants.push(earliest);
        }
        instants
    }
}

fn mention(value: Value, durations: &mut BTreeSet<i64>) {
    match value {
        Value::Time(duration) if duration != 0 && duration != i64::MIN => {
            durations.insert(duration.abs());
        }
        Value::Time(_) | Value::Int(_) | Value::Bool(_) | Value::Float(_) => {}
    }
}

fn block(statements: &Block, durations: &mut BTreeSet<i64>) {
    for statement in statements {
        statement.expressions().for_each(|own| expression(own, durations));
        statement.blocks().for_each(|inner| block(inner, durations));
    }
}

fn expression(of: &Expression, durations: &mut BTreeSet<i64>) {
    match of {
        Expression::Literal(value) => mention(*value, durations),
        Expression::Constant(_)
        | Expression::ConstantElement { .. }
        | Expression::Convert(..)
        | Expression::Read(_)
        | Expression::Now
        | Expression::Size(_)
        | Expression::In(..)
        | Expression::Unary(..)
        | Expression::Binary(..)
        | Expression::NotZero(_)
        | Expression::Verbatim { .. } => {}
    }
    of.parts().for_each(|part| expression(part, durations));
}
