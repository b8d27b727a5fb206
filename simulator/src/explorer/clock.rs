//! How time passes: before each event not at all, or by one of a few durations. So events come before, at and after
//! each instant to which such a duration leads; what comes between them is not looked at. If it does not matter how
//! late it is ([`super::instants`]), the clock has no end. Otherwise it is followed from a start to an end.
//!
//! The durations are those that the policy adds to instants or compares with the time between instants. If instants
//! cannot be told from durations ([`super::sorts`]), they are all that the policy mentions.

use std::collections::BTreeSet;

use catapults_compiler::policy::{BinaryOperator, Block, Expression, Policy, Value};

use super::instants::NOW;
use super::sorts::{Site, Sort, Sorts, plain};

/// How instants are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reckoning {
    /// Relative to now. If how late it is matters to the policy: as they are, from 0 on.
    Relative,
    /// As they are, like everything else, even what no longer matters. The clock begins at `start`, and ends after so
    /// many of its longest steps.
    Absolute { start: i64, longest_steps: i64 },
}

impl Reckoning {
    /// For any policy, whatever it does with instants.
    pub const FROM_ZERO: Reckoning = Reckoning::Absolute { start: 0, longest_steps: LONGEST_STEPS };
}

/// The steps of the clock.
#[derive(Debug)]
pub(super) struct Clock {
    /// Whether the policy reads the clock. Otherwise the clock stands.
    pub ticks: bool,
    /// In nanoseconds: 0 first, then from the shortest.
    pub steps: Vec<i64>,
    /// The time at the start.
    pub start: i64,
    /// The last instant; `None`: there is no end.
    pub end: Option<i64>,
    /// Times in variables and attributes are followed from minus this to this.
    pub bound: i64,
}

/// How many steps there are at most, besides 0. More make too many instants.
const MOST_STEPS: usize = 3;
/// The step if no duration matters.
const USUAL: i64 = 1_000_000;
/// How many of the longest steps fit before the end.
const LONGEST_STEPS: i64 = 4;
/// How many of the longest steps fit into the bound of times that are no instants.
const FOLLOWED: i64 = 16;
/// The longest possible step. Longer ones would come near to 0.
const LONGEST: i64 = NOW / 16;

impl Clock {
    /// Finds the steps of a policy. Without `sorts`, it matters how late it is.
    pub fn of(policy: &Policy, sorts: Option<&Sorts>, reckoning: Reckoning) -> Self {
        let durations = sorts.map_or_else(|| mentioned(policy), |sorts| Durations::of(sorts).found);
        let mut steps: Vec<i64> = durations.into_iter().filter(|duration| *duration <= LONGEST).collect();
        if steps.is_empty() {
            steps.push(USUAL);
        }
        let longest = steps.last().copied().unwrap_or(USUAL);
        if steps.len() > MOST_STEPS {
            steps.truncate(MOST_STEPS - 1);
            steps.push(longest);
        }
        steps.insert(0, 0);
        let ticks = policy.uses_now() || policy.timers().next().is_some();
        let (start, end) = match (sorts, reckoning) {
            _ if !ticks => (0, None),
            (Some(_), Reckoning::Relative) => (NOW, None),
            (_, Reckoning::Absolute { start, longest_steps }) => (start, Some(start + longest * longest_steps)),
            (None, Reckoning::Relative) => (0, Some(longest * LONGEST_STEPS)),
        };
        let bound = end.unwrap_or_default().saturating_add(longest.saturating_mul(FOLLOWED));
        Clock { ticks, steps, start, end, bound }
    }

    /// The longest step. A timer expires no later than this after its instant.
    pub fn longest(&self) -> i64 {
        self.steps.last().copied().unwrap_or(USUAL)
    }

    /// The instants of the next event, none before `earliest`. If `earliest` is still to come, it is one of them.
    pub fn not_before(&self, now: i64, earliest: i64) -> Vec<i64> {
        if !self.ticks {
            return vec![now];
        }
        let is_followed = |instant: &i64| self.end.is_none_or(|end| *instant <= end);
        let mut instants: Vec<i64> = self.steps.iter().map(|step| now.saturating_add(*step)).collect();
        instants.retain(|instant| *instant >= earliest);
        if earliest > now && !instants.contains(&earliest) {
            instants.push(earliest);
        }
        instants.retain(is_followed);
        instants
    }
}

/// All durations that the policy mentions.
fn mentioned(policy: &Policy) -> BTreeSet<i64> {
    let mut durations = BTreeSet::new();
    let constants = policy.constants.iter().map(|constant| constant.value);
    let initial = policy.variables.iter().map(|variable| variable.initial);
    let of_threads = policy.attributes.iter().map(|attribute| attribute.initial);
    constants.chain(initial).chain(of_threads).for_each(|value| mention(value, &mut durations));
    for handler in policy.events.iter().chain(&policy.queries) {
        block(&handler.body, &mut durations);
    }
    durations
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
    if let Expression::Literal(value) = of {
        mention(*value, durations);
    }
    of.parts().for_each(|part| expression(part, durations));
}

