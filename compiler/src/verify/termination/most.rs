//! The most turns of a loop: a number for each way in which it is seen to end.

use super::{Facts, Handling, Turns, Way, has_few};
use crate::policy::{
    BinaryOperator, Block, Comparison, Entity, Expression, LocalId, Place, Statement, StatementId, StatementKind, Test,
    Type, Value, cost,
};
use crate::verify::condition::{constant, sizes};
use crate::verify::flow::Ending;
use crate::verify::limits::{Most, Multiple, Turns as Number};
use crate::verify::state::State;
use crate::verify::values::evaluate;
use crate::verify::{emptying, turned, walk};

/// Halving a number so often makes it 0, or two numbers meet.
const HALVINGS: u64 = 65;

/// How many turns a loop has. `None`: no number is known, or it is one with which the loop counts as endless.
pub(in crate::verify) fn most_turns(handling: &Handling, facts: &[Facts], statement: &Statement) -> Option<Number> {
    let StatementKind::Loop { condition, test, body, step } = &statement.kind else { return None };
    let turns = Turns { handling, statement, test: *test, body, step };
    // Where the condition is tested last, the first turn needs no test.
    let begun = |most: Most| if *test == Test::After { most.plus(1) } else { most };
    let mut known: Option<Number> = None;
    let mut learn = |more: Number| {
        known = Some(known.map_or(more, |known| Number {
            begun: known.begun.and(more.begun),
            completed: known.completed.and(more.completed),
        }));
    };
    if has_few(handling, statement) {
        let most = |ending: &Ending| if ending.does { ending.turns } else { 0 };
        let ways = handling.flows.iter().map(|flow| flow.loops.get(&statement.id).map_or(0, most));
        let most = Most::number(ways.max().unwrap_or(0));
        learn(Number { begun: most.plus(1), completed: begun(most) });
    }
    if let Some(most) = turned::turns(handling.policy, statement, super::entries(handling, statement)) {
        learn(Number { begun: Most::number(most), completed: Most::number(most) });
    }
    if let Some(most) = turns.most_by(condition, true, statement.id) {
        learn(Number { begun: begun(most), completed: begun(most) });
    }
    for (at, condition, outcome) in turns.tests_with_places() {
        if let Some(most) = turns.most_by(condition, outcome, at) {
            learn(Number { begun: most.plus(1), completed: most });
        }
    }
    if let Some(each) = emptying::most_times(handling, facts, body, step) {
        let most = Most { number: None, counted: Some(each) };
        // A turn in which a guard fails has begun, and takes nothing.
        let may_fail = [body, step].into_iter().any(|block| guarded(facts, block));
        let before_it_fails = begun(most);
        learn(Number {
            begun: if may_fail { before_it_fails.plus(1) } else { before_it_fails },
            completed: before_it_fails,
        });
    }
    let is_number = |most: Most| most.counted.is_some() || most.number.is_some_and(|most| most <= cost::MOST_TURNS);
    known.filter(|known| is_number(known.begun) && is_number(known.completed))
}

/// Whether a guard is left in a block.
fn guarded(facts: &[Facts], block: &Block) -> bool {
    let mut found = false;
    walk::statements(block, &mut |statement| found |= !facts[statement.id.0].guards.is_empty());
    found
}

