//! Makes one of situations that differ only in how late it is. In each, the clock stands at [`NOW`], and all instants
//! are shifted with it. A host's clock starts anywhere, so a policy that computes with instants properly
//! ([`super::sorts`]) decides the same.
//!
//! Some instants are only compared: with others, with `now`, or with `now` minus a known duration. Once such an instant
//! is so long past that comparisons with `now` cannot change any more, only the order matters: it becomes a rank, a
//! nanosecond from the next.

use std::ops::Range;

use catapults_compiler::interp::Saved;
use catapults_compiler::policy::{BinaryOperator, Expression, Place, Type, UnaryOperator, Value};

use super::sorts::{Site, Sort, Sorts, compares, plain};
use super::values::Domain;

/// The time in every situation: so late that 0 is long ago.
pub(super) const NOW: i64 = 1_000_000_000_000_000;

/// The roles of times in a policy to which it does not matter how late it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Instants {
    /// By variable.
    pub variables: Vec<Role>,
    /// By attribute.
    pub attributes: Vec<Role>,
    /// For each import, whether it is an instant.
    pub imports: Vec<bool>,
    /// For each thread import, whether it is an instant.
    pub thread_imports: Vec<bool>,
    /// How far from now instants are followed.
    pub reach: i64,
}

/// What a variable or attribute holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// No instant.
    Other,
    /// An instant of which only the order matters once it is further back than `within`. It is compared only with
    /// instants of the same family.
    Ordered { family: usize, within: i64 },
    /// An instant with which the policy computes.
    Exact,
}

/// What is known of the cells of [`Sorts`].
struct Families<'s, 'a> {
    sorts: &'s Sorts<'a>,
    domains: [&'s [Domain]; 2],
    /// Cells that are copied or compared with each other; a root has its own index.
    parent: Vec<usize>,
    /// By cell: more than the order matters.
    exact: Vec<bool>,
    /// By cell: the `within` of [`Role::Ordered`].
    within: Vec<i64>,
    /// By cell: a duration that is never negative.
    rises: Vec<bool>,
    /// By cell: the policy assigns it.
    assigned: Vec<bool>,
    reach: i64,
}

impl Instants {
    /// The roles of a policy's times. Imported durations have the values of `domains`; timers expire at most `late` too
    /// late.
    pub fn of(sorts: &Sorts, imports: &[Domain], thread_imports: &[Domain], late: i64) -> Self {
        let policy = sorts.policy;
        let count = sorts.len();
        let mut families = Families {
            sorts,
            domains: [imports, thread_imports],
            parent: (0..count).collect(),
            exact: vec![false; count],
            within: vec![0; count],
            rises: vec![true; count],
            assigned: vec![false; count],
            reach: late.saturating_mul(2),
        };
        families.signs();
        families.imports();
        families.timers(late);
        for site in &sorts.sites {
            families.assignment(site);
            families.expression(site, site.expression, site.place.is_some());
        }
        let families = &families;
        let variables = policy.variables.iter().enumerate();
        let variables = variables.map(|(index, one)| families.role(sorts.variable(index), one.ty));
        let attributes = policy.attributes.iter().enumerate();
        let attributes = attributes.map(|(index, one)| families.role(sorts.attribute(index), one.ty));
        Instants {
            variables: variables.collect(),
            attributes: attributes.collect(),
            imports: (0..policy.imports.len()).map(|index| sorts.is_instant(sorts.import(index))).collect(),
            thread_imports: (0..policy.thread_imports.len())
                .map(|index| sorts.is_instant(sorts.thread_import(index)))
                .collect(),
            reach: families.reach.min(NOW / 4),
        }
    }

    /// Shifts all instants to the time [`NOW`], and ranks those that are long past. 0, and what is computed from it,
    /// stays.
    pub fn shift(&self, saved: &mut Saved) {
        let by = NOW - saved.now;
        saved.now = NOW;
        let mut past: Vec<(usize, i64)> = Vec::new();
        self.each(saved, |role, instant| {
            if !is_from_zero(*instant) {
                *instant = instant.wrapping_add(by);
            }
            if let Some(family) = rank_of(role, *instant) {
                past.push((family, *instant));
            }
        });
        past.sort_unstable();
        past.dedup();
        self.each(saved, |role, instant| {
            let Role::Ordered { family, within } = role else { return };
            if let (Some(_), Ok(place)) = (rank_of(role, *instant), past.binary_search(&(family, *instant))) {
                let later = past[place..].iter().take_while(|(other, _)| *other == family).count();
                *instant = NOW - within - i64::try_from(later).unwrap_or(i64::MAX);
            }
        });
    }

