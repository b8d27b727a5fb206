//! A loop ends (2005, §2.3): "our compiler will generate a warning if it cannot be sure that the loop will terminate".
//!
//! Three kinds of loops are seen to end. One counts: its condition compares a counter with a bound, and each turn takes
//! the counter nearer to it. One empties: each turn takes a thread out of a container into which no turn puts one. In
//! the third, values and containers are known so well that no turn can follow the first few. Such knowledge can also
//! show that a loop never ends once it has had a turn: that loop is refused.

mod most;

pub(super) use most::most_turns;

use super::condition::{constant, sizes};
use super::emptying::empties;
use super::flow::{Ending, Flow};
use super::state::State;
use super::turned::{self, Run};
use super::values::{Range, evaluate, most_threads};
use super::{Facts, Handling, open, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{
    BinaryOperator, Block, Comparison, Entity, Expression, Leave, Place, Policy, Statement, StatementId, StatementKind,
    Test, Thread, Type, UnaryOperator, Value,
};

/// A loop that never ends once it has begun. It is refused if it is seen to begin, after some events.
pub(super) struct OnceBegun {
    pub statement: StatementId,
    /// No turn changes what its condition reads.
    pub unchanging: bool,
    refused: Diagnostic,
    told: Diagnostic,
}

impl OnceBegun {
    /// An error if the loop is seen to begin, else a warning.
    pub fn said(self, begins: bool) -> Diagnostic {
        if begins { self.refused } else { self.told }
    }
}

/// `facts` of the handler's transfers say where threads can come from, and which transfers can fail.
pub(super) fn check(
    handling: &Handling,
    facts: &[Facts],
    diagnostics: &mut Diagnostics,
    once_begun: &mut Vec<OnceBegun>,
) {
    walk::statements(&handling.handler.body, &mut |statement| {
        let StatementKind::Loop { condition, test, body, step } = &statement.kind else { return };
        let turns = Turns { handling, statement, test: *test, body, step };
        if let Some(endless) = endless(handling, facts, statement) {
            let without = *condition == Expression::Literal(Value::Bool(true));
            let said = |first: Diagnostic| {
                handling
                    .called(statement, first)
                    .note("nothing in its body ends the handler, and the host would wait for it for ever")
                    .help("write a condition that a turn can make false, or `return` from the loop")
            };
            let (title, label) = match (endless, without) {
                (Endless::Always, true) => ("this loop never ends", "nothing ends it"),
                (Endless::Always, false) => ("this loop never ends", "always true"),
                (Endless::OnceBegun, _) => {
                    ("this loop never ends once it has begun", "always true from the first turn on")
                }
            };
            let refused = said(Diagnostic::error("E0413", title, statement.at, label));
            match endless {
                Endless::Always => diagnostics.push(refused),
                Endless::OnceBegun => {
                    let unchanging = never_changes(handling, statement);
                    let told = said(Diagnostic::warning("E0413", title, statement.at, label));
                    once_begun.push(OnceBegun { statement: statement.id, unchanging, refused, told });
                }
            }
        } else if !is_once(handling.policy, condition)
            && !has_few(handling, statement)
            && !is_run(handling, statement, Run::Ends)
            && !turns.tests_to_go_on().any(|(test, outcome)| turns.counts(test, outcome))
            && !turns.count(condition)
            && !empties(handling, facts, body, step)
        {
            let diagnostic =
                Diagnostic::warning("E0413", "this loop may not end", statement.at, "no bound on its turns is known");
            diagnostics.push(
                handling
                    .called(statement, diagnostic)
                    .note("the host waits until the handler ends")
                    .help("count the turns as well: `for (int i = 0; i < 10 && …; i++)`")
                    .help(
                        "or take a thread out of a container in every turn, and put none in: `while (|a| > 0) a => b;`",
                    ),
            );
        }
    });
}

/// Whether few turns follow the first one, however the loop is reached.
fn has_few(handling: &Handling, statement: &Statement) -> bool {
    let reached = handling.before(statement.id).is_some();
    let few = |flow: &Flow| flow.loops.get(&statement.id).is_none_or(|ending| ending.does);
    reached && handling.flows.iter().all(few)
}

/// Whether the condition is never true.
fn is_once(policy: &Policy, condition: &Expression) -> bool {
    constant(policy, condition) == Some(Value::Bool(false))
}

/// In which way a loop has no way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endless {
    /// It never ends if it is reached.
    Always,
    /// It never ends once it has had a turn.
    OnceBegun,
}

