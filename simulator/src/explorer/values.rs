//! Which values tell situations apart: so counters do not grow without end, and imports need not take all values.

use std::collections::BTreeSet;

use super::clock::{Clock, Reckoning};
use super::instants::{Instants, NOW};
use super::sorts::Sorts;
use catapults_compiler::policy::{
    BinaryOperator, Block, Comparison, ContainerKind, ContainerRef, Expression, Float, Import, Place, Policy, Source,
    StatementKind, Type, Value,
};

/// What is known of a policy's values.
#[derive(Debug)]
pub(super) struct Values {
    /// By variable.
    pub variables: Vec<Kept>,
    /// By attribute.
    pub attributes: Vec<Kept>,
    /// By import.
    pub imports: Vec<Domain>,
    /// By thread import.
    pub thread_imports: Vec<Domain>,
    /// For each handler, in the policy's order: the counters that it reads, with a value for each difference that it
    /// sees.
    pub counters: Vec<Vec<(usize, Vec<Value>)>>,
    /// How time passes.
    pub clock: Clock,
    /// What holds instants, unless it matters how late it is.
    pub instants: Option<Instants>,
}

/// How a variable or attribute is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// It is never read: as if it never changed.
    Unread(Value),
    /// It only grows or only sinks, apart from being set anew, and is only compared with constants between these.
    /// Beyond them, values cannot be told apart.
    Counter { least: i64, most: i64 },
    /// As it is, within the bound.
    Bounded,
}

/// The values that an imported variable takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Domain {
    /// Each once.
    pub values: Vec<Value>,
    /// Whether no other value could make a difference.
    pub whole: bool,
}

/// How many values of an imported float are tried at most. More take too long.
const MOST_FLOATS: usize = 4;

/// How a place is used.
#[derive(Clone, Default)]
struct Uses {
    /// Comparisons tell the values below each of these from the others.
    splits: BTreeSet<i64>,
    /// It is tested for equality with these.
    equals: BTreeSet<i64>,
    /// Compared by `<` and the like.
    ordered: bool,
    read_otherwise: bool,
    /// A constant is added to it.
    grows: bool,
    /// A constant is subtracted from it.
    sinks: bool,
    /// It is assigned something other than a constant, or itself plus or minus one.
    assigned_otherwise: bool,
}

struct Survey<'a> {
    policy: &'a Policy,
    variables: Vec<Uses>,
    attributes: Vec<Uses>,
    imports: Vec<Uses>,
    thread_imports: Vec<Uses>,
    /// For locals, which do not matter here.
    local: Uses,
    /// A few of the floats that the policy mentions.
    floats: Vec<Float>,
}

impl Values {
    /// Looks through a policy.
    pub fn of(policy: &Policy, reckoning: Reckoning) -> Self {
        let mut survey = Survey::new(policy);
        for container in &policy.containers {
            if let ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys) = &container.kind {
                keys.iter().for_each(|key| survey.attributes[key.attribute.0].read_otherwise = true);
            }
        }
        for (uses, attribute) in survey.attributes.iter_mut().zip(&policy.attributes) {
            // The host reads timers.
            uses.read_otherwise |= attribute.timer.is_some();
        }
        for handler in policy.events.iter().chain(&policy.queries) {
            survey.block(&handler.body);
        }
        let sorts = Sorts::of(policy);
        let clock = Clock::of(policy, sorts.as_ref(), reckoning);
        let relative = sorts.as_ref().filter(|_| clock.ticks && clock.end.is_none());
        let domains = |uses: &[Uses], imports: &[Import], first: Option<usize>| -> Vec<Domain> {
            let one = |(index, (uses, import)): (usize, (&Uses, &Import))| {
                let instant = sorts.as_ref().zip(first).is_some_and(|(sorts, first)| sorts.is_instant(first + index));
                match (instant, import.default) {
                    (true, Value::Time(default)) => instants(default, &clock),
                    (_, _) => domain(uses, import, policy.int_bits, &clock.steps, &survey.floats),
                }
            };
            uses.iter().zip(imports).enumerate().map(one).collect()
        };
        let imports = domains(&survey.imports, &policy.imports, sorts.as_ref().map(|sorts| sorts.import(0)));
        let thread_imports =
            domains(&survey.thread_imports, &policy.thread_imports, sorts.as_ref().map(|sorts| sorts.thread_import(0)));
        let instants = relative.map(|sorts| Instants::of(sorts, &imports, &thread_imports, clock.longest()));
        let kept = |uses: &Uses, initial: Value| kept(uses, initial, policy.int_bits);
        let is_counter = |index: &usize| {
            let (uses, variable) = (&survey.variables[*index], &policy.variables[*index]);
            matches!(kept(uses, variable.initial), Kept::Counter { .. })
        };
        let counters = policy.events.iter().map(|handler| {
            let mut read = Survey::new(policy);
            read.block(&handler.body);
            let indexes = (0..policy.variables.len()).filter(|index| !read.variables[*index].splits.is_empty());
            indexes
                .filter(is_counter)
                .map(|index| (index, read.variables[index].differences(0).into_iter().map(Value::Int).collect()))
                .collect()
        });
        let counters = counters.collect();
        Values {
            variables: survey.variables.iter().zip(&policy.variables).map(|(u, v)| kept(u, v.initial)).collect(),
            attributes: survey.attributes.iter().zip(&policy.attributes).map(|(u, a)| kept(u, a.initial)).collect(),
            imports,
            thread_imports,
            counters,
            clock,
            instants,
        }
    }
}