impl Turns<'_> {
    /// As [`Turns::counts`]: how often a test can have the outcome with which the loop goes on.
    fn most_by(&self, test: &Expression, outcome: bool, at: StatementId) -> Option<Most> {
        if !self.counts(test, outcome) {
            return None;
        }
        let both = |left: &Expression, right: &Expression, outcome: bool| match (
            self.most_by(left, outcome, at),
            self.most_by(right, outcome, at),
        ) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        };
        match test {
            Expression::Unary(_, operand) => self.most_by(operand, !outcome, at),
            Expression::NotZero(counter) => self.most_hits(counter, &Expression::Literal(Value::Int(0))),
            Expression::Binary(BinaryOperator::And | BinaryOperator::Or, left, right) => both(left, right, outcome),
            Expression::Binary(operator, left, right) => {
                let comparison = operator.comparison()?;
                let comparison = if outcome { comparison } else { comparison.negated() };
                match comparison {
                    Comparison::Less => self.most_until(left, right, false, at),
                    Comparison::LessOrEqual => self.most_until(left, right, true, at),
                    Comparison::Greater => self.most_until(right, left, false, at),
                    Comparison::GreaterOrEqual => self.most_until(right, left, true, at),
                    Comparison::NotEqual => self.most_hits(left, right).or_else(|| self.most_hits(right, left)),
                    Comparison::Equal => None,
                }
            }
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ConstantElement { .. }
            | Expression::Read(_)
            | Expression::Now
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Convert(..)
            | Expression::Choose(..)
            | Expression::Random(_)
            | Expression::Verbatim { .. } => None,
        }
    }

    /// As [`Turns::tests_to_go_on`], with the statements that test.
    fn tests_with_places(&self) -> impl Iterator<Item = (StatementId, &Expression, bool)> {
        let all = self.body.iter().chain(self.step);
        self.tests_to_go_on().filter_map(move |(test, outcome)| {
            let tests = |it: &&Statement| it.condition().is_some_and(|condition| std::ptr::eq(condition, test));
            all.clone().find(tests).map(|statement| (statement.id, test, outcome))
        })
    }

    /// How many turns it takes until `low` is no longer below `high`.
    fn most_until(&self, low: &Expression, high: &Expression, equal: bool, at: StatementId) -> Option<Most> {
        let mut known: Option<Most> = None;
        let mut learn = |most: Option<Most>| {
            known = match (known, most) {
                (Some(known), Some(most)) => Some(known.and(most)),
                (known, most) => known.or(most),
            };
        };
        if self.nears(low, high, equal, Way::Up) {
            learn(self.numbers_apart(low, high, equal, self.slowest(low), Way::Up, at));
            learn(self.threads_apart(low, high, equal, Way::Up, at));
        }
        if self.nears(high, low, equal, Way::Down) {
            learn(self.numbers_apart(low, high, equal, self.slowest(high), Way::Down, at));
            learn(self.threads_apart(low, high, equal, Way::Down, at));
        }
        if self.close(low, high, equal) {
            learn(self.numbers_at_first(low, high, equal, 1));
        }
        if self.halves(low, high, equal) {
            learn(Some(Most::number(HALVINGS)));
        }
        known
    }

    /// By how much each turn moves a counter, at least.
    fn slowest(&self, counter: &Expression) -> i128 {
        let Expression::Read(place) = counter else { return 1 };
        let strides = self.steps(place).into_iter().map(|step| self.stride(step, place).map_or(1, i128::abs));
        strides.min().unwrap_or(1).max(1)
    }

    /// The counter is taken where the loop begins, its bound wherever it is compared: sizes may change in between.
    fn numbers_apart(
        &self,
        low: &Expression,
        high: &Expression,
        equal: bool,
        step: i128,
        way: Way,
        at: StatementId,
    ) -> Option<Most> {
        let (counter, bound) = if way == Way::Up { (low, high) } else { (high, low) };
        let from = self.range(counter, super::entries(self.handling, self.statement))?;
        let to = self.range(bound, self.handling.all_before(at))?;
        let apart = if way == Way::Up { to.1 - from.0 } else { from.1 - to.0 };
        turns_between(apart, equal, step)
    }

    /// Neither moves away from the other, so what counts is how far apart they are at first.
    fn numbers_at_first(&self, low: &Expression, high: &Expression, equal: bool, step: i128) -> Option<Most> {
        let entries = || super::entries(self.handling, self.statement);
        let (low, high) = (self.range(low, entries())?, self.range(high, entries())?);
        turns_between(high.1 - low.0, equal, step)
    }

    /// The lowest and the highest value of a number in all of these states. No floats: they are known by their order.
    fn range<'s>(&self, number: &Expression, states: impl Iterator<Item = &'s State>) -> Option<(i128, i128)> {
        let ranges = states.map(|state| evaluate(self.handling.policy, state, number));
        let range = ranges.reduce(crate::verify::values::Range::join)?;
        (range.ty != Type::Float).then_some((i128::from(range.least), i128::from(range.most)))
    }

    /// The same if the higher number counts threads, and the lower one is known.
    fn threads_apart(
        &self,
        low: &Expression,
        high: &Expression,
        equal: bool,
        way: Way,
        at: StatementId,
    ) -> Option<Most> {
        let entries = || super::entries(self.handling, self.statement);
        let low = match way {
            Way::Up => self.range(low, entries())?.0,
            Way::Down => self.range(low, self.handling.all_before(at))?.0,
        };
        let counted = self.counts_threads(high, way == Way::Down)?;
        let more = i64::try_from(-low).ok()?.checked_add(i64::from(equal))?;
        Some(Most { number: None, counted: Some(Multiple { more: counted.more.checked_add(more)?, ..counted }) })
    }

    /// How many threads a number counts at most. `own`: steps of this loop only lower it.
    fn counts_threads(&self, number: &Expression, own: bool) -> Option<Multiple> {
        let policy = self.handling.policy;
        let mut containers = Vec::new();
        if sizes(number, &mut containers) {
            let of = containers.first().map(|first| policy.held_by(first))?;
            let same = containers.iter().all(|one| policy.held_by(one) == of);
            // A container that is named twice counts twice.
            return same.then_some(Multiple { of, each: containers.len() as u64, more: 0 });
        }
        match number {
            Expression::Read(Place::Local(local)) => self.assigned_threads(*local, own),
            Expression::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right) => {
                let Some(Value::Int(by)) = constant(policy, right) else { return None };
                let is_sum = matches!(number, Expression::Binary(BinaryOperator::Add, ..));
                // One difference of sizes does not wrap.
                let counted = self.counts_threads(left, false).filter(|_| sizes(left, &mut containers))?;
                let by = if is_sum { by } else { by.checked_neg()? };
                Some(Multiple { more: counted.more.checked_add(by)?, ..counted })
            }
            // Half of them, or fewer, are no more than all.
            Expression::Binary(BinaryOperator::Divide, left, right) => match constant(policy, right) {
                Some(Value::Int(1..)) => {
                    self.counts_threads(left, false).map(|counted| Multiple { more: counted.more.max(0), ..counted })
                }
                Some(_) | None => None,
            },
            Expression::Binary(..)
            | Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ConstantElement { .. }
            | Expression::Read(_)
            | Expression::Now
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Convert(..)
            | Expression::Unary(..)
            | Expression::NotZero(_)
            | Expression::Choose(..)
            | Expression::Random(_)
            | Expression::Verbatim { .. } => None,
        }
    }

    /// The same for a local to which the handler assigns nothing but numbers of threads.
    fn assigned_threads(&self, local: LocalId, own: bool) -> Option<Multiple> {
        let (place, mut all, mut known) = (Place::Local(local), true, None::<Multiple>);
        let lowering: Vec<StatementId> = match own {
            true => self.steps(&place).iter().map(|step| step.id).collect(),
            false => Vec::new(),
        };
        walk::statements(&self.handling.handler.body, &mut |statement| {
            let Some((_, value)) = statement.assigns().filter(|(to, _)| **to == place) else { return };
            if lowering.contains(&statement.id) {
                return;
            }
            // A local that another local is made of could be made of this one.
            let is_local = value.any(&|part| matches!(part, Expression::Read(Place::Local(_))));
            let counted = if is_local { None } else { self.known_threads(value) };
            known = match (known, counted) {
                (None, first) => first,
                (Some(one), Some(other)) if one.of == other.of => {
                    Some(Multiple { of: one.of, each: one.each.max(other.each), more: one.more.max(other.more) })
                }
                (Some(one), _) => Some(one),
            };
            all &= counted.is_some_and(|counted| known.is_some_and(|known| known.of == counted.of));
        });
        known.filter(|_| all)
    }

    /// A number of threads, or a number that is constant.
    fn known_threads(&self, value: &Expression) -> Option<Multiple> {
        match constant(self.handling.policy, value) {
            Some(Value::Int(number)) => Some(Multiple { of: Entity::Thread, each: 0, more: number.max(0) }),
            Some(_) => None,
            None => self.counts_threads(value, false),
        }
    }

    /// As [`Turns::hits`].
    fn most_hits(&self, counter: &Expression, bound: &Expression) -> Option<Most> {
        if !self.hits(counter, bound) {
            return None;
        }
        let Expression::Read(place) = counter else { return None };
        if self.steps(place).iter().all(|step| self.divides(step, place)) {
            return Some(Most::number(HALVINGS));
        }
        let entries = || super::entries(self.handling, self.statement);
        let (counter, bound) = (self.range(counter, entries())?, self.range(bound, entries())?);
        turns_between((counter.1 - bound.0).max(bound.1 - counter.0), false, 1)
    }
}

/// How many steps take one number past another that is so far away, or to it.
fn turns_between(apart: i128, equal: bool, step: i128) -> Option<Most> {
    let steps = (apart + i128::from(equal)).max(0);
    let turns = steps / step + i128::from(steps % step != 0);
    u64::try_from(turns).ok().filter(|turns| *turns <= cost::MOST_TURNS).map(Most::number)
}