/// Whether a loop has no way out. A guard that may fail is one: it ends the handler, and the policy is out.
pub(super) fn endless(handling: &Handling, facts: &[Facts], statement: &Statement) -> Option<Endless> {
    let StatementKind::Loop { condition, body, step, .. } = &statement.kind else { return None };
    let (mut ended, mut guarded) = (false, false);
    for block in [body, step] {
        walk::statements(block, &mut |statement| {
            let facts = &facts[statement.id.0];
            ended |= statement.ends() || statement.leaves(Leave::Loop);
            guarded |= !facts.never && !facts.guards.is_empty();
        });
    }
    if guarded {
        return None;
    }
    if !ended && constant(handling.policy, condition) == Some(Value::Bool(true)) {
        return Some(Endless::Always);
    }
    let never_changes = never_changes(handling, statement);
    let stays = |ending: &Ending| never_changes || !ending.may && !ending.does;
    let comes = |flow: &&Flow| flow.before.contains_key(&statement.id);
    let ending = |flow: &Flow| flow.loops.get(&statement.id).copied();
    let all = |flow: &Flow| ending(flow).is_some_and(|ending| stays(&ending) && !ending.first);
    if handling.flows.iter().any(|flow| comes(&flow)) && handling.flows.iter().filter(comes).all(all) {
        return Some(Endless::Always);
    }
    if is_run(handling, statement, Run::Repeats) || misses(handling, statement) {
        return Some(Endless::Always);
    }
    handling.flows.iter().filter_map(ending).any(|ending| stays(&ending)).then_some(Endless::OnceBegun)
}

/// Whether a run of the loop shows this, however the loop is reached.
fn is_run(handling: &Handling, statement: &Statement, what: Run) -> bool {
    let mut entries = entries(handling, statement).peekable();
    entries.peek().is_some() && entries.all(|entry| turned::run(handling.policy, statement, entry) == Some(what))
}

/// What is known where a loop is reached: one of these states holds.
fn entries<'a>(handling: &'a Handling, statement: &Statement) -> impl Iterator<Item = &'a State> {
    let id = statement.id;
    handling.flows.iter().filter_map(move |flow| flow.entries.get(&id))
}

/// Whether a loop goes on until two numbers are equal, and they never are.
fn misses(handling: &Handling, statement: &Statement) -> bool {
    let StatementKind::Loop { condition, test, body, step } = &statement.kind else { return false };
    let turns = Turns { handling, statement, test: *test, body, step };
    let mut entries = entries(handling, statement).peekable();
    turns.is_quiet() && entries.peek().is_some() && entries.all(|entry| turned::misses(&turns, condition, entry))
}

/// Whether a loop that has had a turn goes on because no turn changes what its condition reads.
fn never_changes(handling: &Handling, statement: &Statement) -> bool {
    let StatementKind::Loop { condition, test, body, step } = &statement.kind else { return false };
    // An assignment can change which thread is the first of a container.
    let of_first = |it: &Expression| matches!(it.names().place.and_then(Place::thread), Some(Thread::First(_)));
    let of_link = |it: &Expression| matches!(it, Expression::Linked { .. });
    if condition.any(&open::may_differ) || condition.any(&of_first) || condition.any(&of_link) {
        return false;
    }
    let turns = Turns { handling, statement, test: *test, body, step };
    let changes = |part: &Expression| part.names().place.is_some_and(|place| !turns.steps(place).is_empty());
    let turned = |flow: &Flow| flow.loops.get(&statement.id).is_some_and(|ending| !ending.does);
    turns.is_quiet() && !condition.any(&changes) && handling.flows.iter().any(turned)
}

/// What every turn of a loop does.
pub(super) struct Turns<'a> {
    handling: &'a Handling<'a>,
    statement: &'a Statement,
    test: Test,
    body: &'a Block,
    step: &'a Block,
}

/// The direction in which a number moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

impl Way {
    fn other(self) -> Way {
        match self {
            Way::Up => Way::Down,
            Way::Down => Way::Up,
        }
    }
}