fn kept(uses: &Uses, initial: Value, int_bits: u8) -> Kept {
    let unread = !uses.read_otherwise && uses.splits.is_empty();
    match initial {
        _ if unread => Kept::Unread(initial),
        Value::Bool(_) | Value::Time(_) | Value::Float(_) => Kept::Bounded,
        // A narrow counter wraps soon enough to matter.
        Value::Int(_) if uses.read_otherwise || uses.assigned_otherwise || int_bits < 64 => Kept::Bounded,
        // A counter that grows and sinks comes back from beyond.
        Value::Int(_) if uses.grows && uses.sinks => Kept::Bounded,
        Value::Int(_) if uses.sinks => {
            let least = uses.splits.first().map_or(0, |first| first.saturating_sub(1));
            Kept::Counter { least, most: i64::MAX }
        }
        Value::Int(_) => Kept::Counter { least: i64::MIN, most: uses.splits.last().copied().unwrap_or_default() },
    }
}

/// The floats that the policy mentions, and 0 and 1.
fn fractions(default: Float, uses: &Uses, mentioned: &[Float]) -> Domain {
    let mut values = vec![default];
    for value in mentioned.iter().copied().chain([0.0, 1.0].map(Float::new)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Domain { values: values.into_iter().map(Value::Float).collect(), whole: !uses.read_otherwise }
}

/// The instants that the application gives: the default, now, and the longest step before and after it.
fn instants(default: i64, clock: &Clock) -> Domain {
    let now = if clock.end.is_none() { NOW } else { clock.start };
    let mut values = vec![default];
    values
        .extend([now - clock.longest(), now, now + clock.longest()].into_iter().filter(|instant| *instant != default));
    Domain { values: values.into_iter().map(Value::Time).collect(), whole: false }
}

fn domain(uses: &Uses, import: &Import, int_bits: u8, steps: &[i64], floats: &[Float]) -> Domain {
    let (default, value): (i64, fn(i64) -> Value) = match import.default {
        Value::Int(default) => (default, Value::Int),
        Value::Time(default) => (default, Value::Time),
        Value::Float(default) => return fractions(default, uses, floats),
        Value::Bool(_) => return Domain { values: vec![Value::Bool(false), Value::Bool(true)], whole: true },
    };
    let mut values: BTreeSet<i64> = BTreeSet::from([default]);
    if uses.read_otherwise {
        // With two values, two threads can be in either order, or equal.
        match import.ty {
            Type::Int | Type::Bool | Type::Float => values.extend([0, 1]),
            Type::Time => values.extend(steps.iter().take(if default == 0 { 2 } else { 1 })),
        }
    }
    // Whether comparisons can tell two values apart.
    let apart = |one: i64, other: i64| {
        let (low, high) = (one.min(other), one.max(other));
        uses.splits.range(low.saturating_add(1)..=high).next().is_some()
    };
    for value in uses.differences(default) {
        if import.ty != Type::Time || values.iter().all(|known| *known != value && apart(*known, value)) {
            values.insert(value);
        }
    }
    let highest = match import.ty {
        Type::Int | Type::Bool | Type::Float => i64::MAX >> (64 - u32::from(int_bits.clamp(1, 64))),
        Type::Time => i64::MAX,
    };
    let fits = |value: &i64| (-highest - 1..=highest).contains(value);
    Domain { values: values.into_iter().filter(fits).map(value).collect(), whole: !uses.read_otherwise }
}

impl Uses {
    /// One value for each difference that comparisons can see. `usual` is among them.
    fn differences(&self, usual: i64) -> Vec<i64> {
        let ends = self.splits.iter().copied();
        let lows = std::iter::once(None).chain(ends.clone().map(Some));
        let highs = ends.map(Some).chain([None]);
        let (mut values, mut others) = (Vec::new(), Vec::new());
        for (low, high) in lows.zip(highs) {
            let holds = low.is_none_or(|low| low <= usual) && high.is_none_or(|high| usual < high);
            let low = low.unwrap_or_else(|| high.map_or(usual, |high| high.saturating_sub(1)));
            let value = if holds { usual } else { low };
            // If there are only tests for equality, all values that are not tested for are alike.
            if self.ordered || self.equals.contains(&value) { values.push(value) } else { others.push(value) }
        }
        let other = if others.contains(&usual) { Some(usual) } else { others.pop() };
        values.extend(other);
        values.sort_unstable();
        values
    }
}

impl<'a> Survey<'a> {
    fn new(policy: &'a Policy) -> Self {
        Survey {
            policy,
            variables: vec![Uses::default(); policy.variables.len()],
            attributes: vec![Uses::default(); policy.attributes.len()],
            imports: vec![Uses::default(); policy.imports.len()],
            thread_imports: vec![Uses::default(); policy.thread_imports.len()],
            local: Uses::default(),
            floats: Vec::new(),
        }
    }

    fn block(&mut self, block: &Block) {
        for statement in block {
            match &statement.kind {
                StatementKind::Transfer { source, destination } => {
                    self.source(source);
                    self.container(destination);
                }
                StatementKind::Destroy { source } | StatementKind::Send { source, .. } => self.source(source),
                StatementKind::Set { place, value } => {
                    self.index_of(place);
                    self.set(place, value);
                }
                StatementKind::If { condition, then, otherwise } => {
                    self.expression(condition);
                    self.block(then);
                    self.block(otherwise);
                }
                StatementKind::Foreach { container, body, .. } => {
                    self.container(container);
                    self.block(body);
                }
                StatementKind::Follow { body, .. } | StatementKind::Verbatim { otherwise: Some(body), .. } => {
                    self.block(body);
                }
                StatementKind::Loop { condition, body, step, .. } => {
                    self.expression(condition);
                    self.block(body);
                    self.block(step);
                }
                StatementKind::Return { value: Some(value) } => self.expression(value),
                StatementKind::Return { value: None }
                | StatementKind::Link { .. }
                | StatementKind::Dispatch { .. }
                | StatementKind::Verbatim { otherwise: None, .. }
                | StatementKind::Leave { .. } => {}
                StatementKind::Fail { reason } => reason.values.iter().for_each(|(value, _)| self.expression(value)),
            }
        }
    }

    fn source(&mut self, source: &Source) {
        match source {
            Source::Container(container) => self.container(container),
            Source::Thread(_) => {}
        }
    }

    fn container(&mut self, container: &ContainerRef) {
        match container {
            ContainerRef::Element { length, index, .. } => self.index(index, *length),
            ContainerRef::One(_) | ContainerRef::Whole { .. } => {}
        }
    }

    fn index_of(&mut self, place: &Place) {
        match place {
            Place::VariableElement { length, index, .. } | Place::AttributeElement { length, index, .. } => {
                self.index(index, *length);
            }
            Place::Variable(_)
            | Place::Local(_)
            | Place::Import(_)
            | Place::Attribute(..)
            | Place::ThreadImport(..) => {}
        }
    }

    /// An index tells elements apart. One that is out of range is like the nearest.
    fn index(&mut self, index: &Expression, length: usize) {
        let Expression::Read(place) = index else { return self.expression(index) };
        self.index_of(place);
        let last = i64::try_from(length).unwrap_or(i64::MAX);
        self.uses(place, |uses| {
            uses.splits.extend(1..last);
            uses.ordered = true;
        });
    }

    fn set(&mut self, place: &Place, value: &Expression) {
        if self.constant(value).is_some() {
            return;
        }
        if let Expression::Binary(operator @ (BinaryOperator::Add | BinaryOperator::Subtract), left, right) = value
            && let Some(step) = self.constant(right)
            && matches!(&**left, Expression::Read(read) if read == place)
        {
            let grows = (*operator == BinaryOperator::Add) == (step >= 0);
            self.uses(place, |uses| if grows { uses.grows = true } else { uses.sinks = true });
            return;
        }
        self.uses(place, |uses| uses.assigned_otherwise = true);
        self.expression(value);
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Literal(value) => self.mention(*value),
            Expression::Constant(constant) => self.mention(self.policy.constants[constant.0].value),
            Expression::Now
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Verbatim { otherwise: None, .. } => {}
            Expression::ConstantElement { first, length, index } => {
                self.policy.constants[first.0..first.0 + length]
                    .iter()
                    .for_each(|constant| self.mention(constant.value));
                self.index(index, *length);
            }
            Expression::Size(container) | Expression::In(_, container, _) => self.container(container),
            Expression::Read(place) => {
                self.index_of(place);
                self.uses(place, |uses| uses.read_otherwise = true);
            }
            Expression::Unary(_, operand)
            | Expression::Convert(_, operand)
            | Expression::Random(operand)
            | Expression::Verbatim { otherwise: Some(operand), .. } => {
                self.expression(operand);
            }
            Expression::Choose(..) => expression.parts().for_each(|part| self.expression(part)),
            Expression::NotZero(operand) => {
                if let Expression::Read(place) = &**operand {
                    self.compared(place, Comparison::NotEqual, 0);
                } else {
                    self.expression(operand);
                }
            }
            Expression::Binary(operator, left, right) => {
                let comparison = operator.comparison();
                for (one, comparison, other) in
                    [(left, comparison, right), (right, comparison.map(Comparison::mirrored), left)]
                {
                    match (&**one, comparison, self.constant(other)) {
                        (Expression::Read(place), Some(comparison), Some(constant)) => {
                            self.compared(place, comparison, constant);
                        }
                        (one, _, _) => self.expression(one),
                    }
                }
            }
        }
    }

    fn mention(&mut self, value: Value) {
        match value {
            Value::Float(float) if self.floats.len() < MOST_FLOATS && !self.floats.contains(&float) => {
                self.floats.push(float);
            }
            Value::Float(_) | Value::Int(_) | Value::Bool(_) | Value::Time(_) => {}
        }
    }

    fn compared(&mut self, place: &Place, comparison: Comparison, constant: i64) {
        self.index_of(place);
        let above = constant.saturating_add(1);
        self.uses(place, |uses| match comparison {
            Comparison::Less | Comparison::GreaterOrEqual => {
                uses.splits.insert(constant);
                uses.ordered = true;
            }
            Comparison::Greater | Comparison::LessOrEqual => {
                uses.splits.insert(above);
                uses.ordered = true;
            }
            Comparison::Equal | Comparison::NotEqual => {
                uses.splits.extend([constant, above]);
                uses.equals.insert(constant);
            }
        });
    }

    fn constant(&self, expression: &Expression) -> Option<i64> {
        let value = match expression {
            Expression::Literal(value) => *value,
            Expression::Constant(constant) => self.policy.constants[constant.0].value,
            Expression::ConstantElement { .. }
            | Expression::Read(_)
            | Expression::Now
            | Expression::Convert(..)
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Unary(..)
            | Expression::Binary(..)
            | Expression::NotZero(_)
            | Expression::Choose(..)
            | Expression::Random(_)
            | Expression::Verbatim { .. } => return None,
        };
        match value {
            Value::Int(value) | Value::Time(value) => Some(value),
            Value::Bool(value) => Some(i64::from(value)),
            Value::Float(_) => None,
        }
    }

    /// Notes how a place is used; for an element with an index, all elements.
    fn uses(&mut self, place: &Place, change: impl Fn(&mut Uses)) {
        match place {
            Place::Variable(_) | Place::VariableElement { .. } => {
                self.variables[place.variables()].iter_mut().for_each(change);
            }
            Place::Attribute(..) | Place::AttributeElement { .. } => {
                self.attributes[place.attributes()].iter_mut().for_each(change);
            }
            Place::Import(import) => change(&mut self.imports[import.0]),
            Place::ThreadImport(_, import) => change(&mut self.thread_imports[import.0]),
            Place::Local(_) => change(&mut self.local),
        }
    }
}