    fn each(&self, saved: &mut Saved, mut visit: impl FnMut(Role, &mut i64)) {
        let of_threads = saved.containers.iter_mut().flatten();
        let of_threads = of_threads.flat_map(|thread| thread.attributes.iter_mut().zip(&self.attributes));
        for (value, role) in saved.variables.iter_mut().zip(&self.variables).chain(of_threads) {
            match (role, value) {
                (Role::Ordered { .. } | Role::Exact, Value::Time(instant)) => visit(*role, instant),
                (Role::Other | Role::Ordered { .. } | Role::Exact, _) => {}
            }
        }
    }
}

/// Whether an instant is 0, which means none yet, or was computed from 0. It is long ago, and is not shifted.
pub(super) fn is_from_zero(instant: i64) -> bool {
    instant < NOW / 2
}

/// The family in which an instant has a rank, if it is long past.
fn rank_of(role: Role, instant: i64) -> Option<usize> {
    match role {
        Role::Ordered { family, within } if !is_from_zero(instant) && instant < NOW - within => Some(family),
        Role::Other | Role::Ordered { .. } | Role::Exact => None,
    }
}

impl Families<'_, '_> {
    fn role(&self, cell: usize, ty: Type) -> Role {
        if ty != Type::Time || !self.sorts.is_instant(cell) {
            return Role::Other;
        }
        let family = self.root(cell);
        let members = || (0..self.sorts.len()).filter(|other| self.root(*other) == family);
        if members().any(|member| self.exact[member]) {
            return Role::Exact;
        }
        Role::Ordered { family, within: members().map(|member| self.within[member]).max().unwrap_or_default() }
    }

    fn root(&self, mut cell: usize) -> usize {
        while self.parent[cell] != cell {
            cell = self.parent[cell];
        }
        cell
    }

    fn join(&mut self, cells: impl Iterator<Item = usize>) {
        let mut first = None;
        for cell in cells {
            let root = self.root(cell);
            let into = *first.get_or_insert(root);
            self.parent[root.max(into)] = root.min(into);
            first = Some(root.min(into));
        }
    }

    /// Finds the durations that are never negative, because they are assigned no other ones.
    fn signs(&mut self) {
        let (sorts, domains) = (self.sorts, self.domains);
        let policy = sorts.policy;
        let initial = policy.variables.iter().map(|variable| variable.initial);
        let initial = initial.chain(policy.attributes.iter().map(|attribute| attribute.initial));
        for (cell, value) in initial.enumerate() {
            self.rises[cell] = !is_negative(value);
        }
        for (first, domains) in [(sorts.import(0), domains[0]), (sorts.thread_import(0), domains[1])] {
            for (index, domain) in domains.iter().enumerate() {
                self.rises[first + index] = !domain.values.iter().any(|value| is_negative(*value));
            }
        }
        loop {
            let before = self.rises.clone();
            for site in &sorts.sites {
                let cells = site.place.map_or(0..0, |place| sorts.cells(site, place));
                self.assigned[cells.clone()].fill(true);
                if !self.is_positive(site, site.expression) {
                    self.rises[cells].fill(false);
                }
            }
            if self.rises == before {
                return;
            }
        }
    }

    /// Whether it surely is a number or duration that is not negative.
    fn is_positive(&self, site: &Site, expression: &Expression) -> bool {
        let policy = self.sorts.policy;
        match plain(expression) {
            Expression::Literal(value) => !is_negative(*value),
            Expression::Constant(constant) => !is_negative(policy.constants[constant.0].value),
            Expression::ConstantElement { first, length, .. } => {
                policy.constants[first.0..first.0 + length].iter().all(|constant| !is_negative(constant.value))
            }
            Expression::Size(_) => true,
            Expression::Read(place) => {
                let mut cells = self.sorts.cells(site, place).peekable();
                cells.peek().is_some() && cells.all(|cell| self.rises[cell])
            }
            Expression::Binary(operator, left, right) => match operator {
                BinaryOperator::Add
                | BinaryOperator::Multiply
                | BinaryOperator::Divide
                | BinaryOperator::Remainder
                | BinaryOperator::Least
                | BinaryOperator::Greatest => self.is_positive(site, left) && self.is_positive(site, right),
                BinaryOperator::Subtract
                | BinaryOperator::BitAnd
                | BinaryOperator::BitOr
                | BinaryOperator::BitXor
                | BinaryOperator::ShiftLeft
                | BinaryOperator::ShiftRight
                | BinaryOperator::Equal
                | BinaryOperator::NotEqual
                | BinaryOperator::Less
                | BinaryOperator::LessOrEqual
                | BinaryOperator::Greater
                | BinaryOperator::GreaterOrEqual
                | BinaryOperator::And
                | BinaryOperator::Or => false,
            },
            Expression::Now
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Convert(..)
            | Expression::Unary(..)
            | Expression::NotZero(_)
            | Expression::Choose(..)
            | Expression::Random(_)
            | Expression::Verbatim { .. } => false,
        }
    }