impl Turns<'_> {
    pub fn policy(&self) -> &Policy {
        self.handling.policy
    }

    /// Whether nothing in a turn can leave it, end the handler, or have an unseen effect.
    fn is_quiet(&self) -> bool {
        let mut quiet = true;
        for block in [self.body, self.step] {
            walk::statements(block, &mut |statement| {
                quiet &= !statement.ends() && !matches!(statement.kind, StatementKind::Verbatim { .. });
                quiet &= !statement.leaves(Leave::Loop) && !statement.leaves(Leave::Turn);
                // A guard that fails ends the handler, too.
                quiet &= statement.moves().is_none();
            });
        }
        quiet
    }

    /// How far each turn moves a number, whatever happens in it.
    pub fn moves_by(&self, number: &Expression) -> Option<i128> {
        let Expression::Read(place @ (Place::Local(_) | Place::Variable(_))) = number else {
            return constant(self.handling.policy, number).map(|_| 0);
        };
        let direct = |step: &Statement| self.body.iter().chain(self.step).any(|other| other.id == step.id);
        let steps = self.steps(place).into_iter();
        steps.map(|step| self.stride(step, place).filter(|_| direct(step))).sum()
    }

    /// The tests that each turn reaches, each with the outcome with which the turn goes on.
    fn tests_to_go_on(&self) -> impl Iterator<Item = (&Expression, bool)> {
        let leaves = |block: &Block| walk::certainly(block, &|_| false);
        // A `continue` skips what follows.
        let come_to = self.body.iter().take_while(|statement| !statement.leaves(Leave::Turn));
        come_to.chain(self.step).filter_map(move |statement| {
            let StatementKind::If { condition, then, otherwise } = &statement.kind else { return None };
            (leaves(then) || leaves(otherwise)).then_some((condition, !leaves(then)))
        })
    }

    /// The same as [`Turns::count`], for a test with this outcome wherever another turn follows.
    fn counts(&self, test: &Expression, outcome: bool) -> bool {
        if let Expression::Unary(UnaryOperator::Not, operand) = test {
            return self.counts(operand, !outcome);
        }
        if outcome {
            return self.count(test);
        }
        let Expression::Binary(operator, left, right) = test else { return false };
        if *operator == BinaryOperator::Or {
            return self.counts(left, false) || self.counts(right, false);
        }
        operator.comparison().is_some_and(|comparison| self.compares(comparison.negated(), left, right))
    }

    /// Whether the loop goes on only while one number is on one side of another, and each turn takes them nearer
    /// together.
    fn count(&self, condition: &Expression) -> bool {
        if let Expression::NotZero(counter) = condition {
            return self.hits(counter, &Expression::Literal(Value::Int(0)));
        }
        let Expression::Binary(operator, left, right) = condition else { return false };
        if *operator == BinaryOperator::And {
            return self.count(left) || self.count(right);
        }
        operator.comparison().is_some_and(|comparison| self.compares(comparison, left, right))
    }

    /// The same for a comparison.
    fn compares(&self, comparison: Comparison, left: &Expression, right: &Expression) -> bool {
        match comparison {
            Comparison::Less => self.meet(left, right, false),
            Comparison::LessOrEqual => self.meet(left, right, true),
            Comparison::Greater => self.meet(right, left, false),
            Comparison::GreaterOrEqual => self.meet(right, left, true),
            Comparison::NotEqual => self.hits(left, right) || self.hits(right, left),
            Comparison::Equal => false,
        }
    }

    /// Whether each turn raises the lower number or lowers the higher one, and neither moves away from the other.
    fn meet(&self, low: &Expression, high: &Expression, equal: bool) -> bool {
        self.nears(low, high, equal, Way::Up)
            || self.nears(high, low, equal, Way::Down)
            || self.close(low, high, equal)
            || self.halves(low, high, equal)
    }

    /// Whether each turn takes one of the numbers nearer to the other, no matter which one.
    fn close(&self, low: &Expression, high: &Expression, equal: bool) -> bool {
        let (Expression::Read(low), Expression::Read(high)) = (low, high) else { return false };
        let own = |place: &Place| {
            matches!(place, Place::Local(_) | Place::Variable(_) | Place::Attribute(Thread::Local(_), _))
        };
        let all = |place: &Place, way: Way| {
            own(place) && self.steps(place).iter().all(|step| self.goes(step, place, way, None, equal))
        };
        let both = [low, high];
        all(low, Way::Up)
            && all(high, Way::Down)
            && (Turns::always(self.body, &both) || Turns::always(self.step, &both))
    }

    /// Whether a turn can skip its rest and go on with the next one.
    fn skips(&self) -> bool {
        self.body.iter().any(|statement| statement.leaves(Leave::Turn))
    }

    /// Whether each turn goes on with one half of the numbers between the two. First it computes the middle. Then it
    /// moves the lower number past the middle, or the higher one to it (or before it, if the two can be equal).
    fn halves(&self, low: &Expression, high: &Expression, equal: bool) -> bool {
        use BinaryOperator::{Add, Divide, Subtract};
        let (Expression::Read(low_place), Expression::Read(high_place)) = (low, high) else { return false };
        if self.skips() {
            return false;
        }
        let own = |place: &Place| matches!(place, Place::Local(_) | Place::Variable(_));
        let is = |value: &Expression, by: i64| constant(self.handling.policy, value) == Some(Value::Int(by));
        let of_sum = |sum: &Expression| {
            matches!(sum, Expression::Binary(Add, a, b)
                if **a == *low && **b == *high || **a == *high && **b == *low)
        };
        let of_gap =
            |gap: &Expression| matches!(gap, Expression::Binary(Subtract, a, b) if **a == *high && **b == *low);
        let half_gap =
            |half: &Expression| matches!(half, Expression::Binary(Divide, gap, by) if of_gap(gap) && is(by, 2));
        let middle_of = |statement: &Statement| {
            let StatementKind::Set { place: place @ Place::Local(_), value: Expression::Binary(operator, one, other) } =
                &statement.kind
            else {
                return None;
            };
            let half = *operator == Divide && is(other, 2) && of_sum(one);
            (half || *operator == Add && **one == *low && half_gap(other)).then(|| place.clone())
        };
        let found = self.body.iter().enumerate().find_map(|(at, it)| Some((at, middle_of(it)?, it)));
        let Some((at, middle, first)) = found else { return false };
        // Below 0 the middle is rounded the other way, and a sum can wrap. If the two are in order where the loop is
        // reached, the lower one only rises from there, and the higher one only falls.
        let by_gap = matches!(&first.kind, StatementKind::Set { value: Expression::Binary(Add, ..), .. });
        let fits = |state: &State| {
            let range = |it: &Expression| evaluate(self.handling.policy, state, it);
            let highest = i128::from(i64::MAX >> (64 - self.handling.policy.int_bits));
            range(low).ty == Type::Int
                && range(low).least >= 0
                && (by_gap || 2 * i128::from(range(high).most) <= highest)
        };
        let mut entries = self.handling.flows.iter().filter_map(|flow| flow.entries.get(&self.statement.id)).peekable();
        if self.test != Test::Before
            || !own(low_place)
            || !own(high_place)
            || entries.peek().is_none()
            || !entries.all(fits)
        {
            return false;
        }
        let itself = Expression::Read(middle.clone());
        let by_one = |value: &Expression, sought: BinaryOperator| {
            matches!(value, Expression::Binary(operator, one, by)
                if *operator == sought && **one == itself && is(by, 1))
        };
        let halves = |step: &&Statement| {
            let StatementKind::Set { place, value } = &step.kind else { return false };
            let up = place == low_place && by_one(value, Add);
            let down = place == high_place && (by_one(value, Subtract) || !equal && *value == itself);
            up || down
        };
        let mut steps = [self.steps(low_place), self.steps(high_place)].concat();
        let (before, after) = self.body.split_at(at + 1);
        let mut early = false;
        for statement in before {
            walk::statements(std::slice::from_ref(statement), &mut |it| {
                early |= may_assign(it, low_place) || may_assign(it, high_place);
            });
        }
        steps.retain(|step| !halves(step));
        !early
            && steps.is_empty()
            && self.steps(&middle).len() == 1
            && after.iter().any(|statement| Turns::always(std::slice::from_ref(statement), &[low_place, high_place]))
    }

    /// Whether each turn moves this counter this way to the bound without wrapping, and the bound does not recede.
    fn nears(&self, counter: &Expression, bound: &Expression, equal: bool, way: Way) -> bool {
        let Expression::Read(counter @ (Place::Local(_) | Place::Variable(_) | Place::Attribute(Thread::Local(_), _))) =
            counter
        else {
            return false;
        };
        let steps = self.steps(counter);
        let limit = self.limit(bound, way);
        steps.iter().all(|step| self.goes(step, counter, way, limit, equal))
            && (Turns::always(self.body, &[counter]) || Turns::always(self.step, &[counter]))
            && (self.is_steady(bound) || self.comes(bound, way.other()))
    }

    /// The value of a bound. For sizes: the most that they can be for a counter that rises, the least for one that
    /// falls.
    fn limit(&self, bound: &Expression, way: Way) -> Option<Value> {
        let policy = self.handling.policy;
        let mut containers = Vec::new();
        let counted = sizes(bound, &mut containers) && (containers.len() == 1 || policy.int_bits == 64);
        let nodes = containers.iter().any(|container| policy.held_by(container) == Entity::Node);
        let capacity = policy.capacity.filter(|_| !nodes);
        let most = capacity.map_or(most_threads(policy), |most| most_threads(policy).min(i64::from(most)));
        constant(policy, bound).or(counted.then_some(Value::Int(if way == Way::Up { most } else { 0 })))
    }

    /// How far all assignments of a turn together move a counter, if each is executed at most once and all go one way.
    fn strides(&self, counter: &Place) -> Option<i128> {
        let strides: Vec<i128> = self
            .steps(counter)
            .into_iter()
            .map(|step| self.stride(step, counter).filter(|_| self.is_once(step)))
            .collect::<Option<_>>()?;
        let one_way = strides.iter().all(|by| *by > 0) || strides.iter().all(|by| *by < 0);
        one_way.then(|| strides.iter().sum())
    }

    /// Whether each turn moves a counter by one to a bound that lies ahead, or divides it to 0.
    fn hits(&self, counter: &Expression, bound: &Expression) -> bool {
        let Expression::Read(place @ (Place::Local(_) | Place::Variable(_) | Place::Attribute(Thread::Local(_), _))) =
            counter
        else {
            return false;
        };
        if self.skips() {
            return false;
        }
        let Some(Value::Int(bound)) = constant(self.handling.policy, bound) else { return false };
        let steps = self.steps(place);
        if bound == 0 && steps.iter().all(|step| self.divides(step, place)) {
            return Turns::always(self.body, &[place]) || Turns::always(self.step, &[place]);
        }
        let [step] = steps.as_slice() else { return false };
        let (direct, Some(by)) =
            (self.body.iter().chain(self.step).any(|other| other.id == step.id), self.stride(step, place))
        else {
            return false;
        };
        let sides = self.handling.all_before(step.id).map(|state| evaluate(self.handling.policy, state, counter));
        let mut sides = sides.peekable();
        direct
            && sides.peek().is_some()
            && sides.all(|at| match by {
                -1 => at.least > bound,
                1 => at.most < bound,
                _ => false,
            })
    }

    /// Whether an assignment takes a number nearer to 0, if it is not 0.
    fn divides(&self, step: &Statement, counter: &Place) -> bool {
        let StatementKind::Set { place, value: Expression::Binary(BinaryOperator::Divide, left, right) } = &step.kind
        else {
            return false;
        };
        let by = match constant(self.handling.policy, right) {
            Some(Value::Int(by)) => by,
            Some(Value::Bool(_) | Value::Time(_) | Value::Float(_)) | None => 0,
        };
        place == counter && **left == Expression::Read(counter.clone()) && by >= 2
    }

    /// The statements of a turn that may assign a place.
    fn steps(&self, place: &Place) -> Vec<&Statement> {
        let mut steps = Vec::new();
        for block in [self.body, self.step] {
            walk::statements(block, &mut |statement| {
                if may_assign(statement, place) {
                    steps.push(statement);
                }
            });
        }
        steps
    }

    /// Whether an assignment moves the counter this way, by one at least and not past the end of the numbers.
    fn goes(&self, step: &Statement, counter: &Place, way: Way, limit: Option<Value>, equal: bool) -> bool {
        let StatementKind::Set { place, value } = &step.kind else { return false };
        if place != counter {
            return false;
        }
        if let Some(by) = self.strides(counter) {
            let towards = if way == Way::Up { by } else { -by };
            let fits = |bound: i64, highest: i64| {
                let bound = if way == Way::Up { i128::from(bound) } else { -i128::from(bound) };
                bound - i128::from(!equal) + towards <= i128::from(highest)
            };
            let room = match limit {
                Some(Value::Int(bound)) => fits(bound, i64::MAX >> (64 - self.handling.policy.int_bits)),
                Some(Value::Time(bound)) => fits(bound, i64::MAX),
                // Strictly below any bound there is room for one more.
                Some(Value::Bool(_) | Value::Float(_)) | None => towards == 1 && !equal,
            };
            if towards > 0 && room {
                return true;
            }
        }
        // It is above 0, as the test has shown.
        let above = match limit {
            Some(Value::Int(bound)) => bound >= i64::from(equal),
            Some(Value::Bool(_) | Value::Time(_) | Value::Float(_)) | None => false,
        };
        if way == Way::Down
            && above
            && self.divides(step, counter)
            && self.steps(counter).len() == 1
            && self.is_once(step)
        {
            return true;
        }
        self.known_to_go(step, counter, value, way)
    }

    /// Whether a statement is executed at most once in a turn.
    fn is_once(&self, step: &Statement) -> bool {
        fn within(block: &Block, step: &Statement) -> bool {
            let inside = |statement: &Statement| {
                let StatementKind::If { then, otherwise, .. } = &statement.kind else { return false };
                within(then, step) || within(otherwise, step)
            };
            block.iter().any(|statement| statement.id == step.id || inside(statement))
        }
        within(self.body, step) || within(self.step, step)
    }

    /// Whether what is known before an assignment shows that it moves the counter this way.
    fn known_to_go(&self, step: &Statement, counter: &Place, value: &Expression, way: Way) -> bool {
        use BinaryOperator::{Add, Divide, Multiply, Subtract};
        let policy = self.handling.policy;
        let itself = Expression::Read(counter.clone());
        let Expression::Binary(operator, left, right) = value else { return false };
        let (left, right) =
            if **right == itself && matches!(operator, Add | Multiply) { (right, left) } else { (left, right) };
        if **left != itself {
            return false;
        }
        let mut states = self.handling.all_before(step.id).peekable();
        states.peek().is_some()
            && states.all(|state| {
                let (is, by) = (evaluate(policy, state, left), evaluate(policy, state, right));
                if is.ty == Type::Float {
                    return floats_go(*operator, is.floats(policy), by.floats(policy), way);
                }
                let (is, by) =
                    ((i128::from(is.least), i128::from(is.most)), (i128::from(by.least), i128::from(by.most)));
                let any = Range::any(policy, evaluate(policy, state, value).ty);
                let (lowest, highest) = (i128::from(any.least), i128::from(any.most));
                match (operator, way) {
                    (Add, Way::Up) => by.0 >= 1 && is.1 + by.1 <= highest,
                    (Add, Way::Down) => by.1 <= -1 && is.0 + by.0 >= lowest,
                    (Subtract, Way::Up) => by.1 <= -1 && is.1 - by.0 <= highest,
                    (Subtract, Way::Down) => by.0 >= 1 && is.0 - by.1 >= lowest,
                    (Multiply, Way::Up) => is.0 >= 1 && by.0 >= 2 && is.1 * by.1 <= highest,
                    (Divide, Way::Down) => is.0 >= 1 && by.0 >= 2,
                    (Divide, Way::Up) => is.1 <= -1 && by.0 >= 2,
                    (_, _) => false,
                }
            })
    }

    /// How far an assignment moves the counter; `None` for any other statement.
    fn stride(&self, statement: &Statement, counter: &Place) -> Option<i128> {
        let StatementKind::Set { place, value: Expression::Binary(operator, left, right) } = &statement.kind else {
            return None;
        };
        if place != counter || **left != Expression::Read(counter.clone()) {
            return None;
        }
        let Some(Value::Int(by) | Value::Time(by)) = constant(self.handling.policy, right) else { return None };
        if *operator == BinaryOperator::Add {
            Some(i128::from(by))
        } else if *operator == BinaryOperator::Subtract {
            Some(-i128::from(by))
        } else {
            None
        }
    }

    /// Whether every path to the end of a block assigns one of these.
    fn always(block: &[Statement], counters: &[&Place]) -> bool {
        walk::certainly(block, &|statement| statement.assigns().is_some_and(|(place, _)| counters.contains(&place)))
    }

    /// Whether a bound is a variable that turns move only this way, if they assign it at all.
    fn comes(&self, bound: &Expression, way: Way) -> bool {
        let Expression::Read(place @ (Place::Local(_) | Place::Variable(_))) = bound else { return false };
        let comes = |(assigned, value): (&Place, &Expression), step| {
            assigned == place && self.known_to_go(step, place, value, way)
        };
        self.steps(place).iter().all(|step| step.assigns().is_some_and(|assigns| comes(assigns, step)))
    }

    /// Whether a bound consists of what no turn changes, and of sizes of containers: no loop makes threads.
    fn is_steady(&self, bound: &Expression) -> bool {
        match bound {
            Expression::Literal(_) | Expression::Constant(_) | Expression::Size(_) => true,
            Expression::ConstantElement { index, .. } => self.is_steady(index),
            Expression::Read(place @ (Place::Local(_) | Place::Variable(_) | Place::VariableElement { .. })) => {
                self.steps(place).is_empty() && place.index().is_none_or(|index| self.is_steady(index))
            }
            // By whatever name, no turn assigns this attribute.
            Expression::Read(
                place @ (Place::Attribute(Thread::Local(_), _)
                | Place::AttributeElement { thread: Thread::Local(_), .. }),
            ) => self.steps(place).is_empty() && place.index().is_none_or(|index| self.is_steady(index)),
            // `now` is the same throughout a handler.
            Expression::Now => true,
            Expression::Unary(_, operand) | Expression::Convert(_, operand) => self.is_steady(operand),
            Expression::Binary(_, left, right) => self.is_steady(left) && self.is_steady(right),
            // The application changes imports, and another thread can come to a slot.
            Expression::Read(
                Place::Import(_) | Place::Attribute(..) | Place::AttributeElement { .. } | Place::ThreadImport(..),
            )
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::NotZero(_)
            | Expression::Choose(..)
            | Expression::Random(_)
            | Expression::Verbatim { .. } => false,
        }
    }
}