/// Finds the durations that meet instants.
struct Durations<'s, 'a> {
    sorts: &'s Sorts<'a>,
    found: BTreeSet<i64>,
    /// By cell: the durations assigned to it meet instants.
    meets: Vec<bool>,
    /// By cell: it holds a time between instants.
    between: Vec<bool>,
}

impl<'s, 'a> Durations<'s, 'a> {
    fn of(sorts: &'s Sorts<'a>) -> Self {
        let none = || vec![false; sorts.len()];
        let mut durations = Durations { sorts, found: BTreeSet::new(), meets: none(), between: none() };
        loop {
            let before = (durations.meets.clone(), durations.between.clone());
            for site in &sorts.sites {
                durations.site(site);
            }
            if before == (durations.meets.clone(), durations.between.clone()) {
                break;
            }
        }
        let policy = sorts.policy;
        let initial = policy.variables.iter().map(|variable| variable.initial);
        let initial = initial.chain(policy.attributes.iter().map(|attribute| attribute.initial));
        let initial = initial.chain(policy.imports.iter().chain(&policy.thread_imports).map(|import| import.default));
        for (value, _) in initial.zip(&durations.meets).filter(|(_, meets)| **meets) {
            mention(value, &mut durations.found);
        }
        durations
    }

    fn site(&mut self, site: &Site) {
        let cells = site.place.map_or(0..0, |place| self.sorts.cells(site, place));
        if !cells.clone().any(|cell| self.sorts.is_instant(cell)) {
            if cells.clone().any(|cell| self.meets[cell]) {
                self.meet(site, site.expression);
            }
            if self.is_between(site, site.expression) {
                self.between[cells].fill(true);
            }
        }
        self.expression(site, site.expression);
    }

    fn expression(&mut self, site: &Site, expression: &Expression) {
        if let Expression::Binary(operator, left, right) = expression {
            for (one, other) in [(left, right), (right, left)] {
                let meets = match operator {
                    BinaryOperator::Add | BinaryOperator::Subtract => self.is_instant(site, one),
                    BinaryOperator::Divide
                    | BinaryOperator::Remainder
                    | BinaryOperator::Less
                    | BinaryOperator::LessOrEqual
                    | BinaryOperator::Greater
                    | BinaryOperator::GreaterOrEqual
                    | BinaryOperator::Equal
                    | BinaryOperator::NotEqual
                    | BinaryOperator::Least
                    | BinaryOperator::Greatest => self.is_between(site, one),
                    BinaryOperator::Multiply
                    | BinaryOperator::And
                    | BinaryOperator::Or
                    | BinaryOperator::BitAnd
                    | BinaryOperator::BitOr
                    | BinaryOperator::BitXor
                    | BinaryOperator::ShiftLeft
                    | BinaryOperator::ShiftRight => false,
                };
                if meets {
                    self.meet(site, one);
                    self.meet(site, other);
                }
            }
        }
        expression.parts().for_each(|part| self.expression(site, part));
    }

    fn is_instant(&self, site: &Site, expression: &Expression) -> bool {
        matches!(self.sorts.sort(site, expression), Ok(Sort::Instant))
    }

    /// Whether it is a time between instants, or computed from one.
    fn is_between(&self, site: &Site, expression: &Expression) -> bool {
        let expression = plain(expression);
        if let Expression::Read(place) = expression {
            return self.sorts.cells(site, place).any(|cell| self.between[cell]);
        }
        if let Expression::Binary(BinaryOperator::Subtract, left, _) = expression
            && self.is_instant(site, left)
        {
            return !self.is_instant(site, expression);
        }
        expression.parts().any(|part| self.is_between(site, part))
    }

    /// Finds the constants and cells that a duration is computed from.
    fn meet(&mut self, site: &Site, expression: &Expression) {
        if self.is_instant(site, expression) {
            return;
        }
        match plain(expression) {
            Expression::Literal(value) => mention(*value, &mut self.found),
            Expression::Constant(constant) => {
                mention(self.sorts.policy.constants[constant.0].value, &mut self.found);
            }
            Expression::ConstantElement { first, length, .. } => {
                for constant in &self.sorts.policy.constants[first.0..first.0 + length] {
                    mention(constant.value, &mut self.found);
                }
            }
            Expression::Read(place) => {
                let cells = self.sorts.cells(site, place);
                self.meets[cells].fill(true);
            }
            Expression::Binary(_, left, right) => {
                self.meet(site, left);
                self.meet(site, right);
            }
            Expression::Unary(_, operand) => self.meet(site, operand),
            Expression::Choose(_, one, other) => {
                self.meet(site, one);
                self.meet(site, other);
            }
            Expression::Now
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Convert(..)
            | Expression::NotZero(_)
            | Expression::Random(_)
            | Expression::Verbatim { .. } => {}
        }
    }
}