    /// The application sets instants as it likes.
    fn imports(&mut self) {
        let sorts = self.sorts;
        for cell in sorts.import(0)..sorts.thread_import(sorts.policy.thread_imports.len()) {
            self.exact[cell] = true;
        }
    }

    /// The host orders all timers, and can tell how late they are.
    fn timers(&mut self, late: i64) {
        let sorts = self.sorts;
        let attributes = sorts.policy.attributes.iter().enumerate().filter(|(_, attribute)| attribute.timer.is_some());
        let cells: Vec<usize> = attributes.map(|(index, _)| sorts.attribute(index)).collect();
        cells.iter().for_each(|cell| self.within[*cell] = late);
        self.join(cells.into_iter());
    }

    fn assignment(&mut self, site: &Site) {
        let cells = site.place.map_or(0..0, |place| self.sorts.cells(site, place));
        // An element may be any one of its array.
        self.join(cells.clone());
        if !cells.clone().any(|cell| self.sorts.is_instant(cell)) {
            return;
        }
        let value = plain(site.expression);
        if let Expression::Read(from) = value {
            self.join(cells.chain(self.sorts.cells(site, from)));
        } else if !self.is_not_past(site, value) {
            // A past instant would have the wrong place among ranks.
            self.exact[cells].fill(true);
        }
    }

    /// Whether it is `now`, `now` plus something, or 0.
    fn is_not_past(&self, site: &Site, value: &Expression) -> bool {
        if let Expression::Binary(BinaryOperator::Add, left, right) = value {
            let later =
                |now: &Expression, by: &Expression| *plain(now) == Expression::Now && self.is_positive(site, by);
            return later(left, right) || later(right, left);
        }
        *value == Expression::Now || matches!(self.sorts.sort(site, value), Ok(Sort::Any))
    }

    /// Notes how an expression uses instants. Only an instant that is the whole expression may be `copied`.
    fn expression(&mut self, site: &Site, expression: &Expression, copied: bool) {
        let expression = plain(expression);
        if let Expression::Binary(operator, left, right) = expression
            && compares(*operator)
        {
            self.comparison(site, left, right);
            self.indices(site, left);
            self.indices(site, right);
        } else if let Expression::Read(place) = expression {
            if !copied {
                let cells = self.sorts.cells(site, place);
                self.exact[cells].fill(true);
            }
            self.indices(site, expression);
        } else {
            self.sum(site, expression);
            expression.parts().for_each(|part| self.expression(site, part, false));
        }
    }

    /// Notes how the indices of what an expression reads use instants.
    fn indices(&mut self, site: &Site, expression: &Expression) {
        let is_read = matches!(expression, Expression::Read(_));
        for part in expression.parts() {
            if is_read { self.expression(site, part, false) } else { self.indices(site, part) }
        }
    }

    /// Adding to an instant or subtracting from it shows how far from now instants can be.
    fn sum(&mut self, site: &Site, expression: &Expression) {
        let Expression::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right) = expression else {
            return;
        };
        for (instant, with) in [(left, right), (right, left)] {
            if matches!(self.sorts.sort(site, instant), Ok(Sort::Instant)) {
                self.reach = self.reach.max(self.magnitude(with).unwrap_or_default());
            }
        }
    }

    /// Only the order of compared instants matters if one side minus the other is an instant, the difference of two, or
    /// that of `now` and one plus a known duration.
    fn comparison(&mut self, site: &Site, left: &Expression, right: &Expression) {
        let mut sum = Sum { read: Vec::new(), now: 0, duration: Some(0) };
        self.add(site, &mut sum, left, 1);
        self.add(site, &mut sum, right, -1);
        match (sum.read.as_slice(), sum.now, sum.duration) {
            ([(one, 1), (other, -1)] | [(one, -1), (other, 1)], 0, Some(0)) => {
                self.join(one.clone().chain(other.clone()));
            }
            ([(one, 1 | -1)], 0, Some(0)) => self.join(one.clone()),
            ([(one, 1)], -1, Some(duration)) | ([(one, -1)], 1, Some(duration)) if duration <= NOW / 4 => {
                self.join(one.clone());
                one.clone().for_each(|cell| self.within[cell] = self.within[cell].max(duration));
            }
            (_, _, _) => sum.read.into_iter().for_each(|(cells, _)| self.exact[cells].fill(true)),
        }
    }