/// Whether a float that is added or subtracted always moves another one this way, by at least half its own value: no
/// sum is so great that rounding loses it.
fn floats_go(operator: BinaryOperator, is: (f64, f64), by: (f64, f64), way: Way) -> bool {
    let up = if operator == BinaryOperator::Add {
        way == Way::Up
    } else if operator == BinaryOperator::Subtract {
        way == Way::Down
    } else {
        return false;
    };
    let (least, most) = if up { by } else { (-by.1, -by.0) };
    let greatest = is.0.abs().max(is.1.abs()) + most;
    least > 0.0 && greatest.is_finite() && greatest * f64::EPSILON <= least / 2.0
}

/// Whether a statement, by itself, can assign a place.
fn may_assign(statement: &Statement, sought: &Place) -> bool {
    match &statement.kind {
        StatementKind::Set { place, .. } => may_be(place, sought),
        // Verbatim text may reach what it does not name, except for locals.
        StatementKind::Verbatim { text, .. } => {
            !matches!(sought, Place::Local(_)) || text.places().any(|place| may_be(place, sought))
        }
        // Its cursor names another thread in each round.
        StatementKind::Foreach { cursor, .. } | StatementKind::Follow { cursor, .. } => {
            sought.thread() == Some(Thread::Local(*cursor))
        }
        StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::If { .. }
        | StatementKind::Loop { .. }
        | StatementKind::Return { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Fail { .. } => false,
    }
}

/// Whether an assignment to one place can change the other.
fn may_be(place: &Place, sought: &Place) -> bool {
    let share =
        |one: std::ops::Range<usize>, other: std::ops::Range<usize>| one.start < other.end && other.start < one.end;
    place == sought || share(place.variables(), sought.variables()) || share(place.attributes(), sought.attributes())
}