    /// Adds an expression to a sum.
    fn add(&self, site: &Site, sum: &mut Sum, expression: &Expression, sign: i64) {
        let expression = plain(expression);
        if *expression == Expression::Now {
            sum.now += sign;
        } else if let Some(cells) = self.instants(site, expression) {
            sum.read.push((cells, sign));
        } else if let Expression::Binary(operator @ (BinaryOperator::Add | BinaryOperator::Subtract), left, right) =
            expression
        {
            self.add(site, sum, left, sign);
            self.add(site, sum, right, if *operator == BinaryOperator::Add { sign } else { -sign });
        } else {
            let duration = self.magnitude(expression);
            sum.duration = sum.duration.zip(duration).map(|(one, other)| one.saturating_add(other));
            self.deeper(site, sum, expression);
        }
    }

    /// Adds the instants with which the expression computes deeper inside.
    fn deeper(&self, site: &Site, sum: &mut Sum, expression: &Expression) {
        if let Some(cells) = self.instants(site, expression) {
            sum.duration = None;
            sum.read.push((cells, 1));
        }
        expression.parts().for_each(|part| self.deeper(site, sum, part));
    }

    /// The instants that an expression reads, if it does nothing else.
    fn instants(&self, site: &Site, expression: &Expression) -> Option<Range<usize>> {
        let Expression::Read(place) = expression else { return None };
        let cells = self.sorts.cells(site, place);
        cells.clone().any(|cell| self.sorts.is_instant(cell)).then_some(cells)
    }

    /// The greatest absolute value of a duration or number, if it does not depend on what the policy did before.
    fn magnitude(&self, expression: &Expression) -> Option<i64> {
        let constants = &self.sorts.policy.constants;
        match plain(expression) {
            Expression::Literal(value) => number(*value),
            Expression::Constant(constant) => number(constants[constant.0].value),
            Expression::ConstantElement { first, length, .. } => {
                constants[first.0..first.0 + length].iter().filter_map(|constant| number(constant.value)).max()
            }
            Expression::Read(Place::Import(import)) => {
                self.most(self.sorts.import(import.0), &self.domains[0][import.0])
            }
            Expression::Read(Place::ThreadImport(_, import)) => {
                self.most(self.sorts.thread_import(import.0), &self.domains[1][import.0])
            }
            Expression::Unary(UnaryOperator::Negate, operand) | Expression::Random(operand) => self.magnitude(operand),
            Expression::Choose(_, one, other) => Some(self.magnitude(one)?.max(self.magnitude(other)?)),
            Expression::Binary(operator, left, right) => {
                let (one, other) = (self.magnitude(left)?, self.magnitude(right)?);
                match operator {
                    BinaryOperator::Add | BinaryOperator::Subtract => Some(one.saturating_add(other)),
                    BinaryOperator::Multiply => Some(one.saturating_mul(other)),
                    BinaryOperator::Divide | BinaryOperator::Remainder => Some(one),
                    BinaryOperator::Least | BinaryOperator::Greatest => Some(one.max(other)),
                    BinaryOperator::BitAnd
                    | BinaryOperator::BitOr
                    | BinaryOperator::BitXor
                    | BinaryOperator::ShiftLeft
                    | BinaryOperator::ShiftRight
                    | BinaryOperator::Equal
                    | BinaryOperator::NotEqual
                    | BinaryOperator::Less
                    | BinaryOperator::LessOrEqual
                    | BinaryOperator::Greater
                    | BinaryOperator::GreaterOrEqual
                    | BinaryOperator::And
                    | BinaryOperator::Or => None,
                }
            }
            Expression::Read(
                Place::Variable(_)
                | Place::VariableElement { .. }
                | Place::Local(_)
                | Place::Attribute(..)
                | Place::AttributeElement { .. },
            )
            | Expression::Now
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Same(..)
            | Expression::Linked { .. }
            | Expression::Convert(..)
            | Expression::Unary(UnaryOperator::Not, _)
            | Expression::NotZero(_)
            | Expression::Verbatim { .. } => None,
        }
    }

    /// The greatest absolute value of an import, unless the policy assigns it.
    fn most(&self, cell: usize, domain: &Domain) -> Option<i64> {
        let values = domain.values.iter().map(|value| number(*value));
        if self.assigned[cell] { None } else { values.collect::<Option<Vec<i64>>>()?.into_iter().max() }
    }
}

/// A comparison, as one side minus the other.
struct Sum {
    /// The instants, each with its sign.
    read: Vec<(Range<usize>, i64)>,
    /// How often `now` is added.
    now: i64,
    /// The greatest absolute value of the rest, if it is known.
    duration: Option<i64>,
}

fn number(value: Value) -> Option<i64> {
    match value {
        Value::Int(value) | Value::Time(value) => Some(value.saturating_abs()),
        Value::Bool(_) | Value::Float(_) => None,
    }
}

fn is_negative(value: Value) -> bool {
    match value {
        Value::Int(value) | Value::Time(value) => value < 0,
        Value::Bool(_) => false,
        Value::Float(value) => value.get() < 0.0,
    }
}
